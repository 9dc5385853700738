"""Sessions: workspaces that a step leaves for later ones.

The rows say which may still be used; the runner owns the folders. A session belongs to one machine; others count it as
missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from store.database.dialects import Sql
from store.models.attempt_records import SESSION
from store.models.declaring import columns_of
from store.models.runs import RUN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A workspace a step left; `ended_at` is set once it can no longer be used."""

    id: str
    run_id: str
    step_id: str
    machine: str
    created_at: datetime
    last_used_at: datetime
    ended_at: datetime | None


_START = Sql(
    """INSERT INTO session (id, run_id, step_id, machine, created_at, last_used_at)
    VALUES (:id, :run_id, :step_id, :machine, :now, :now)"""
)
_TOUCH = Sql("UPDATE session SET last_used_at = :now WHERE id = :id AND ended_at IS NULL")
_END_OF_RUN = Sql("UPDATE session SET ended_at = :now WHERE run_id = :run_id AND ended_at IS NULL RETURNING id")
_END_EXPIRED = Sql(
    """UPDATE session SET ended_at = :now WHERE id IN (
        SELECT session.id FROM session JOIN run ON run.id = session.run_id
        WHERE session.machine = :machine AND session.ended_at IS NULL AND run.ended_at IS NOT NULL
        AND (run.state = 'succeeded' OR session.last_used_at < :before AND run.ended_at < :before)
        ORDER BY session.id LIMIT :limit
    ) RETURNING id"""
)
_LIVE = Sql("SELECT id, machine FROM session WHERE run_id = :run_id AND ended_at IS NULL")
_COLUMNS = columns_of(SESSION, SessionRecord)


def start_session(conn: Connection, *, session_id: str, run_id: str, step_id: str, machine: str) -> None:
    """Record a session whose folder exists."""
    conn.run(_START, {"id": session_id, "run_id": run_id, "step_id": step_id, "machine": machine, "now": conn.now()})


def touch_session(conn: Connection, session_id: str) -> bool:
    """Record that a session is used; return false if it has ended."""
    return conn.run(_TOUCH, {"id": session_id, "now": conn.now()}) > 0


def end_sessions_of_run(conn: Connection, run_id: str) -> frozenset[str]:
    """End the sessions of a run; return their ids."""
    return frozenset(row.id for row in conn.all(_END_OF_RUN, {"run_id": run_id, "now": conn.now()}))


def end_expired_sessions(conn: Connection, machine: str, *, idle_seconds: float, limit: int = 100) -> frozenset[str]:
    """End this machine's sessions that no run will use again; return their ids.

    Those of succeeded runs end at once; those of failed and cancelled runs after `idle_seconds` without use. A run that
    is not final has a running or scheduled step, so its sessions stay.
    """
    now = conn.now()
    idle = {"before": now - timedelta(seconds=idle_seconds), "machine": machine, "now": now, "limit": limit}
    return frozenset(row.id for row in conn.all(_END_EXPIRED, idle))


async def live_sessions(store: Store, run_id: str) -> dict[str, str]:
    """List the ids of a run's sessions that have not ended, with the machine each belongs to."""
    return {row.id: row.machine for row in await store.rows(_LIVE, {"run_id": run_id})}


async def find_sessions(store: Store, ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, SessionRecord]:
    """Find sessions by id; only those of runs of `visible_to`, if given."""
    wanted = sa.select(*_COLUMNS).where(SESSION.c.id.in_(ids))
    if visible_to is not None:
        own_run = sa.select(RUN.c.id).where(RUN.c.id == SESSION.c.run_id, RUN.c.caller_id == visible_to)
        wanted = wanted.where(own_run.exists())
    return {row["id"]: SessionRecord(**row) for row in (await store.read(wanted)).mappings()}


async def ended_or_unknown(store: Store, ids: Sequence[str]) -> frozenset[str]:
    """Return which of these sessions have ended or have no row, to sweep the folders of pruned runs."""
    live = sa.select(SESSION.c.id).where(SESSION.c.id.in_(ids), SESSION.c.ended_at.is_(None))
    return frozenset(ids).difference((await store.read(live)).scalars())
