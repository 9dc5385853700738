"""Arguments and results of the units of a run, and the errors they raise.

Those made for each step are named tuples: a frozen dataclass sets each field by a call, at 0.1 µs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from store.states import AttemptState, RunState, StepState


class LostLeaseError(Exception):
    """The run belongs to another worker, or is final: nothing was written, and the result must be dropped."""


class WrongStateError(Exception):
    """The run's state does not allow the command.

    Attributes:
        state: Its state; None when there is no such run.
    """

    def __init__(self, run_id: str, state: RunState | None) -> None:
        super().__init__(f"Run {run_id} is {state or 'unknown'}.")
        self.run_id = run_id
        self.state = state


class IdempotencyClashError(Exception):
    """The idempotency key belongs to a different request of the same caller."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"The idempotency key was used for another request, which started {run_id}.")
        self.run_id = run_id


class SpentKeyError(Exception):
    """The run of the idempotency key is deleted."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"The idempotency key was used for {run_id}, which is gone.")
        self.run_id = run_id


class QueueFullError(Exception):
    """The caller has reached its limit of waiting runs.

    Attributes:
        by_trigger: Whether it is the limit of those that the caller's triggers started.
    """

    def __init__(self, waiting: int, *, by_trigger: bool = False) -> None:
        super().__init__(f"{waiting} runs are waiting already.")
        self.waiting = waiting
        self.by_trigger = by_trigger


class NewStep(NamedTuple):
    """A step of a new run.

    Attributes:
        reused_attempt: Attempt of another run whose recorded output this step repeats; it starts out succeeded.
        reused_run: The run that attempt belongs to.
        input_override: JSON text of the input that replaces the resolved one; None for none.
    """

    key: str
    position: int
    pack: str
    pack_version: str
    reused_attempt: str | None = None
    reused_run: str | None = None
    input_override: str | None = None


@dataclass(frozen=True, slots=True)
class NewRun:
    """A new run; see `store.models.RunRow` for the fields.

    Attributes:
        limited: Whether it is refused when the caller's queue is full.
        id: Id reserved for it; without one, the start makes it.
    """

    caller_id: str
    title: str
    cause: str
    inputs: str
    inputs_digest: str
    deadline_seconds: float
    steps: tuple[NewStep, ...]
    pipeline_id: str | None = None
    version_id: str | None = None
    pack: str | None = None
    document: str | None = None
    client_name: str | None = None
    rerun_of: str | None = None
    force: bool = False
    flight: str | None = None
    idempotency_key: str | None = None
    request_digest: str | None = None
    search_text: str = ""
    from_memory: str | None = None
    start_at: datetime | None = None
    concurrency_key: str | None = None
    concurrency_limit: int | None = None
    trigger_id: str | None = None
    after_run_id: str | None = None
    ended_run_id: str | None = None
    chain_depth: int = 0
    trace: str | None = None
    needs: str = ""
    limited: bool = True
    id: str | None = None


class Submitted(NamedTuple):
    """The result of a start.

    Attributes:
        coalesced: The caller already had the same run active.
        replayed: An earlier call with the same idempotency key started the run.
        admitted: Whether the run that this call made has a slot: claim it in the same unit, or offer it.
        wait_seconds: Time until its start, if that is later.
    """

    run_id: str
    coalesced: bool = False
    replayed: bool = False
    admitted: bool = False
    wait_seconds: float | None = None

    @property
    def started(self) -> bool:
        """Whether this call made the run, rather than found it."""
        return not (self.coalesced or self.replayed)


@dataclass(slots=True)
class Fence:
    """Fencing token: proves with every write that the worker still owns the run.

    Attributes:
        caller_id: The run's caller.
        next_seq: Number of the run's next event as the worker last knew it, updated by the units. A guess that saves a
            read of the run: a wrong one only costs time.
    """

    run_id: str
    epoch: int
    caller_id: str
    lease_seconds: float
    next_seq: int | None = None


class ClaimedStep(NamedTuple):
    """A step of a claimed run; `output` is JSON text for succeeded steps, else None."""

    id: str
    key: str
    position: int
    pack: str
    pack_version: str
    state: StepState
    attempt_id: str | None
    attempts: int
    stretch_attempts: int
    session_id: str | None
    input_override: str | None
    session_used: str | None
    output: str | None


class Claim(NamedTuple):
    """A claimed run, with everything its worker needs.

    Attributes:
        target: Key of the pipeline or name of the pack that the run executes.
        cause: What started the run, such as `agent` or `schedule`.
        deadline_seconds: The time it may take from its start or last resume.
        taken_over: Whether a worker held it and was lost.
        worker: The worker that claimed it.
        previous_worker: The worker that had it before, if that was another one.
        lost_attempt: Id of an attempt the last owner left without a result; now `lost`.
        lost_in_row: Times in a row that its process was lost with an attempt, or while it started one.
        now: The store's clock at the claim; deadlines and waits use it, not the worker's clock.
        next_seq: Number of the run's next event.
        needs: What the run's next step needs, as `store.runs.needs` writes it.
        trace: JSON of the trace context that its spans belong to.
    """

    run_id: str
    epoch: int
    caller_id: str
    subject: str
    pipeline_id: str | None
    version_id: str | None
    target: str
    cause: str
    document: str
    input_schema: str | None
    inputs: str
    force: bool
    deadline_at: datetime
    deadline_seconds: float
    steps: tuple[ClaimedStep, ...]
    taken_over: bool
    worker: str
    previous_worker: str | None
    lost_attempt: str | None
    lost_in_row: int
    now: datetime
    next_seq: int
    needs: str
    trace: str | None


class Refusal(StrEnum):
    """Why a run was not claimed."""

    GONE = "gone"  # final, or no such run
    HELD = "held"  # by a worker whose lease is good
    LATER = "later"  # its retry wait is not over
    NOT_ADMITTED = "not_admitted"  # its caller has no free slot; the unit that frees one offers it
    LACKS = "lacks"  # the worker does not offer what the next step needs
    ENDED = "ended"  # a cancelled run whose owner is gone: it was ended here


@dataclass(frozen=True, slots=True)
class NotClaimed:
    """A run that could not be claimed.

    Attributes:
        caller_id: The run's caller; None when there is no such run.
        wait_seconds: Time until it is due by the store's clock; the machine's own may be wrong.
        not_before: That instant as stored; pass it to the next claim after the wait.
    """

    reason: Refusal
    caller_id: str | None = None
    wait_seconds: float | None = None
    not_before: datetime | None = None


class AttemptStart(NamedTuple):
    """An attempt to start. `input` is redacted JSON text."""

    step_id: str
    attempt_id: str
    number: int
    input: str | None
    idempotency_key: str
    pack_version: str
    session_used: str | None = None
    notes: str = "[]"


@dataclass(frozen=True, slots=True)
class NewArtifact:
    """A file an attempt made; its content is in the blob store already."""

    id: str
    name: str
    media_type: str
    size_bytes: int
    digest: str
    status: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and cost of an attempt's models; a sum is None when a part of it is unknown.

    Attributes:
        models: JSON list of each answered call.
        cost_micros: Millionths of a US dollar.
    """

    input_tokens: int | None
    output_tokens: int | None
    cost_micros: int | None
    models: str


class AttemptEnd(NamedTuple):
    """How an attempt ended.

    Attributes:
        output: JSON text, redacted; for succeeded attempts only.
        failure: JSON text of `runner.failures.Failure`; for failed ones only.
        session_id: Session that the step made.
        session_ended: Session that was passed to the step but is gone.
        spent: Tokens and cost; None when no model was asked.
        isolation: Isolation level of an agent's process; None for packs.
        receipt: JSON text of where a replayed result came from; None when the step ran.
        read: Ids of the artifacts it read; when it succeeds, those of its run that an agent proposed are verified.
    """

    step_id: str
    attempt_id: str
    state: AttemptState
    output: str | None = None
    failure: str | None = None
    warnings: str = "[]"
    session_id: str | None = None
    session_ended: str | None = None
    artifacts: tuple[NewArtifact, ...] = ()
    spent: Spent | None = None
    isolation: str | None = None
    receipt: str | None = None
    read: tuple[str, ...] = ()


class GoOn(NamedTuple):
    """After a settled attempt: the next step's attempt begins in the same transaction.

    Attributes:
        before: State the next step is in now.
        needs: What that step needs; None if the step before needed the same.
    """

    start: AttemptStart
    before: StepState
    progress: float
    needs: str | None = None


class Pause(NamedTuple):
    """After a settled attempt: hold the fence and start nothing yet (at-most-once steps start by themselves).

    Attributes:
        needs: What the next step needs; None if the step before needed the same.
    """

    progress: float
    needs: str | None = None


class HandOver(NamedTuple):
    """After a settled attempt: other workers may claim the run, because this one lacks what the next step needs.

    Attributes:
        needs: What that step needs.
        reason: Why, for the event.
    """

    progress: float
    needs: str
    reason: str


@dataclass(frozen=True, slots=True)
class Succeed:
    """After a settled attempt: the run is done."""


@dataclass(frozen=True, slots=True)
class Fail:
    """After a settled attempt, or without one: the run fails. `failure` is JSON text, `message` its one line."""

    failure: str
    message: str


@dataclass(frozen=True, slots=True)
class FailNext:
    """After a settled attempt: the next step cannot begin, such as one whose input does not resolve.

    It gets an attempt all the same, settled at once. `failure` is JSON text, `message` its one line.

    Attributes:
        before: State the next step is in now.
    """

    start: AttemptStart
    before: StepState
    failure: str
    message: str


@dataclass(frozen=True, slots=True)
class Wait:
    """After a failed attempt: the step is tried again after some seconds; the instant is stored."""

    seconds: float
    reason: str


class Settled(NamedTuple):
    """The run's state after a settle, and whether the next attempt started.

    Attributes:
        wait_seconds: Wait before a retry, if there is one.
        not_before: End of that wait, as stored.
        failure: JSON text of the failure that ended the run, if it failed.
    """

    state: RunState
    started: bool = False
    wait_seconds: float | None = None
    not_before: datetime | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class ResumeStep:
    """The effect of a resume on a step.

    Attributes:
        rerun: Whether the step runs (again); otherwise it stays unchanged.
        input_override: JSON text of the input that replaces the resolved one of a step that runs; None for none.
    """

    step_id: str
    state: StepState
    rerun: bool
    input_override: str | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """A resume, decided by `runner.resuming.plan`.

    Attributes:
        based_on: The run's `resume_count` when this was decided; another resume meanwhile makes it fail.
        inputs: All run inputs as JSON text, when some were replaced.
        title: The run's title, if it changes.
        search_text: The run's search text, if it changes.
        version_id: The version to continue with, if it changes.
        needs: What the first step that runs needs.
        added_steps: Steps of that version that the run has no row for yet.
        retired_steps: Ids of steps that are not in that version; their attempts stay.
        moved_steps: The kept steps as that version has them, by step id.
    """

    run_id: str
    based_on: int
    steps: tuple[ResumeStep, ...]
    inputs: str | None = None
    inputs_digest: str | None = None
    title: str | None = None
    search_text: str | None = None
    version_id: str | None = None
    needs: str = ""
    added_steps: tuple[NewStep, ...] = ()
    retired_steps: tuple[str, ...] = ()
    moved_steps: Mapping[str, NewStep] = field(default_factory=dict)
