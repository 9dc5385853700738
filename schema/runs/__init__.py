"""Runs, steps, attempts, events and transcripts, and the commands on them."""
