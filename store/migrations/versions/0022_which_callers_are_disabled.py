"""Which callers are disabled, and which triggers were paused for it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("caller", sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("trigger", sa.Column("paused_with_owner", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    with op.batch_alter_table("trigger", schema=None) as batch_op:
        batch_op.drop_column("paused_with_owner")
    with op.batch_alter_table("caller", schema=None) as batch_op:
        batch_op.drop_column("disabled_at")
