"""Removes a run: its artifacts by the rules of guarantees F2 and F3, then everything below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.database.wakes import Topic
from store.runs.spent_keys import keep_keys

if TYPE_CHECKING:
    from store.database.dialects import Connection

# Artifacts that only this run still needed, their own run being gone already.
_DELETE_REUSED = Sql(
    """DELETE FROM artifact WHERE NOT pinned
    AND attempt_id IN (SELECT reused_from FROM attempt WHERE run_id = :id AND reused_from IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = artifact.run_id)
    AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.reused_from = artifact.attempt_id AND attempt.run_id <> :id)"""
)
_DELETE_ARTIFACTS = Sql(
    """DELETE FROM artifact WHERE run_id = :id AND NOT pinned
    AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.reused_from = artifact.attempt_id)"""
)
# Steps, attempts, log lines, events and sessions go with it by their foreign keys.
_DELETE_RUN = Sql("DELETE FROM run WHERE id = :id AND ended_at IS NOT NULL")


def remove_run(conn: Connection, run_id: str) -> None:
    """Removes a run that has ended, with everything below it, and wakes those who watch it.

    Its artifacts go along unless they are pinned or another run reuses them; those go once that run is removed.
    """
    keep_keys(conn, run_id)
    conn.run(_DELETE_REUSED, {"id": run_id})
    conn.run(_DELETE_ARTIFACTS, {"id": run_id})
    conn.run(_DELETE_RUN, {"id": run_id})
    conn.wake(Topic.RUN_DELETED, run_id)
