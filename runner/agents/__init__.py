"""Agent steps: a program the operator declared works on a prompt, bounded and recorded."""
