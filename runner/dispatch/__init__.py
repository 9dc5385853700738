"""Delivers the runs that are due to the worker of this process, as many at once as it has lanes.

Begin with `dispatcher`: the port, and the heap of the embedded database. `queue_dispatcher` takes the runs of a shared
database from procrastinate; both count their work in `lanes`.
"""
