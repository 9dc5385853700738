"""Reads of a run's events, and of its state for those who wait for it.

Events of one unit of work usually share a row (`store.runs.ledger`): the last event, and a list of the earlier ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import orjson

from store.database.dialects import Sql, instant
from store.database.paging import COUNT_CAP
from store.states import RunState

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Row
    from store.database.engine import Store
    from store.database.paging import PageWindow


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event; see `store.models.RunEventRow`. `data` is JSON text."""

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


#: Columns of an event besides run, number and instant; each entry of `earlier` holds them in this order.
EVENT_COLUMNS = ("type", "step_id", "attempt_id", "artifact_id", "before", "after", "reason", "data")
#: Columns of a row for `events_of`.
ROW = f"run_id, sequence, at, {', '.join(EVENT_COLUMNS)}, earlier"
#: Maximum number of events in one row.
EVENTS_PER_ROW = 16
#: Larger than any event number.
_NO_END = 2**31 - 1

# A row is numbered like its last event: the rows after a number hold every event after it, and a few before.
_AFTER = Sql(f"SELECT {ROW} FROM run_event WHERE run_id = :run_id AND sequence > :after ORDER BY sequence LIMIT :limit")
_BEFORE = Sql(
    f"""
    SELECT {ROW} FROM run_event WHERE run_id = :run_id AND sequence > :after AND sequence < :before
    ORDER BY sequence DESC LIMIT :limit
    """
)
_LAST = Sql("SELECT max(sequence) AS last FROM run_event WHERE run_id = :run_id")
_STATE = Sql("SELECT state FROM run WHERE id = :id")


async def events_after(
    store: Store, run_id: str, after: int | None, *, limit: int, few: bool = False
) -> list[EventRecord]:
    """List a run's events after a sequence number, oldest first; the newest `limit` ones when `after` is None.

    Pass `few` when few are expected; see `Store.rows`.
    """
    if after is None:
        return await _events_before(store, run_id, 0, _NO_END, limit)
    rows = await store.rows(_AFTER, {"run_id": run_id, "after": after, "limit": limit}, few=few)
    found = (event for row in rows for event in events_of(row) if event.sequence > after)
    return list(islice(found, limit))  # the rows may hold several times as many


async def list_events(store: Store, run_id: str, window: PageWindow) -> list[EventRecord]:
    """List a run's events, oldest first; the sort key is `(sequence,)`."""
    after: int = window.after[0] if window.after else 0
    before = min(window.before[0], _NO_END) if window.before else _NO_END
    if window.reverse:
        return await _events_before(store, run_id, after, before, window.limit + 1)
    found = await events_after(store, run_id, after, limit=window.limit + 1)
    return [event for event in found if event.sequence < before]


async def count_events(store: Store, run_id: str) -> int:
    """Return the number of the last event, as all are kept; at most `COUNT_CAP`."""
    (row,) = await store.rows(_LAST, {"run_id": run_id}, few=True)
    return min(row.last or 0, COUNT_CAP)


async def _events_before(store: Store, run_id: str, after: int, before: int, limit: int) -> list[EventRecord]:
    """List the last `limit` events between two sequence numbers, oldest first."""
    # Rows numbered at or shortly after `before` may begin with wanted events.
    beyond = 0 if before == _NO_END else EVENTS_PER_ROW - 1
    bounds = {"run_id": run_id, "after": after, "before": before + beyond, "limit": limit + beyond}
    rows = await store.rows(_BEFORE, bounds)
    return [event for row in reversed(rows) for event in events_of(row) if after < event.sequence < before][-limit:]


async def run_state(store: Store, run_id: str) -> RunState | None:
    """Return the state of a run; None when there is no such run."""
    rows = await store.rows(_STATE, {"id": run_id}, few=True)
    return RunState(rows[0].state) if rows else None


def events_of(row: Row) -> list[EventRecord]:
    """Unpack a row of `ROW` into its events, oldest first."""
    run_id, sequence, stored_at, *last, earlier = row
    at = instant(stored_at)
    events = [last] if earlier is None else [*orjson.loads(earlier), last]
    numbers = range(sequence - len(events) + 1, sequence + 1)
    return [EventRecord(run_id, number, at, *each) for number, each in zip(numbers, events, strict=True)]  # type: ignore[arg-type] # the column is never null
