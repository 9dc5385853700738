"""Contents that the blob store holds, as rows: one each, however many artifacts, previews and results share it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.database.dialects import Sql

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection

_INSERT = Sql(
    "INSERT INTO blob (digest, size_bytes, created_at) VALUES (:digest, :size_bytes, :now) ON CONFLICT DO NOTHING"
)


def note_content(conn: Connection, digest: str, size_bytes: int, now: datetime | str) -> None:
    """Has a row stand for a content, before rows that refer to it; nothing when one does.

    Args:
        conn: The unit's connection.
        digest: Of the content.
        size_bytes: Its length.
        now: When it came.
    """
    conn.run(_INSERT, {"digest": digest, "size_bytes": size_bytes, "now": now})
