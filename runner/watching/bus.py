"""The bus: flags that wake-ups set, for watchers of runs and their output."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from store.database.wakes import EVERYTHING, Topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from store.database.engine import Store
    from store.database.wakes import Wake

#: Runs a collector lists before it only reports that more changed.
COLLECTED = 1000


class Flag(asyncio.Event):
    """The event a watcher waits for.

    Attributes:
        by_name: Whether a watched id was woken, not only everything.
    """

    by_name = False


@dataclass(eq=False, slots=True)
class Collector:
    """Runs woken since the last `take`, bounded; `flag` is set while there are any.

    Attributes:
        more: Whether more changed than is listed, or wake-ups may have been lost.
    """

    flag: asyncio.Event = field(default_factory=asyncio.Event)
    changed: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    more: bool = False

    def add(self, topic: Topic, id: str) -> None:
        """Add a woken run."""
        if id == EVERYTHING:
            self.more = True
        elif topic is Topic.RUN:
            self.changed.add(id)
        elif topic is Topic.RUN_DELETED:
            self.gone.add(id)
        else:
            return
        self.flag.set()
        if len(self.changed) + len(self.gone) > COLLECTED:
            self.changed.clear()
            self.gone.clear()
            self.more = True

    def take(self) -> tuple[set[str], set[str], bool]:
        """Return changed runs, deleted runs, and whether more changed; empties the collector."""
        taken = (self.changed, self.gone, self.more)
        self.changed, self.gone, self.more = set(), set(), False
        self.flag.clear()
        return taken


class Bus:
    """Flags by topic and id; all of them share one subscription per topic."""

    def __init__(self, store: Store) -> None:
        self._flags: dict[Wake, set[Flag]] = {}
        self._collectors: set[Collector] = set()
        for topic in (Topic.RUN, Topic.RUN_ENDED, Topic.RUN_DELETED, Topic.OUTPUT):
            store.wakes.listen(topic, partial(self._woken, topic), partial(self._wants, topic))

    @contextmanager
    def watch(self, *wanted: Wake) -> Iterator[Flag]:
        """Yield a flag that is set at every wake-up of the given ids. Clear it before reading, never after."""
        flag = Flag()
        for wake in wanted:
            self._flags.setdefault(wake, set()).add(flag)
        try:
            yield flag
        finally:
            for wake in wanted:
                flags = self._flags[wake]
                flags.discard(flag)
                if not flags:
                    del self._flags[wake]

    @contextmanager
    def collect(self) -> Iterator[Collector]:
        """Yield a collector of woken runs, for lists of runs."""
        collector = Collector()
        self._collectors.add(collector)
        try:
            yield collector
        finally:
            self._collectors.discard(collector)

    def _wants(self, topic: Topic, id: str) -> bool:
        return (topic, id) in self._flags or bool(self._collectors) or id == EVERYTHING

    def _woken(self, topic: Topic, id: str) -> None:
        for collector in self._collectors:
            collector.add(topic, id)
        if id == EVERYTHING:
            for (watched, _), flags in self._flags.items():
                if watched is topic:
                    for flag in flags:
                        flag.set()
            return
        for flag in self._flags.get((topic, id), ()):
            flag.by_name = True
            flag.set()


async def wait_flag(flag: asyncio.Event, seconds: float) -> bool:
    """Wait for a flag, at most some seconds; returns whether it was set."""
    if flag.is_set():
        return True
    try:
        async with asyncio.timeout(seconds):
            await flag.wait()
    except TimeoutError:
        return False
    return True
