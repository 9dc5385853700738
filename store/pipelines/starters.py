"""The starters of a release: rows like any pipeline's, brought up to date at each start of the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.pipelines.rows import (
    CurrentVersion,
    add_pipeline,
    add_version,
    hide_pipeline,
    lock_pipeline,
    update_pipeline,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.pipelines.rows import Definition, Heading


@dataclass(frozen=True, slots=True)
class Starter:
    """A pipeline as this release ships it; `id` is `builtin.<slug>`."""

    id: str
    heading: Heading
    definition: Definition


@dataclass(frozen=True, slots=True)
class StarterChanges:
    """Ids of the starters that a start added, updated, deleted, or hid because runs refer to them."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


_STARTERS = Sql("SELECT id, deleted_at IS NOT NULL AS hidden FROM pipeline WHERE builtin ORDER BY id")
_HAS_RUNS = Sql("SELECT 1 FROM run WHERE pipeline_id = :id LIMIT 1")
_DELETE = Sql("DELETE FROM pipeline WHERE id = :id")


def upsert_starters(conn: Connection, starters: Sequence[Starter]) -> StarterChanges:
    """Bring the starters in the database up to this release; a second call changes nothing.

    A starter no longer shipped is deleted, or hidden when runs refer to it. Users' pipelines are never touched.
    """
    now = conn.now()
    known = {row.id: bool(row.hidden) for row in conn.all(_STARTERS)}
    added: list[str] = []
    updated: list[str] = []
    for starter in starters:
        if starter.id not in known:
            # Another server that starts right now may be first; then its row stays.
            if add_pipeline(conn, starter.id, starter.heading, now, owner_id=None):
                add_version(conn, starter.id, 1, starter.definition, now, note=None, created_by=None)
                added.append(starter.id)
        elif _update_starter(conn, starter, now):
            updated.append(starter.id)
    shipped = {starter.id for starter in starters}
    removed: list[str] = []
    hidden: list[str] = []
    for pipeline_id, is_hidden in known.items():
        if pipeline_id in shipped:
            continue
        if conn.one(_HAS_RUNS, {"id": pipeline_id}) is None:
            conn.run(_DELETE, {"id": pipeline_id})
            removed.append(pipeline_id)
        elif not is_hidden:
            hide_pipeline(conn, pipeline_id, now)
            hidden.append(pipeline_id)
    return StarterChanges(tuple(added), tuple(updated), tuple(removed), tuple(hidden))


def _update_starter(conn: Connection, starter: Starter, now: datetime) -> bool:
    locked = lock_pipeline(conn, starter.id)
    assert locked is not None, "it was read in the same transaction"
    before = CurrentVersion.of(conn, starter.id)
    if before.is_same(starter.heading, starter.definition) and not locked.hidden:
        return False
    number = locked.current_number
    has_text = before.has_text_of(starter.definition)
    update_pipeline(conn, starter.id, starter.heading, now, number=number if has_text else number + 1)
    if not has_text:
        add_version(conn, starter.id, number + 1, starter.definition, now, note=None, created_by=None)
    return True
