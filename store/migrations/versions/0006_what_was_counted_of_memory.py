"""What was counted of memory."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("memory_state", schema=None) as batch_op:
        batch_op.add_column(sa.Column("counted", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("counts", sa.Text(), nullable=True))


def downgrade() -> None:
    """Drop the counts; they are made again when defaults are requested."""
    with op.batch_alter_table("memory_state", schema=None) as batch_op:
        batch_op.drop_column("counts")
        batch_op.drop_column("counted")
