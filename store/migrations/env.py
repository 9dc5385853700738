"""What Alembic runs: `store.database.upgrade` hands it a connection inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from alembic import context
from sqlmodel import SQLModel
from sqlmodel.sql.sqltypes import AutoString, UTCDateTime

import store.models  # noqa: F401 - fills SQLModel.metadata

if TYPE_CHECKING:
    from alembic.autogenerate.api import AutogenContext


def plainly(type_: str, item: object, _context: AutogenContext) -> str | Literal[False]:
    """Write SQLModel's types as those of the database, so that revisions do not import SQLModel."""
    if type_ == "type" and isinstance(item, AutoString):
        return "sa.String()"
    if type_ == "type" and isinstance(item, UTCDateTime):
        return "sa.DateTime(timezone=True)"
    return False


connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("Run `packline migrate`, or `python -m store.migrations.draft` to write a new revision.")
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=True,  # SQLite alters by copying
    compare_type=True,
    compare_server_default=True,
    render_item=plainly,
)
with context.begin_transaction():
    context.run_migrations()
