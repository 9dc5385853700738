"""Which runs living workers serve, on a shared database; the rescue looks at an interval."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from store.database.dialects import Sql, instant
from store.runs.claimed_run import set_needs
from store.runs.ledger import Ledger
from store.runs.needs import MACHINE, needs_of, needs_text, serves
from store.states import RunState, require_run_transition

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection, Row

#: Runs of one look that start or stop to wait for a worker.
_MATCHED_AT_ONCE = 200

# Drained workers take no runs.
_LIVING = Sql("SELECT DISTINCT offers FROM worker WHERE seen_at > :after AND NOT draining")
# A wait without an end is one for a worker. Such runs hold no slot.
_WAITS = "state = 'waiting' AND not_before IS NULL"
# Runs that are executed are left out: their next step is decided by their worker.
_BOUND = Sql(
    f"""
    SELECT id, needs, coalesce(idle_since, lease_until) AS since FROM run
    WHERE (admitted AND (state = 'queued' OR lease_until IS NULL OR lease_until < :now) OR {_WAITS})
        AND needs LIKE '%{MACHINE}%'
    FOR UPDATE SKIP LOCKED
    """
)
_SERVED = (
    f"EXISTS (SELECT 1 FROM worker WHERE seen_at > :after AND NOT draining AND {serves('worker.offers', '{needs}')})"
)
# Asks once for each set of needs among the admitted runs, not for each run of a long queue.
_UNSERVED = Sql(
    f"""
    SELECT id, next_seq FROM run WHERE state = 'queued' AND needs IN (
        SELECT asked.needs FROM (
            SELECT DISTINCT needs FROM run WHERE admitted AND state = 'queued' AND needs <> ''
        ) AS asked WHERE NOT {_SERVED.format(needs="asked.needs")}
    ) ORDER BY id LIMIT {_MATCHED_AT_ONCE} FOR UPDATE SKIP LOCKED
    """
)
_SERVED_AGAIN = Sql(
    f"""
    SELECT id, next_seq FROM run WHERE {_WAITS} AND (needs = '' OR {_SERVED.format(needs="run.needs")})
    ORDER BY id LIMIT {_MATCHED_AT_ONCE} FOR UPDATE SKIP LOCKED
    """
)
# `idle_since` stays: the deadline does not run meanwhile.
_WAIT = Sql("UPDATE run SET state = 'waiting', admitted = false WHERE id = :id")
_QUEUE = Sql("UPDATE run SET state = 'queued' WHERE id = :id")


def living_offers(conn: Connection, lease_seconds: float) -> list[frozenset[str]]:
    """Return what each living worker that takes runs offers, equal ones once."""
    return [needs_of(row.offers) for row in conn.all(_LIVING, {"after": _after(conn, lease_seconds)})]


def match_workers(conn: Connection, lease_seconds: float, session_wait_seconds: float) -> None:
    """Let queued runs wait, without a slot, that no living worker serves, and queue those that one serves again.

    Runs leave a machine without a living worker after they waited `session_wait_seconds` for it. The worker that claims
    one finds its session missing and makes it again, if the steps allow that.
    """
    now = conn.now()
    _unbind(conn, now, living_offers(conn, lease_seconds), session_wait_seconds)
    after = {"after": _after(conn, lease_seconds)}
    for row in conn.all(_UNSERVED, after):
        _move(conn, row, RunState.QUEUED, RunState.WAITING, "no living worker has what it needs", _WAIT)
    for row in conn.all(_SERVED_AGAIN, after):
        _move(conn, row, RunState.WAITING, RunState.QUEUED, "a worker has what it needs", _QUEUE)


def _after(conn: Connection, lease_seconds: float) -> datetime | str:
    """Return the instant since which a living worker was seen."""
    return conn.bindable(conn.now() - timedelta(seconds=lease_seconds))


def _unbind(conn: Connection, now: datetime, living: list[frozenset[str]], wait_seconds: float) -> None:
    for row in conn.all(_BOUND, {"now": now}):
        needs = needs_of(row.needs)
        gone = {need for need in needs if need.startswith(MACHINE) and not any(need in offers for offers in living)}
        since = instant(row.since)
        if gone and since is not None and (now - since).total_seconds() >= wait_seconds:
            set_needs(conn, row.id, needs_text(needs - gone))


def _move(conn: Connection, run: Row, before: RunState, after: RunState, reason: str, update: Sql) -> None:
    require_run_transition(before, after)
    conn.run(update, {"id": run.id})
    ledger = Ledger(conn, run.id, conn.now(), next_seq=run.next_seq, reserved=0)
    ledger.run(before, after, reason)
    ledger.write()
