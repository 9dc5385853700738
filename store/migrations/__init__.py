"""Alembic's revisions, run by `store.database.upgrade`; `draft` writes the next one."""
