"""What a resume or a re-run would do with each step, as one plan for preview and execution.

Begin with `plan`. Decisions are pure; `step_snapshots` is what they are made from.
"""
