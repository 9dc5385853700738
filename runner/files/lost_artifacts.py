"""Artifacts that cannot be read: erased, pruned, their content lost from where contents are kept, or in quarantine."""

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

#: Contents looked for at once: each is a request where they are kept in a bucket.
_AT_ONCE = 8


class UnreadableArtifacts(NamedTuple):
    """Which artifacts cannot be read.

    Attributes:
        lost: Those that have no content any more, or never existed.
        quarantined: Names of those that are there but not handed out, by id.
    """

    lost: frozenset[str]
    quarantined: dict[str, str]


async def lost_artifacts(resources: Resources, ids: Collection[str]) -> frozenset[str]:
    """Which of these have no content any more, or never existed; see `unreadable_artifacts`."""
    return (await unreadable_artifacts(resources, ids)).lost


async def unreadable_artifacts(
    resources: Resources, ids: Collection[str], *, caller_id: str | None = None
) -> UnreadableArtifacts:
    """Which of these cannot be read, and why; for a caller, those they may not see do not exist.

    Where the place of contents does not answer, they count as there: nothing is remade on a guess.
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
