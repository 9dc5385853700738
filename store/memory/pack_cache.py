"""Values that packs cache, per caller, each with its own expiry."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from store.database.dialects import Sql

if TYPE_CHECKING:
    from store.database.dialects import Connection
    from store.database.engine import Store


_FIND = Sql(
    """SELECT value FROM cache_entry
    WHERE caller_id = :caller_id AND pack = :pack AND key = :key AND expires_at > clock_timestamp()"""
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


async def get_cached(store: Store, caller_id: str, pack: str, key: str) -> str | None:
    """Find the JSON text under a key; None when there is none or it is expired."""
    rows = await store.rows(_FIND, {"caller_id": caller_id, "pack": pack, "key": key})
    return rows[0].value if rows else None


def put_cached(conn: Connection, *, caller_id: str, pack: str, key: str, value: str, ttl_seconds: float) -> None:
    """Cache JSON text under a key for `ttl_seconds`, replacing any other."""
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
    """Delete expired values, oldest first; return how many."""
    return conn.run(_SWEEP, {"now": conn.now(), "limit": limit})
