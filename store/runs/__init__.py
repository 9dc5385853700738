"""Runs: the units of work that move one, and the reads of what was recorded.

Begin with `unit_types` (what units take and return), then `submit`, `claim`, `settle` and `ending`; `commands` are of
people and agents, `claimed_run` of the worker that holds it. `reads`, `step_reads` and `events` only read. The room is
wide because its units change the same rows and share one lock order: `admission`, `needs`, `serving` and `queue_sweep`
decide which runs may start and where, `a2a_tasks` keeps the questions that reserve a run's id, `a2a_pushes` where
its state is to be sent.

Every unit of a worker starts with the fenced UPDATE of its run (`epoch` must still be its own) and writes the change
and its events in the same transaction. Zero rows changed by the fence means that somebody else owns the run now:
`LostLeaseError`, and nothing is written.

Lock order on PostgreSQL: the caller's slot (claims only), then the run, then everything below the run.
"""
