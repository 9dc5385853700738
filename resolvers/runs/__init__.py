"""Use cases of runs: start, watch, cancel, resume, re-run.

Begin with `starts` and `runs`; `proposals` plans a resume or re-run, for the preview and for the command.
"""
