"""Compares the queue of a shared database with its runs: finds runs that are missing, and removes stale rows."""

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
#: The row of a delivery is deleted when its run leaves its lane; one that stays longer after the run's end is stale.
_ENDED_SECONDS = 60.0
_TRY_LOCK = Sql("SELECT pg_try_advisory_xact_lock(:key) AS taken")
# Loops without a sign of life. One that was only frozen fails at its next fetch and is started again.
_FORGET_LOOPS = Sql("DELETE FROM procrastinate_workers WHERE last_heartbeat < :since")
_FORGET_DELIVERIES = Sql(
    """
    DELETE FROM procrastinate_jobs AS job
    WHERE status <> 'todo' AND (worker_id IS NULL
        OR EXISTS (SELECT 1 FROM run WHERE run.id = job.args ->> 'run_id' AND run.ended_at < :before))
    """
)
# Rows of runs that have ended or now need something else: the queue of the old needs may have no worker.
_FORGET_ROWS = Sql(
    f"""
    DELETE FROM procrastinate_jobs AS job
    WHERE status = 'todo' AND NOT EXISTS (
        SELECT 1 FROM run WHERE run.id = job.args ->> 'run_id' AND run.ended_at IS NULL
            AND {QUEUED_NEEDS} = job.args ->> 'needs')
    """
)
# Waits that began in the future: the database's clock was set back. They begin again now, with their full length.
_CUT_WAITS = Sql(
    """
    UPDATE run SET not_before = :now + (run.not_before - attempt.ended_at)
    FROM run_step AS step JOIN attempt ON attempt.id = step.attempt_id
    WHERE step.run_id = run.id AND step.state = 'waiting' AND run.not_before > :now
        AND attempt.ended_at > :now AND run.not_before > attempt.ended_at
    """
)
_FORGET_WAITS = Sql("DELETE FROM procrastinate_jobs WHERE status = 'todo' AND scheduled_at > :soon")
# A row that is being delivered does not count, since the worker may die before it claims the run; nor does a row that
# was put in before the run became urgent.
_NOT_QUEUED = f"""NOT EXISTS (
        SELECT 1 FROM procrastinate_jobs AS job
        WHERE job.status = 'todo' AND job.args ->> 'run_id' = run.id AND job.priority >= {QUEUED_PRIORITY})"""
# Each half uses another partial index, so that ended runs are not read.
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
    """The result of a sweep.

    Attributes:
        lost: Ids of runs that should be in the queue and are not.
        needs: The distinct needs of the runs that should be in the queue, as `run.needs` has them.
    """

    lost: tuple[str, ...]
    needs: frozenset[str]


def sweep_queue(conn: Connection, lease_seconds: float) -> Sweep:
    """Remove stale rows from the queue, and list the runs that it lacks.

    While another process sweeps, `lost` is empty.
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
