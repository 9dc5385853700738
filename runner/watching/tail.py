"""Streams a run's events from any position: stored events, then new ones, without gaps and repeats.

One feed per run and process reads each event once for all its subscribers, into a ring. A subscriber that falls behind
the ring reads page by page for itself, so it costs a page of memory and delays nobody. A feed clears its flag before it
reads and reads again after a second at the latest, since any wake-up may be lost.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from runner.watching.bus import Bus, wait_flag
from store.database.errors import StoreClosedError, StoreError
from store.database.wakes import Topic
from store.runs.events import EventRecord, events_after, run_state
from store.states import FINAL_RUN_STATES, EventType

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from store.database.engine import Store

log = structlog.get_logger(__name__)

#: Events a feed keeps for its subscribers.
RING = 1000
#: Events in one batch.
PAGE = 100
#: Longest interval between two reads of a feed, in seconds.
POLL_SECONDS = 1.0
#: Shortest interval until the run ends: without it, each of ten quick steps is a batch of its own for every subscriber.
#: Less than a frame of a screen; half of it costs a subscriber's run a tenth more CPU.
PACE_SECONDS = 0.01

_FINAL = frozenset(state.value for state in FINAL_RUN_STATES)


@dataclass(frozen=True, slots=True)
class Batch:
    """Events in order.

    Attributes:
        live: Whether all events stored at the time of the read are delivered.
    """

    events: tuple[EventRecord, ...]
    live: bool

    @property
    def position(self) -> int:
        """Sequence to continue after."""
        return self.events[-1].sequence


@dataclass(frozen=True, slots=True)
class Gap:
    """Events are missing because they are no longer stored: continue after `position`."""

    position: int
    missed: int


@dataclass(frozen=True, slots=True)
class End:
    """The run has ended and all events are delivered; a resume adds events after `position`."""

    position: int


class _Feed:
    """Reads one run's events for all its watchers in this process.

    Attributes:
        gone: The run does not exist or was deleted.
        closed: The store is closed; there will be no more events.
    """

    def __init__(self, store: Store, bus: Bus, run_id: str) -> None:
        self._store = store
        self._bus = bus
        self._run_id = run_id
        self._ring: deque[EventRecord] = deque(maxlen=RING)
        self._read_to = -1
        self._watchers: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None
        self.gone = self.closed = False

    @property
    def watchers(self) -> int:
        """How many follow the run; with none it does not read."""
        return len(self._watchers)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[asyncio.Event]:
        """Yield a flag that is set after every read; the feed runs while it has watchers."""
        flag = asyncio.Event()
        self._watchers.add(flag)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read(), name=f"packline-feed-{self._run_id}")
        try:
            yield flag
        finally:
            self._watchers.discard(flag)
            if not self._watchers and self._task is not None:
                self._task.cancel()
                self._task = None

    def after(self, position: int) -> tuple[EventRecord, ...] | None:
        """Return up to a page of events after a position from the ring; None if the ring no longer has them."""
        if self._read_to >= 0 and position >= self._read_to:
            return ()
        if not self._ring or self._ring[0].sequence > position + 1:
            return None
        start = position + 1 - self._ring[0].sequence
        return tuple(self._ring[index] for index in range(start, min(len(self._ring), start + PAGE)))

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        with (
            self._bus.watch((Topic.RUN, self._run_id), (Topic.RUN_DELETED, self._run_id)) as flag,
            self._bus.watch((Topic.RUN_ENDED, self._run_id)) as ended,
        ):
            while not self.gone:
                flag.clear()
                read_at = loop.time()
                try:
                    newest = await self._newest()
                except StoreClosedError:
                    self.closed = True
                    for watcher in self._watchers:
                        watcher.set()
                    return
                except Exception as error:  # watchers must not wait forever after an error
                    log.warning("events could not be read; trying again", run=self._run_id, error=str(error))
                    await wait_flag(flag, POLL_SECONDS)
                    continue
                if newest:
                    self._ring.extend(newest)
                    self._read_to = newest[-1].sequence
                elif self._read_to < 0:
                    self._read_to = 0
                for watcher in self._watchers:
                    watcher.set()
                if len(newest) < PAGE:
                    await wait_flag(flag, POLL_SECONDS)
                    if (early := read_at + PACE_SECONDS - loop.time()) > 0:
                        await wait_flag(ended, early)
                        ended.clear()

    async def _newest(self) -> list[EventRecord]:
        """Read the events after the last read; if there are none, check whether the run still exists."""
        after = None if self._read_to < 0 else self._read_to
        newest = await events_after(self._store, self._run_id, after, limit=PAGE, few=after is not None)
        if not newest:
            self.gone = await run_state(self._store, self._run_id) is None
        return newest


class Tails:
    """The feeds of this process."""

    def __init__(self, store: Store, bus: Bus) -> None:
        self._store = store
        self._bus = bus
        self._feeds: dict[str, _Feed] = {}

    @property
    def watchers(self) -> int:
        """Iterators of `follow` that are open in this process."""
        return sum(feed.watchers for feed in self._feeds.values())

    async def follow(self, run_id: str, after: int = 0) -> AsyncIterator[Batch | Gap | End]:
        """Yield a run's events after a position (0 for all), until the run has ended; exactly one `End` comes last.

        A run that is deleted meanwhile, or that does not exist, ends as well. Close the iterator to stop early.

        Raises:
            StoreClosedError: The server is shutting down.
        """
        feed = self._feeds.setdefault(run_id, _Feed(self._store, self._bus, run_id))
        position, last = after, None
        try:
            async with feed.watched() as flag:
                while True:
                    flag.clear()
                    events = feed.after(position)
                    if events is None:
                        events = await self._read(run_id, position)
                    if events:
                        if events[0].sequence > position + 1:
                            yield Gap(events[0].sequence - 1, events[0].sequence - 1 - position)
                        position, last = events[-1].sequence, events[-1]
                        yield Batch(events, live=len(events) < PAGE)
                        continue
                    if last is None and position > 0:
                        last = next(iter(await self._read(run_id, None)), None)
                    if feed.gone or (last is not None and last.sequence <= position and _ends(last)):
                        yield End(position)
                        return
                    if feed.closed:
                        raise StoreClosedError("The store is closed: the server is shutting down.")
                    await flag.wait()  # the feed sets it once a second at the latest
        finally:
            if not feed.watchers and self._feeds.get(run_id) is feed:
                del self._feeds[run_id]

    async def _read(self, run_id: str, after: int | None) -> tuple[EventRecord, ...]:
        """Read a page of events after a position, or the newest one; nothing while the store cannot be read."""
        try:
            return tuple(await events_after(self._store, run_id, after, limit=1 if after is None else PAGE))
        except StoreClosedError:
            raise
        except StoreError as error:
            log.warning("events could not be read; trying again", run=run_id, error=str(error))
            return ()


def _ends(event: EventRecord) -> bool:
    return event.type == EventType.RUN_STATE and event.after in _FINAL
