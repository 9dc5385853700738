"""Checks at start that all processes of a shared database keep contents in the same place.

The first process stores a content as a marker, and its digest in the database. Every other process must find that
content in its blob store; otherwise it could not read the artifacts of runs that others have executed.
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
# For a database without a marker: one of these contents may have been lost, but not all.
_LATEST = Sql("SELECT digest FROM blob ORDER BY created_at DESC LIMIT 5")


async def require_shared_storage(store: Store, blobs: Blobs, place: str) -> None:
    """Check that this process stores contents in the same place as the others; the first one sets the marker.

    If the blob store cannot be reached, logs that and checks nothing.

    Args:
        store: The database.
        blobs: The blob store of this process.
        place: Its name in the message.

    Raises:
        StorageNotSharedError: the others use another place, or nothing can be stored.
    """
    try:
        digests = await _find(store)
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
            if await _find(store) != [digest]:  # another process was first
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


async def _find(store: Store) -> list[str]:
    return [row.digest for row in await store.rows(_FIND)]


def _add(conn: Connection, digest: str) -> None:
    conn.run(_ADD, {"digest": digest})
