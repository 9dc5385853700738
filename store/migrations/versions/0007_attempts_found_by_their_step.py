"""Attempts are found by their step, and go with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_REUSED = sa.text("reused_from IS NOT NULL")


def upgrade() -> None:
    """Drop the foreign key to runs; SQLite copies the table for that."""
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.drop_index("ix_attempt_run")
        batch_op.drop_constraint("fk_attempt_run_id_run", type_="foreignkey")
        batch_op.create_index(
            "ix_attempt_reuses",
            ["run_id", "reused_from"],
            unique=False,
            sqlite_where=_REUSED,
            postgresql_where=_REUSED,
        )


def downgrade() -> None:
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.drop_index("ix_attempt_reuses", sqlite_where=_REUSED, postgresql_where=_REUSED)
        batch_op.create_foreign_key("fk_attempt_run_id_run", "run", ["run_id"], ["id"], ondelete="CASCADE")
        batch_op.create_index("ix_attempt_run", ["run_id"], unique=False)
