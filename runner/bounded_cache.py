"""Bounded cache of results made from artifacts. Failures are cached, too, so that a bad file costs one attempt."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from runner.failures import PackError
from runner.fair_turns import FairTurns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from store.files.artifacts import ArtifactRecord

Made = TypeVar("Made")


class BoundedCache(Generic[Made]):
    """Caches results by content digest; makes one at a time, in turn between callers.

    Args:
        make: Makes the result. A `PackError` it raises is cached like a result; other errors are not.
        most: Maximum number of results.
    """

    def __init__(self, make: Callable[[ArtifactRecord], Awaitable[Made]], most: int) -> None:
        self._make = make
        self._most = most
        self._turns = FairTurns(1)
        self._kept: OrderedDict[str, Made | PackError] = OrderedDict()

    async def of(self, artifact: ArtifactRecord, *, is_good: Callable[[Made], Awaitable[bool]] | None = None) -> Made:
        """Return the result for an artifact, made now or before.

        Args:
            artifact: The artifact.
            is_good: Returns whether a cached result is still usable; otherwise it is made again.

        Raises:
            PackError: it cannot be made; cached, so the same again for the same content.
        """
        async with self._turns.place(artifact.caller_id):
            found = self._kept.get(artifact.digest)
            if found is not None and not isinstance(found, PackError) and is_good and not await is_good(found):
                found = None
            if found is None:
                try:
                    found = await self._make(artifact)
                except PackError as error:
                    found = error
                self._kept[artifact.digest] = found
            self._kept.move_to_end(artifact.digest)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        if isinstance(found, PackError):
            raise found
        return found
