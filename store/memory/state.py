"""The revision of each caller's memory, and the counts derived from it.

`memory_state.revision` counts the changes of a caller's memory; each row carries the revision that added it, and
`removed` is the last revision that deleted rows. Caches compare these two numbers. Stored counts carry their revision,
so that a restart need not decrypt every row; deleting a row deletes them. A unit that changes rows calls `note_change`
first, so that all units lock in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from store.database.dialects import Sql, instant
from store.secrets.vault_proof import require_proof

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store


@dataclass(frozen=True, slots=True)
class MemoryState:
    """The state of a caller's memory; `paused_at` is when learning was paused, if it is."""

    revision: int = 0
    removed: int = 0
    paused_at: datetime | None = None


class KeptCounts(NamedTuple):
    """Counts of a caller's rows up to a revision, sealed for `counts_place`."""

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
    """Return the context that seals a caller's counts."""
    return f"memory-counts:{caller_id}"


def note_change(conn: Connection, caller_id: str) -> tuple[int, datetime | None]:
    """Increment the revision of a caller's memory; return it, and when learning was paused."""
    row = conn.one(_CHANGE, {"caller_id": caller_id})
    assert row is not None, "inserted or updated"
    return int(row.revision), instant(row.paused_at)


def note_removal(conn: Connection, caller_id: str) -> None:
    """Record that the latest change deleted rows, and delete the stored counts."""
    conn.run(_REMOVED, {"caller_id": caller_id})


def outdate_every_memory(conn: Connection) -> None:
    """Increment every caller's revision and invalidate everything derived from memory."""
    conn.run(_EVERY_STATE)


def set_learning(conn: Connection, caller_id: str, *, paused: bool) -> None:
    """Pause or resume learning; learned values stay."""
    _, since = note_change(conn, caller_id)
    if not paused or since is None:
        conn.run(_PAUSE, {"caller_id": caller_id, "at": conn.now() if paused else None})


def keep_counts(conn: Connection, caller_id: str, revision: int, sealed: str, *, proof: str) -> None:
    """Store counts up to a revision, unless rows were deleted since or newer counts are stored.

    Raises:
        VaultChangedError: the vault key was changed since they were sealed.
    """
    require_proof(conn, proof)
    conn.run(_KEEP_COUNTS, {"caller_id": caller_id, "revision": revision, "sealed": sealed})


async def memory_state(store: Store, caller_id: str) -> MemoryState:
    """Return the state of a caller's memory."""
    rows = await store.rows(_STATE, {"caller_id": caller_id})
    for row in rows:
        return MemoryState(int(row.revision), int(row.removed), instant(row.paused_at))
    return MemoryState()


async def find_counts(store: Store, caller_id: str) -> KeptCounts | None:
    """Find the stored counts of a caller's rows; None when there are none."""
    rows = await store.rows(_COUNTS, {"caller_id": caller_id})
    return KeptCounts(int(rows[0].counted), str(rows[0].counts)) if rows else None
