"""The database itself: both dialects, their writers, wake-ups, paging and ids.

Begin with `engine` (the door: `Store`) and `dialects`. `sqlite*` and `postgres*` implement the door; `wakes` says after
a commit that something changed; `schema` makes or upgrades the tables. Imports `store.models` and, to upgrade,
`store.migrations`; nothing else of the store.
"""
