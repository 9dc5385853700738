"""Which workers are drained, and where all processes keep contents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("worker", sa.Column("draining", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_table(
        "blob_marker",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blob_marker")),
    )


def downgrade() -> None:
    op.drop_table("blob_marker")
    with op.batch_alter_table("worker", schema=None) as batch_op:
        batch_op.drop_column("draining")
