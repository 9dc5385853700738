"""Credentials, costs, previews and mounted tools."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "credential",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("fields_set", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("test_accepted", sa.Boolean(), nullable=True),
        sa.Column("test_message", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_credential")),
        sa.UniqueConstraint("key", name=op.f("uq_credential_key")),
    )
    op.create_table(
        "mcp_tool",
        sa.Column("server", sa.String(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("accepted_digest", sa.String(), nullable=True),
        sa.Column("accepted", sa.Text(), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("accepted_by", sa.String(), nullable=True),
        sa.Column("offered_digest", sa.String(), nullable=True),
        sa.Column("offered", sa.Text(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("server", "tool", name=op.f("pk_mcp_tool")),
    )
    op.create_table(
        "vault",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_vault")),
    )
    op.create_table(
        "credential_grant",
        sa.Column("credential_id", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["credential_id"],
            ["credential.id"],
            name=op.f("fk_credential_grant_credential_id_credential"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("credential_id", "target", name=op.f("pk_credential_grant")),
    )
    with op.batch_alter_table("credential_grant", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_credential_grant_target"), ["target"], unique=False)

    op.create_table(
        "preview",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("image_digest", sa.String(), nullable=True),
        sa.Column("image_type", sa.String(), nullable=True),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["digest"], ["blob.digest"], name=op.f("fk_preview_digest_blob"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_preview")),
    )
    with op.batch_alter_table("preview", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_preview_image_digest"), ["image_digest"], unique=False)

    op.create_table(
        "joined_key",
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("request_digest", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_joined_key_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_joined_key_run_id_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("caller_id", "idempotency_key", name=op.f("pk_joined_key")),
    )
    with op.batch_alter_table("joined_key", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_joined_key_run_id"), ["run_id"], unique=False)

    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.add_column(sa.Column("input_tokens", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("output_tokens", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("cost_micros", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("models", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.drop_column("models")
        batch_op.drop_column("cost_micros")
        batch_op.drop_column("output_tokens")
        batch_op.drop_column("input_tokens")

    with op.batch_alter_table("joined_key", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_joined_key_run_id"))

    op.drop_table("joined_key")
    with op.batch_alter_table("preview", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_preview_image_digest"))

    op.drop_table("preview")
    with op.batch_alter_table("credential_grant", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_credential_grant_target"))

    op.drop_table("credential_grant")
    op.drop_table("vault")
    op.drop_table("mcp_tool")
    op.drop_table("credential")
