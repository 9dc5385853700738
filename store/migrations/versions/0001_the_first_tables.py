"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_id", sa.String(), nullable=True),
        sa.Column("on_behalf_of", sa.String(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("accepted", sa.Boolean(), nullable=False),
        sa.Column("target_id", sa.String(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_action"), ["action"], unique=False)
        batch_op.create_index("ix_audit_actor", ["actor_id", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_at"), ["at"], unique=False)

    op.create_table(
        "blob",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_blob")),
    )
    op.create_table(
        "caller",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_caller")),
        sa.UniqueConstraint("subject", name=op.f("uq_caller_subject")),
    )
    op.create_table(
        "artifact",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("step_id", sa.String(), nullable=True),
        sa.Column("attempt_id", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["caller_id"], ["caller.id"], name=op.f("fk_artifact_caller_id_caller")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artifact")),
    )
    with op.batch_alter_table("artifact", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_artifact_attempt_id"), ["attempt_id"], unique=False)
        batch_op.create_index("ix_artifact_caller", ["caller_id", "id"], unique=False)
        batch_op.create_index("ix_artifact_digest", ["digest"], unique=False)
        batch_op.create_index("ix_artifact_expires_at", ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_artifact_run_id"), ["run_id"], unique=False)

    op.create_table(
        "cache_entry",
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("pack", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_cache_entry_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("caller_id", "pack", "key", name=op.f("pk_cache_entry")),
    )
    with op.batch_alter_table("cache_entry", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_cache_entry_expires_at"), ["expires_at"], unique=False)

    op.create_table(
        "caller_slot",
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_caller_slot_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("caller_id", name=op.f("pk_caller_slot")),
    )
    op.create_table(
        "pipeline",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("builtin", sa.Boolean(), nullable=False),
        sa.Column("aliases", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=True),
        sa.Column("current_number", sa.Integer(), nullable=False),
        sa.Column("metadata_json", sa.Text(), nullable=False),
        sa.Column("search_text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["caller.id"], name=op.f("fk_pipeline_owner_id_caller")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline")),
    )
    with op.batch_alter_table("pipeline", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pipeline_key"), ["key"], unique=False)
        batch_op.create_index(batch_op.f("ix_pipeline_owner_id"), ["owner_id"], unique=False)
        batch_op.create_index("ix_pipeline_updated", ["updated_at", "id"], unique=False)
        batch_op.create_index(
            "uq_pipeline_user_key",
            ["key"],
            unique=True,
            sqlite_where=sa.text("deleted_at IS NULL AND NOT builtin"),
            postgresql_where=sa.text("deleted_at IS NULL AND NOT builtin"),
        )

    op.create_table(
        "token",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("beginning", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["caller_id"], ["caller.id"], name=op.f("fk_token_caller_id_caller"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("hash", name=op.f("uq_token_hash")),
    )
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_token_caller_id"), ["caller_id"], unique=False)

    op.create_table(
        "pipeline_version",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("pipeline_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("yaml", sa.Text(), nullable=False),
        sa.Column("input_schema", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("created_by", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["caller.id"], name=op.f("fk_pipeline_version_created_by_caller")),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipeline.id"], name=op.f("fk_pipeline_version_pipeline_id_pipeline"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline_version")),
    )
    with op.batch_alter_table("pipeline_version", schema=None) as batch_op:
        batch_op.create_index("uq_pipeline_version_number", ["pipeline_id", "number"], unique=True)

    op.create_table(
        "run",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("caller_id", sa.String(), nullable=False),
        sa.Column("pipeline_id", sa.String(), nullable=True),
        sa.Column("version_id", sa.String(), nullable=True),
        sa.Column("pack", sa.String(), nullable=True),
        sa.Column("document", sa.Text(), nullable=True),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("client_name", sa.String(), nullable=True),
        sa.Column("rerun_of", sa.String(), nullable=True),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("inputs_digest", sa.String(), nullable=False),
        sa.Column("force", sa.Boolean(), nullable=False),
        sa.Column("flight", sa.String(), nullable=True),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("request_digest", sa.String(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("cancel_reason", sa.Text(), nullable=True),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("idle_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deadline_seconds", sa.Float(), nullable=False),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_seq", sa.Integer(), nullable=False),
        sa.Column("lost_in_row", sa.Integer(), nullable=False),
        sa.Column("resume_count", sa.Integer(), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("acknowledged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("search_text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(state IN ('succeeded', 'failed', 'cancelled')) = (ended_at IS NOT NULL)",
            name=op.f("ck_run_ended_when_final"),
        ),
        sa.CheckConstraint("(pipeline_id IS NULL) <> (pack IS NULL)", name=op.f("ck_run_pipeline_or_pack")),
        sa.ForeignKeyConstraint(["caller_id"], ["caller.id"], name=op.f("fk_run_caller_id_caller")),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipeline.id"], name=op.f("fk_run_pipeline_id_pipeline")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["pipeline_version.id"], name=op.f("fk_run_version_id_pipeline_version")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
    )
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.create_index(
            "ix_run_active",
            ["caller_id", "state"],
            unique=False,
            sqlite_where=sa.text("ended_at IS NULL"),
            postgresql_where=sa.text("ended_at IS NULL"),
        )
        batch_op.create_index("ix_run_caller", ["caller_id", "id"], unique=False)
        batch_op.create_index("ix_run_pipeline", ["pipeline_id", "id"], unique=False)
        batch_op.create_index("ix_run_rerun_of", ["rerun_of"], unique=False)
        batch_op.create_index("ix_run_state", ["state", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_run_version_id"), ["version_id"], unique=False)
        batch_op.create_index("uq_run_flight", ["flight"], unique=True)
        batch_op.create_index("uq_run_idempotency", ["caller_id", "idempotency_key"], unique=True)

    op.create_table(
        "run_event",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("step_id", sa.String(), nullable=True),
        sa.Column("attempt_id", sa.String(), nullable=True),
        sa.Column("artifact_id", sa.String(), nullable=True),
        sa.Column("before", sa.String(), nullable=True),
        sa.Column("after", sa.String(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("data", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_event_run_id_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "sequence", name=op.f("pk_run_event")),
    )
    op.create_table(
        "run_step",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("pack", sa.String(), nullable=True),
        sa.Column("pack_version", sa.String(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempt_id", sa.String(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("stretch_attempts", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=True),
        sa.Column("input_override", sa.Text(), nullable=True),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("milestones", sa.Text(), nullable=False),
        sa.Column("progress", sa.Float(), nullable=True),
        sa.Column("wait_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_step_run_id_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_step")),
    )
    with op.batch_alter_table("run_step", schema=None) as batch_op:
        batch_op.create_index("uq_run_step_key", ["run_id", "key"], unique=True)
        batch_op.create_index("uq_run_step_position", ["run_id", "position"], unique=True)

    op.create_table(
        "session",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("step_id", sa.String(), nullable=False),
        sa.Column("machine", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_session_run_id_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
    )
    with op.batch_alter_table("session", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_session_run_id"), ["run_id"], unique=False)

    op.create_table(
        "attempt",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("step_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("input", sa.Text(), nullable=True),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("output", sa.Text(), nullable=True),
        sa.Column("pack_version", sa.String(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("session_used", sa.String(), nullable=True),
        sa.Column("reused_from", sa.String(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_attempt_run_id_run"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["step_id"], ["run_step.id"], name=op.f("fk_attempt_step_id_run_step"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
    )
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.create_index(
            "ix_attempt_reused_from",
            ["reused_from"],
            unique=False,
            sqlite_where=sa.text("reused_from IS NOT NULL"),
            postgresql_where=sa.text("reused_from IS NOT NULL"),
        )
        batch_op.create_index("ix_attempt_run", ["run_id"], unique=False)
        batch_op.create_index("uq_attempt_number", ["step_id", "number"], unique=True)

    op.create_table(
        "log_line",
        sa.Column("attempt_id", sa.String(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_log_line_attempt_id_attempt"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("attempt_id", "sequence", name=op.f("pk_log_line")),
    )


def downgrade() -> None:
    op.drop_table("log_line")
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.drop_index("uq_attempt_number")
        batch_op.drop_index("ix_attempt_run")
        batch_op.drop_index(
            "ix_attempt_reused_from",
            sqlite_where=sa.text("reused_from IS NOT NULL"),
            postgresql_where=sa.text("reused_from IS NOT NULL"),
        )

    op.drop_table("attempt")
    with op.batch_alter_table("session", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_session_run_id"))

    op.drop_table("session")
    with op.batch_alter_table("run_step", schema=None) as batch_op:
        batch_op.drop_index("uq_run_step_position")
        batch_op.drop_index("uq_run_step_key")

    op.drop_table("run_step")
    op.drop_table("run_event")
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.drop_index("uq_run_idempotency")
        batch_op.drop_index("uq_run_flight")
        batch_op.drop_index(batch_op.f("ix_run_version_id"))
        batch_op.drop_index("ix_run_state")
        batch_op.drop_index("ix_run_rerun_of")
        batch_op.drop_index("ix_run_pipeline")
        batch_op.drop_index("ix_run_caller")
        batch_op.drop_index(
            "ix_run_active", sqlite_where=sa.text("ended_at IS NULL"), postgresql_where=sa.text("ended_at IS NULL")
        )

    op.drop_table("run")
    with op.batch_alter_table("pipeline_version", schema=None) as batch_op:
        batch_op.drop_index("uq_pipeline_version_number")

    op.drop_table("pipeline_version")
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_token_caller_id"))

    op.drop_table("token")
    with op.batch_alter_table("pipeline", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_pipeline_user_key",
            sqlite_where=sa.text("deleted_at IS NULL AND NOT builtin"),
            postgresql_where=sa.text("deleted_at IS NULL AND NOT builtin"),
        )
        batch_op.drop_index("ix_pipeline_updated")
        batch_op.drop_index(batch_op.f("ix_pipeline_owner_id"))
        batch_op.drop_index(batch_op.f("ix_pipeline_key"))

    op.drop_table("pipeline")
    op.drop_table("caller_slot")
    with op.batch_alter_table("cache_entry", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_cache_entry_expires_at"))

    op.drop_table("cache_entry")
    with op.batch_alter_table("artifact", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_artifact_run_id"))
        batch_op.drop_index("ix_artifact_expires_at")
        batch_op.drop_index("ix_artifact_digest")
        batch_op.drop_index("ix_artifact_caller")
        batch_op.drop_index(batch_op.f("ix_artifact_attempt_id"))

    op.drop_table("artifact")
    op.drop_table("caller")
    op.drop_table("blob")
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_at"))
        batch_op.drop_index("ix_audit_actor")
        batch_op.drop_index(batch_op.f("ix_audit_action"))

    op.drop_table("audit")
