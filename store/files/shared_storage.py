"""Checks at start that all processes of a shared database keep contents in the same place.

The first one stores a content as a marker, and the database has its digest. Every other process must find it in its own
blob store; otherwise it would miss the artifacts of runs that others have executed.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import structlog

from store.database.dialects import Sql
from store.database.errors import StorageNotSharedError
from store.files.blob_port import BlobError, BlobsUnavailableError

if TYPE_CHECKING:
    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.files.blob_port import Blobs

log = structlog.get_logger(__name__)

_FIND = Sql("SELECT digest FROM blob_marker WHERE id = 1")
_ADD = Sql("INSERT INTO blob_marker (id, digest) VALUES (1, :digest) ON CONFLICT (id) DO NOTHING")
# Of a database that is older than the marker: one of them may be lost, not all.
_LATEST = Sql("SELECT digest FROM blob ORDER BY created_at DESC LIMIT 5")


async def require_shared_storage(store: Store, blobs: Blobs, place: str) -> None:
    """Check that contents are kept where the other processes of the database keep them; the first one sets the marker.

    While the blob store cannot be reached, this is logged and not checked.

    Args:
        store: The database.
        blobs: Where this process keeps contents.
        place: The same in words, for the message.

    Raises:
        StorageNotSharedError: others keep contents elsewhere, or nothing can be stored.
    """
    try:
        digests = await store.write(_find)
        found = digests or [row.digest for row in await store.rows(_LATEST)]
        if found and not [digest for digest in found if await _has(blobs, digest)]:
            raise StorageNotSharedError(
                f"Artifacts of this database are kept elsewhere: {place} lacks the content "
                f"{found[0][:2]}/{found[0][2:]}. All servers and workers of a database need one data folder "
                "(PACKLINE_DATA_DIR) or one bucket (PACKLINE_ARTIFACT_STORE). If you moved the artifacts, copy all "
                "contents. To start without them, set PACKLINE_SHARED_STORAGE=off."
            )
        if not digests:
            digest, _ = await blobs.put(f"Marker of a Packline database: {secrets.token_hex(16)}\n".encode())
            await store.write(_add, digest)
            if await store.write(_find) != [digest]:  # another process was first
                await require_shared_storage(store, blobs, place)
    except BlobsUnavailableError as error:
        log.warning("whether artifacts are shared could not be checked", error=str(error))
    except (BlobError, OSError) as error:
        raise StorageNotSharedError(f"No artifacts can be kept in {place}: {error}") from error


async def _has(blobs: Blobs, digest: str) -> bool:
    try:
        content = await blobs.content(digest)
    except FileNotFoundError:
        return False
    await content.close()
    return True


def _find(conn: Connection) -> list[str]:
    return [row.digest for row in conn.all(_FIND)]


def _add(conn: Connection, digest: str) -> None:
    conn.run(_ADD, {"digest": digest})
