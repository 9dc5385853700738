"""Who runs next: the dispatcher port and its embedded adapter.

A dispatcher only delivers run ids. It may lose, repeat or delay them: the claim in the store decides, and the rescue
finds whatever was lost.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

import structlog

from store.runs import NotClaimed, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from store.dialects import Connection
    from store.engine import Store
    from store.runs import Due

log = structlog.get_logger(__name__)

#: Priority of what was already under way when its worker went: it resumes before new work starts.
RESCUE_PRIORITY = 10


class Dispatcher(Protocol):
    """Delivers run ids to a handler that may be called at any time, any number of times, on any machine."""

    def enqueue(self, conn: Connection, run_id: str, *, priority: int = 0) -> None:
        """Has the run delivered once the transaction of `conn` has committed; part of a unit of work."""

    async def serve(self, handler: Callable[[str], Awaitable[NotClaimed | None]]) -> None:
        """Starts delivering. The handler answers with why it did not take a run, or None when it let go of it."""

    def offer(self, due: Due) -> None:
        """Delivers a run the rescue found, unless it is queued or being handled already."""

    async def stop(self) -> None:
        """Delivers nothing more. What is being handled goes on; the worker drains it."""

    def let_go(self, caller_id: str) -> None:
        """One of the caller's runs let go of its slot: whoever waits for one gets a turn."""

    def waiting(self) -> int:
        """Runs that were accepted and not yet delivered."""


class EmbeddedDispatcher:
    """A priority heap in the process, fed by commits.

    Runs the caller's limit refuses are parked by caller until one of that caller's runs lets go.

    Args:
        lanes: Runs handled at once.
    """

    _PREFIX = "dispatch:"

    def __init__(self, store: Store, *, lanes: int) -> None:
        self._lanes = lanes
        self._heap: list[tuple[int, int, str]] = []
        self._order = itertools.count()
        self._queued: set[str] = set()
        self._handled: set[str] = set()
        self._again: set[str] = set()
        self._parked: dict[str, dict[str, None]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._handler: Callable[[str], Awaitable[NotClaimed | None]] | None = None
        store.on_wake(self._woken)

    def enqueue(self, conn: Connection, run_id: str, *, priority: int = 0) -> None:
        """Has the run delivered after the commit."""
        conn.wake(f"{self._PREFIX}{priority}:{run_id}")

    async def serve(self, handler: Callable[[str], Awaitable[NotClaimed | None]]) -> None:
        """Starts delivering."""
        self._handler = handler
        self._deliver()

    def offer(self, due: Due) -> None:
        """Delivers a run the rescue found, now or at its time."""
        if due.run_id in self._handled or due.run_id in self._queued or due.run_id in self._timers:
            return
        parked = self._parked.get(due.caller_id)
        if parked and due.run_id in parked:
            if next(iter(parked)) == due.run_id:  # a slot may have come free in another process
                self.let_go(due.caller_id)
            return
        delay = (due.not_before - datetime.now(UTC)).total_seconds() if due.not_before else 0.0
        if delay > 0:
            self._later(due.run_id, delay)
        else:
            self._push(due.run_id, due.priority)
            self._deliver()

    async def stop(self) -> None:
        """Delivers nothing more; harmless before `serve` and twice."""
        self._handler = None
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def waiting(self) -> int:
        """Runs that were accepted and not yet delivered."""
        return len(self._queued) + sum(len(parked) for parked in self._parked.values())

    def _woken(self, keys: frozenset[str]) -> None:
        found = False
        for key in keys:
            if key.startswith(self._PREFIX):
                _, priority, run_id = key.split(":", 2)
                self._push(run_id, int(priority))
                found = True
        if found:
            self._deliver()

    def _push(self, run_id: str, priority: int) -> None:
        if run_id in self._handled:
            self._again.add(run_id)  # it may have let go already: look once more when its handler returns
            return
        if run_id in self._queued:
            return
        self._queued.add(run_id)
        heapq.heappush(self._heap, (-priority, next(self._order), run_id))

    def _deliver(self) -> None:
        while self._handler is not None and self._heap and len(self._tasks) < self._lanes:
            _, _, run_id = heapq.heappop(self._heap)
            self._queued.discard(run_id)
            self._handled.add(run_id)
            task = asyncio.create_task(self._handle(self._handler, run_id), name=f"packline-{run_id}")
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("handling a run failed; the rescue will find it again", run=task.get_name(), exc_info=error)
        self._deliver()

    async def _handle(self, handler: Callable[[str], Awaitable[NotClaimed | None]], run_id: str) -> None:
        refusal: NotClaimed | None = None
        try:
            refusal = await handler(run_id)
        finally:
            self._handled.discard(run_id)
            if run_id in self._again:
                self._again.discard(run_id)
                self._push(run_id, RESCUE_PRIORITY)
        if refusal is None:
            return
        match refusal.reason:
            case Refusal.SLOT if refusal.caller_id is not None:
                self._parked.setdefault(refusal.caller_id, {})[run_id] = None
            case Refusal.LATER if refusal.not_before is not None:
                self._later(run_id, (refusal.not_before - datetime.now(UTC)).total_seconds())
            case _:
                pass

    def let_go(self, caller_id: str) -> None:
        """One of the caller's runs let go: the one that was parked first gets its turn."""
        parked = self._parked.get(caller_id)
        if parked:
            run_id = next(iter(parked))
            del parked[run_id]
            if not parked:
                del self._parked[caller_id]
            self._push(run_id, 0)
            self._deliver()

    def _later(self, run_id: str, delay: float) -> None:
        def due() -> None:
            self._timers.pop(run_id, None)
            self._push(run_id, 0)
            self._deliver()

        if run_id not in self._timers and self._handler is not None:
            self._timers[run_id] = asyncio.get_running_loop().call_later(max(0.0, delay), due)
