"""Runs, their steps, attempts, events and idempotency keys."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, Index, Text, text
from sqlmodel import Field, SQLModel

from store.models.declaring import partial_index, table_of


class RunRow(SQLModel, table=True):
    """One execution of a pipeline version or of a single pack.

    `epoch` fences every write of a worker, `lease_until` is when its lease ends, `next_seq` numbers events.
    """

    __tablename__ = "run"
    __table_args__ = (
        CheckConstraint(
            "(state IN ('succeeded', 'failed', 'cancelled')) = (ended_at IS NOT NULL)", name="ended_when_final"
        ),
        CheckConstraint("(pipeline_id IS NULL) <> (pack IS NULL)", name="pipeline_or_pack"),
        # Single flight (guarantee P6): at most one active run per caller, version and inputs.
        Index("uq_run_flight", "flight", unique=True),
        Index("uq_run_idempotency", "caller_id", "idempotency_key", unique=True),
        Index("ix_run_caller", "caller_id", "id"),
        Index("ix_run_pipeline", "pipeline_id", "id"),
        Index("ix_run_state", "state", "id"),
        Index("ix_run_rerun_of", "rerun_of"),
        # Queue and rescue read only runs that are not final: a partial index stays small as history grows.
        partial_index(
            "ix_run_active",
            "caller_id",
            "state",
            where="ended_at IS NULL",
        ),
        # What admission counts and dispatchers look for: at most the limit of each caller.
        partial_index(
            "ix_run_admitted",
            "caller_id",
            where="admitted",
        ),
        # The next to admit, however long the queue.
        partial_index(
            "ix_run_queue",
            "caller_id",
            "priority",
            "id",
            where="state = 'queued' AND NOT admitted",
        ),
        # Runs of pipelines that limit themselves.
        partial_index(
            "ix_run_concurrency",
            "concurrency_key",
            "admitted",
            where="concurrency_key IS NOT NULL AND ended_at IS NULL",
        ),
        # Runs of a trigger, and those of them that have not ended.
        partial_index(
            "ix_run_trigger",
            "trigger_id",
            "ended_at",
            where="trigger_id IS NOT NULL",
        ),
        # What triggers started when a run ended.
        partial_index(
            "ix_run_ended_run",
            "ended_run_id",
            where="ended_run_id IS NOT NULL",
        ),
        # Runs that wait for a retry or their start, the soonest first.
        partial_index(
            "ix_run_not_before",
            "not_before",
            where="not_before IS NOT NULL",
        ),
        # Runs that memory has not recorded yet: few, however long the history.
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
    request_digest: str | None = None  # of the whole request; differs when a key is reused for another
    failure: str | None = Field(default=None, sa_type=Text)
    cancel_requested: bool = False
    cancel_reason: str | None = Field(default=None, sa_type=Text)
    priority: int = 0  # lower first; what was under way before, and a resume, have -10
    not_before: datetime | None = None  # when the stored wait for a retry or for `start_at` ends
    idle_since: datetime | None = (
        None  # since when no worker holds the run; that time does not count towards the deadline
    )
    deadline_seconds: float
    deadline_at: datetime | None = None
    owner: str | None = None  # the worker process that holds it
    epoch: int = 0
    lease_until: datetime | None = None
    next_seq: int = 1
    lost_in_row: int = 0  # times in a row that its process was lost with an attempt, or while starting one
    resume_count: int = 0
    progress: float = 0.0
    acknowledged_at: datetime | None = None
    search_text: str = Field(default="", sa_type=Text)  # lower-case words of title, inputs and failure message
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    memory_due: bool | None = None  # whether memory has yet to record how it ended
    memory_epoch: int | None = None  # attempts of later epochs are new to memory; NULL before it first ended
    from_memory: str | None = Field(default=None, sa_type=Text)  # JSON list of learned fields
    start_at: datetime | None = None  # before which it was not to start
    concurrency_key: str | None = None  # digest of which runs of the pipeline count together
    concurrency_limit: int | None = None  # how many of those are admitted at a time
    admitted: bool = False  # whether it takes a slot of its caller: workers are offered these only
    last_owner: str | None = None  # the worker that claimed it last, which may have released it
    # What the step in progress, or else the next one, needs of a worker: see `store.runs.needs`.
    needs: str = Field(default="", sa_type=Text, sa_column_kwargs={"server_default": text("''")})
    trigger_id: str | None = None  # may dangle: triggers are deleted
    after_run_id: str | None = None  # the caller's run that has to end before this one begins
    ended_run_id: str | None = None  # the run whose end a trigger started this one for; may dangle
    # Number of runs whose end led to this one, through triggers; a re-run has that of the earlier run.
    chain_depth: int = Field(default=0, sa_column_kwargs={"server_default": text("0")})
    trace: str | None = Field(default=None, sa_type=Text)  # JSON of the W3C trace context that its spans belong to


class RunSpendingRow(SQLModel, table=True):
    """What models cost a run so far, counted with each answered call."""

    __tablename__ = "run_spending"

    run_id: str = Field(primary_key=True, foreign_key="run.id", ondelete="CASCADE")
    tokens: int = Field(sa_type=BigInteger)  # read and written, as far as reported
    cost_micros: int = Field(sa_type=BigInteger)  # 10^-6 US dollars, as far as known


class RunEndRow(SQLModel, table=True):
    """An end of a run that triggers have yet to fire for, written in the transaction that ends the run.

    A run that is resumed at once keeps this end, as well as the next one.
    """

    __tablename__ = "run_end"

    run_id: str = Field(primary_key=True, foreign_key="run.id", ondelete="CASCADE")
    resume_count: int = Field(primary_key=True)  # of the run when it ended
    state: str
    failure: str | None = Field(default=None, sa_type=Text)
    ended_at: datetime


class AdmissionRow(SQLModel, table=True):
    """What limits admission; one row, written at start-up."""

    __tablename__ = "admission"

    id: int = Field(primary_key=True)  # 1
    caller_limit: int  # admitted runs of each caller
    paused_at: datetime | None = None  # when an operator paused admission
    paused_by: str | None = None  # that operator's subject
    pause_reason: str | None = Field(default=None, sa_type=Text)


class RunStepRow(SQLModel, table=True):
    """A step of one run; its output and failure are those of its attempt."""

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
    pack_version: str | None = None  # resolved at the start, then fixed for the run
    state: str
    attempt_id: str | None = None  # the attempt that counts
    attempts: int = 0
    stretch_attempts: int = 0  # since the start or the last resume; the retry policy counts these
    session_id: str | None = None  # the session that the step left
    input_override: str | None = Field(default=None, sa_type=Text)  # given at a resume
    warnings: str = Field(default="[]", sa_type=Text)
    milestones: str = Field(default="[]", sa_type=Text)  # the last 100
    progress: float | None = None
    wait_until: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    retired_at: datetime | None = None  # when a resume switched to a definition without it; its attempts stay


class AttemptRow(SQLModel, table=True):
    """One attempt at a step; a row is settled once and never overwritten."""

    __tablename__ = "attempt"
    __table_args__ = (
        # Attempts are found by their step, a run's through its steps, and are deleted with them.
        Index("uq_attempt_number", "step_id", "number", unique=True),
        # An attempt that another run reuses is kept as long as that run.
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
        # Sums of model spending read this index alone: in a row these columns come after large payloads.
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
    run_id: str  # its step's; no foreign key, which would need an index over all attempts
    step_id: str = Field(foreign_key="run_step.id", ondelete="CASCADE")
    number: int
    epoch: int
    state: str
    input: str | None = Field(default=None, sa_type=Text)  # resolved, redacted
    idempotency_key: str
    output: str | None = Field(default=None, sa_type=Text)  # redacted once, at settle
    pack_version: str | None = None
    failure: str | None = Field(default=None, sa_type=Text)
    session_used: str | None = None  # the session that was passed to it
    reused_from: str | None = None  # the attempt of another run whose output this one repeats
    notes: str = Field(default="[]", sa_type=Text)  # such as "runs on 1.3.0 instead of 1.2.0"
    started_at: datetime
    ended_at: datetime | None = None
    # Model usage and cost; NULL when no model was called, or one did not report them.
    input_tokens: int | None = Field(default=None, sa_type=BigInteger)
    output_tokens: int | None = Field(default=None, sa_type=BigInteger)
    cost_micros: int | None = Field(default=None, sa_type=BigInteger)  # 10^-6 US dollars
    models: str | None = Field(default=None, sa_type=Text)  # JSON: each call that was answered
    # Of agent steps: the isolation of the process, and where a replayed result came from (JSON).
    isolation: str | None = None
    receipt: str | None = Field(default=None, sa_type=Text)


class JoinedKeyRow(SQLModel, table=True):
    """An idempotency key of a start that joined an active run; the key of the start that created it is in `run`."""

    __tablename__ = "joined_key"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    idempotency_key: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", index=True)
    request_digest: str
    created_at: datetime


class SpentKeyRow(SQLModel, table=True):
    """An idempotency key of a deleted run; kept for the rest of its day."""

    __tablename__ = "spent_key"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    idempotency_key: str = Field(primary_key=True)
    run_id: str
    created_at: datetime = Field(index=True)


class RunEventRow(SQLModel, table=True):
    """The events of one unit of work in a run, written in its transaction; sequences have no gaps.

    A row is the last event of its unit, the others are in `earlier`: unpack it with `store.runs.events.events_of`.
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


class A2ATaskRow(SQLModel, table=True):
    """An A2A task: its conversation and, until its run starts, what its caller was asked."""

    __tablename__ = "a2a_task"
    __table_args__ = (Index("ix_a2a_task_context", "caller_id", "context_id", "id"),)

    id: str = Field(primary_key=True)  # the id of its run, reserved while there is none
    caller_id: str = Field(foreign_key="caller.id", ondelete="CASCADE")
    context_id: str
    question: str | None = Field(default=None, sa_type=Text)  # JSON; null once the run has started
    created_at: datetime = Field(index=True)


class A2APushRow(SQLModel, table=True):
    """A push notification config of an A2A task; deleted once the end of its run was sent."""

    __tablename__ = "a2a_push"

    task_id: str = Field(primary_key=True)  # the id of its run, which may not have started
    config_id: str = Field(primary_key=True)  # the client's
    caller_id: str = Field(foreign_key="caller.id", ondelete="CASCADE", index=True)
    sealed: str = Field(sa_type=Text)  # JSON: URL, token, and scheme and credentials of its authentication
    protocol: str  # of A2A: 1.0 | 0.3
    sent_state: str | None = None  # the state of the run that was sent last
    failures: int  # in a row
    not_before: datetime | None = None  # a server sends now, or sending failed
    created_at: datetime


RUN = table_of(RunRow)
ADMISSION = table_of(AdmissionRow)
RUN_STEP = table_of(RunStepRow)
ATTEMPT = table_of(AttemptRow)
JOINED_KEY = table_of(JoinedKeyRow)
SPENT_KEY = table_of(SpentKeyRow)
RUN_EVENT = table_of(RunEventRow)
A2A_TASK = table_of(A2ATaskRow)
A2A_PUSH = table_of(A2APushRow)
