"""Runs, their steps and attempts, and what was recorded of them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, Index, Text
from sqlmodel import Field, SQLModel

from store.models.declaring import partial_index, table_of


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
        # Single flight (guarantee P6): one run under way for one caller, version and inputs.
        Index("uq_run_flight", "flight", unique=True),
        Index("uq_run_idempotency", "caller_id", "idempotency_key", unique=True),
        Index("ix_run_caller", "caller_id", "id"),
        Index("ix_run_pipeline", "pipeline_id", "id"),
        Index("ix_run_state", "state", "id"),
        Index("ix_run_rerun_of", "rerun_of"),
        # The queue and the rescue look only at runs that are not final: a partial index stays small whatever history.
        partial_index(
            "ix_run_active",
            "caller_id",
            "state",
            where="ended_at IS NULL",
        ),
        # What memory has not taken up yet: next to nothing, whatever history.
        partial_index(
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
    document: str | None = Field(default=None, sa_type=Text)  # one-step definition of a pack call
    title: str
    state: str
    cause: str
    client_name: str | None = None
    rerun_of: str | None = None  # may dangle
    inputs: str = Field(sa_type=Text)  # canonical JSON as given, redacted only where shown
    inputs_digest: str
    force: bool = False
    flight: str | None = None  # single-flight key while the run may coalesce, else NULL
    idempotency_key: str | None = None
    request_digest: str | None = None  # of the whole start, to tell a repeat from a clash
    failure: str | None = Field(default=None, sa_type=Text)
    cancel_requested: bool = False
    cancel_reason: str | None = Field(default=None, sa_type=Text)
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
    search_text: str = Field(default="", sa_type=Text)  # lower-case words of title, inputs and failure message
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    memory_due: bool | None = None  # whether memory has yet to take up how it ended
    memory_epoch: int | None = None  # attempts of later epochs are new to memory; NULL before it first ended
    from_memory: str | None = Field(default=None, sa_type=Text)  # JSON list of learned fields


class RunStepRow(SQLModel, table=True):
    """A step as it fares in one run; output and failure are its attempt's."""

    __tablename__ = "run_step"
    __table_args__ = (
        Index("ix_run_step_position", "run_id", "position"),
        partial_index("uq_run_step_key", "run_id", "key", where="retired_at IS NULL", unique=True),
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
    input_override: str | None = Field(default=None, sa_type=Text)  # given at a resume
    warnings: str = Field(default="[]", sa_type=Text)
    milestones: str = Field(default="[]", sa_type=Text)  # the last 100
    progress: float | None = None
    wait_until: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    retired_at: datetime | None = None  # when a resume switched to a definition without it; its attempts stay


class AttemptRow(SQLModel, table=True):
    """One try of one step; a row is settled once and never overwritten."""

    __tablename__ = "attempt"
    __table_args__ = (
        # Attempts are found by their step; a run's by way of its steps, and with them they go.
        Index("uq_attempt_number", "step_id", "number", unique=True),
        # What another run reuses is kept as long as that run.
        partial_index(
            "ix_attempt_reuses",
            "run_id",
            "reused_from",
            where="reused_from IS NOT NULL",
        ),
        partial_index(
            "ix_attempt_reused_from",
            "reused_from",
            where="reused_from IS NOT NULL",
        ),
        # Sums of what models were paid for read this alone: behind the payloads of a row they are costly to find.
        partial_index(
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
    input: str | None = Field(default=None, sa_type=Text)  # resolved, redacted
    idempotency_key: str
    output: str | None = Field(default=None, sa_type=Text)  # redacted once, at settle
    pack_version: str | None = None
    failure: str | None = Field(default=None, sa_type=Text)
    session_used: str | None = None  # the session threaded into it
    reused_from: str | None = None  # attempt of another run whose output this one repeats
    notes: str = Field(default="[]", sa_type=Text)  # such as "runs on 1.3.0 instead of 1.2.0"
    started_at: datetime
    ended_at: datetime | None = None
    # What models were paid for; NULL while nothing was, or when a model did not tell.
    input_tokens: int | None = Field(default=None, sa_type=BigInteger)
    output_tokens: int | None = Field(default=None, sa_type=BigInteger)
    cost_micros: int | None = Field(default=None, sa_type=BigInteger)  # 10^-6 US dollars
    models: str | None = Field(default=None, sa_type=Text)  # JSON: each answered call
    # Of agent steps: how far the process was kept apart, and where a replayed result came from (JSON).
    isolation: str | None = None
    receipt: str | None = Field(default=None, sa_type=Text)


class JoinedKeyRow(SQLModel, table=True):
    """An idempotency key of a start that joined a run under way; the key of the start that made it is in `run`."""

    __tablename__ = "joined_key"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    idempotency_key: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", index=True)
    request_digest: str
    created_at: datetime


class SpentKeyRow(SQLModel, table=True):
    """An idempotency key that led to a run which is gone; kept for its day."""

    __tablename__ = "spent_key"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    idempotency_key: str = Field(primary_key=True)
    run_id: str
    created_at: datetime = Field(index=True)


class RunEventRow(SQLModel, table=True):
    """What happened in a run in one unit of work, written in its transaction; sequences have no gaps.

    A row is the last event of its unit, with the ones before it in `earlier`: read it by `store.runs.events.events_of`.
    """

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
    reason: str | None = Field(default=None, sa_type=Text)
    data: str | None = Field(default=None, sa_type=Text)  # JSON; a milestone for progress
    # JSON list of the events numbered just before this one, oldest first, each as `store.runs.events.EVENT_COLUMNS`.
    earlier: str | None = Field(default=None, sa_type=Text)


RUN = table_of(RunRow)
RUN_STEP = table_of(RunStepRow)
ATTEMPT = table_of(AttemptRow)
JOINED_KEY = table_of(JoinedKeyRow)
SPENT_KEY = table_of(SpentKeyRow)
