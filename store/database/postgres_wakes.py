"""Wake-ups between the processes on a PostgreSQL: one connection of each sends them, another one listens.

They are sent after the commit, in batches, never in the transaction itself: PostgreSQL commits transactions with a
NOTIFY one after another (docs/adr/0008). Runs that are due go into the queue at the same time, since its trigger
notifies. A process that dies between the two loses some; polling and the rescue find what they announced. What came
while the listening connection was down is lost, too, so after each (re)connect every topic gets `EVERYTHING` once.
broadcaster's own backend for PostgreSQL neither reconnects nor reports the loss. PgBouncer in transaction mode cannot
LISTEN; then only polling is left.
"""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import orjson
import psycopg
import structlog

from store.database.essential_tasks import EssentialTask
from store.database.postgres_writer import connect_options, is_dead
from store.database.wakes import EVERYTHING, LocalBackend, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from store.database.postgres_queue import RunQueue
    from store.database.wakes import Wake

log = structlog.get_logger(__name__)

#: What those wait for who watch runs: most of the wake-ups.
_WATCHED = frozenset({Topic.RUN, Topic.RUN_ENDED, Topic.RUN_DELETED, Topic.OUTPUT})
#: What the queue delivers, to one process instead of all.
_QUEUED = frozenset({Topic.RUN_DUE, Topic.RUN_DUE_FIRST})
#: The channels in PostgreSQL; processes that only execute runs can do without the first. A new format of payloads takes
#: new names, so that releases which run at the same time do not read each other's.
CHANNELS = {"packline_events": _WATCHED, "packline_control": frozenset(Topic) - _WATCHED - _QUEUED}
#: Sent by a process that has begun to listen: what the others have announced before, it does not know.
_NEWCOMER = (Topic.WORKER, EVERYTHING)
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
        queue: Gets the runs that are due.
        watches: Whether anyone watches runs here; without, changes of runs by other processes are not heard.
    """

    def __init__(self, url: str, queue: RunQueue, *, watches: bool = True) -> None:
        super().__init__()
        self._channels = [name for name, topics in CHANNELS.items() if watches or topics != _WATCHED]
        self.connected = asyncio.Event()
        self.backend_pid: int | None = None
        self.sender = WakeSender(url, queue, self.publish_soon)
        self._url = url
        self._listening: EssentialTask | None = None

    async def connect(self) -> None:
        """Start to listen and to send in the background; while the database is away, connecting is retried."""
        self._listening = EssentialTask(self._serve(), "packline-listen")
        self.sender.start()

    async def disconnect(self) -> None:
        """Send what is left, if that is possible soon, and stop."""
        await self.sender.stop()
        if self._listening is not None:
            await self._listening.stop()

    def announce(self, woken: Iterable[Wake]) -> None:
        super().announce(woken)
        self.sender.add(woken)

    async def _serve(self) -> None:
        delay = SHORTEST_DELAY_SECONDS
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError, TimeoutError) as error:
                if self.connected.is_set():
                    delay = SHORTEST_DELAY_SECONDS
                log.warning("wake-up connection lost, reconnecting", error=str(error).strip(), delay_seconds=delay)
            self.connected.clear()
            self.backend_pid = None
            delay = await _waited(delay)

    async def _listen(self) -> None:
        connection = await psycopg.AsyncConnection.connect(
            self._url, autocommit=True, **connect_options("packline-listen")
        )
        async with connection:
            for channel in self._channels:
                await connection.execute(f"LISTEN {channel}".encode())
            self.backend_pid = connection.info.backend_pid
            for topic in Topic:
                self.publish_soon(topic, EVERYTHING)
            self.sender.add([_NEWCOMER])
            self.connected.set()
            while True:
                async for heard in connection.notifies(timeout=HEARTBEAT_SECONDS):
                    if heard.pid != self.sender.backend_pid:
                        for topic, id in orjson.loads(heard.payload):
                            if (topic, id) == _NEWCOMER:
                                self.sender.announce_again()
                            self.publish_soon(topic, id)
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await connection.execute("SELECT 1")


class WakeSender:
    """Collects wake-ups, each once, in bounded memory, and sends them in batches; never keeps anybody waiting.

    It sends in a thread, as units run in threads: on the event loop a batch took four times the CPU.

    Args:
        url: `postgresql://…`.
        queue: Gets the runs that are due, over the same connection.
        publish: Publishes in this process what others hear.
    """

    def __init__(self, url: str, queue: RunQueue, publish: Callable[[str, str], None]) -> None:
        self.backend_pid: int | None = None
        self._url = url
        self._queue = queue
        self._publish = publish
        self._needs = {""}  # which the others know
        self._waiting: dict[Topic, set[str]] = {}
        self._more = asyncio.Event()
        self._sent = asyncio.Event()
        self._sent.set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="packline-notify")
        self._connection: psycopg.Connection | None = None
        self._task: EssentialTask | None = None

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

    def announce_again(self) -> None:
        """Announce what runs need once more when it comes up, since another process has not heard it."""
        self._needs = {""}

    def start(self) -> None:
        """Start to send; the first batch opens the connection."""
        self._task = EssentialTask(self._serve(), "packline-notify")

    async def stop(self) -> None:
        """Send what waits, but do not wait for a database that is away, and close the connection."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._sent.wait()
        if self._task is not None:
            await self._task.stop()
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        delay = SHORTEST_DELAY_SECONDS
        while True:
            await self._more.wait()
            self._more.clear()
            batch, self._waiting = self._waiting, {}
            try:
                new_needs = await loop.run_in_executor(self._thread, self._notify, batch)
            except (psycopg.Error, OSError) as error:
                log.warning("wake-ups were not sent, trying again", error=str(error).strip(), delay_seconds=delay)
                self.add((topic, id) for topic, ids in batch.items() for id in ids)
                delay = await _waited(delay)
            else:
                delay = SHORTEST_DELAY_SECONDS
                self._needs |= new_needs
                for needs in new_needs:
                    self._publish(Topic.NEEDS, needs)
                if not self._waiting:
                    self._sent.set()
                await asyncio.sleep(BATCH_SECONDS)

    def _notify(self, batch: Mapping[Topic, Iterable[str]]) -> set[str]:
        """Send a batch; return what the runs need that it puts into the queue, if it is new."""
        due = {id for topic in _QUEUED for id in batch.get(topic, ())} - {EVERYTHING}  # the rescue finds everything
        try:
            connection = self._connected()
            new_needs = self._queue.put(connection, due) - self._needs if due else set()
            batch = {**batch, Topic.NEEDS: new_needs}
            sent = [
                (channel, payload)
                for channel, topics in CHANNELS.items()
                for payload in payloads((topic, id) for topic in topics for id in batch.get(topic, ()))
            ]
            if sent:
                connection.execute(_NOTIFY, [[channel for channel, _ in sent], [payload for _, payload in sent]])
        except psycopg.Error:
            self._close()
            raise
        return new_needs

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or is_dead(self._connection):
            self._close()
            # With synchronous_commit, each batch would wait for the disk.
            options = connect_options("packline-notify", synchronous_commit="off")
            self._connection = psycopg.connect(self._url, autocommit=True, **options)
            self.backend_pid = self._connection.info.backend_pid
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = self.backend_pid = None  # PostgreSQL may give the id to another process


async def _waited(delay: float) -> float:
    """Wait before trying again; return how long to wait the next time."""
    await asyncio.sleep(delay * random.uniform(0.8, 1.2))
    return min(delay * 2, LONGEST_DELAY_SECONDS)


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
