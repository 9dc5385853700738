"""Plans resumes and re-runs: one plan of each step for preview and execution.

Begin with `plan`. Decisions are pure functions over `step_snapshots`.
"""
