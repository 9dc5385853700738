"""Commands that start, watch, show and change runs.

Begin with `runs` (run, watch, resume, rerun, cancel) and `history` (`packline runs` and `show`).
"""
