"""Reads of the steps and attempts of runs. Payloads are separate reads.

Each takes `visible_to`, which limits it to the runs of that caller; None reads those of all callers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from store.database.lookups import Lookup, of_run
from store.models.runs import ATTEMPT, RUN_STEP
from store.states import AttemptState, StepState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.engine import Store


class StepRecord(NamedTuple):
    """A step of a run without its milestones and input override; see `store.models.RunStepRow`.

    Attributes:
        attempt_id: The attempt whose input, output and failure count for the step.
        warnings: JSON list of texts.
    """

    id: str
    run_id: str
    position: int
    key: str
    pack: str | None
    pack_version: str | None
    state: StepState
    attempt_id: str | None
    attempts: int
    stretch_attempts: int
    session_id: str | None
    warnings: str
    progress: float | None
    wait_until: datetime | None
    started_at: datetime | None
    ended_at: datetime | None


class AttemptRecord(NamedTuple):
    """One try of a step without input and output; `failure`, `notes` and `models` are JSON text."""

    id: str
    run_id: str
    step_id: str
    number: int
    epoch: int
    state: AttemptState
    idempotency_key: str
    pack_version: str | None
    failure: str | None
    session_used: str | None
    reused_from: str | None
    notes: str
    started_at: datetime
    ended_at: datetime | None
    input_tokens: int | None
    output_tokens: int | None
    cost_micros: int | None
    models: str | None
    isolation: str | None
    receipt: str | None


class AttemptPayload(NamedTuple):
    """Input and output of an attempt, as JSON text; None before there is one. `id` is the attempt's.

    Attributes:
        input: For a reused output, the input of the attempt that made it; None when that is pruned or not visible.
        reused_from: The attempt that made it.
    """

    id: str
    input: str | None
    output: str | None
    reused_from: str | None


class _Input(NamedTuple):
    id: str
    input: str | None


class _Milestones(NamedTuple):
    id: str
    milestones: str


_STEP_STATE = {"state": {state.value: state for state in StepState}.__getitem__}
_ATTEMPT_STATE = {"state": {state.value: state for state in AttemptState}.__getitem__}
_OF_STEPS, _OF_ATTEMPTS = of_run("run_step.run_id"), of_run("attempt.run_id")
_STEP = Lookup(RUN_STEP, StepRecord, "run_step.id", visible=_OF_STEPS, decode=_STEP_STATE)
_STEPS = Lookup(
    RUN_STEP,
    StepRecord,
    "run_step.run_id",
    also="run_step.retired_at IS NULL",
    order="run_step.run_id, run_step.position",
    visible=_OF_STEPS,
    decode=_STEP_STATE,
)
_MILESTONES = Lookup(RUN_STEP, _Milestones, "run_step.id", visible=_OF_STEPS)
_ATTEMPT = Lookup(ATTEMPT, AttemptRecord, "attempt.id", visible=_OF_ATTEMPTS, decode=_ATTEMPT_STATE)
_ATTEMPTS_OF_STEPS = Lookup(
    ATTEMPT,
    AttemptRecord,
    "attempt.step_id",
    order="attempt.step_id, attempt.number",
    visible=_OF_ATTEMPTS,
    decode=_ATTEMPT_STATE,
)
_PAYLOADS = Lookup(ATTEMPT, AttemptPayload, "attempt.id", visible=_OF_ATTEMPTS)
_INPUTS = Lookup(ATTEMPT, _Input, "attempt.id", visible=_OF_ATTEMPTS)


async def steps_of_runs(
    store: Store, run_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, list[StepRecord]]:
    """List the steps of each run in order, by run id; every id asked for has an entry."""
    steps: dict[str, list[StepRecord]] = {run_id: [] for run_id in run_ids}
    for step in await _STEPS.read(store, run_ids, visible_to=visible_to):
        steps[step.run_id].append(step)
    return steps


async def find_steps(store: Store, ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, StepRecord]:
    """Find steps by id."""
    return {step.id: step for step in await _STEP.read(store, ids, visible_to=visible_to)}


async def milestones_of(store: Store, step_ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, str]:
    """Return the progress milestones of steps, as JSON lists, by step id."""
    return {step.id: step.milestones for step in await _MILESTONES.read(store, step_ids, visible_to=visible_to)}


async def attempts_of_steps(
    store: Store, step_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, list[AttemptRecord]]:
    """List the attempts of each step, first to last, by step id; every id asked for has an entry."""
    attempts: dict[str, list[AttemptRecord]] = {step_id: [] for step_id in step_ids}
    for attempt in await _ATTEMPTS_OF_STEPS.read(store, step_ids, visible_to=visible_to):
        attempts[attempt.step_id].append(attempt)
    return attempts


async def find_attempts(store: Store, ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, AttemptRecord]:
    """Find attempts by id."""
    return {attempt.id: attempt for attempt in await _ATTEMPT.read(store, ids, visible_to=visible_to)}


async def attempt_payloads(
    store: Store, ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, AttemptPayload]:
    """Return inputs and outputs by attempt id. Each may be 1 MiB: ask for one page of a run at most."""
    payloads = await _PAYLOADS.read(store, ids, visible_to=visible_to)
    made_by = {payload.reused_from for payload in payloads if payload.reused_from is not None}
    if not made_by:
        return {payload.id: payload for payload in payloads}
    inputs = {found.id: found.input for found in await _INPUTS.read(store, [*made_by], visible_to=visible_to)}
    return {
        payload.id: payload if payload.reused_from is None else payload._replace(input=inputs.get(payload.reused_from))
        for payload in payloads
    }
