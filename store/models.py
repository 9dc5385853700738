"""The tables.

Instants are aware UTC (`UTCDateTime` through SQLModel's plain `datetime`); enums are strings checked by
`store.states`; definitions and payloads are JSON as TEXT, because JSONB refuses some strings and reorders
keys. Ids are a type prefix and a ULID, so ordering by id is ordering by creation.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Text, text
from sqlmodel import Field, SQLModel

# Names every constraint the same way on both databases; without it SQLite's have no name and cannot be dropped.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
# Rows are read and written as plain tuples: pydantic need not prepare to validate them at every start.
SQLModel.model_config["defer_build"] = True


def _text(*, nullable: bool = False) -> Column[str]:
    return Column(Text, nullable=nullable)


def _partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index over some rows; PostgreSQL is told by `complete_for_postgresql`."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where), info={"where": where})


def complete_for_postgresql() -> None:
    """Tells PostgreSQL, too, which rows partial indexes are over; for whoever makes or compares tables there.

    Not where they are declared: naming the dialect there imports it, a fiftieth of the time of every start.
    """
    for table in SQLModel.metadata.sorted_tables:
        for index in table.indexes:
            if "where" in index.info:
                index.dialect_options["postgresql"]["where"] = text(index.info["where"])


class CallerRow(SQLModel, table=True):
    """A person, agent or script; all tokens and logins of one subject are one caller."""

    __tablename__ = "caller"

    id: str = Field(primary_key=True)
    subject: str = Field(unique=True)
    name: str
    created_at: datetime
    last_seen_at: datetime | None = None


class CallerSlotRow(SQLModel, table=True):
    """One row a caller, locked first by every claim so that the caller's limit is counted without a race."""

    __tablename__ = "caller_slot"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")


class TokenRow(SQLModel, table=True):
    """A bearer token, browser login, one-time login link or an agent's token; only its SHA-256 is kept."""

    __tablename__ = "token"

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id", ondelete="CASCADE", index=True)
    kind: str  # token | browser | login_link | agent
    name: str
    beginning: str
    hash: str = Field(unique=True)
    scopes: str = Field(sa_column=_text())  # JSON list of store.states.Scope; an agent's also `tool:<name>`
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


class PipelineRow(SQLModel, table=True):
    """A stored pipeline; its definition lies in the numbered versions."""

    __tablename__ = "pipeline"
    __table_args__ = (
        # A user's key is unique among what is not deleted; a starter may carry the same key and stays reachable by id.
        _partial(
            "uq_pipeline_user_key",
            "key",
            where="deleted_at IS NULL AND NOT builtin",
            unique=True,
        ),
        Index("ix_pipeline_updated", "updated_at", "id"),
    )

    id: str = Field(primary_key=True)
    key: str = Field(index=True)
    name: str
    description: str = Field(sa_column=_text())
    builtin: bool
    aliases: str = Field(default="[]", sa_column=_text())  # JSON list of keys
    owner_id: str | None = Field(default=None, foreign_key="caller.id", index=True)
    current_number: int
    metadata_json: str = Field(sa_column=_text())
    search_text: str = Field(sa_column=_text())  # lower-case words of key, name, description and metadata
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None


class PipelineVersionRow(SQLModel, table=True):
    """A pipeline's definition at one save; never changes."""

    __tablename__ = "pipeline_version"
    __table_args__ = (Index("uq_pipeline_version_number", "pipeline_id", "number", unique=True),)

    id: str = Field(primary_key=True)
    pipeline_id: str = Field(foreign_key="pipeline.id", ondelete="CASCADE")
    number: int
    digest: str  # SHA-256 of the canonical definition
    document: str = Field(sa_column=_text())  # JSON, keys in their author's order
    yaml: str = Field(sa_column=_text())
    input_schema: str = Field(sa_column=_text())  # JSON Schema, declared or derived
    note: str | None = Field(default=None, sa_column=_text(nullable=True))
    created_by: str | None = Field(default=None, foreign_key="caller.id")
    created_at: datetime


class RunRow(SQLModel, table=True):
    """One execution of a pipeline version or of a single pack.

    `epoch` fences every write of a worker; `lease_until` says how long it may be trusted; `next_seq` numbers events.
    """

    __tablename__ = "run"
    __table_args__ = (
        CheckConstraint(
            "(state IN ('succeeded', 'failed', 'cancelled')) = (ended_at IS NOT NULL)", name="ended_when_final"
        ),
        CheckConstraint("(pipeline_id IS NULL) <> (pack IS NULL)", name="pipeline_or_pack"),
        # Single flight (CONTRACT 2.4): one run under way for one caller, version and inputs.
        Index("uq_run_flight", "flight", unique=True),
        Index("uq_run_idempotency", "caller_id", "idempotency_key", unique=True),
        Index("ix_run_caller", "caller_id", "id"),
        Index("ix_run_pipeline", "pipeline_id", "id"),
        Index("ix_run_state", "state", "id"),
        Index("ix_run_rerun_of", "rerun_of"),
        # The queue and the rescue look only at runs that are not final: a partial index stays small whatever history.
        _partial(
            "ix_run_active",
            "caller_id",
            "state",
            where="ended_at IS NULL",
        ),
        # What memory has not taken up yet: next to nothing, whatever history.
        _partial(
            "ix_run_memory_due",
            "id",
            where="memory_due",
        ),
    )

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id")
    pipeline_id: str | None = Field(default=None, foreign_key="pipeline.id")
    version_id: str | None = Field(default=None, foreign_key="pipeline_version.id", index=True)
    pack: str | None = None  # the pack's name, for a single pack call
    document: str | None = Field(default=None, sa_column=_text(nullable=True))  # the one-step definition of a pack call
    title: str
    state: str
    cause: str
    client_name: str | None = None
    rerun_of: str | None = None  # may dangle
    inputs: str = Field(sa_column=_text())  # canonical JSON as given, redacted only where shown
    inputs_digest: str
    force: bool = False
    flight: str | None = None  # single-flight key while the run may coalesce, else NULL
    idempotency_key: str | None = None
    request_digest: str | None = None  # of the whole start, to tell a repeat from a clash
    failure: str | None = Field(default=None, sa_column=_text(nullable=True))
    cancel_requested: bool = False
    cancel_reason: str | None = Field(default=None, sa_column=_text(nullable=True))
    priority: int = 0  # higher first; rescue uses 10
    not_before: datetime | None = None  # of the stored retry wait
    idle_since: datetime | None = None  # since when nobody holds the run; that time does not count for the deadline
    deadline_seconds: float
    deadline_at: datetime | None = None
    owner: str | None = None  # the worker process that holds it
    epoch: int = 0
    lease_until: datetime | None = None
    next_seq: int = 1
    lost_in_row: int = 0  # consecutive attempts of one step lost with their process
    resume_count: int = 0
    progress: float = 0.0
    acknowledged_at: datetime | None = None
    search_text: str = Field(default="", sa_column=_text())  # lower-case title, inputs and failure message
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    memory_due: bool | None = None  # whether memory has yet to take up how it ended
    memory_epoch: int | None = None  # attempts of later epochs are new to memory; NULL before it first ended
    from_memory: str | None = Field(default=None, sa_column=_text(nullable=True))  # JSON list of learned fields


class RunStepRow(SQLModel, table=True):
    """A step as it fares in one run; output and failure are its attempt's."""

    __tablename__ = "run_step"
    __table_args__ = (
        Index("uq_run_step_position", "run_id", "position", unique=True),
        Index("uq_run_step_key", "run_id", "key", unique=True),
    )

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE")
    position: int  # from 1
    key: str
    pack: str | None = None
    pack_version: str | None = None  # resolved at start and kept for the run
    state: str
    attempt_id: str | None = None  # the attempt that counts
    attempts: int = 0
    stretch_attempts: int = 0  # since the start or the last resume; what the retry policy counts
    session_id: str | None = None  # the session it left
    input_override: str | None = Field(default=None, sa_column=_text(nullable=True))  # given at a resume
    warnings: str = Field(default="[]", sa_column=_text())
    milestones: str = Field(default="[]", sa_column=_text())  # the last 100
    progress: float | None = None
    wait_until: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


class AttemptRow(SQLModel, table=True):
    """One try of one step; a row is settled once and never overwritten."""

    __tablename__ = "attempt"
    __table_args__ = (
        # Attempts are found by their step; a run's by way of its steps, and with them they go.
        Index("uq_attempt_number", "step_id", "number", unique=True),
        # What another run reuses is kept as long as that run.
        _partial(
            "ix_attempt_reuses",
            "run_id",
            "reused_from",
            where="reused_from IS NOT NULL",
        ),
        _partial(
            "ix_attempt_reused_from",
            "reused_from",
            where="reused_from IS NOT NULL",
        ),
        # Sums of what models were paid for read this alone: behind the payloads of a row they are costly to find.
        _partial(
            "ix_attempt_spent",
            "run_id",
            "step_id",
            "input_tokens",
            "output_tokens",
            "cost_micros",
            where="models IS NOT NULL",
        ),
    )

    id: str = Field(primary_key=True)
    run_id: str  # its step's; no key of its own, which would need an index of every attempt
    step_id: str = Field(foreign_key="run_step.id", ondelete="CASCADE")
    number: int
    epoch: int
    state: str
    input: str | None = Field(default=None, sa_column=_text(nullable=True))  # resolved, redacted
    idempotency_key: str
    output: str | None = Field(default=None, sa_column=_text(nullable=True))  # redacted once, at settle
    pack_version: str | None = None
    failure: str | None = Field(default=None, sa_column=_text(nullable=True))
    session_used: str | None = None  # the session threaded into it
    reused_from: str | None = None  # attempt of another run whose output this one repeats
    notes: str = Field(default="[]", sa_column=_text())  # such as "runs on 1.3.0 instead of 1.2.0"
    started_at: datetime
    ended_at: datetime | None = None
    # What models were paid for; NULL while nothing was, or when a model did not tell.
    input_tokens: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    output_tokens: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    cost_micros: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))  # 10^-6 US dollars
    models: str | None = Field(default=None, sa_column=_text(nullable=True))  # JSON: each answered call
    # Of agent steps: how far the process was kept apart, and where a replayed result came from (JSON).
    isolation: str | None = None
    receipt: str | None = Field(default=None, sa_column=_text(nullable=True))


class JoinedKeyRow(SQLModel, table=True):
    """An idempotency key of a start that joined a run under way; the key of the start that made it is in `run`."""

    __tablename__ = "joined_key"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    idempotency_key: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", index=True)
    request_digest: str
    created_at: datetime


class LogLineRow(SQLModel, table=True):
    """A line a pack or a process logged; capped per attempt, never a run event."""

    __tablename__ = "log_line"

    attempt_id: str = Field(primary_key=True, foreign_key="attempt.id", ondelete="CASCADE")
    sequence: int = Field(primary_key=True)
    at: datetime
    level: str
    text: str = Field(sa_column=_text())


class TranscriptRow(SQLModel, table=True):
    """A chunk of an agent's transcript: entries as JSON lines, redacted; a hole in the sequence was left out."""

    __tablename__ = "transcript"

    attempt_id: str = Field(primary_key=True, foreign_key="attempt.id", ondelete="CASCADE")
    first: int = Field(primary_key=True)  # sequence of its first entry, from 1 within the attempt
    last: int
    is_tail: bool  # may be dropped for later ones
    size_bytes: int
    lines: str = Field(sa_column=_text())


class CachedResultRow(SQLModel, table=True):
    """A result of an agent step that may be replayed."""

    __tablename__ = "cached_result"
    __table_args__ = (Index("uq_cached_result_key", "caller_id", "key", unique=True),)

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id", ondelete="CASCADE")
    key: str  # SHA-256 over what decides the result
    attempt_id: str  # that made it; may dangle
    output: str = Field(sa_column=_text())
    made_at: datetime
    expires_at: datetime = Field(index=True)


class CachedFileRow(SQLModel, table=True):
    """An artifact of such a result; keeps its content from being pruned."""

    __tablename__ = "cached_file"

    result_id: str = Field(primary_key=True, foreign_key="cached_result.id", ondelete="CASCADE")
    position: int = Field(primary_key=True)
    name: str
    media_type: str
    digest: str = Field(index=True)
    size_bytes: int = Field(sa_column=Column(BigInteger, nullable=False))


class RunEventRow(SQLModel, table=True):
    """Something that happened in a run, written in the transaction of the change; sequences have no gaps."""

    __tablename__ = "run_event"

    run_id: str = Field(primary_key=True, foreign_key="run.id", ondelete="CASCADE")
    sequence: int = Field(primary_key=True)
    at: datetime
    type: str
    step_id: str | None = None
    attempt_id: str | None = None
    artifact_id: str | None = None
    before: str | None = None
    after: str | None = None
    reason: str | None = Field(default=None, sa_column=_text(nullable=True))
    data: str | None = Field(default=None, sa_column=_text(nullable=True))  # JSON; a milestone for progress


class BlobRow(SQLModel, table=True):
    """A stored content; the bytes lie in the blob folder under its digest."""

    __tablename__ = "blob"

    digest: str = Field(primary_key=True)
    size_bytes: int = Field(sa_column=Column(BigInteger, nullable=False))
    created_at: datetime


class PreviewRow(SQLModel, table=True):
    """What a content looks like at a glance; one for all artifacts that share it."""

    __tablename__ = "preview"

    digest: str = Field(primary_key=True, foreign_key="blob.digest", ondelete="CASCADE")  # of the content shown
    kind: str  # page | picture | frame | waveform | text | none
    image_digest: str | None = Field(default=None, index=True)  # blob of the picture to show
    image_type: str | None = None
    facts: str = Field(default="{}", sa_column=_text())  # JSON: pages, width, height, seconds, peaks
    created_at: datetime


class ArtifactRow(SQLModel, table=True):
    """A file with a name, of one attempt."""

    __tablename__ = "artifact"
    __table_args__ = (
        Index("ix_artifact_caller", "caller_id", "id"),
        Index("ix_artifact_digest", "digest"),
        Index("ix_artifact_expires_at", "expires_at"),
    )

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id")
    run_id: str | None = Field(default=None, index=True)  # no key: a pinned artifact outlives its run
    step_id: str | None = None
    attempt_id: str | None = Field(default=None, index=True)
    name: str
    media_type: str
    size_bytes: int = Field(sa_column=Column(BigInteger, nullable=False))
    digest: str
    status: str
    pinned: bool = False
    created_at: datetime
    expires_at: datetime | None = None
    erased_at: datetime | None = None
    verified_by: str | None = None  # the step that read a proposed artifact and succeeded


class SessionRow(SQLModel, table=True):
    """A workspace a step left for later ones; it belongs to one machine."""

    __tablename__ = "session"

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", index=True)
    step_id: str
    machine: str  # elsewhere the session counts as missing
    created_at: datetime
    last_used_at: datetime
    ended_at: datetime | None = None


class CacheEntryRow(SQLModel, table=True):
    """A value a pack cached for one caller."""

    __tablename__ = "cache_entry"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    pack: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    value: str = Field(sa_column=_text())
    created_at: datetime
    expires_at: datetime = Field(index=True)


class VaultRow(SQLModel, table=True):
    """A known text sealed with the vault key; tells a wrong key from a right one. One row."""

    __tablename__ = "vault"

    id: str = Field(primary_key=True)
    sealed: str = Field(sa_column=_text())
    created_at: datetime


class CredentialRow(SQLModel, table=True):
    """A credential; its fields are sealed with AES-256-GCM and bound to its key."""

    __tablename__ = "credential"

    id: str = Field(primary_key=True)
    key: str = Field(unique=True)
    kind: str
    description: str | None = Field(default=None, sa_column=_text(nullable=True))
    sealed: str = Field(sa_column=_text())  # base64 of nonce and ciphertext of the fields' JSON
    fields_set: str = Field(sa_column=_text())  # JSON list of field names
    fingerprint: str  # beginning of a keyed hash over the fields
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    tested_at: datetime | None = None
    test_accepted: bool | None = None
    test_message: str | None = Field(default=None, sa_column=_text(nullable=True))


class CredentialGrantRow(SQLModel, table=True):
    """Somebody a credential is shared with: a pack's name, a pipeline's id or a caller's id."""

    __tablename__ = "credential_grant"

    credential_id: str = Field(primary_key=True, foreign_key="credential.id", ondelete="CASCADE")
    target: str = Field(primary_key=True, index=True)


class McpToolRow(SQLModel, table=True):
    """A tool of a mounted MCP server as it was accepted, and as it is offered when that differs."""

    __tablename__ = "mcp_tool"

    server: str = Field(primary_key=True)
    tool: str = Field(primary_key=True)
    revision: int = 0  # how often it was accepted
    accepted_digest: str | None = None  # SHA-256 over name, description and schemas; NULL before the first acceptance
    accepted: str | None = Field(default=None, sa_column=_text(nullable=True))  # JSON
    accepted_at: datetime | None = None
    accepted_by: str | None = None
    offered_digest: str | None = None  # NULL when the server no longer has it
    offered: str | None = Field(default=None, sa_column=_text(nullable=True))  # JSON
    changed_at: datetime | None = None  # when a difference was noticed; NULL while there is none


class MemoryEntryRow(SQLModel, table=True):
    """One pack call, step or run as it ended; what was learned from it is sealed with the vault key.

    Who, what, when and how it ended lie open, as they do in the history of runs, so that forgetting needs no key.
    """

    __tablename__ = "memory_entry"
    __table_args__ = (
        # A resume replaces the row of what it does again.
        Index("uq_memory_entry_outcome", "run_id", "step_id", unique=True),
        Index("ix_memory_entry_caller", "caller_id", "at", "id"),
        Index("ix_memory_entry_revision", "caller_id", "revision"),
    )

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id", ondelete="CASCADE")
    kind: str  # pack | pipeline
    target: str  # the pack's name or the pipeline's id
    run_id: str  # may dangle
    step_id: str  # empty for a run, and for a pack called by itself
    at: datetime
    outcome: str
    failure_code: str | None = None
    duration_seconds: float
    sealed: str | None = Field(default=None, sa_column=_text(nullable=True))  # learned values; NULL when there are none
    revision: int = Field(sa_column=Column(BigInteger, nullable=False))  # of its caller's memory when it was written
    expires_at: datetime = Field(index=True)


class MemoryStateRow(SQLModel, table=True):
    """How far a caller's memory has come, so that what is made from it can be kept and brought up to date."""

    __tablename__ = "memory_state"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    revision: int = Field(sa_column=Column(BigInteger, nullable=False))  # counts changes
    removed: int = Field(sa_column=Column(BigInteger, nullable=False))  # the last one that took rows away
    paused_at: datetime | None = None  # since when nothing is learned
    # What was counted up to the revision `counted`, sealed; both NULL when nothing was, or rows went away since.
    counted: int | None = Field(default=None, sa_column=Column(BigInteger, nullable=True))
    counts: str | None = Field(default=None, sa_column=_text(nullable=True))


class DefaultOverrideRow(SQLModel, table=True):
    """A default that its caller pinned or excluded."""

    __tablename__ = "default_override"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    kind: str = Field(primary_key=True)  # pack | pipeline
    target: str = Field(primary_key=True)
    field: str = Field(primary_key=True)
    rule: str  # pinned | excluded
    sealed: str | None = Field(default=None, sa_column=_text(nullable=True))  # the value; NULL when excluded
    updated_at: datetime


class GapProposalRow(SQLModel, table=True):
    """A capability that was missing, kept to be built."""

    __tablename__ = "gap_proposal"

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id", index=True)  # who kept it
    user_intent: str = Field(sa_column=_text())  # the request nothing served
    gap: str = Field(sa_column=_text())  # JSON: missing_capability, proposed_pack
    created_at: datetime


class AuditRow(SQLModel, table=True):
    """Something somebody did; append-only, kept 365 days."""

    __tablename__ = "audit"
    __table_args__ = (Index("ix_audit_actor", "actor_id", "id"),)

    id: str = Field(primary_key=True)
    at: datetime = Field(index=True)
    actor_id: str | None = None  # NULL before anybody is known, such as a refused sign-in
    on_behalf_of: str | None = None
    action: str = Field(index=True)
    accepted: bool
    target_id: str | None = None
    detail: str | None = Field(default=None, sa_column=_text(nullable=True))
