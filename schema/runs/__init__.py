"""Runs, steps, attempts, events and transcripts, and the commands on them.

Begin with `runs`. `lists` holds the filter of runs, `resume_previews` the previews of resumes and re-runs.
"""
