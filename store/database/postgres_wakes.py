"""Wake-ups from other processes on the same PostgreSQL: one LISTEN connection per process.

Wake-ups sent while the connection is down are lost, so after each (re)connect every channel gets `EVERYTHING` once;
broadcaster's own backend for PostgreSQL neither reconnects nor reports the loss. PgBouncer in transaction mode cannot
LISTEN; then only polling is left.
"""

from __future__ import annotations

import asyncio
import contextlib
import random

import orjson
import psycopg
import structlog

from store.database.wakes import EVERYTHING, LocalBackend, Wake

log = structlog.get_logger(__name__)

#: The one PostgreSQL channel, which carries all of broadcaster's.
CHANNEL = "packline_wake"
#: A half-open socket is noticed within twice this time.
HEARTBEAT_SECONDS = 5.0
LONGEST_DELAY_SECONDS = 2.0


def payload(origin: str, wake: Wake) -> str:
    """Encode a wake-up for NOTIFY."""
    return orjson.dumps([origin, *wake]).decode()


class PostgresBackend(LocalBackend):
    """Also delivers the wake-ups of other processes' transactions (`store.database.postgres_writer`).

    Args:
        url: `postgresql://…`.
        origin: Identifies this process in payloads; the server returns its own, too, which are dropped.
    """

    def __init__(self, url: str, origin: str) -> None:
        super().__init__()
        self.connected = asyncio.Event()
        self.backend_pid: int | None = None
        self._url = url
        self._origin = origin
        self._channels: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Start to listen in the background; while the database is away, connecting is retried."""
        self._task = asyncio.create_task(self._serve(), name="packline-listen")

    async def disconnect(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def subscribe(self, channel: str) -> None:
        self._channels.add(channel)

    async def unsubscribe(self, channel: str) -> None:
        self._channels.discard(channel)

    async def _serve(self) -> None:
        delay = 0.05
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError, TimeoutError) as error:
                if self.connected.is_set():
                    delay = 0.05
                log.warning("wake-up connection lost, reconnecting", error=str(error).strip(), delay_seconds=delay)
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
            for channel in self._channels:
                self.publish_soon(channel, EVERYTHING)
            self.connected.set()
            while True:
                async for heard in connection.notifies(timeout=HEARTBEAT_SECONDS):
                    origin, channel, message = orjson.loads(heard.payload)
                    if origin != self._origin:
                        self.publish_soon(channel, message)
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await connection.execute("SELECT 1")
