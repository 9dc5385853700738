"""Gap proposals: missing capabilities that callers kept, to be built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from store.database.dialects import Sql
from store.database.ids import new_id
from store.database.paging import capped_count, fetch_page
from store.models.declaring import columns_of
from store.models.pipelines import GAP_PROPOSAL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow


@dataclass(frozen=True, slots=True)
class GapProposalRecord:
    """A gap that a caller kept.

    Attributes:
        caller_id: Who kept it.
        user_intent: The request that nothing in the catalog serves.
        gap: JSON text: `missing_capability`, `why_missing` and `proposal`, as `route` returns them.
    """

    id: str
    caller_id: str
    user_intent: str
    gap: str
    created_at: datetime


_INSERT = Sql(
    """INSERT INTO gap_proposal (id, caller_id, user_intent, gap, created_at)
    VALUES (:id, :caller_id, :user_intent, :gap, :now)"""
)
_DELETE = Sql("DELETE FROM gap_proposal WHERE id = :id")
_COLUMNS = columns_of(GAP_PROPOSAL, GapProposalRecord)


def keep_gap(conn: Connection, *, caller_id: str, user_intent: str, gap: str) -> GapProposalRecord:
    """Store a gap, given as JSON text, and return its record."""
    kept = GapProposalRecord(new_id("gap"), caller_id, user_intent, gap, conn.now())
    conn.run(
        _INSERT, {"id": kept.id, "caller_id": caller_id, "user_intent": user_intent, "gap": gap, "now": kept.created_at}
    )
    return kept


def delete_gap(conn: Connection, gap_id: str) -> bool:
    """Delete a kept gap; return whether it existed."""
    return conn.run(_DELETE, {"id": gap_id}) > 0


async def list_gaps(store: Store, window: PageWindow) -> list[GapProposalRecord]:
    """List kept gaps, newest first; the sort key is `(id,)`."""
    rows = await fetch_page(store, sa.select(*_COLUMNS), [(GAP_PROPOSAL.c.id, True)], window)
    return [GapProposalRecord(**row) for row in rows]


async def count_gaps(store: Store) -> int:
    return await capped_count(store, sa.select(GAP_PROPOSAL.c.id))


async def find_gaps(store: Store, ids: Sequence[str]) -> dict[str, GapProposalRecord]:
    rows = await store.read(sa.select(*_COLUMNS).where(GAP_PROPOSAL.c.id.in_(ids)))
    return {row["id"]: GapProposalRecord(**row) for row in rows.mappings()}
