"""Agent steps: run an agent's program on a prompt, with limits and a transcript.

Begin with `definition` (the values of a step) and `step` (the phases of an attempt). `profiles` has the command lines
that the operator declared, `policy` and `isolation` restrict a program, `transcript` records it.

The room is wide because one attempt needs all of it:

- what authors write: `keys`, `parsing`, `definition`, `advice`; how it becomes a pack: `pack`, `asking`, `input_output`
- an attempt: `step`, `agent_attempt`, `workspace`, `spawning`, `listening`, `results`
- confinement: `policy`, `isolation`, `confine`, `tool_access`
- what the program prints: `streams`, `formats`, `parsed_output`, `transcript`
- a repeated attempt: `behaviour`, `caching`, `replaying`; without a program: `mock`
"""
