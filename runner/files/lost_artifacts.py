"""Finds artifacts that cannot be read: erased, pruned, missing from the blob store, or quarantined."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import structlog

from store.files.artifacts import find_artifacts
from store.files.blob_port import BlobError
from store.states import ArtifactStatus

if TYPE_CHECKING:
    from collections.abc import Collection

    from runner.running.resources import Resources
    from store.files.blob_port import Blobs

log = structlog.get_logger(__name__)

#: Contents checked at the same time: with a bucket, each check is a request.
_AT_ONCE = 8


class UnreadableArtifacts(NamedTuple):
    """Artifacts that cannot be read.

    Attributes:
        lost: Ids of those without content, or that never existed.
        quarantined: Names of the quarantined ones, by id.
    """

    lost: frozenset[str]
    quarantined: dict[str, str]


async def lost_artifacts(resources: Resources, ids: Collection[str]) -> frozenset[str]:
    """Return the artifacts without content, or that never existed; see `unreadable_artifacts`."""
    return (await unreadable_artifacts(resources, ids)).lost


async def unreadable_artifacts(
    resources: Resources, ids: Collection[str], *, caller_id: str | None = None
) -> UnreadableArtifacts:
    """Return the artifacts that cannot be read, and why; those that the caller may not see count as lost.

    When the blob store does not answer, contents count as present, so that nothing is remade needlessly.
    """
    if not ids:
        return UnreadableArtifacts(frozenset(), {})
    found = await find_artifacts(resources.store, sorted(ids), visible_to=caller_id)
    kept = {artifact.id: artifact.digest for artifact in found.values() if artifact.erased_at is None}
    free = asyncio.Semaphore(_AT_ONCE)
    digests = sorted(set(kept.values()))
    here = await asyncio.gather(*(_is_here(resources.blobs, digest, free) for digest in digests))
    gone = {digest for digest, is_here in zip(digests, here, strict=True) if not is_here}
    lost = frozenset(name for name in ids if name not in kept or kept[name] in gone)
    held = {
        artifact.id: artifact.name
        for artifact in found.values()
        if artifact.status == ArtifactStatus.QUARANTINED and artifact.id not in lost
    }
    return UnreadableArtifacts(lost, held)


async def _is_here(blobs: Blobs, digest: str, free: asyncio.Semaphore) -> bool:
    async with free:
        try:
            content = await blobs.content(digest)
        except FileNotFoundError:
            return False
        except (BlobError, OSError) as error:
            log.warning("whether content is stored could not be determined", digest=digest, error=str(error))
            return True
        await content.close()
        return True
