"""Idempotency keys of starts: the run each led to, for a day, even when that run is deleted.

A key lives with its run, or in `joined_key` when the start joined an active run. When the run is deleted, its keys
move to `spent_key`, so that a late repeat starts no second run.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql, some_instant
from store.models.runs import JOINED_KEY, RUN, SPENT_KEY
from store.runs.unit_types import SpentKeyError

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store

#: How long an idempotency key of a start is kept (guarantee P7).
IDEMPOTENCY_KEEP = timedelta(hours=24)

# The keys of a deleted run: its own, and those of starts that joined it. Two starts with one key at the same moment
# leave that key in both places, and PostgreSQL refuses to insert it twice.
_KEEP = Sql(
    """
    INSERT INTO spent_key (caller_id, idempotency_key, run_id, created_at)
    SELECT caller_id, idempotency_key, id, created_at FROM run
    WHERE id = :id AND ended_at IS NOT NULL AND idempotency_key IS NOT NULL AND created_at > :since
    UNION ALL
    SELECT joined_key.caller_id, joined_key.idempotency_key, joined_key.run_id, joined_key.created_at
    FROM joined_key JOIN run ON run.id = joined_key.run_id
    WHERE run.id = :id AND run.ended_at IS NOT NULL AND joined_key.created_at > :since
        AND (run.idempotency_key IS NULL OR run.idempotency_key <> joined_key.idempotency_key)
    ON CONFLICT (caller_id, idempotency_key)
        DO UPDATE SET run_id = excluded.run_id, created_at = excluded.created_at
    """
)
_FIND = Sql("SELECT run_id, created_at FROM spent_key WHERE caller_id = :caller_id AND idempotency_key = :key")
_SWEEP = Sql(
    """
    DELETE FROM spent_key WHERE (caller_id, idempotency_key) IN (
        SELECT caller_id, idempotency_key FROM spent_key WHERE created_at < :before ORDER BY created_at LIMIT :limit
    )
    """
)


class EarlierStart(NamedTuple):
    """A run that was started with an idempotency key; `request_digest` is None once the run is gone."""

    run_id: str
    request_digest: str | None
    created_at: datetime
    gone: bool


async def find_earlier_start(store: Store, caller_id: str, key: str) -> EarlierStart | None:
    """Find the run that a caller's idempotency key started, even a deleted one; None when the key is unused."""
    own = sa.select(RUN.c.id.label("run_id"), RUN.c.request_digest, RUN.c.created_at, sa.false().label("gone"))
    own = own.where(RUN.c.caller_id == caller_id, RUN.c.idempotency_key == key)
    joined = sa.select(
        JOINED_KEY.c.run_id, JOINED_KEY.c.request_digest, JOINED_KEY.c.created_at, sa.false().label("gone")
    )
    joined = joined.where(JOINED_KEY.c.caller_id == caller_id, JOINED_KEY.c.idempotency_key == key)
    spent = sa.select(SPENT_KEY.c.run_id, sa.cast(sa.null(), sa.String), SPENT_KEY.c.created_at, sa.true())
    spent = spent.where(SPENT_KEY.c.caller_id == caller_id, SPENT_KEY.c.idempotency_key == key)
    rows = (await store.read(own.union_all(joined, spent))).mappings()
    found = [EarlierStart(**row) for row in rows]
    # The newest, since an older one may have outlived its day.
    return max(found, key=lambda start: start.created_at, default=None)


def keep_keys(conn: Connection, run_id: str) -> None:
    """Keep the keys of a run that is about to be deleted, for the rest of their day."""
    conn.run(_KEEP, {"id": run_id, "since": conn.bindable(conn.now() - IDEMPOTENCY_KEEP)})


def refuse_spent(conn: Connection, caller_id: str, key: str, now: datetime) -> None:
    """Refuse a key whose run is deleted.

    Raises:
        SpentKeyError: The key started that run within the last day.
    """
    row = conn.one(_FIND, {"caller_id": caller_id, "key": key})
    if row is not None and now - some_instant(row.created_at) <= IDEMPOTENCY_KEEP:
        raise SpentKeyError(row.run_id)


def sweep_spent_keys(conn: Connection, *, limit: int = 1000) -> int:
    """Delete keys whose day is over; return how many."""
    return conn.run(_SWEEP, {"before": conn.now() - IDEMPOTENCY_KEEP, "limit": limit})
