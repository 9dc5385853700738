"""Triggers and their firings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "trigger",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("pipeline_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("attention", sa.Text(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["caller.id"], name=op.f("fk_trigger_owner_id_caller")),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipeline.id"], name=op.f("fk_trigger_pipeline_id_pipeline")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trigger")),
    )
    with op.batch_alter_table("trigger", schema=None) as batch_op:
        batch_op.create_index(
            "ix_trigger_due",
            ["next_at", "id"],
            unique=False,
            sqlite_where=sa.text("enabled"),
            postgresql_where=sa.text("enabled"),
        )
        batch_op.create_index(batch_op.f("ix_trigger_owner_id"), ["owner_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_trigger_pipeline_id"), ["pipeline_id"], unique=False)
    op.create_table(
        "firing",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("trigger_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("scheduled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["trigger_id"], ["trigger.id"], name=op.f("fk_firing_trigger_id_trigger"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_firing")),
    )
    with op.batch_alter_table("firing", schema=None) as batch_op:
        batch_op.create_index("uq_firing_key", ["trigger_id", "key"], unique=True)
        batch_op.create_index("ix_firing_trigger", ["trigger_id", "id"], unique=False)
    op.add_column("run", sa.Column("trigger_id", sa.String(), nullable=True))
    op.add_column("run", sa.Column("after_run_id", sa.String(), nullable=True))
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.create_index(
            "ix_run_trigger",
            ["trigger_id", "ended_at"],
            unique=False,
            sqlite_where=sa.text("trigger_id IS NOT NULL"),
            postgresql_where=sa.text("trigger_id IS NOT NULL"),
        )


def downgrade() -> None:
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_run_trigger",
            sqlite_where=sa.text("trigger_id IS NOT NULL"),
            postgresql_where=sa.text("trigger_id IS NOT NULL"),
        )
        batch_op.drop_column("after_run_id")
        batch_op.drop_column("trigger_id")
    op.drop_table("firing")
    op.drop_table("trigger")
