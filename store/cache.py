"""Values that packs cache for one caller, each until an instant of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from store import core as sa
from store.dialects import Sql
from store.tables import CACHE_ENTRY

if TYPE_CHECKING:
    from sqlalchemy import Select
    from sqlalchemy.ext.asyncio import AsyncConnection

    from store.dialects import Connection


@cache
def _find() -> Select[Any]:
    return sa.select(CACHE_ENTRY.c.value).where(
        CACHE_ENTRY.c.caller_id == sa.bindparam("caller_id"),
        CACHE_ENTRY.c.pack == sa.bindparam("pack"),
        CACHE_ENTRY.c.key == sa.bindparam("key"),
        CACHE_ENTRY.c.expires_at > sa.bindparam("now"),
    )


_PUT = Sql(
    """INSERT INTO cache_entry (caller_id, pack, key, value, created_at, expires_at)
    VALUES (:caller_id, :pack, :key, :value, :now, :expires_at)
    ON CONFLICT (caller_id, pack, key) DO UPDATE
    SET value = excluded.value, created_at = excluded.created_at, expires_at = excluded.expires_at"""
)
_SWEEP = Sql(
    """DELETE FROM cache_entry WHERE (caller_id, pack, key) IN
    (SELECT caller_id, pack, key FROM cache_entry WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit)"""
)


async def get_cached(
    connection: AsyncConnection, caller_id: str, pack: str, key: str, *, now: datetime | None = None
) -> str | None:
    """The JSON text under a key; None when there is none or its time is over."""
    found = await connection.execute(
        _find(), {"caller_id": caller_id, "pack": pack, "key": key, "now": now or datetime.now(UTC)}
    )
    value: str | None = found.scalar_one_or_none()
    return value


def put_cached(conn: Connection, *, caller_id: str, pack: str, key: str, value: str, ttl_seconds: float) -> None:
    """Keeps JSON text under a key for `ttl_seconds`, in place of what was there."""
    now = conn.now()
    conn.run(
        _PUT,
        {
            "caller_id": caller_id,
            "pack": pack,
            "key": key,
            "value": value,
            "now": now,
            "expires_at": now + timedelta(seconds=ttl_seconds),
        },
    )


def sweep_cache(conn: Connection, *, limit: int = 1000) -> int:
    """Removes values whose time is over, oldest first; how many."""
    return conn.run(_SWEEP, {"now": conn.now(), "limit": limit})
