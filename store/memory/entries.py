"""Rows of memory: one for each outcome, listed and forgotten by its caller.

`store.memory.outcomes` writes the rows; `store.memory.state` versions what is derived from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql, by_name, some_instant
from store.database.paging import capped_count, fetch_page
from store.memory.state import note_change, note_removal, outdate_every_memory
from store.models.declaring import columns_of
from store.models.memory import MEMORY_ENTRY
from store.states import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import RowMapping

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow

TargetKind = Literal["pack", "pipeline"]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A remembered outcome; see `store.models.MemoryEntryRow`.

    Attributes:
        target: The pack's name or the pipeline's id; either may be gone.
        run_id: The run; it may be gone.
        step_id: Empty for a run, and for a pack called by itself.
        sealed: The learned values, sealed for `place_of`; None when there are none.
    """

    id: str
    caller_id: str
    kind: TargetKind
    target: str
    run_id: str
    step_id: str
    at: datetime
    outcome: RunState
    failure_code: str | None
    duration_seconds: float
    sealed: str | None
    expires_at: datetime


class Evidence(NamedTuple):
    """A success that defaults are learned from; `revision` is its caller's memory revision when it was written."""

    kind: TargetKind
    target: str
    run_id: str
    step_id: str
    at: datetime
    sealed: str | None
    revision: int


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """Selects rows: all, of a kind, of one pack or pipeline, or one by id."""

    kind: TargetKind | None = None
    target: str | None = None
    entry_id: str | None = None


EVERYTHING = MemoryScope()

_OWN = "FROM memory_entry WHERE caller_id = :caller_id"
_SCOPED = {
    "all": _OWN,
    "kind": f"{_OWN} AND kind = :kind",
    "target": f"{_OWN} AND kind = :kind AND target = :target",
    # Forgetting a run also deletes the rows of its steps, which share its id.
    "entry": f"""{_OWN} AND (id = :entry_id OR run_id =
        (SELECT run_id FROM memory_entry WHERE id = :entry_id AND caller_id = :caller_id AND step_id = ''))""",
}
_COUNT_SCOPED = {name: Sql(f"SELECT count(*) AS rows {rows}") for name, rows in _SCOPED.items()}
_DELETE_SCOPED = {name: Sql(f"DELETE {rows}") for name, rows in _SCOPED.items()}
_EXPIRED = Sql(
    """SELECT DISTINCT caller_id FROM
    (SELECT caller_id FROM memory_entry WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit) AS oldest
    ORDER BY caller_id"""
)
_SWEEP = Sql(
    """DELETE FROM memory_entry WHERE id IN (SELECT id FROM memory_entry
    WHERE expires_at <= :now AND caller_id = :caller_id ORDER BY expires_at LIMIT :limit)"""
)
_SEALED = Sql("SELECT id, caller_id, run_id, step_id, sealed FROM memory_entry WHERE sealed IS NOT NULL ORDER BY id")
_RESEAL = Sql("UPDATE memory_entry SET sealed = :sealed WHERE id = :id")
_UNREADABLE = Sql("UPDATE memory_entry SET sealed = NULL WHERE sealed IS NOT NULL")
_EVIDENCE = Sql(
    f"""SELECT {", ".join(Evidence._fields)} FROM memory_entry
    WHERE caller_id = :caller_id AND revision > :after AND outcome = 'succeeded'
    ORDER BY revision DESC LIMIT :limit"""
)
_COLUMNS = columns_of(MEMORY_ENTRY, MemoryRecord)


def place_of(caller_id: str, run_id: str, step_id: str) -> str:
    """Return the context that seals a row's learned values, so that they open in no other row or for another caller."""
    return f"memory:{caller_id}:{run_id}:{step_id}"


# ------------------------------------------------------------------------------------------------ units


def forget(conn: Connection, caller_id: str, scope: MemoryScope, *, dry_run: bool = False) -> int:
    """Delete a caller's rows in a scope, or only count them in a dry run; return how many."""
    which = "entry" if scope.entry_id else "target" if scope.target is not None else "kind" if scope.kind else "all"
    values = {"caller_id": caller_id, "kind": scope.kind, "target": scope.target, "entry_id": scope.entry_id}
    if dry_run:
        row = conn.one(_COUNT_SCOPED[which], values)
        return int(row.rows) if row else 0
    note_change(conn, caller_id)  # before the rows, the order in which all units lock
    count = conn.run(_DELETE_SCOPED[which], values)
    if count:
        note_removal(conn, caller_id)
    return count


def sweep_memory(conn: Connection, *, limit: int = 500) -> int:
    """Delete expired rows, oldest first; return how many."""
    now = conn.now()
    count = 0
    for row in conn.all(_EXPIRED, {"now": now, "limit": limit}):
        note_change(conn, row.caller_id)
        count += conn.run(_SWEEP, {"now": now, "caller_id": row.caller_id, "limit": limit})
        note_removal(conn, row.caller_id)
        if count >= limit:
            break
    return count


def sealed_memory(conn: Connection) -> list[tuple[str, str, str]]:
    """List id, place and sealed values of every row that has any, for a rotation of the vault key."""
    return [(row.id, place_of(row.caller_id, row.run_id, row.step_id), row.sealed) for row in conn.all(_SEALED)]


def reseal_memory(conn: Connection, sealed: Mapping[str, str | None]) -> None:
    """Replace the sealed values of rows by id; None removes them."""
    conn.many(_RESEAL, [{"id": entry_id, "sealed": text} for entry_id, text in sealed.items()])
    outdate_every_memory(conn)


def empty_sealed(conn: Connection) -> None:
    """Remove every learned value, for a vault whose key is lost; the rows stay."""
    conn.run(_UNREADABLE)
    outdate_every_memory(conn)


# ------------------------------------------------------------------------------------------------ reads


async def evidence(store: Store, caller_id: str, *, after: int, limit: int) -> list[Evidence]:
    """List successes recorded after a revision, newest first."""
    rows = await store.rows(_EVIDENCE, {"caller_id": caller_id, "after": after, "limit": limit})
    return [Evidence(**by_name(row) | {"at": some_instant(row.at)}) for row in rows]


async def list_memory(store: Store, caller_id: str, scope: MemoryScope, window: PageWindow) -> list[MemoryRecord]:
    """List a caller's rows in a scope, newest first; the sort key is `(at, id)`."""
    keys = [(MEMORY_ENTRY.c.at, True), (MEMORY_ENTRY.c.id, True)]
    wanted = sa.select(*_COLUMNS).where(*_conditions(caller_id, scope))
    return [_record(row) for row in await fetch_page(store, wanted, keys, window)]


async def count_memory(store: Store, caller_id: str, scope: MemoryScope) -> int:
    """Count a caller's rows in a scope, up to `store.database.paging.COUNT_CAP`."""
    return await capped_count(store, sa.select(MEMORY_ENTRY.c.id).where(*_conditions(caller_id, scope)))


async def find_memory(store: Store, ids: Sequence[str]) -> dict[str, MemoryRecord]:
    """Find rows by id, of any caller."""
    rows = await store.read(sa.select(*_COLUMNS).where(MEMORY_ENTRY.c.id.in_(ids)))
    return {row["id"]: _record(row) for row in rows.mappings()}


def _record(row: RowMapping) -> MemoryRecord:
    return MemoryRecord(**{**row, "outcome": RunState(row["outcome"])})


def _conditions(caller_id: str, scope: MemoryScope) -> list[Any]:
    conditions: list[Any] = [MEMORY_ENTRY.c.caller_id == caller_id]
    if scope.entry_id is not None:
        own = sa.select(MEMORY_ENTRY.c.run_id).where(
            MEMORY_ENTRY.c.id == scope.entry_id,
            MEMORY_ENTRY.c.caller_id == caller_id,
            MEMORY_ENTRY.c.step_id == "",
        )
        conditions.append((MEMORY_ENTRY.c.id == scope.entry_id) | MEMORY_ENTRY.c.run_id.in_(own))
    if scope.kind is not None:
        conditions.append(MEMORY_ENTRY.c.kind == scope.kind)
    if scope.target is not None:
        conditions.append(MEMORY_ENTRY.c.target == scope.target)
    return conditions
