"""Use cases of runs: start, watch, cancel, resume, re-run.

Begin with `starts` and `runs`; `proposals` thinks a resume or re-run through for preview and command alike.
"""
