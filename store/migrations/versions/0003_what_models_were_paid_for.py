"""An index over what models were paid for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_attempt_spent",
        "attempt",
        ["run_id", "step_id", "input_tokens", "output_tokens", "cost_micros"],
        unique=False,
        sqlite_where=sa.text("models IS NOT NULL"),
        postgresql_where=sa.text("models IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_attempt_spent", table_name="attempt")
