"""Idempotency keys of runs that are gone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "spent_key",
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_spent_key_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("caller_id", "idempotency_key", name=op.f("pk_spent_key")),
    )
    with op.batch_alter_table("spent_key", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_spent_key_created_at"), ["created_at"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("spent_key", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_spent_key_created_at"))

    op.drop_table("spent_key")
