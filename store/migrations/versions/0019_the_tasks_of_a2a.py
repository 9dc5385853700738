"""The tasks of A2A: their conversations, and the questions to their callers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "a2a_task",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("context_id", sa.String(), nullable=False),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_a2a_task_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_a2a_task")),
    )
    op.create_index(op.f("ix_a2a_task_created_at"), "a2a_task", ["created_at"])
    op.create_index("ix_a2a_task_context", "a2a_task", ["caller_id", "context_id", "id"])


def downgrade() -> None:
    op.drop_table("a2a_task")
