"""Decides which run goes next: the dispatcher port and its embedded adapter.

A dispatcher only delivers run ids. It may lose, repeat or delay them: the claim in the store decides, and the rescue
finds what was lost.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from store.database.wakes import EVERYTHING, Topic
from store.runs.unit_types import NotClaimed, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable
    from datetime import datetime
    from typing import TypeAlias

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.runs.claim import Due

    #: Executes a run as far as it goes; returns why it did not, or None when it did. Arguments are the run's
    #: id and the stored time that was waited for here, if one was (see `store.runs.claim`).
    Handler: TypeAlias = Callable[[str, datetime | None], Awaitable[NotClaimed | None]]
    Work: TypeAlias = Coroutine[Any, Any, NotClaimed | None]

log = structlog.get_logger(__name__)

#: Priority of what was already under way when its worker went: it resumes before new work starts.
RESCUE_PRIORITY = 10
#: Least wait before a run is delivered again because its time has not come.
LEAST_WAIT_SECONDS = 0.02


class Dispatcher(Protocol):
    """Delivers run ids to a handler that may be called at any time, any number of times, on any machine."""

    def enqueue(self, conn: Connection, run_id: str, *, priority: int = 0) -> None:
        """Deliver the run once the transaction of `conn` has committed; part of a unit of work."""

    async def serve(self, handler: Handler) -> None:
        """Start delivering."""

    def has_lane(self, caller_id: str) -> bool:
        """Return whether a run that a caller is about to submit may begin here at once.

        It may not while others wait that came before it, for a lane or for a slot of the same caller. A dispatcher
        whose queue is elsewhere may always say no: the run is then stored, enqueued and delivered as any other.
        """

    def occupy(self, run_id: str, work: Work) -> None:
        """Execute `work`, which returns what a handler does, in the free lane that `has_lane` found."""

    def offer(self, found: Iterable[Due]) -> None:
        """Deliver runs the rescue found, unless they are already queued or being handled."""

    async def stop(self) -> None:
        """Stop delivering. Runs being handled continue; the worker drains them."""


@dataclass(frozen=True, slots=True, order=True)
class _Delivery:
    """A run to be delivered; the most urgent one first, then in the order they came."""

    rank: int
    order: int
    run_id: str
    caller_id: str | None = None


class EmbeddedDispatcher:
    """A priority heap in the process, fed by commits.

    Runs the caller's limit refuses are parked by caller, oldest first, until the store signals a free slot.

    Args:
        lanes: Runs handled at once.
    """

    def __init__(self, store: Store, *, lanes: int) -> None:
        self._lanes = lanes
        self._heap: list[_Delivery] = []
        self._order = itertools.count()
        self._queued: set[str] = set()
        self._handled: set[str] = set()
        self._again: dict[str, int] = {}  # what is to be delivered once more, with its priority
        self._parked: dict[str, list[str]] = {}
        self._parked_runs: set[str] = set()
        self._freed = 0  # slots that came free so far, and the last of them by caller
        self._freed_at: dict[str, int] = {}
        # By the monotonic clock: what each run waits for, with its timer, and what those that are due have waited for.
        self._timers: dict[str, tuple[datetime | None, asyncio.TimerHandle]] = {}
        self._waited: dict[str, datetime] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._handler: Handler | None = None
        store.wakes.listen(Topic.RUN_DUE, partial(self._due, 0))
        store.wakes.listen(Topic.RUN_DUE_FIRST, partial(self._due, RESCUE_PRIORITY))
        store.wakes.listen(Topic.SLOT_FREE, self._slot_freed)

    def enqueue(self, conn: Connection, run_id: str, *, priority: int = 0) -> None:
        """Deliver the run after the commit, in the process that is quickest."""
        conn.wake(Topic.RUN_DUE_FIRST if priority else Topic.RUN_DUE, run_id)

    async def serve(self, handler: Handler) -> None:
        """Start delivering."""
        self._handler = handler
        self._deliver()

    def has_lane(self, caller_id: str) -> bool:
        """Return whether a run that a caller is about to submit would be next."""
        return (
            self._handler is not None
            and not self._heap
            and len(self._tasks) < self._lanes
            and caller_id not in self._parked
        )

    def occupy(self, run_id: str, work: Work) -> None:
        """Execute `work` in a free lane."""
        self._begin(_Delivery(0, next(self._order), run_id), work)

    def offer(self, found: Iterable[Due]) -> None:
        """Deliver what the rescue found, now or at its time; of each caller's parked runs only the first is tried.

        Each time, a wait may become shorter: the clock may have been set forward, and this process may have slept. It
        never becomes longer: the clock may have been set back.
        """
        tried: set[str] = set()
        for due in found:
            if due.run_id in self._handled or due.run_id in self._queued:
                continue
            if due.run_id in self._parked_runs:  # a slot may have come free in another process
                if due.caller_id not in tried:
                    tried.add(due.caller_id)
                    self._unpark(due.caller_id)
                continue
            if due.wait_seconds > 0:
                self._later(due.run_id, due.wait_seconds, due.not_before)
            else:
                self._stop_timer(due.run_id)
                self._push(due.run_id, due.priority)
        self._deliver()

    async def stop(self) -> None:
        """Stop delivering; safe to call before `serve` and twice."""
        self._handler = None
        for _, timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _due(self, priority: int, run_id: str) -> None:
        if run_id != EVERYTHING:  # the rescue finds what was missed
            self._push(run_id, priority)
            self._deliver()

    def _slot_freed(self, caller_id: str) -> None:
        self._freed += 1
        self._freed_at[caller_id] = self._freed
        self._unpark(caller_id)
        self._deliver()

    def _push(self, run_id: str, priority: int, caller_id: str | None = None) -> None:
        if run_id in self._handled:
            self._again[run_id] = priority  # it may be released by now: deliver it again when its handler returns
            return
        if run_id in self._queued:
            return
        self._queued.add(run_id)
        heapq.heappush(self._heap, _Delivery(-priority, next(self._order), run_id, caller_id))

    def _deliver(self) -> None:
        while self._handler is not None and self._heap and len(self._tasks) < self._lanes:
            delivery = heapq.heappop(self._heap)
            self._queued.discard(delivery.run_id)
            self._begin(delivery, self._handler(delivery.run_id, self._waited.get(delivery.run_id)))

    def _begin(self, delivery: _Delivery, work: Awaitable[NotClaimed | None]) -> None:
        self._handled.add(delivery.run_id)
        # A fresh context: the work is not part of the request that submits the run.
        task = asyncio.create_task(
            self._handle(delivery, work), name=f"packline-{delivery.run_id}", context=contextvars.Context()
        )
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("handling a run failed; the rescue will find it again", run=task.get_name(), exc_info=error)
        self._deliver()

    async def _handle(self, delivery: _Delivery, work: Awaitable[NotClaimed | None]) -> None:
        run_id, began = delivery.run_id, self._freed
        refusal: NotClaimed | None = None
        try:
            refusal = await work
        finally:
            if refusal is None or refusal.reason is not Refusal.SLOT:
                self._waited.pop(run_id, None)
            self._handled.discard(run_id)
            if (priority := self._again.pop(run_id, None)) is not None:
                self._push(run_id, priority)
        if refusal is None:
            return
        caller_id = refusal.caller_id or delivery.caller_id
        if refusal.reason is Refusal.SLOT and caller_id is not None:
            self._park(run_id, caller_id, is_stale=self._freed_at.get(caller_id, 0) > began)
            return
        if refusal.reason is Refusal.LATER and refusal.wait_seconds is not None:
            self._later(run_id, refusal.wait_seconds, refusal.not_before)
        if delivery.caller_id is not None:  # it did not use the slot it was given
            self._unpark(delivery.caller_id)

    def _park(self, run_id: str, caller_id: str, *, is_stale: bool) -> None:
        """Keep a run until its caller has a slot; one that came free while it was refused gives it another try."""
        if run_id in self._queued:
            return
        if is_stale:
            self._push(run_id, 0, caller_id)
        else:
            heapq.heappush(self._parked.setdefault(caller_id, []), run_id)
            self._parked_runs.add(run_id)

    def _unpark(self, caller_id: str) -> None:
        """Enqueue the caller's oldest parked run."""
        parked = self._parked.get(caller_id)
        if parked:
            run_id = heapq.heappop(parked)
            self._parked_runs.discard(run_id)
            if not parked:
                del self._parked[caller_id]
            self._push(run_id, 0, caller_id)

    def _later(self, run_id: str, delay: float, not_before: datetime | None) -> None:
        def due() -> None:
            self._timers.pop(run_id, None)
            if not_before is not None:
                self._waited[run_id] = not_before
            self._push(run_id, 0)
            self._deliver()

        if self._handler is None:
            return
        loop = asyncio.get_running_loop()
        due_at = loop.time() + max(LEAST_WAIT_SECONDS, delay)
        waits_for, timer = self._timers.get(run_id, (None, None))
        if timer is not None and waits_for == not_before and timer.when() <= due_at:
            return
        self._stop_timer(run_id)
        self._timers[run_id] = not_before, loop.call_at(due_at, due)

    def _stop_timer(self, run_id: str) -> None:
        if (waiting := self._timers.pop(run_id, None)) is not None:
            waiting[1].cancel()
