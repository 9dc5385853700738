"""The units of work that move a run: submit, claim, settle, wait, cancel, resume, release.

Every unit of a worker starts with the fenced UPDATE of its run (`epoch` must still be its own) and writes the change
and its events in the same transaction. Zero rows changed by the fence means that somebody else owns the run now:
`LostLeaseError`, and nothing is written.

Lock order on PostgreSQL: the caller's slot (claims only), then the run, then everything below the run.
"""
