"""What was made of contents, remembered while there is room: failures too, so that a bad file costs one try."""

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
    """Makes one thing at a time, the callers' in turns, and keeps the last ones, by the digest of the content.

    Args:
        make: Makes it of an artifact. A `PackError` it raises is remembered like a result; anything else is not.
        most: How many are kept.
    """

    def __init__(self, make: Callable[[ArtifactRecord], Awaitable[Made]], most: int) -> None:
        self._make = make
        self._most = most
        self._turns = FairTurns(1)
        self._kept: OrderedDict[str, Made | PackError] = OrderedDict()

    async def of(self, artifact: ArtifactRecord, *, is_good: Callable[[Made], Awaitable[bool]] | None = None) -> Made:
        """What was made of an artifact's content, now or before.

        Args:
            artifact: Which one.
            is_good: Whether a remembered result can still be used; it is made again otherwise.

        Raises:
            PackError: it cannot be made; the same again for the same content.
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
