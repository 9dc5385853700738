"""The reads of a store that are under way, for which closing it waits."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog

from store.database.errors import StoreClosedError

if TYPE_CHECKING:
    from collections.abc import Iterator

log = structlog.get_logger(__name__)

#: How long closing waits for them. On SQLite they never return once their connection is closed, and on PostgreSQL
#: nobody closes a connection that comes back later.
LAST_READS_SECONDS = 10.0


class Reads:
    """Counts the reads of one store, until they are ended for good."""

    def __init__(self) -> None:
        self.count = 0
        self._none = asyncio.Event()
        self._none.set()
        self._ended = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a read.

        Raises:
            StoreClosedError: they have been ended.
        """
        if self._ended:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        self.count += 1
        self._none.clear()
        try:
            yield
        finally:
            self.count -= 1
            if self.count == 0:
                self._none.set()

    async def end(self) -> None:
        """Let no other begin; wait until none is under way, `LAST_READS_SECONDS` at most."""
        self._ended = True
        try:
            async with asyncio.timeout(LAST_READS_SECONDS):
                await self._none.wait()
        except TimeoutError:
            log.warning("reads were interrupted because the store closed", count=self.count)
