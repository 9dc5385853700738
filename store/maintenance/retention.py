"""Deletes what is past its retention: runs, artifacts, blobs, audit, cache, logins, memory, firings.

Each unit is bounded, so that no sweep holds the writer for long; `sweep` repeats them until nothing is left to do. A
sweep keeps what is still referred to: runs that are not final, artifacts that are pinned or that another run reuses,
blobs of any artifact that is not erased. `rerun_of` may dangle.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import TYPE_CHECKING

from store.access.tokens import sweep_tokens
from store.database.dialects import Sql
from store.database.paging import oldest_id
from store.files.artifacts import expire_artifacts
from store.files.blob_port import GRACE_SECONDS
from store.files.blob_rows import delete_unused_blobs
from store.memory.agent_results import sweep_results
from store.memory.entries import sweep_memory
from store.memory.pack_cache import sweep_cache
from store.runs.commands import remove_run
from store.runs.idempotency_keys import sweep_spent_keys
from store.triggers.firings import sweep_firings
from store.triggers.webhooks import sweep_deliveries

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.files.blob_port import Blobs

#: Runs that one transaction removes; each may have thousands of rows below it.
RUNS_AT_ONCE = 20
ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How long rows and blobs are kept.

    Attributes:
        run_days: Days a final run is kept.
        run_count: Maximum number of runs, final or not; only final ones are deleted.
        audit_days: Days an audit entry is kept.
        memory_days: Days a row of memory is kept; each row carries its own expiry, so this is only reported.
        login_days: Days an ended browser login or login link is kept.
        firing_days: Days a firing of a trigger is kept.
    """

    run_days: float = 90
    run_count: int = 10_000
    audit_days: float = 365
    memory_days: float = 30
    login_days: float = 30
    firing_days: float = 30


@dataclass(frozen=True, slots=True)
class Swept:
    """Counts of what a sweep deleted; `blob_bytes` were freed on disk."""

    runs: int = 0
    artifacts: int = 0
    audit: int = 0
    cache: int = 0
    logins: int = 0
    blobs: int = 0
    blob_bytes: int = 0
    memory: int = 0
    firings: int = 0

    def __add__(self, other: Swept) -> Swept:
        return Swept(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


# A run ends after it began, so runs that ended before an instant have smaller ids: a short range of the primary key,
# however many runs are kept. Locked rows are being resumed or deleted by another transaction.
_OLD_RUNS = Sql(
    """SELECT id FROM run WHERE id < :oldest AND ended_at < :before ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED"""
)
_LAST_KEPT = Sql("SELECT id FROM run ORDER BY id DESC LIMIT 1 OFFSET :skip")
_SURPLUS_RUNS = Sql(
    """SELECT id FROM run WHERE id < :oldest AND ended_at IS NOT NULL ORDER BY id LIMIT :limit
    FOR UPDATE SKIP LOCKED"""
)
_DELETE_AUDIT = Sql("DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < :before ORDER BY at LIMIT :limit)")


def prune_runs(conn: Connection, *, keep_days: float, keep_count: int, limit: int = RUNS_AT_ONCE) -> int:
    """Delete the oldest final runs that are too old or too many, with everything below them; return how many.

    Artifacts that are pinned or that another run reuses stay; reused ones are deleted when that run is pruned.
    """
    now = conn.now()
    before = now - timedelta(days=keep_days)
    rows = conn.all(_OLD_RUNS, {"oldest": oldest_id("run", before), "before": before, "limit": limit})
    if len(rows) < limit:
        oldest = conn.one(_LAST_KEPT, {"skip": max(keep_count - 1, 0)})
        if oldest is not None:
            known = {row.id for row in rows}
            surplus = conn.all(_SURPLUS_RUNS, {"oldest": oldest.id, "limit": limit})
            rows += [row for row in surplus if row.id not in known][: limit - len(rows)]
    for row in rows:
        remove_run(conn, row.id)
    return len(rows)


def sweep_audit(conn: Connection, *, keep_days: float, limit: int = ROWS_AT_ONCE) -> int:
    """Delete the oldest audit entries that are past `keep_days`; return how many."""
    return conn.run(_DELETE_AUDIT, {"before": conn.now() - timedelta(days=keep_days), "limit": limit})


async def prune_blobs(store: Store, blobs: Blobs, *, grace_seconds: float = GRACE_SECONDS) -> tuple[int, int]:
    """Delete blobs that no artifact, preview or cached result refers to; return how many, and their bytes.

    A blob stored within `grace_seconds` stays, since its artifact may not be recorded yet.
    """
    old = await blobs.put_before(time.time() - grace_seconds)
    count = size = 0
    for start in range(0, len(old), ROWS_AT_ONCE):
        unused = await store.write(delete_unused_blobs, old[start : start + ROWS_AT_ONCE])
        removed, freed = await blobs.discard(unused, grace_seconds=grace_seconds)
        count += removed
        size += freed
    await blobs.tidy()
    return count, size


async def sweep(store: Store, blobs: Blobs, policy: RetentionPolicy, *, grace_seconds: float = GRACE_SECONDS) -> Swept:
    """Delete everything past its retention; one process calls this periodically."""
    runs = await _repeat(
        RUNS_AT_ONCE,
        lambda limit: store.write(prune_runs, keep_days=policy.run_days, keep_count=policy.run_count, limit=limit),
    )
    artifacts = await _repeat(ROWS_AT_ONCE, lambda limit: store.write(expire_artifacts, limit=limit))
    audit = await _repeat(
        ROWS_AT_ONCE, lambda limit: store.write(sweep_audit, keep_days=policy.audit_days, limit=limit)
    )
    cache = await _repeat(ROWS_AT_ONCE, lambda limit: store.write(sweep_cache, limit=limit))
    cache += await _repeat(ROWS_AT_ONCE, lambda limit: store.write(sweep_results, limit=limit))
    await _repeat(ROWS_AT_ONCE, lambda limit: store.write(sweep_spent_keys, limit=limit))
    await _repeat(ROWS_AT_ONCE, lambda limit: store.write(sweep_deliveries, limit=limit))
    logins = await _repeat(
        ROWS_AT_ONCE, lambda limit: store.write(sweep_tokens, keep_days=policy.login_days, limit=limit)
    )
    memory = await _repeat(ROWS_AT_ONCE, lambda limit: store.write(sweep_memory, limit=limit))
    firings = await _repeat(
        ROWS_AT_ONCE, lambda limit: store.write(sweep_firings, keep_days=policy.firing_days, limit=limit)
    )
    count, size = await prune_blobs(store, blobs, grace_seconds=grace_seconds)
    return Swept(runs, artifacts, audit, cache, logins, count, size, memory, firings)


async def _repeat(limit: int, once: Callable[[int], Awaitable[int]]) -> int:
    total = 0
    while True:
        count = await once(limit)
        total += count
        if count < limit:
            return total
