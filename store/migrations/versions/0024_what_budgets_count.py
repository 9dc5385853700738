"""What models cost runs, and callers in a month."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "caller_spending",
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("month", sa.String(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.Column("unpriced_calls", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_caller_spending_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("caller_id", "month", name=op.f("pk_caller_spending")),
    )
    op.create_index("ix_caller_spending_month", "caller_spending", ["month", "cost_micros", "caller_id"])
    op.create_table(
        "run_spending",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_spending_run_id_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_spending")),
    )


def downgrade() -> None:
    op.drop_table("run_spending")
    op.drop_table("caller_spending")
