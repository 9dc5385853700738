"""How far a caller's memory has come, and what was counted of it.

A caller's `memory_state.revision` counts the changes of its memory; each row carries the one it came with, and
`removed` is the last one that took rows away. What is made from memory is kept up to date by those two numbers. What
was counted is stored with its revision, so that a start need not open every row; it goes with the first row that goes.
Whoever changes rows calls `note_change` first: everybody locks in that order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from store.database.dialects import Sql, instant
from store.secrets.vault_proof import demand_proof

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store


@dataclass(frozen=True, slots=True)
class MemoryState:
    """How far a caller's memory has come; `paused_at` is since when nothing is learned."""

    revision: int = 0
    removed: int = 0
    paused_at: datetime | None = None


class KeptCounts(NamedTuple):
    """What was counted of a caller's rows up to a revision, sealed for `counts_place`."""

    revision: int
    sealed: str


_CHANGE = Sql(
    """INSERT INTO memory_state (caller_id, revision, removed) VALUES (:caller_id, 1, 0)
    ON CONFLICT (caller_id) DO UPDATE SET revision = memory_state.revision + 1
    RETURNING revision, paused_at"""
)
_REMOVED = Sql("UPDATE memory_state SET removed = revision, counted = NULL, counts = NULL WHERE caller_id = :caller_id")
_EVERY_STATE = Sql(
    "UPDATE memory_state SET revision = revision + 1, removed = revision + 1, counted = NULL, counts = NULL"
)
_KEEP_COUNTS = Sql(
    """UPDATE memory_state SET counted = :revision, counts = :sealed
    WHERE caller_id = :caller_id AND removed <= :revision AND (counted IS NULL OR counted < :revision)"""
)
_COUNTS = Sql("SELECT counted, counts FROM memory_state WHERE caller_id = :caller_id AND counts IS NOT NULL")
_PAUSE = Sql("UPDATE memory_state SET paused_at = :at WHERE caller_id = :caller_id")
_STATE = Sql("SELECT revision, removed, paused_at FROM memory_state WHERE caller_id = :caller_id")


def counts_place(caller_id: str) -> str:
    """Where what was counted of a caller is sealed for."""
    return f"memory-counts:{caller_id}"


def note_change(conn: Connection, caller_id: str) -> tuple[int, datetime | None]:
    """Counts a change of what a caller's defaults are made from; its number, and since when nothing is learned."""
    row = conn.one(_CHANGE, {"caller_id": caller_id})
    assert row is not None, "inserted or updated"
    return int(row.revision), instant(row.paused_at)


def note_removal(conn: Connection, caller_id: str) -> None:
    """Says that the change noted last took rows away, and with them what was counted."""
    conn.run(_REMOVED, {"caller_id": caller_id})


def outdate_every_memory(conn: Connection) -> None:
    """Counts a change for every caller after which nothing holds that was made from memory before."""
    conn.run(_EVERY_STATE)


def set_learning(conn: Connection, caller_id: str, *, paused: bool) -> None:
    """Pauses learning, or takes it up again; what was learned stays."""
    _, since = note_change(conn, caller_id)
    if not paused or since is None:
        conn.run(_PAUSE, {"caller_id": caller_id, "at": conn.now() if paused else None})


def keep_counts(conn: Connection, caller_id: str, revision: int, sealed: str, *, proof: str) -> None:
    """Stores what was counted up to a revision, unless rows went away since or somebody counted further.

    Raises:
        VaultChangedError: the vault key was changed since it was sealed.
    """
    demand_proof(conn, proof)
    conn.run(_KEEP_COUNTS, {"caller_id": caller_id, "revision": revision, "sealed": sealed})


async def memory_state(store: Store, caller_id: str) -> MemoryState:
    """How far a caller's memory has come."""
    rows = await store.rows(_STATE, {"caller_id": caller_id})
    for row in rows:
        return MemoryState(int(row.revision), int(row.removed), instant(row.paused_at))
    return MemoryState()


async def find_counts(store: Store, caller_id: str) -> KeptCounts | None:
    """What was counted of a caller's rows; None when nothing is kept."""
    rows = await store.rows(_COUNTS, {"caller_id": caller_id})
    return KeptCounts(int(rows[0].counted), str(rows[0].counts)) if rows else None
