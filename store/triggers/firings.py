"""Units that record firings, and the read that finds triggers that are due.

A firing is one row per trigger and key, written in the transaction that starts its run. The guarded UPDATE of the
trigger comes with it, so that two servers, a crash or a clock that is set back never fire twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from store.database.dialects import Sql, instant
from store.database.ids import new_id
from store.database.paging import oldest_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store


#: Most firings that are kept of a trigger.
FIRINGS_KEPT = 1000


class FiringOutcome(StrEnum):
    """What a firing led to."""

    FIRED = "fired"
    SKIPPED = "skipped"
    MISSED = "missed"
    REFUSED = "refused"
    FAILED = "failed"


class TriggerChangedError(Exception):
    """The trigger fired elsewhere, was changed or deleted since it was read; nothing was written."""


class FiredBeforeError(Exception):
    """The instant or the ending has a firing already; nothing was written."""


@dataclass(frozen=True, slots=True)
class NewFiring:
    """A firing to record.

    Attributes:
        key: The trigger fires at most once for it.
        id: Its id; None to have one made.
        scheduled_at: The instant it was due; None if it was asked for.
        reason: Why no run was started, for people.
    """

    key: str
    outcome: FiringOutcome
    scheduled_at: datetime | None = None
    reason: str | None = None
    run_id: str | None = None
    id: str | None = None


class NextDue(NamedTuple):
    """The triggers that are due, the earliest first.

    Attributes:
        now: The store's clock.
        next_at: When the first trigger is due, perhaps in the past; None without any.
    """

    ids: list[str]
    now: datetime
    next_at: datetime | None


# Reads one entry of `ix_trigger_due`.
_NEXT = Sql("SELECT min(next_at) AS next_at FROM trigger WHERE enabled")
_DUE = Sql("SELECT id FROM trigger WHERE enabled AND next_at <= :now ORDER BY next_at, id LIMIT :limit")
_ADVANCE = Sql(
    """UPDATE trigger SET next_at = :next_at, last_at = coalesce(:last_at, last_at)
    WHERE id = :id AND revision = :revision AND next_at = :seen"""
)
_TOUCH = Sql("UPDATE trigger SET last_at = :now WHERE id = :id AND revision = :revision")
_INSERT = Sql(
    """INSERT INTO firing (id, trigger_id, key, scheduled_at, outcome, reason, run_id, created_at)
    VALUES (:id, :trigger_id, :key, :scheduled_at, :outcome, :reason, :run_id, :now)
    ON CONFLICT DO NOTHING"""
)
# Reads at most `FIRINGS_KEPT` entries of `ix_firing_trigger`.
_PRUNE = Sql(
    """DELETE FROM firing WHERE trigger_id = :id AND id <= (
        SELECT id FROM firing WHERE trigger_id = :id ORDER BY id DESC LIMIT 1 OFFSET :kept)"""
)
_SWEEP = Sql(
    """DELETE FROM firing WHERE id IN (
        SELECT id FROM firing WHERE id < :oldest AND created_at < :before ORDER BY id LIMIT :limit)"""
)
# Locked in the order of their ids before the start takes its caller's slots, as `store.runs.admission` asks for.
_ACTIVE = Sql(
    """SELECT id, after_run_id IS NOT NULL AND started_at IS NULL AS waits FROM run
    WHERE trigger_id = :id AND ended_at IS NULL ORDER BY id FOR UPDATE"""
)


async def next_due(store: Store, *, limit: int) -> NextDue:
    """Find what is due by the store's clock, and when the first trigger is."""

    def unit(conn: Connection) -> NextDue:
        now = conn.now()
        (row,) = conn.all(_NEXT)
        next_at = instant(row.next_at)
        if next_at is None or next_at > now:
            return NextDue([], now, next_at)
        return NextDue([found.id for found in conn.all(_DUE, {"now": now, "limit": limit})], now, next_at)

    return await store.snapshot(unit)


class ActiveRun(NamedTuple):
    """A run of a trigger that has not ended; `waits` if it has not begun because it waits for the one before."""

    id: str
    waits: bool


def active_runs(conn: Connection, trigger_id: str) -> list[ActiveRun]:
    """List and lock the runs a trigger started that have not ended, the oldest first."""
    return [ActiveRun(row.id, bool(row.waits)) for row in conn.all(_ACTIVE, {"id": trigger_id})]


def record_due(
    conn: Connection,
    trigger_id: str,
    firings: Sequence[NewFiring],
    *,
    revision: int,
    seen: datetime,
    next_at: datetime | None,
) -> None:
    """Record firings of a schedule and set when it fires next.

    An instant that has a firing keeps it: after a clock was set back, an edit may compute instants that have passed.

    Args:
        conn: The transaction, which also starts the run of a firing.
        trigger_id: The trigger, which the transaction locks.
        firings: What to record.
        revision: The trigger's, when the firings were decided.
        seen: Its `next_at` then.
        next_at: The instant after these firings; None if there is none.

    Raises:
        TriggerChangedError: another server was first, or the trigger was changed; the transaction must end.
        FiredBeforeError: a firing has a run, but its instant has a firing; the transaction must end.
    """
    last_at = next((one.scheduled_at for one in firings if one.outcome is FiringOutcome.FIRED), None)
    moved = {"id": trigger_id, "revision": revision, "seen": seen, "next_at": next_at, "last_at": last_at}
    if conn.run(_ADVANCE, moved) == 0:
        raise TriggerChangedError(trigger_id)
    if _insert(conn, trigger_id, firings) < len(firings) and last_at is not None:
        raise FiredBeforeError(trigger_id)


def record_asked(conn: Connection, trigger_id: str, firing: NewFiring, *, revision: int) -> None:
    """Record a firing that somebody asked for; the schedule goes on as before.

    Raises:
        TriggerChangedError: the trigger was changed or deleted.
    """
    if conn.run(_TOUCH, {"id": trigger_id, "revision": revision, "now": conn.now()}) == 0:
        raise TriggerChangedError(trigger_id)
    _insert(conn, trigger_id, [firing])


def sweep_firings(conn: Connection, *, keep_days: float, limit: int) -> int:
    """Delete the oldest firings that are past `keep_days`; return how many."""
    before = conn.now() - timedelta(days=keep_days)
    return conn.run(_SWEEP, {"oldest": oldest_id("fire", before), "before": before, "limit": limit})


def record_once(conn: Connection, trigger_id: str, firing: NewFiring, *, revision: int) -> None:
    """Record a firing that starts a run, unless its key has a firing.

    Raises:
        TriggerChangedError: the trigger was changed or deleted; the transaction must end.
        FiredBeforeError: the key has a firing; the transaction must end.
    """
    if conn.run(_TOUCH, {"id": trigger_id, "revision": revision, "now": conn.now()}) == 0:
        raise TriggerChangedError(trigger_id)
    if _insert(conn, trigger_id, [firing]) == 0:
        raise FiredBeforeError(trigger_id)


def record_unfired(conn: Connection, trigger_id: str, firing: NewFiring) -> bool:
    """Record a firing that started no run and was not due at an instant; return false if its key has a firing."""
    return _insert(conn, trigger_id, [firing]) > 0


def _insert(conn: Connection, trigger_id: str, firings: Sequence[NewFiring]) -> int:
    """Insert firings, and delete the oldest beyond `FIRINGS_KEPT`; return how many are new."""
    inserted = 0
    for firing in firings:
        inserted += conn.run(
            _INSERT,
            {
                "id": firing.id or new_id("fire"),
                "trigger_id": trigger_id,
                "key": firing.key,
                "scheduled_at": firing.scheduled_at,
                "outcome": firing.outcome.value,
                "reason": firing.reason,
                "run_id": firing.run_id,
                "now": conn.now(),
            },
        )
    conn.run(_PRUNE, {"id": trigger_id, "kept": FIRINGS_KEPT})
    return inserted
