"""The states of runs, steps and attempts, and every legal transition between them.

A transition that is not listed here cannot be written: `store.runs` asks
`require_run_transition` before each guarded UPDATE, and the diagram in `docs/states.md` is generated from it.
"""

from __future__ import annotations

from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING


class _FastEnum(StrEnum):
    """A StrEnum whose `value` costs a fifth of what Python's own takes: settling a step reads it fourteen times."""

    if not TYPE_CHECKING:
        value = property(attrgetter("_value_"))


class RunState(_FastEnum):
    """State of a run; `succeeded`, `failed` and `cancelled` are final until a resume."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepState(_FastEnum):
    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class AttemptState(_FastEnum):
    """State of an attempt; `lost` is one found without a result after a crash."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"


class RunCause(StrEnum):
    """What started a run."""

    PERSON = "person"
    AGENT = "agent"
    SCHEDULE = "schedule"
    WEBHOOK = "webhook"
    RUN_ENDED = "run_ended"
    RERUN = "rerun"
    A2A = "a2a"


class TriggerKind(StrEnum):
    """What a trigger fires by."""

    SCHEDULE = "schedule"
    WEBHOOK = "webhook"
    RUN_ENDED = "run_ended"


class TranscriptKind(StrEnum):
    """Kind of an entry in an agent's transcript."""

    PROMPT = "prompt"
    MESSAGE = "message"
    OUTPUT = "output"
    ERROR_OUTPUT = "error_output"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    DENIAL = "denial"
    USAGE = "usage"
    CUT = "cut"


class ArtifactStatus(StrEnum):
    STORED = "stored"
    PROPOSED = "proposed"
    VERIFIED = "verified"
    QUARANTINED = "quarantined"


class Scope(StrEnum):
    READ = "read"
    OBSERVE = "observe"
    RUN = "run"
    WRITE = "write"
    MANAGE = "manage"


class EventType(_FastEnum):
    """Type of a run event; one for each concrete `RunEvent` type of the API."""

    RUN_STATE = "run_state"
    STEP_STATE = "step_state"
    ATTEMPT_STATE = "attempt_state"
    STEP_PROGRESS = "step_progress"
    ARTIFACT = "artifact"


#: States whose name alone is no predicate.
_PREDICATES = {
    "succeeded": "has succeeded",
    "failed": "has failed",
    "cancelled": "was cancelled",
    "cancelling": "is being cancelled",
}


def predicate(state: RunState | StepState | None) -> str:
    """The state as the verb of a sentence: `has failed`, `is running`; None is what no longer exists."""
    return "no longer exists" if state is None else _PREDICATES.get(state, f"is {state}")


FINAL_RUN_STATES = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED})
#: States in which a worker may hold the run and the caller's slot is taken.
HELD_RUN_STATES = frozenset({RunState.RUNNING, RunState.CANCELLING})

RUN_TRANSITIONS: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset(
        {
            RunState.RUNNING,
            RunState.WAITING,  # no living worker has what its next step needs
            RunState.CANCELLED,
            RunState.FAILED,
        }
    ),
    RunState.RUNNING: frozenset(
        {
            RunState.QUEUED,  # released by a server that shuts down
            RunState.WAITING,
            RunState.CANCELLING,
            RunState.SUCCEEDED,
            RunState.FAILED,
            RunState.CANCELLED,
        }
    ),
    RunState.WAITING: frozenset(
        {
            RunState.RUNNING,
            RunState.QUEUED,  # its wait is over, and its caller has no free slot; or a worker serves it again
            RunState.CANCELLED,
            RunState.FAILED,
        }
    ),
    RunState.CANCELLING: frozenset({RunState.CANCELLED}),
    RunState.SUCCEEDED: frozenset(),
    RunState.FAILED: frozenset({RunState.QUEUED}),  # resume
    RunState.CANCELLED: frozenset({RunState.QUEUED}),  # resume
}

STEP_TRANSITIONS: dict[StepState, frozenset[StepState]] = {
    StepState.PENDING: frozenset({StepState.RUNNING, StepState.FAILED, StepState.CANCELLED}),
    StepState.RUNNING: frozenset(
        {StepState.SUCCEEDED, StepState.FAILED, StepState.CANCELLED, StepState.WAITING, StepState.PENDING}
    ),
    StepState.WAITING: frozenset({StepState.RUNNING, StepState.FAILED, StepState.CANCELLED}),
    StepState.SUCCEEDED: frozenset({StepState.RUNNING, StepState.PENDING}),  # runs again because its session is gone
    StepState.FAILED: frozenset({StepState.RUNNING, StepState.PENDING}),  # resume
    StepState.CANCELLED: frozenset({StepState.RUNNING, StepState.PENDING}),  # resume
}


class IllegalTransitionError(Exception):
    """A transition that is not in the table: a bug in the code that asked for it."""


def require_run_transition(before: RunState, after: RunState) -> None:
    """Check a transition of a run against the table.

    Raises:
        IllegalTransitionError: `before` never leads to `after`.
    """
    if after not in RUN_TRANSITIONS[before]:
        raise IllegalTransitionError(f"A run never goes from {before} to {after}.")


def require_step_transition(before: StepState, after: StepState) -> None:
    """Check a transition of a step against the table.

    Raises:
        IllegalTransitionError: `before` never leads to `after`.
    """
    if after not in STEP_TRANSITIONS[before]:
        raise IllegalTransitionError(f"A step never goes from {before} to {after}.")
