"""The wake-ups of a store, as they come."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from store.database.wakes import Topic

if TYPE_CHECKING:
    from store.database.engine import Store
    from store.database.wakes import Wake


class Heard:
    """Every wake-up of a store from now on, in order."""

    def __init__(self, store: Store) -> None:
        self.wakes: list[Wake] = []
        self._more = asyncio.Event()
        for topic in Topic:
            store.wakes.listen(topic, partial(self._add, topic))

    async def until(self, *wanted: Wake) -> None:
        """Waits until all of them have been heard.

        Raises:
            TimeoutError: they never were.
        """
        async with asyncio.timeout(60):
            while not set(wanted) <= set(self.wakes):
                self._more.clear()
                await self._more.wait()

    def _add(self, topic: Topic, id: str) -> None:
        self.wakes.append((topic, id))
        self._more.set()
