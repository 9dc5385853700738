"""Wake-ups from other processes on the same PostgreSQL: one LISTEN connection per process.

A wake-up carries a key and nothing else, and may be lost: whoever is woken reads the tables. While the connection is
down everything is missed, so after each (re)connect the listener gets `EVERYTHING` once. PgBouncer in transaction mode
cannot LISTEN; then only polling is left.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING

import psycopg
import structlog

from store.engine import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Callable

log = structlog.get_logger(__name__)

CHANNEL = "packline_wake"
#: A half-open socket is noticed after at most twice this.
HEARTBEAT_SECONDS = 5.0
LONGEST_DELAY_SECONDS = 2.0


class WakeListener:
    """Hears the wake-ups of other processes and hands them on in batches, on the event loop."""

    def __init__(self, url: str, origin: str, deliver: Callable[[frozenset[str]], None]) -> None:
        """Prepares the listener; nothing happens before `start`.

        Args:
            url: `postgresql://…`.
            origin: This process's own mark in payloads; its own wake-ups are dropped, it has heard them at commit.
            deliver: Called with the keys that were woken, or with `EVERYTHING`.
        """
        self.connected = asyncio.Event()
        self.backend_pid: int | None = None
        self._url = url
        self._origin = origin
        self._deliver = deliver
        self._pending: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to listen in the background; a database that is away is tried again and again."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._serve(), name="packline-wake")

    async def stop(self) -> None:
        """Ends listening. A second call does nothing."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _serve(self) -> None:
        delay = 0.05
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError, TimeoutError) as error:
                if self.connected.is_set():
                    delay = 0.05
                log.warning("wake-up connection lost, trying again", error=str(error).strip(), delay_seconds=delay)
            self.connected.clear()
            self.backend_pid = None
            await asyncio.sleep(delay * random.uniform(0.8, 1.2))
            delay = min(delay * 2, LONGEST_DELAY_SECONDS)

    async def _listen(self) -> None:
        connection = await psycopg.AsyncConnection.connect(
            self._url, autocommit=True, connect_timeout=5, application_name="packline-wake"
        )
        async with connection:
            await connection.execute(f"LISTEN {CHANNEL}".encode())
            self.backend_pid = connection.info.backend_pid
            self._collect(EVERYTHING)
            self.connected.set()
            while True:
                async for heard in connection.notifies(timeout=HEARTBEAT_SECONDS):
                    origin, _, key = heard.payload.partition(":")
                    if origin != self._origin:
                        self._collect(key)
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await connection.execute("SELECT 1")

    def _collect(self, key: str) -> None:
        if not self._pending:
            asyncio.get_running_loop().call_soon(self._flush)
        self._pending.add(key)

    def _flush(self) -> None:
        keys = frozenset(self._pending)
        self._pending.clear()
        self._deliver(keys)
