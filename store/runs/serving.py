"""Matches runs with the living workers of a shared database: those that none of them serves wait for one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from store.database.dialects import Sql, instant
from store.database.wakes import Topic
from store.runs.admission import UNDER_WAY
from store.runs.claim import last_sign, lose_attempt
from store.runs.claimed_run import RELEASE_STEP, set_needs
from store.runs.ending import RUNNING_ATTEMPT
from store.runs.ledger import Ledger
from store.runs.needs import MACHINE, needs_of, needs_text, serves
from store.states import RunState, StepState, require_run_transition, require_step_transition

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from store.database.dialects import Connection, Row

#: Most runs that each statement moves.
_MATCHED_AT_ONCE = 200

# Drained workers take no runs.
_LIVING = Sql("SELECT DISTINCT offers FROM worker WHERE seen_at > :after AND NOT draining")
# A run that waits without an end waits for a worker. It holds no slot.
_WAITS = "state = 'waiting' AND not_before IS NULL"
# A run that a living worker holds is left out: that worker decides what its next step needs.
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
# Compares each distinct set of needs with the workers, not each run of a long queue.
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
    SELECT id, next_seq FROM run WHERE {_WAITS} AND {_SERVED.format(needs="run.needs")}
    ORDER BY id LIMIT {_MATCHED_AT_ONCE} FOR UPDATE SKIP LOCKED
    """
)
# Any worker ends those that are cancelled.
_LOST = Sql(
    f"""
    SELECT id, next_seq, epoch, lease_until, idle_since FROM run
    WHERE admitted AND state = 'running' AND (lease_until IS NULL OR lease_until < :now)
        AND NOT {_SERVED.format(needs="run.needs")}
    ORDER BY id LIMIT {_MATCHED_AT_ONCE} FOR UPDATE SKIP LOCKED
    """
)
# Their start time or the delay of their retry is over; only a worker is missing.
_OVERDUE = Sql(
    f"""
    UPDATE run SET not_before = NULL, idle_since = not_before WHERE id IN (
        SELECT id FROM run WHERE state = 'waiting' AND not_before < :now AND NOT {_SERVED.format(needs="run.needs")}
        ORDER BY id LIMIT {_MATCHED_AT_ONCE} FOR UPDATE SKIP LOCKED
    ) RETURNING id
    """
)
# `idle_since` stays: the deadline does not run meanwhile.
_WAIT = Sql("UPDATE run SET state = 'waiting', admitted = false WHERE id = :id")
# The count shows the next claim that the last worker was lost. Its own writes find that it does not hold the run.
_WAIT_LOST = Sql(
    f"""
    UPDATE run SET state = 'waiting', admitted = false, owner = NULL, lease_until = NULL, idle_since = :since,
        lost_in_row = lost_in_row + 1, priority = {UNDER_WAY}
    WHERE id = :id AND epoch = :epoch AND state = 'running'
    """
)
_QUEUE = Sql("UPDATE run SET state = 'queued' WHERE id = :id")


def living_offers(conn: Connection, lease_seconds: float) -> list[frozenset[str]]:
    """Return the distinct offers of the living workers that take runs."""
    return [needs_of(row.offers) for row in conn.all(_LIVING, {"after": _after(conn, lease_seconds)})]


def match_workers(conn: Connection, lease_seconds: float, session_wait_seconds: float) -> list[frozenset[str]]:
    """Move runs that no living worker serves to `waiting`, without a slot, and those that one serves back to the queue.

    Runs whose worker was lost are moved like queued ones, and a retry or start time that is over no longer counts.

    A run leaves a machine that has no living worker after it waited `session_wait_seconds` for one. The worker that
    claims it finds the session missing and makes it again, if the steps allow that.

    Returns:
        What `living_offers` does.
    """
    now = conn.now()
    living = living_offers(conn, lease_seconds)
    _unbind(conn, now, living, session_wait_seconds)
    after = {"after": _after(conn, lease_seconds)}
    for row in conn.all(_UNSERVED, after):
        _move(conn, row, RunState.QUEUED, RunState.WAITING, "no living worker has what it needs", _WAIT)
    for row in conn.all(_LOST, after | {"now": now}):
        _wait_after_loss(conn, row, now, lease_seconds)
    for row in conn.all(_OVERDUE, after | {"now": now}):
        conn.wake(Topic.RUN, row.id)
    for row in conn.all(_SERVED_AGAIN, after):
        _move(conn, row, RunState.WAITING, RunState.QUEUED, "a worker has what it needs", _QUEUE)
    return living


def _after(conn: Connection, lease_seconds: float) -> datetime | str:
    """Return the instant since which a living worker was seen."""
    return conn.bindable(conn.now() - timedelta(seconds=lease_seconds))


def _unbind(conn: Connection, now: datetime, living: Iterable[AbstractSet[str]], wait_seconds: float) -> None:
    for row in conn.all(_BOUND, {"now": now}):
        needs = needs_of(row.needs)
        gone = {need for need in needs if need.startswith(MACHINE) and not any(need in offers for offers in living)}
        since = instant(row.since)
        if gone and since is not None and (now - since).total_seconds() >= wait_seconds:
            set_needs(conn, row.id, needs_text(needs - gone))


def _wait_after_loss(conn: Connection, run: Row, now: datetime, lease_seconds: float) -> None:
    """Let the run of a lost worker wait; its attempt in progress becomes `lost`, as in a claim, its step pending."""
    require_run_transition(RunState.RUNNING, RunState.WAITING)
    since = min(instant(run.idle_since) or last_sign(instant(run.lease_until), lease_seconds) or now, now)
    if not conn.run(_WAIT_LOST, {"id": run.id, "epoch": run.epoch, "since": conn.bindable(since)}):
        return
    ledger = Ledger(conn, run.id, now, next_seq=run.next_seq, reserved=0)
    if (attempt := conn.one(RUNNING_ATTEMPT, {"id": run.id})) is not None:
        lose_attempt(conn, ledger, attempt, since)
        require_step_transition(StepState.RUNNING, StepState.PENDING)
        conn.run(RELEASE_STEP, {"id": attempt.step_id})
        ledger.step(attempt.step_id, StepState.RUNNING, StepState.PENDING, "its worker was lost")
    ledger.run(RunState.RUNNING, RunState.WAITING, "its worker was lost, and no living worker has what it needs")
    ledger.write()


def _move(conn: Connection, run: Row, before: RunState, after: RunState, reason: str, update: Sql) -> None:
    require_run_transition(before, after)
    conn.run(update, {"id": run.id})
    ledger = Ledger(conn, run.id, conn.now(), next_seq=run.next_seq, reserved=0)
    ledger.run(before, after, reason)
    ledger.write()
