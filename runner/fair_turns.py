"""Fair sharing of places between callers: waiting callers take turns, however many requests each has."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class FairTurns:
    """Gives places to waiting callers in turn, and to each caller in the order of its requests.

    Args:
        places: Number of places.
        share: How many of them one caller may hold; all when None. With fewer, a place stays free for other callers,
            however long the work of the first takes.
    """

    def __init__(self, places: int, *, share: int | None = None) -> None:
        self._free = places
        self._share = places if share is None else share
        self._held: Counter[str] = Counter()
        #: Waiting callers, the next one first. A caller moves to the end with each place it gets.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, caller: str) -> AsyncIterator[None]:
        """Hold a place for the duration of the block; a caller that is cancelled while waiting loses its turn."""
        await self._take(caller)
        try:
            yield
        finally:
            self._give_back(caller)

    async def _take(self, caller: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._withdraw(caller, turn)
            else:  # the place was given at the same moment
                self._give_back(caller)
            raise

    def _withdraw(self, caller: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(caller, deque())
        if turn in queue:
            queue.remove(turn)
        if not queue:
            self._waiting.pop(caller, None)

    def _give_back(self, caller: str) -> None:
        self._held -= Counter([caller])  # drops callers without a place
        self._free += 1
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free:
            caller = next((caller for caller in self._waiting if self._held[caller] < self._share), None)
            if caller is None:
                return
            queue = self._waiting.pop(caller)
            turn = queue.popleft()
            if queue:
                self._waiting[caller] = queue
            if not turn.done():  # it may have just been cancelled
                self._held[caller] += 1
                self._free -= 1
                turn.set_result(None)
