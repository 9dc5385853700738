"""Reads of a run's events, and of the little that whoever waits for a run wants to know."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from store.dialects import Sql, instant
from store.states import RunState

if TYPE_CHECKING:
    from datetime import datetime

    from store.dialects import Row
    from store.engine import Store


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


_COLUMNS = ", ".join(field.name for field in fields(EventRecord))
_AFTER = Sql(
    f"SELECT {_COLUMNS} FROM run_event WHERE run_id = :run_id AND sequence > :after ORDER BY sequence LIMIT :limit"
)
_NEWEST = Sql(f"SELECT {_COLUMNS} FROM run_event WHERE run_id = :run_id ORDER BY sequence DESC LIMIT :limit")
_STATE = Sql("SELECT state FROM run WHERE id = :id")


async def events_after(
    store: Store, run_id: str, after: int | None, *, limit: int, few: bool = False
) -> list[EventRecord]:
    """A run's events after a sequence number, oldest first; the newest `limit` ones when `after` is None.

    `few` says that few are expected; see `Store.rows`.
    """
    if after is None:
        return [_record(row) for row in reversed(await store.rows(_NEWEST, {"run_id": run_id, "limit": limit}))]
    rows = await store.rows(_AFTER, {"run_id": run_id, "after": after, "limit": limit}, few=few)
    return [_record(row) for row in rows]


async def run_state(store: Store, run_id: str) -> RunState | None:
    """Where a run stands; None when there is no such run."""
    rows = await store.rows(_STATE, {"id": run_id})
    return RunState(rows[0][0]) if rows else None


def _record(row: Row) -> EventRecord:
    run_id, sequence, at, *rest = row
    return EventRecord(run_id, sequence, instant(at), *rest)  # type: ignore[arg-type] # the column is never null
