"""Wake-ups: who watches a run is told that something changed, never what.

`broadcaster` carries them. Its backend here is the store itself: a commit of this process, or of another one on the
same PostgreSQL, names the keys it woke. Wake-ups may all be lost; whoever watches reads the store again after a
second anyway, so a lost one costs time and nothing else.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from broadcaster import Broadcast
from broadcaster import Event as BroadcastEvent

from store.engine import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from store.engine import Store

_CHANNEL = "wake"
#: Runs a collector keeps apart before it only says that more changed.
COLLECTED = 1000


class StoreBackend:
    """A backend for `Broadcast`: what the store's commits woke; keys nobody has taken yet are merged.

    Args:
        store: Whose commits.
        watched: Picks the keys that somebody watches. The others go no further: each commit of a run names some, and
            handing them on takes three turns of the event loop.
    """

    def __init__(self, store: Store, watched: Callable[[frozenset[str]], frozenset[str]]) -> None:
        self._watched = watched
        self._keys: set[str] = set()
        self._ready = asyncio.Event()
        store.on_wake(self._woken)

    async def connect(self) -> None:
        """Nothing to connect to: the store is open already."""

    async def disconnect(self) -> None:
        """Nothing to disconnect from."""

    async def subscribe(self, channel: str) -> None:
        """There is one channel, always open."""

    async def unsubscribe(self, channel: str) -> None:
        """There is one channel, always open."""

    async def publish(self, channel: str, message: object) -> None:
        """Wakes the keys of `message`, joined by spaces, in this process."""
        self._woken(frozenset(str(message).split()))

    async def next_published(self) -> BroadcastEvent:
        """The keys woken since the last call, joined by spaces; waits until there is one."""
        await self._ready.wait()
        self._ready.clear()
        keys, self._keys = self._keys, set()
        return BroadcastEvent(_CHANNEL, " ".join(keys))

    def _woken(self, keys: frozenset[str]) -> None:
        wanted = self._watched(keys)
        if wanted:
            self._keys |= wanted
            self._ready.set()


class Flag(asyncio.Event):
    """What a watcher waits on.

    Attributes:
        by_name: Its own key was woken, not just everything.
    """

    by_name = False


@dataclass(eq=False, slots=True)
class Collector:
    """Runs that were woken since `take` was last called, bounded; `flag` is set while there are any.

    Attributes:
        more: More changed than is kept, or wake-ups may have been missed.
    """

    flag: asyncio.Event = field(default_factory=asyncio.Event)
    changed: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    more: bool = False

    def add(self, keys: list[str]) -> None:
        """Takes note of what was woken."""
        for key in keys:
            if key.startswith("run_"):
                self.changed.add(key)
            elif key.startswith("gone:"):
                self.gone.add(key.removeprefix("gone:"))
            elif key == EVERYTHING:
                self.more = True
            else:
                continue
            self.flag.set()
        if len(self.changed) + len(self.gone) > COLLECTED:
            self.changed.clear()
            self.gone.clear()
            self.more = True

    def take(self) -> tuple[set[str], set[str], bool]:
        """Changed runs, runs that are gone, and whether more changed than is told; empties the collector."""
        taken = (self.changed, self.gone, self.more)
        self.changed, self.gone, self.more = set(), set(), False
        self.flag.clear()
        return taken


class Bus:
    """Flags by key, set by wake-ups; one subscription to `broadcaster` feeds them all."""

    def __init__(self, store: Store) -> None:
        self._broadcast = Broadcast(backend=StoreBackend(store, self._watched))  # type: ignore[arg-type] # its base class is not public
        self._flags: dict[str, set[Flag]] = {}
        self._collectors: set[Collector] = set()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Starts to listen; a second call does nothing."""
        if self._task is not None:
            return
        await self._broadcast.connect()
        listening = asyncio.Event()
        self._task = asyncio.create_task(self._fan_out(listening), name="packline-bus")
        await listening.wait()

    async def stop(self) -> None:
        """Stops listening; watchers then live by their own poll. Harmless before `start` and twice."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await self._broadcast.disconnect()

    @contextmanager
    def watch(self, *keys: str) -> Iterator[Flag]:
        """A flag that is set whenever one of the keys is woken. Clear it before reading, never after."""
        flag = Flag()
        for key in keys:
            self._flags.setdefault(key, set()).add(flag)
        try:
            yield flag
        finally:
            for key in keys:
                flags = self._flags[key]
                flags.discard(flag)
                if not flags:
                    del self._flags[key]

    @contextmanager
    def collect(self) -> Iterator[Collector]:
        """Gathers which runs were woken, for lists of runs."""
        collector = Collector()
        self._collectors.add(collector)
        try:
            yield collector
        finally:
            self._collectors.discard(collector)

    def _watched(self, keys: frozenset[str]) -> frozenset[str]:
        if self._collectors or EVERYTHING in keys:
            return keys
        return keys & self._flags.keys()

    async def _fan_out(self, listening: asyncio.Event) -> None:
        async with self._broadcast.subscribe(_CHANNEL) as subscriber:
            listening.set()
            while True:
                message = await subscriber.get()
                self._set(str(message.message).split())

    def _set(self, keys: list[str]) -> None:
        for collector in self._collectors:
            collector.add(keys)
        if EVERYTHING in keys:
            for flags in self._flags.values():
                for flag in flags:
                    flag.set()
            return
        for key in keys:
            for flag in self._flags.get(key, ()):
                flag.by_name = True
                flag.set()


async def wait_flag(flag: asyncio.Event, seconds: float) -> bool:
    """Waits for a flag, at most some seconds; whether it was set."""
    if flag.is_set():
        return True
    try:
        async with asyncio.timeout(seconds):
            await flag.wait()
    except TimeoutError:
        return False
    return True
