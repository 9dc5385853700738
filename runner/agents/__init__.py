"""Agent steps: a program the operator declared works on a prompt, bounded and recorded.

Begin with `definition` (what a step says) and `step` (an attempt as a row of phases). `profiles` are the command lines
the operator declared, `policy` and `isolation` hold a program to what it may do, `transcript` records it.
"""
