"""Wake-ups between the processes on a PostgreSQL: one connection of each sends them, another one listens.

They are sent after the commit, in batches, never in the transaction itself: PostgreSQL commits transactions with a
NOTIFY one after another (docs/adr/0008). A process that dies between the two loses some; polling finds what they
announced. What came while the listening connection was down is lost, too, so after each (re)connect every topic gets
`EVERYTHING` once. broadcaster's own backend for PostgreSQL neither reconnects nor reports the loss. PgBouncer in
transaction mode cannot LISTEN; then only polling is left.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import TYPE_CHECKING

import orjson
import psycopg
import structlog

from store.database.essential_tasks import EssentialTask
from store.database.postgres_writer import connect_options
from store.database.wakes import EVERYTHING, LocalBackend, Topic

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping

    from store.database.wakes import Wake

log = structlog.get_logger(__name__)

#: What those wait for who watch runs: most of the wake-ups.
_WATCHED = frozenset({Topic.RUN, Topic.RUN_ENDED, Topic.RUN_DELETED, Topic.OUTPUT})
#: The channels in PostgreSQL; processes that only execute runs can do without the first. A new format of payloads takes
#: new names, so that releases which run at the same time do not read each other's.
CHANNELS = {"packline_events": _WATCHED, "packline_control": frozenset(Topic) - _WATCHED}
_NOTIFY = b"SELECT pg_notify(channel, payload) FROM unnest(%s::text[], %s::text[]) AS wake (channel, payload)"
#: PostgreSQL refuses longer payloads.
MOST_BYTES = 7999
#: More ids of a topic than this that wait to be sent become `EVERYTHING`.
MOST_IDS = 1000
#: Pause after a batch, in which the next one gathers.
BATCH_SECONDS = 0.004
#: A half-open socket is noticed within twice this time.
HEARTBEAT_SECONDS = 5.0
#: How long closing waits for the last batch.
FLUSH_SECONDS = 2.0
SHORTEST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 0.05, 2.0


class PostgresBackend(LocalBackend):
    """Delivers the wake-ups of this process's commits here and to the other processes, and theirs here.

    Args:
        url: `postgresql://…`.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self.connected = asyncio.Event()
        self.backend_pid: int | None = None
        self.sender = WakeSender()
        self._url = url
        self._tasks: list[EssentialTask] = []

    async def connect(self) -> None:
        """Start to listen and to send in the background; while the database is away, connecting is retried."""
        self._tasks = [
            EssentialTask(stay_connected(self._url, "packline-listen", self._listen), "packline-listen"),
            EssentialTask(stay_connected(self._url, "packline-notify", self.sender.serve), "packline-notify"),
        ]

    async def disconnect(self) -> None:
        """Send what is left, if that is possible soon, and stop."""
        await self.sender.flush()
        for task in self._tasks:
            await task.stop()

    def announce(self, woken: Iterable[Wake]) -> None:
        super().announce(woken)
        self.sender.add(woken)

    async def _listen(self, connection: psycopg.AsyncConnection) -> None:
        try:
            for channel in CHANNELS:
                await connection.execute(f"LISTEN {channel}".encode())
            self.backend_pid = connection.info.backend_pid
            for topic in Topic:
                self.publish_soon(topic, EVERYTHING)
            self.connected.set()
            while True:
                async for heard in connection.notifies(timeout=HEARTBEAT_SECONDS):
                    if heard.pid != self.sender.backend_pid:
                        for topic, id in orjson.loads(heard.payload):
                            self.publish_soon(topic, id)
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await connection.execute("SELECT 1")
        finally:
            self.connected.clear()
            self.backend_pid = None


class WakeSender:
    """Collects wake-ups, each once, in bounded memory, and sends them; never keeps anybody waiting."""

    def __init__(self) -> None:
        self.backend_pid: int | None = None
        self._waiting: dict[Topic, set[str]] = {}
        self._more = asyncio.Event()
        self._sent = asyncio.Event()
        self._sent.set()

    def add(self, woken: Iterable[Wake]) -> None:
        """Send wake-ups soon."""
        for topic, id in woken:
            ids = self._waiting.setdefault(topic, set())
            if EVERYTHING in ids:
                continue
            if id == EVERYTHING or len(ids) >= MOST_IDS:
                ids.clear()
                ids.add(EVERYTHING)
            else:
                ids.add(id)
            self._sent.clear()
            self._more.set()

    async def flush(self) -> None:
        """Wait until everything is sent, but not for a database that is away."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._sent.wait()

    async def serve(self, connection: psycopg.AsyncConnection) -> None:
        """Send over a connection until it is lost; what was not sent for certain is left for the next one."""
        self.backend_pid = connection.info.backend_pid
        while True:
            await self._more.wait()
            self._more.clear()
            batch, self._waiting = self._waiting, {}
            try:
                await _notify(connection, batch)
            except BaseException:
                self.add((topic, id) for topic, ids in batch.items() for id in ids)
                raise
            if not self._waiting:
                self._sent.set()
            await asyncio.sleep(BATCH_SECONDS)


async def _notify(connection: psycopg.AsyncConnection, batch: Mapping[Topic, Iterable[str]]) -> None:
    sent = [
        (channel, payload)
        for channel, topics in CHANNELS.items()
        for payload in payloads((topic, id) for topic in topics for id in batch.get(topic, ()))
    ]
    async with asyncio.timeout(HEARTBEAT_SECONDS):
        await connection.execute(_NOTIFY, [[channel for channel, _ in sent], [payload for _, payload in sent]])


def payloads(wakes: Iterable[Wake]) -> Iterator[str]:
    """Encode wake-ups for NOTIFY, as many in a payload as it takes."""
    parts: list[bytes] = []
    size = 1
    for part in map(orjson.dumps, wakes):
        if parts and size + len(part) + 1 > MOST_BYTES:
            yield f"[{b','.join(parts).decode()}]"
            parts, size = [], 1
        parts.append(part)
        size += len(part) + 1
    if parts:
        yield f"[{b','.join(parts).decode()}]"


async def stay_connected(url: str, name: str, work: Callable[[psycopg.AsyncConnection], Awaitable[None]]) -> None:
    """Do work over a connection, and again over another one whenever it is lost.

    Args:
        url: `postgresql://…`.
        name: The connection's name in `pg_stat_activity` and in the log.
        work: Returns only by raising.
    """
    options = connect_options(name, synchronous_commit="off")  # else each batch would wait for the disk
    delay = SHORTEST_DELAY_SECONDS
    clock = asyncio.get_running_loop().time
    while True:
        began = clock()
        try:
            connection = await psycopg.AsyncConnection.connect(url, autocommit=True, **options)
            async with connection:
                await work(connection)
        except (psycopg.Error, OSError, TimeoutError) as error:
            if clock() - began > LONGEST_DELAY_SECONDS:
                delay = SHORTEST_DELAY_SECONDS
            log.warning("wake-ups are reconnecting", connection=name, error=str(error).strip(), delay_seconds=delay)
        await asyncio.sleep(delay * random.uniform(0.8, 1.2))
        delay = min(delay * 2, LONGEST_DELAY_SECONDS)
