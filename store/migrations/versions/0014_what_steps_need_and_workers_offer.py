"""What the next step of a run needs, and what workers offer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Start with runs that need nothing and workers that offer nothing, until each of them is written again."""
    for table, column in (("run", "needs"), ("worker", "offers")):
        op.add_column(table, sa.Column(column, sa.Text(), server_default=sa.text("''"), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("worker", schema=None) as batch_op:
        batch_op.drop_column("offers")
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.drop_column("needs")
