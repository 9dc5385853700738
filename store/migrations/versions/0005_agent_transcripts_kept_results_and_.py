"""Agent transcripts, kept results and verified artifacts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cached_result",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("attempt_id", sa.String(), nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_cached_result_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cached_result")),
    )
    with op.batch_alter_table("cached_result", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_cached_result_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index("uq_cached_result_key", ["caller_id", "key"], unique=True)

    op.create_table(
        "cached_file",
        sa.Column("result_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id"], ["cached_result.id"], name=op.f("fk_cached_file_result_id_cached_result"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("result_id", "position", name=op.f("pk_cached_file")),
    )
    with op.batch_alter_table("cached_file", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_cached_file_digest"), ["digest"], unique=False)

    op.create_table(
        "transcript",
        sa.Column("attempt_id", sa.String(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("is_tail", sa.Boolean(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("lines", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_transcript_attempt_id_attempt"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("attempt_id", "first", name=op.f("pk_transcript")),
    )
    with op.batch_alter_table("artifact", schema=None) as batch_op:
        batch_op.add_column(sa.Column("verified_by", sa.String(), nullable=True))

    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.add_column(sa.Column("isolation", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("receipt", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.drop_column("receipt")
        batch_op.drop_column("isolation")

    with op.batch_alter_table("artifact", schema=None) as batch_op:
        batch_op.drop_column("verified_by")

    op.drop_table("transcript")
    with op.batch_alter_table("cached_file", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_cached_file_digest"))

    op.drop_table("cached_file")
    with op.batch_alter_table("cached_result", schema=None) as batch_op:
        batch_op.drop_index("uq_cached_result_key")
        batch_op.drop_index(batch_op.f("ix_cached_result_expires_at"))

    op.drop_table("cached_result")
