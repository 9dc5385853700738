"""Compares the queue of a shared database with the store: finds what was lost in it and removes what was left in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.database.queue_schema import HORIZON_SECONDS, QUEUED_NEEDS, QUEUED_PRIORITY
from store.runs.claim import cut_leases

if TYPE_CHECKING:
    from store.database.dialects import Connection

#: `pg_try_advisory_xact_lock` key: "pack-due" as eight ASCII bytes.
_LOCK = int.from_bytes(b"pack-due", "big")
#: A delivery ends when its run has left its lane; one that is older was not recorded.
_ENDED_SECONDS = 60.0
_TRY_LOCK = Sql("SELECT pg_try_advisory_xact_lock(:key) AS taken")
# Their loops are gone. One that was only frozen fails at its next fetch and is started again.
_FORGET_LOOPS = Sql("DELETE FROM procrastinate_workers WHERE last_heartbeat < :since")
_FORGET_DELIVERIES = Sql(
    """
    DELETE FROM procrastinate_jobs AS job
    WHERE status <> 'todo' AND (worker_id IS NULL
        OR EXISTS (SELECT 1 FROM run WHERE run.id = job.args ->> 'run_id' AND run.ended_at < :before))
    """
)
# Rows of runs that have ended, or need something else by now: nobody may serve that queue.
_FORGET_ROWS = Sql(
    f"""
    DELETE FROM procrastinate_jobs AS job
    WHERE status = 'todo' AND NOT EXISTS (
        SELECT 1 FROM run WHERE run.id = job.args ->> 'run_id' AND run.ended_at IS NULL
            AND {QUEUED_NEEDS} = job.args ->> 'needs')
    """
)
# Since these waits began, the database's clock was set back: they begin again, and may end that much earlier.
_CUT_WAITS = Sql(
    """
    UPDATE run SET not_before = :now + (run.not_before - attempt.ended_at)
    FROM run_step AS step JOIN attempt ON attempt.id = step.attempt_id
    WHERE step.run_id = run.id AND step.state = 'waiting' AND run.not_before > :now
        AND attempt.ended_at > :now AND run.not_before > attempt.ended_at
    """
)
_FORGET_WAITS = Sql("DELETE FROM procrastinate_jobs WHERE status = 'todo' AND scheduled_at > :soon")
# A row that is being delivered does not count: a worker that dies there would lose its run. Nor does one that was put
# in before the run became urgent.
_NOT_QUEUED = f"""NOT EXISTS (
        SELECT 1 FROM procrastinate_jobs AS job
        WHERE job.status = 'todo' AND job.args ->> 'run_id' = run.id AND job.priority >= {QUEUED_PRIORITY})"""
# Two selections, each by an index of its own; neither walks the history.
_LOST = Sql(
    f"""
    SELECT id FROM run WHERE admitted AND (state = 'queued' OR lease_until IS NULL OR lease_until < :now)
        AND {_NOT_QUEUED}
    UNION SELECT id FROM run WHERE not_before < :soon AND {_NOT_QUEUED}
    """
)
_NEEDS = Sql(
    f"""
    SELECT {QUEUED_NEEDS} AS needs FROM run WHERE admitted UNION SELECT {QUEUED_NEEDS} FROM run WHERE not_before < :soon
    """
)


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is in the store, and how the queue differs.

    Attributes:
        lost: Runs that should be in the queue and are not.
        needs: What the runs in the queue need, as `run.needs` has it, each once.
    """

    lost: tuple[str, ...]
    needs: frozenset[str]


def sweep_queue(conn: Connection, lease_seconds: float) -> Sweep:
    """Remove what lost workers and runs that have gone on left in the queue, and list what is lost.

    While another process sweeps, only the needs are listed.
    """
    now = conn.now()
    soon = {"now": now, "soon": conn.later(HORIZON_SECONDS)}
    needs = frozenset(row.needs for row in conn.all(_NEEDS, soon))
    row = conn.one(_TRY_LOCK, {"key": _LOCK})
    if row is None or not row.taken:
        return Sweep((), needs)
    cut_leases(conn, lease_seconds)
    conn.run(_FORGET_LOOPS, {"since": conn.later(-lease_seconds)})
    conn.run(_FORGET_DELIVERIES, {"before": conn.later(-_ENDED_SECONDS)})
    conn.run(_FORGET_ROWS)
    conn.run(_CUT_WAITS, {"now": now})
    conn.run(_FORGET_WAITS, {"soon": conn.later(HORIZON_SECONDS)})
    return Sweep(tuple(row.id for row in conn.all(_LOST, soon)), needs)
