"""Webhooks: addresses, secrets and deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "webhook",
        sa.Column("trigger_id", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["trigger_id"], ["trigger.id"], name=op.f("fk_webhook_trigger_id_trigger"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("trigger_id", name=op.f("pk_webhook")),
    )
    with op.batch_alter_table("webhook", schema=None) as batch_op:
        batch_op.create_index("uq_webhook_address", ["address"], unique=True)
    op.create_table(
        "trigger_secret",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("trigger_id", sa.String(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["trigger_id"], ["trigger.id"], name=op.f("fk_trigger_secret_trigger_id_trigger"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trigger_secret")),
    )
    with op.batch_alter_table("trigger_secret", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_trigger_secret_trigger_id"), ["trigger_id"], unique=False)
    op.create_table(
        "webhook_delivery",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("trigger_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("firing_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["trigger_id"], ["trigger.id"], name=op.f("fk_webhook_delivery_trigger_id_trigger"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_delivery")),
    )
    with op.batch_alter_table("webhook_delivery", schema=None) as batch_op:
        batch_op.create_index("uq_webhook_delivery_key", ["trigger_id", "key"], unique=True)
        batch_op.create_index(batch_op.f("ix_webhook_delivery_firing_id"), ["firing_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_webhook_delivery_created_at"), ["created_at"], unique=False)


def downgrade() -> None:
    op.drop_table("webhook_delivery")
    op.drop_table("trigger_secret")
    op.drop_table("webhook")
