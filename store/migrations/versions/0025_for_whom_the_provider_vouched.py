"""For which callers an OpenID provider has vouched."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("caller", sa.Column("vouched_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("caller", schema=None) as batch_op:
        batch_op.drop_column("vouched_at")
