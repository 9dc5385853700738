"""Rows of the `blob` table: one for each stored blob, however many artifacts, previews and cached results share it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.database.dialects import Sql

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection

_INSERT = Sql(
    "INSERT INTO blob (digest, size_bytes, created_at) VALUES (:digest, :size_bytes, :now) ON CONFLICT DO NOTHING"
)
# A foreign key deletes a preview with the blob it shows; the next sweep then finds the preview's image unused.
_BLOB_IN_USE = Sql(
    """SELECT 1 FROM artifact WHERE digest = :digest AND erased_at IS NULL
    UNION ALL SELECT 1 FROM preview WHERE image_digest = :digest
    UNION ALL SELECT 1 FROM cached_file WHERE digest = :digest
    UNION ALL SELECT 1 FROM blob_marker WHERE digest = :digest LIMIT 1"""
)
_DELETE_BLOB = Sql("DELETE FROM blob WHERE digest = :digest")


def record_blob(conn: Connection, digest: str, size_bytes: int, now: datetime | str) -> None:
    """Insert the row of a blob, before any row that refers to it; do nothing if there is one."""
    conn.run(_INSERT, {"digest": digest, "size_bytes": size_bytes, "now": now})


def delete_unused_blobs(conn: Connection, digests: Sequence[str]) -> list[str]:
    """Delete the rows of blobs that nothing refers to, neither an artifact, preview, cached result nor the marker.

    Returns:
        Their digests.
    """
    unused = [digest for digest in digests if conn.one(_BLOB_IN_USE, {"digest": digest}) is None]
    for digest in unused:
        conn.run(_DELETE_BLOB, {"digest": digest})
    return unused
