"""Commands that start, watch, show and change runs.

Begin with `commands` (run, watch, resume, rerun, cancel) and `listing` (`packline runs` and `show`).
"""
