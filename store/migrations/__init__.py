"""Alembic's side of the schema: loaded by `packline migrate` and by an upgrade at start, never otherwise."""
