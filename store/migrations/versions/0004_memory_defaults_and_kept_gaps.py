"""Memory, defaults and kept gaps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "default_override",
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_default_override_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("caller_id", "kind", "target", "field", name=op.f("pk_default_override")),
    )
    op.create_table(
        "gap_proposal",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("user_intent", sa.Text(), nullable=False),
        sa.Column("gap", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["caller_id"], ["caller.id"], name=op.f("fk_gap_proposal_caller_id_caller")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gap_proposal")),
    )
    with op.batch_alter_table("gap_proposal", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_gap_proposal_caller_id"), ["caller_id"], unique=False)

    op.create_table(
        "memory_entry",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("step_id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("failure_code", sa.String(), nullable=True),
        sa.Column("duration_seconds", sa.Float(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_memory_entry_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_entry")),
    )
    with op.batch_alter_table("memory_entry", schema=None) as batch_op:
        batch_op.create_index("ix_memory_entry_caller", ["caller_id", "at", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_memory_entry_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index("ix_memory_entry_revision", ["caller_id", "revision"], unique=False)
        batch_op.create_index("uq_memory_entry_outcome", ["run_id", "step_id"], unique=True)

    op.create_table(
        "memory_state",
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("removed", sa.BigInteger(), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_memory_state_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("caller_id", name=op.f("pk_memory_state")),
    )
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.add_column(sa.Column("memory_due", sa.Boolean(), nullable=True))
        batch_op.add_column(sa.Column("memory_epoch", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("from_memory", sa.Text(), nullable=True))

    op.create_index(
        "ix_run_memory_due",
        "run",
        ["id"],
        unique=False,
        sqlite_where=sa.text("memory_due"),
        postgresql_where=sa.text("memory_due"),
    )
    # What ended lately is taken up as if it ended now; what is older than memory is kept stays out.
    run = sa.table("run", sa.column("memory_due", sa.Boolean), sa.column("ended_at", sa.DateTime(timezone=True)))
    lately = datetime.now(UTC) - timedelta(days=30)
    op.execute(run.update().where(run.c.ended_at >= lately).values(memory_due=True))


def downgrade() -> None:
    op.drop_index("ix_run_memory_due", table_name="run")
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.drop_column("from_memory")
        batch_op.drop_column("memory_epoch")
        batch_op.drop_column("memory_due")

    op.drop_table("memory_state")
    with op.batch_alter_table("memory_entry", schema=None) as batch_op:
        batch_op.drop_index("uq_memory_entry_outcome")
        batch_op.drop_index("ix_memory_entry_revision")
        batch_op.drop_index(batch_op.f("ix_memory_entry_expires_at"))
        batch_op.drop_index("ix_memory_entry_caller")

    op.drop_table("memory_entry")
    with op.batch_alter_table("gap_proposal", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_gap_proposal_caller_id"))

    op.drop_table("gap_proposal")
    op.drop_table("default_override")
