"""A run's events from any position: what is stored, then what happens, without a gap and without a repeat.

One feed per run and process reads each event once for all its subscribers, into a ring; whoever falls behind the ring
reads for itself, page by page, so a slow subscriber costs a page of memory and holds nobody up. A feed clears its flag
before it reads and looks again after a second at the latest: every wake-up may be lost.
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
#: A feed reads this often even when no wake-up comes, in seconds.
POLL_SECONDS = 1.0
#: And at most this often until the run ends: each of a run of ten quick steps is another batch to everybody otherwise.
#: Less than a frame of a screen; twice as often costs a subscriber's run a tenth more CPU.
PACE_SECONDS = 0.01

_FINAL = frozenset(state.value for state in FINAL_RUN_STATES)


@dataclass(frozen=True, slots=True)
class Batch:
    """Events in order.

    Attributes:
        live: Whether everything stored when it was read has now been delivered.
    """

    events: tuple[EventRecord, ...]
    live: bool

    @property
    def position(self) -> int:
        """Sequence to go on after."""
        return self.events[-1].sequence


@dataclass(frozen=True, slots=True)
class Gap:
    """Events that are no longer stored were left out: go on after `position`."""

    position: int
    missed: int


@dataclass(frozen=True, slots=True)
class End:
    """The run has ended and every event was delivered; a resume adds events after `position`."""

    position: int


class _Feed:
    """Reads one run's events for everybody who watches it in this process.

    Attributes:
        gone: The run does not exist, or not any more.
        closed: The store is closed: nothing more will come.
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
    def idle(self) -> bool:
        """Whether nobody watches."""
        return not self._watchers

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[asyncio.Event]:
        """A flag set whenever the feed has read on; the feed runs while anybody holds one."""
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
        """Up to a page of events after a position, from the ring; None when the ring does not reach back to it."""
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
                except Exception as error:  # watchers must not wait in vain after any error
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
        """What is stored after what was read; when that is nothing, takes note of a run that is gone."""
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

    async def follow(self, run_id: str, after: int = 0) -> AsyncIterator[Batch | Gap | End]:
        """Yield a run's events after a position (0 for all), until the run has ended; exactly one `End` comes last.

        A run that is deleted meanwhile, or that does not exist, ends as well. Close the iterator when done with it
        early.

        Raises:
            StoreClosedError: the server is shutting down.
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
            if feed.idle and self._feeds.get(run_id) is feed:
                del self._feeds[run_id]

    async def _read(self, run_id: str, after: int | None) -> tuple[EventRecord, ...]:
        """A page of events after a position, or the newest one; nothing while the store cannot be read."""
        try:
            return tuple(await events_after(self._store, run_id, after, limit=1 if after is None else PAGE))
        except StoreClosedError:
            raise
        except StoreError as error:
            log.warning("events could not be read; trying again", run=run_id, error=str(error))
            return ()


def _ends(event: EventRecord) -> bool:
    return event.type == EventType.RUN_STATE and event.after in _FINAL
