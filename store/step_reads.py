"""Reads below a run: its steps, their attempts, and its events. Payloads are asked for by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from store.events import EventRecord
from store.paging import capped_count, fetch_page
from store.states import AttemptState, StepState
from store.tables import ATTEMPT, RUN_EVENT, RUN_STEP, columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.ext.asyncio import AsyncConnection

    from store.paging import PageWindow


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step of a run without its milestones and given input; see `store.models.RunStepRow`.

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


@dataclass(frozen=True, slots=True)
class AttemptRecord:
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


@dataclass(frozen=True, slots=True)
class AttemptPayload:
    """What an attempt got and gave, as JSON text; None before it did."""

    attempt_id: str
    input: str | None
    output: str | None


_STEP_COLUMNS = columns_of(RUN_STEP, StepRecord)
_ATTEMPT_COLUMNS = columns_of(ATTEMPT, AttemptRecord)
_EVENT_COLUMNS = columns_of(RUN_EVENT, EventRecord)
_STEP_STATE, _ATTEMPT_STATE = 6, 5


async def steps_of_runs(connection: AsyncConnection, run_ids: Sequence[str]) -> dict[str, list[StepRecord]]:
    """The steps of each run in order, by run id; every id asked for has an entry."""
    # Steps that a switched definition retired have negative positions: their attempts stay, the list leaves them out.
    wanted = select(*_STEP_COLUMNS).where(RUN_STEP.c.run_id.in_(run_ids), RUN_STEP.c.position > 0)
    steps: dict[str, list[StepRecord]] = {run_id: [] for run_id in run_ids}
    for row in await connection.execute(wanted.order_by(RUN_STEP.c.run_id, RUN_STEP.c.position)):
        steps[row[1]].append(_step(row))
    return steps


async def find_steps(connection: AsyncConnection, ids: Sequence[str]) -> dict[str, StepRecord]:
    """Steps by id."""
    rows = await connection.execute(select(*_STEP_COLUMNS).where(RUN_STEP.c.id.in_(ids)))
    return {row[0]: _step(row) for row in rows}


async def milestones_of(connection: AsyncConnection, step_ids: Sequence[str]) -> dict[str, str]:
    """What steps told about their progress, as JSON lists, by step id."""
    rows = await connection.execute(select(RUN_STEP.c.id, RUN_STEP.c.milestones).where(RUN_STEP.c.id.in_(step_ids)))
    return {row[0]: row[1] for row in rows}


async def attempts_of_steps(connection: AsyncConnection, step_ids: Sequence[str]) -> dict[str, list[AttemptRecord]]:
    """The attempts of each step, first to last, by step id; every id asked for has an entry."""
    wanted = select(*_ATTEMPT_COLUMNS).where(ATTEMPT.c.step_id.in_(step_ids))
    attempts: dict[str, list[AttemptRecord]] = {step_id: [] for step_id in step_ids}
    for row in await connection.execute(wanted.order_by(ATTEMPT.c.step_id, ATTEMPT.c.number)):
        attempts[row[2]].append(_attempt(row))
    return attempts


async def attempts_of_runs(connection: AsyncConnection, run_ids: Sequence[str]) -> dict[str, list[AttemptRecord]]:
    """All attempts of each run in the order they started, by run id; every id asked for has an entry."""
    wanted = select(*_ATTEMPT_COLUMNS).where(ATTEMPT.c.run_id.in_(run_ids))
    attempts: dict[str, list[AttemptRecord]] = {run_id: [] for run_id in run_ids}
    for row in await connection.execute(wanted.order_by(ATTEMPT.c.run_id, ATTEMPT.c.started_at, ATTEMPT.c.id)):
        attempts[row[1]].append(_attempt(row))
    return attempts


async def find_attempts(connection: AsyncConnection, ids: Sequence[str]) -> dict[str, AttemptRecord]:
    """Attempts by id."""
    rows = await connection.execute(select(*_ATTEMPT_COLUMNS).where(ATTEMPT.c.id.in_(ids)))
    return {row[0]: _attempt(row) for row in rows}


async def attempt_payloads(connection: AsyncConnection, ids: Sequence[str]) -> dict[str, AttemptPayload]:
    """What attempts got and gave, by attempt id. Each may be 1 MiB: ask for one page of a run at most."""
    wanted = select(ATTEMPT.c.id, ATTEMPT.c.input, ATTEMPT.c.output).where(ATTEMPT.c.id.in_(ids))
    return {row[0]: AttemptPayload(*row) for row in await connection.execute(wanted)}


async def list_events(connection: AsyncConnection, run_id: str, window: PageWindow) -> list[EventRecord]:
    """A run's events, oldest first; the sort key is `(sequence,)`."""
    wanted = select(*_EVENT_COLUMNS).where(RUN_EVENT.c.run_id == run_id)
    return [EventRecord(*row) for row in await fetch_page(connection, wanted, [(RUN_EVENT.c.sequence, False)], window)]


async def count_events(connection: AsyncConnection, run_id: str) -> int:
    """How many events a run has, up to `store.paging.COUNT_CAP`."""
    return await capped_count(connection, select(RUN_EVENT.c.sequence).where(RUN_EVENT.c.run_id == run_id))


def _step(row: Sequence[Any]) -> StepRecord:
    values = list(row)
    values[_STEP_STATE] = StepState(values[_STEP_STATE])
    return StepRecord(*values)


def _attempt(row: Sequence[Any]) -> AttemptRecord:
    values = list(row)
    values[_ATTEMPT_STATE] = AttemptState(values[_ATTEMPT_STATE])
    return AttemptRecord(*values)
