"""The database itself: both dialects, their writers, wake-ups, paging and ids.

Begin with `engine` (the interface: `Store`) and `dialects`. `sqlite*` and `postgres*` implement it; `wakes` announces
changes after a commit; `schema` creates or upgrades the tables. Imports `store.models` and, to upgrade,
`store.migrations`; nothing else of the store.
"""
