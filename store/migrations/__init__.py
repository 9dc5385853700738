"""Alembic's revisions, run by `store.database.upgrade`; `draft` writes the next one.

`versions` has one module for each, in their order; none is changed once it is released, so the folder only grows.
"""
