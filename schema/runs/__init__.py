"""Runs, steps, attempts, events and transcripts, and the commands on them.

Begin with `runs`. `lists` holds the filter of runs; `resume_previews` are of resumes and re-runs.
"""
