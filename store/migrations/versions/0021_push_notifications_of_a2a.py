"""Push notification configs of A2A tasks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "a2a_push",
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("config_id", sa.String(), nullable=False),
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("protocol", sa.String(), nullable=False),
        sa.Column("sent_state", sa.String(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_a2a_push_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("task_id", "config_id", name=op.f("pk_a2a_push")),
    )
    op.create_index(op.f("ix_a2a_push_caller_id"), "a2a_push", ["caller_id"])


def downgrade() -> None:
    op.drop_table("a2a_push")
