"""Triggers that fire when a run ends."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_ENABLED = sa.text("kind = 'run_ended' AND enabled")
_STARTED = sa.text("ended_run_id IS NOT NULL")


def upgrade() -> None:
    op.add_column("run", sa.Column("ended_run_id", sa.String(), nullable=True))
    op.add_column("run", sa.Column("chain_depth", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.create_index("ix_run_ended_run", "run", ["ended_run_id"], sqlite_where=_STARTED, postgresql_where=_STARTED)
    op.create_table(
        "run_end",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("resume_count", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_end_run_id_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "resume_count", name=op.f("pk_run_end")),
    )
    op.create_index(
        "ix_trigger_run_ended", "trigger", ["pipeline_id"], sqlite_where=_ENABLED, postgresql_where=_ENABLED
    )


def downgrade() -> None:
    op.drop_index("ix_trigger_run_ended", table_name="trigger", sqlite_where=_ENABLED, postgresql_where=_ENABLED)
    op.drop_table("run_end")
    op.drop_index("ix_run_ended_run", table_name="run", sqlite_where=_STARTED, postgresql_where=_STARTED)
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.drop_column("chain_depth")
        batch_op.drop_column("ended_run_id")
