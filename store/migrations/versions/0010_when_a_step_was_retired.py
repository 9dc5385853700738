"""When a step was retired, in place of negative positions and marked keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_CURRENT = sa.text("retired_at IS NULL")
_STEP = sa.table(
    "run_step",
    sa.column("id", sa.String()),
    sa.column("run_id", sa.String()),
    sa.column("position", sa.Integer()),
    sa.column("key", sa.String()),
    sa.column("ended_at", sa.DateTime(timezone=True)),
    sa.column("retired_at", sa.DateTime(timezone=True)),
)
_RUN = sa.table("run", sa.column("id", sa.String()), sa.column("created_at", sa.DateTime(timezone=True)))


def upgrade() -> None:
    """Fill in `retired_at`: the instant was not recorded, so a step counts as retired when it ended, or from the start.

    The resume numbered `n` had moved a step from `position` to `-position - 1000 * n` and added `~n` to its key.
    """
    with op.batch_alter_table("run_step", schema=None) as batch_op:
        batch_op.add_column(sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.drop_index("uq_run_step_position")
        batch_op.drop_index("uq_run_step_key")
        batch_op.create_index("ix_run_step_position", ["run_id", "position"], unique=False)

    connection = op.get_bind()
    created_at = sa.select(_RUN.c.created_at).where(_RUN.c.id == _STEP.c.run_id).scalar_subquery()
    retired = connection.execute(sa.select(_STEP.c.id, _STEP.c.position, _STEP.c.key).where(_STEP.c.position < 0)).all()
    for step_id, position, marked in retired:
        key, _, number = marked.rpartition("~")
        connection.execute(
            _STEP.update()
            .where(_STEP.c.id == step_id)
            .values(
                position=-position - 1000 * int(number),
                key=key,
                retired_at=sa.func.coalesce(_STEP.c.ended_at, created_at),
            )
        )

    with op.batch_alter_table("run_step", schema=None) as batch_op:
        batch_op.create_index(
            "uq_run_step_key", ["run_id", "key"], unique=True, sqlite_where=_CURRENT, postgresql_where=_CURRENT
        )


def downgrade() -> None:
    with op.batch_alter_table("run_step", schema=None) as batch_op:
        batch_op.drop_index("uq_run_step_key", sqlite_where=_CURRENT, postgresql_where=_CURRENT)
        batch_op.drop_index("ix_run_step_position")

    connection = op.get_bind()
    retired = connection.execute(
        sa.select(_STEP.c.id, _STEP.c.position, _STEP.c.key)
        .where(_STEP.c.retired_at.is_not(None))
        .order_by(_STEP.c.run_id, _STEP.c.retired_at, _STEP.c.id)
    ).all()
    for number, (step_id, position, key) in enumerate(retired, 1):
        connection.execute(
            _STEP.update()
            .where(_STEP.c.id == step_id)
            .values(position=-position - 1000 * number, key=f"{key}~{number}")
        )

    with op.batch_alter_table("run_step", schema=None) as batch_op:
        batch_op.drop_column("retired_at")
        batch_op.create_index("uq_run_step_key", ["run_id", "key"], unique=True)
        batch_op.create_index("uq_run_step_position", ["run_id", "position"], unique=True)
