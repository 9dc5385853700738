"""Agent steps: run an agent's program on a prompt, with limits and a transcript.

Begin with `definition` (the values of a step) and `step` (the phases of an attempt). `profiles` has the command lines
that the operator declared, `policy` and `isolation` restrict a program, `transcript` records it.
"""
