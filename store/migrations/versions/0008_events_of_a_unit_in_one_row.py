"""The events of a unit of work in one row."""

from __future__ import annotations

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_ROWS_AT_ONCE = 1000
_KEY = ("run_id", "sequence", "at")
#: What each entry of `earlier` holds, in this order.
_TOLD = ("type", "step_id", "attempt_id", "artifact_id", "before", "after", "reason", "data")
_EVENT = sa.table("run_event", *(sa.column(name) for name in (*_KEY, *_TOLD, "earlier")))


def upgrade() -> None:
    """Add the column; stored events stay as they are, a row each."""
    op.add_column("run_event", sa.Column("earlier", sa.Text(), nullable=True))


def downgrade() -> None:
    """Write each event into a separate row again."""
    connection = op.get_bind()
    of_several = sa.select(*(_EVENT.c[name] for name in (*_KEY, "earlier"))).where(_EVENT.c.earlier.is_not(None))
    row = sa.and_(_EVENT.c.run_id == sa.bindparam("of_run"), _EVENT.c.sequence == sa.bindparam("numbered"))
    while rows := connection.execute(of_several.limit(_ROWS_AT_ONCE)).all():
        connection.execute(
            sa.insert(_EVENT),
            [
                {"run_id": run_id, "sequence": sequence - back, "at": at, **dict(zip(_TOLD, told, strict=True))}
                for run_id, sequence, at, earlier in rows
                for back, told in enumerate(reversed(orjson.loads(earlier)), 1)
            ],
        )
        connection.execute(
            sa.update(_EVENT).where(row).values(earlier=None),
            [{"of_run": run_id, "numbered": sequence} for run_id, sequence, _, _ in rows],
        )
    with op.batch_alter_table("run_event", schema=None) as batch_op:
        batch_op.drop_column("earlier")
