"""Cached results of agent steps with their artifacts, per caller, to be replayed instead of a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from store.database.dialects import Sql, by_name, some_instant
from store.database.ids import new_id
from store.files.blob_rows import record_blob

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store


_FIND = Sql(
    """SELECT id, attempt_id, output, made_at FROM cached_result
    WHERE caller_id = :caller_id AND key = :key AND expires_at > clock_timestamp()"""
)
_FILES = Sql(
    "SELECT name, media_type, digest, size_bytes FROM cached_file WHERE result_id = :result_id ORDER BY position"
)
_DROP = Sql("DELETE FROM cached_result WHERE caller_id = :caller_id AND key = :key")
_PUT = Sql(
    """INSERT INTO cached_result (id, caller_id, key, attempt_id, output, made_at, expires_at)
    VALUES (:id, :caller_id, :key, :attempt_id, :output, :now, :expires_at) ON CONFLICT DO NOTHING"""
)
_PUT_FILE = Sql(
    """INSERT INTO cached_file (result_id, position, name, media_type, digest, size_bytes)
    VALUES (:result_id, :position, :name, :media_type, :digest, :size_bytes)"""
)
_SWEEP = Sql(
    """DELETE FROM cached_result WHERE id IN
    (SELECT id FROM cached_result WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit)"""
)


@dataclass(frozen=True, slots=True)
class CachedFile:
    """An artifact of a cached result; its blob is stored as long as the result."""

    name: str
    media_type: str
    digest: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class CachedResult:
    """A cached result.

    Attributes:
        attempt_id: The attempt that made it; it may be pruned.
        output: JSON text of the step's output, without artifacts.
        files: Its artifacts, in order.
    """

    attempt_id: str
    output: str
    made_at: datetime
    files: tuple[CachedFile, ...]


async def find_result(store: Store, caller_id: str, key: str) -> CachedResult | None:
    """Find the result under a key; None when there is none or it is expired."""
    wanted = {"caller_id": caller_id, "key": key}
    for row in await store.rows(_FIND, wanted, few=True):
        files = await store.rows(_FILES, {"result_id": row.id}, few=True)
        made_at = some_instant(row.made_at)
        return CachedResult(row.attempt_id, row.output, made_at, tuple(CachedFile(**by_name(file)) for file in files))
    return None


def put_result(
    conn: Connection,
    *,
    caller_id: str,
    key: str,
    attempt_id: str,
    output: str,
    files: Sequence[CachedFile],
    keep_days: float,
) -> None:
    """Cache a result for some days, replacing any other under its key."""
    now = conn.now()
    conn.run(_DROP, {"caller_id": caller_id, "key": key})
    result_id = new_id("res")
    inserted = conn.run(
        _PUT,
        {
            "id": result_id,
            "caller_id": caller_id,
            "key": key,
            "attempt_id": attempt_id,
            "output": output,
            "now": now,
            "expires_at": now + timedelta(days=keep_days),
        },
    )
    if not inserted:
        return  # a concurrent attempt cached the same
    for position, file in enumerate(files):
        record_blob(conn, file.digest, file.size_bytes, now)
        conn.run(
            _PUT_FILE,
            {
                "result_id": result_id,
                "position": position,
                "name": file.name,
                "media_type": file.media_type,
                "digest": file.digest,
                "size_bytes": file.size_bytes,
            },
        )


def sweep_results(conn: Connection, *, limit: int = 1000) -> int:
    """Delete expired results, oldest first; return how many."""
    return conn.run(_SWEEP, {"now": conn.now(), "limit": limit})
