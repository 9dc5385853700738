"""Reads of a run's events, and of the little that whoever waits for a run wants to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select
from sqlmodel import col

from store.models import RunEventRow, RunRow
from store.states import RunState

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.ext.asyncio import AsyncConnection


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event as it is stored; see `store.models.RunEventRow`. `data` is JSON text."""

    run_id: str
    sequence: int
    at: datetime
    type: str
    step_id: str | None
    attempt_id: str | None
    artifact_id: str | None
    before: str | None
    after: str | None
    reason: str | None
    data: str | None


_COLUMNS = (
    col(RunEventRow.run_id),
    col(RunEventRow.sequence),
    col(RunEventRow.at),
    col(RunEventRow.type),
    col(RunEventRow.step_id),
    col(RunEventRow.attempt_id),
    col(RunEventRow.artifact_id),
    col(RunEventRow.before),
    col(RunEventRow.after),
    col(RunEventRow.reason),
    col(RunEventRow.data),
)


_STATE = select(col(RunRow.state)).where(col(RunRow.id) == bindparam("id"))
_AFTER = (
    select(*_COLUMNS)
    .where(col(RunEventRow.run_id) == bindparam("run_id"), col(RunEventRow.sequence) > bindparam("after"))
    .order_by(col(RunEventRow.sequence))
    .limit(bindparam("limit"))
)


async def events_after(connection: AsyncConnection, run_id: str, after: int | None, *, limit: int) -> list[EventRecord]:
    """A run's events after a sequence number, oldest first; the newest `limit` ones when `after` is None."""
    if after is None:
        query = select(*_COLUMNS).where(col(RunEventRow.run_id) == run_id)
        newest = await connection.execute(query.order_by(col(RunEventRow.sequence).desc()).limit(limit))
        return [EventRecord(*row) for row in reversed(newest.all())]
    rows = await connection.execute(_AFTER, {"run_id": run_id, "after": after, "limit": limit})
    return [EventRecord(*row) for row in rows]


async def run_state(connection: AsyncConnection, run_id: str) -> RunState | None:
    """Where a run stands; None when there is no such run."""
    row = (await connection.execute(_STATE, {"id": run_id})).first()
    return RunState(row[0]) if row else None
