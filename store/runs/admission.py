"""Admits runs: of each caller's runs, only as many as the limit allows are offered to workers.

An admitted run takes one of its caller's slots until it ends or waits. The transaction that frees a slot admits the
caller's next queued run, by priority and then by id; runs of a disabled caller wait until it is enabled. The limit and
a pause are one row of `admission`, so that every unit of every process decides by the same values; without the row
nothing is limited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from store.database.dialects import Sql, some_instant
from store.database.wakes import Topic

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection, Row
    from store.database.engine import Store

#: Priority of what was under way before, and of a resume: it comes before new runs, which have 0.
UNDER_WAY = -10

# Lock order on PostgreSQL: a unit locks its run first, by the fenced UPDATE, its INSERT or `FOR UPDATE`; then the slots
# row of that run's caller; then the row of `admission`, if it admits a run of a pipeline that limits itself. Other runs
# and the slots of other callers it locks only if nobody has (`SKIP LOCKED`). No unit that holds a slots row waits for a
# run, so two units never wait for each other. The unit that holds a skipped run locks the slots row after it and admits
# again; if it rolls back, and for skipped callers, `readmit` does.
_LOCK_SLOTS = Sql("SELECT caller_id FROM caller_slot WHERE caller_id = :caller_id FOR UPDATE")
_TRY_SLOTS = Sql("SELECT caller_id FROM caller_slot WHERE caller_id = :caller_id FOR UPDATE SKIP LOCKED")
_LOCK_ALL_SLOTS = Sql("SELECT caller_id FROM caller_slot ORDER BY caller_id FOR UPDATE")
_LOCK_GROUPS = Sql("SELECT id FROM admission WHERE id = 1 FOR UPDATE")
_HAS_SLOT = """NOT EXISTS (
        SELECT 1 FROM admission WHERE id = 1 AND (paused_at IS NOT NULL OR caller_limit <= (
            SELECT count(*) FROM run AS taken WHERE taken.caller_id = {caller} AND taken.admitted)))
    AND NOT EXISTS (SELECT 1 FROM caller WHERE caller.id = {caller} AND caller.disabled_at IS NOT NULL)"""
_CALLER_HAS_SLOT = _HAS_SLOT.format(caller=":caller_id")
_IN_GROUP = """(SELECT count(*) FROM run AS peer
            WHERE peer.concurrency_key = run.concurrency_key AND peer.admitted AND peer.ended_at IS NULL)"""
# The run before has the same caller, so the unit that ends it admits this one.
_MAY_BEGIN = f"""(concurrency_key IS NULL OR {_IN_GROUP} < concurrency_limit) AND (after_run_id IS NULL OR NOT EXISTS (
            SELECT 1 FROM run AS earlier WHERE earlier.id = run.after_run_id AND earlier.ended_at IS NULL))"""
# Most runs end while no other of their caller waits: this costs a fraction of `_ADMIT_NEXT`, which counts first.
_WAITS = Sql(
    """
    SELECT id FROM run WHERE caller_id = :caller_id AND state = 'queued' AND NOT admitted ORDER BY priority, id LIMIT 1
    """
)
_ADMIT_NEXT = Sql(
    f"""
    UPDATE run SET admitted = true WHERE id = (
        SELECT id FROM run WHERE caller_id = :caller_id AND state = 'queued' AND NOT admitted AND {_MAY_BEGIN}
        ORDER BY priority, id LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AND {_CALLER_HAS_SLOT} RETURNING id, priority, concurrency_key
    """
)
_ADMIT = Sql(
    f"""
    UPDATE run SET admitted = true WHERE id = :id AND {_CALLER_HAS_SLOT} AND {_MAY_BEGIN}
    RETURNING id, priority, concurrency_key
    """
)
_OVERFILLS_GROUP = Sql(f"SELECT id FROM run WHERE id = :id AND {_IN_GROUP} > concurrency_limit")
_TAKE_BACK_ONE = Sql("UPDATE run SET admitted = false WHERE id = :id")
# Callers whose runs wait for a place in a group; in random order, so that no caller's backlog goes first for long.
_WAIT_FOR_GROUP = Sql(
    """
    SELECT caller_id FROM run WHERE concurrency_key = :key AND NOT admitted AND ended_at IS NULL AND state = 'queued'
    GROUP BY caller_id ORDER BY random()
    """
)
# Callers whose runs differ from what the limit allows, which is none while they are disabled; walks the two partial
# indexes, not the history.
_UNEVEN = Sql(
    f"""
    SELECT waiting.caller_id FROM (
        SELECT caller_id FROM run WHERE state = 'queued' AND NOT admitted GROUP BY caller_id
    ) AS waiting WHERE {_HAS_SLOT.format(caller="waiting.caller_id")}
    UNION ALL
    SELECT caller_id FROM run WHERE admitted GROUP BY caller_id
    HAVING count(*) > (SELECT caller_limit FROM admission WHERE id = 1)
    UNION
    SELECT run.caller_id FROM run JOIN caller ON caller.id = run.caller_id
    WHERE run.admitted AND run.state = 'queued' AND caller.disabled_at IS NOT NULL
    """
)
# What a worker holds stays, and what was under way before stays longest.
_TAKE_BACK = Sql(
    """
    UPDATE run SET admitted = false WHERE id IN (
        SELECT id FROM run WHERE caller_id = :caller_id AND admitted AND state = 'queued'
        ORDER BY priority DESC, id DESC LIMIT (
            SELECT CASE WHEN count(*) > :limit THEN count(*) - :limit ELSE 0 END FROM run AS taken
            WHERE taken.caller_id = :caller_id AND taken.admitted)
        FOR UPDATE SKIP LOCKED)
    """
)
_PAUSE = Sql(
    """
    UPDATE admission SET paused_at = coalesce(paused_at, :now), paused_by = :by, pause_reason = :reason WHERE id = 1
    """
)
_UNPAUSE = Sql("UPDATE admission SET paused_at = NULL, paused_by = NULL, pause_reason = NULL WHERE id = 1")
# Those that have begun keep their slots: a server that stops releases what it runs, and it goes on at the next start.
_TAKE_BACK_NEW = Sql(
    """
    UPDATE run SET admitted = false WHERE id IN (
        SELECT id FROM run WHERE admitted AND state = 'queued' AND deadline_at IS NULL FOR UPDATE SKIP LOCKED)
    """
)
_FIND_PAUSE = Sql("SELECT paused_at, paused_by, pause_reason FROM admission WHERE id = 1 AND paused_at IS NOT NULL")
_SET_LIMIT = Sql(
    """
    INSERT INTO admission (id, caller_limit) VALUES (1, :limit)
    ON CONFLICT (id) DO UPDATE SET caller_limit = excluded.caller_limit
    """
)
_LIMIT = Sql(
    """
    SELECT CASE WHEN caller.disabled_at IS NULL THEN caller_limit ELSE 0 END AS caller_limit
    FROM admission, caller WHERE admission.id = 1 AND caller.id = :caller_id
    """
)
# Walks the index of admitted runs, of which each caller has few.
_RUNNING = """
    SELECT run.id FROM run JOIN caller ON caller.id = run.caller_id
    WHERE run.admitted AND run.state = 'running' AND caller.disabled_at IS NOT NULL
    """
_RUNNING_OF_DISABLED = Sql(_RUNNING)
_RUNNING_OF_DISABLED_CALLER = Sql(f"{_RUNNING} AND run.caller_id = :caller_id")


def lock_slots(conn: Connection, caller_id: str) -> None:
    """Wait for other units that admit runs of the caller; later statements see what they have committed."""
    if conn.shared:
        conn.one(_LOCK_SLOTS, {"caller_id": caller_id})


def offer(conn: Connection, run_id: str, priority: int = 0) -> None:
    """Offer an admitted run to the dispatchers after the commit; the rescue finds it if the wake-up is lost."""
    conn.wake(Topic.RUN_DUE_FIRST if priority else Topic.RUN_DUE, run_id)


def admit_next(conn: Connection, caller_id: str, left: str | None = None) -> None:
    """Admit and offer the next queued run after one has left its slot.

    Args:
        conn: The transaction.
        caller_id: The run's caller, whose next run it is.
        left: Its concurrency key; where it has one, runs of other callers may have waited for its place.
    """
    lock_slots(conn, caller_id)
    for waiting in conn.all(_WAIT_FOR_GROUP, {"key": left}) if left is not None else ():
        if not conn.shared or conn.one(_TRY_SLOTS, {"caller_id": waiting.caller_id}) is not None:
            _admit_and_offer(conn, waiting.caller_id)
    if conn.one(_WAITS, {"caller_id": caller_id}) is not None:
        _admit_and_offer(conn, caller_id)


def admit_new(conn: Connection, caller_id: str, run_id: str) -> bool:
    """Admit a run that this unit has queued if a slot is free and no other comes first.

    Does not offer it: the unit may claim it.
    """
    lock_slots(conn, caller_id)
    while (admitted := _admit_next(conn, caller_id)) is not None and admitted.id != run_id:
        offer(conn, admitted.id, admitted.priority)
    return admitted is not None


def admit_waiting(conn: Connection, caller_id: str, run_id: str) -> bool:
    """Admit a waiting run whose time has come if a slot is free."""
    lock_slots(conn, caller_id)
    admitted = conn.one(_ADMIT, {"id": run_id, "caller_id": caller_id})
    return admitted is not None and _keeps_to_group(conn, admitted)


def set_caller_limit(conn: Connection, limit: int) -> None:
    """Set how many runs of each caller may be admitted; `readmit` applies it to what is queued."""
    conn.run(_SET_LIMIT, {"limit": limit})


def uneven_callers(conn: Connection) -> list[str]:
    """List callers with a free slot and a queued run to take it, or with more admitted runs than the limit."""
    return [row.caller_id for row in conn.all(_UNEVEN)]


def readmit(conn: Connection, caller_id: str) -> None:
    """Admit as many of a caller's runs as the limit allows, or take back queued ones beyond it."""
    lock_slots(conn, caller_id)
    if (row := conn.one(_LIMIT, {"caller_id": caller_id})) is not None:
        conn.run(_TAKE_BACK, {"caller_id": caller_id, "limit": row.caller_limit})
    while _admit_and_offer(conn, caller_id):
        pass


async def running_of_disabled(store: Store, caller_id: str | None = None) -> list[str]:
    """List the runs of disabled callers, or of one of them, that have begun and are not being cancelled."""
    if caller_id is None:
        return [row.id for row in await store.rows(_RUNNING_OF_DISABLED)]
    return [row.id for row in await store.rows(_RUNNING_OF_DISABLED_CALLER, {"caller_id": caller_id})]


class Pause(NamedTuple):
    """A pause of admission; `by` is the subject of the operator."""

    at: datetime
    by: str
    reason: str | None


def pause_admission(conn: Connection, by: str, reason: str | None) -> None:
    """Admit no more runs, and take back those that have not begun; of a second pause only the reason is new."""
    if conn.shared:
        conn.all(_LOCK_ALL_SLOTS)  # a unit that admits a run at the same moment ends first, so that its run is seen
    conn.run(_PAUSE, {"now": conn.now(), "by": by, "reason": reason})
    conn.run(_TAKE_BACK_NEW)


def unpause_admission(conn: Connection) -> None:
    """Admit runs again; `readmit` then applies the limit to what is queued."""
    conn.run(_UNPAUSE)


async def find_pause(store: Store) -> Pause | None:
    """Return the pause of admission; None when there is none."""
    for row in await store.rows(_FIND_PAUSE):
        return Pause(some_instant(row.paused_at), row.paused_by, row.pause_reason)
    return None


def _admit_and_offer(conn: Connection, caller_id: str) -> bool:
    if (admitted := _admit_next(conn, caller_id)) is None:
        return False
    offer(conn, admitted.id, admitted.priority)
    return True


def _admit_next(conn: Connection, caller_id: str) -> Row | None:
    """Admit the caller's next run; the unit has locked its slots."""
    while (admitted := conn.one(_ADMIT_NEXT, {"caller_id": caller_id})) is not None:
        if _keeps_to_group(conn, admitted):
            return admitted
    return None


def _keeps_to_group(conn: Connection, admitted: Row) -> bool:
    """Take back a run that another unit's run, admitted at the same moment, left no place for in its group."""
    if admitted.concurrency_key is None or not conn.shared:
        return True
    conn.one(_LOCK_GROUPS)
    if conn.one(_OVERFILLS_GROUP, {"id": admitted.id}) is None:
        return True
    conn.run(_TAKE_BACK_ONE, {"id": admitted.id})
    return False
