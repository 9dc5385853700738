"""The database itself: both dialects, their writers, wake-ups, paging and ids.

Begin with `engine` (the interface: `Store`) and `dialects`. `sqlite*` and `postgres*` implement it and count
`reads`, for which closing waits; `wakes` announces changes after a commit; `schema` creates the tables, `upgrade` runs
Alembic. Of the store, imports `store.models` alone.
"""
