"""Who made a token."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("token", sa.Column("made_by", sa.String(), nullable=True))
    op.create_index("ix_token_made_by", "token", ["made_by"])


def downgrade() -> None:
    op.drop_index("ix_token_made_by", table_name="token")
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.drop_column("made_by")
