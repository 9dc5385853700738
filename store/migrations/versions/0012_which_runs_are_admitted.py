"""Which runs are admitted, what limits admission, and when a run may start."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_ADMITTED = sa.text("admitted")
_QUEUED = sa.text("state = 'queued' AND NOT admitted")
_LIMITED = sa.text("concurrency_key IS NOT NULL AND ended_at IS NULL")
_WAITS = sa.text("not_before IS NOT NULL")
_RUN = sa.table(
    "run", sa.column("state", sa.String()), sa.column("admitted", sa.Boolean()), sa.column("priority", sa.Integer())
)


def upgrade() -> None:
    """Admit what workers hold; the server admits queued runs when it starts, since the limit is a setting.

    The order by priority and id becomes that of an index, so the priority of what comes first is the lowest.
    """
    op.create_table(
        "admission",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("caller_limit", sa.Integer(), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paused_by", sa.String(), nullable=True),
        sa.Column("pause_reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_admission")),
    )
    op.add_column("run", sa.Column("start_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("run", sa.Column("concurrency_key", sa.String(), nullable=True))
    op.add_column("run", sa.Column("concurrency_limit", sa.Integer(), nullable=True))
    op.add_column("run", sa.Column("admitted", sa.Boolean(), nullable=True))
    op.execute(_RUN.update().where(_RUN.c.priority != 0).values(priority=-_RUN.c.priority))
    op.execute(_RUN.update().values(admitted=_RUN.c.state.in_(("running", "cancelling"))))
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.alter_column("admitted", existing_type=sa.Boolean(), nullable=False)
    op.create_index("ix_run_admitted", "run", ["caller_id"], sqlite_where=_ADMITTED, postgresql_where=_ADMITTED)
    queue = ["caller_id", "priority", "id"]
    op.create_index("ix_run_queue", "run", queue, sqlite_where=_QUEUED, postgresql_where=_QUEUED)
    group = ["concurrency_key", "admitted"]
    op.create_index("ix_run_concurrency", "run", group, sqlite_where=_LIMITED, postgresql_where=_LIMITED)
    op.create_index("ix_run_not_before", "run", ["not_before"], sqlite_where=_WAITS, postgresql_where=_WAITS)


def downgrade() -> None:
    for index in ("ix_run_concurrency", "ix_run_not_before", "ix_run_queue", "ix_run_admitted"):
        op.drop_index(index, "run")
    op.execute(_RUN.update().where(_RUN.c.priority != 0).values(priority=-_RUN.c.priority))
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.drop_column("admitted")
        batch_op.drop_column("concurrency_limit")
        batch_op.drop_column("concurrency_key")
        batch_op.drop_column("start_at")
    op.drop_table("admission")
