"""Decides which run goes next: the dispatcher port, and the adapter of the embedded database.

A dispatcher only delivers run ids. It may lose, repeat or delay them: the claim in the store decides, and the rescue
finds what was lost. `runner.dispatch.queue_dispatcher` is the adapter of a shared database.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from runner.dispatch.lanes import Lanes
from store.database.wakes import EVERYTHING, Topic
from store.runs.admission import UNDER_WAY
from store.runs.claim import due
from store.runs.unit_types import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import TypeAlias

    from runner.dispatch.lanes import Work
    from store.database.engine import Store
    from store.runs.claim import Due
    from store.runs.unit_types import NotClaimed

    #: Executes a run as far as it goes; returns why it did not, or None when it did. Arguments are the run's
    #: id and the stored time that was waited for here, if one was (see `store.runs.claim`).
    Handler: TypeAlias = Callable[[str, datetime | None], Work]

#: Least wait before a run is delivered again because its time has not come.
LEAST_WAIT_SECONDS = 0.02


class Dispatcher(Protocol):
    """Delivers run ids to a handler that may be called at any time, any number of times, on any machine.

    Attributes:
        lanes: Where this process handles runs.
    """

    lanes: Lanes

    async def serve(self, handler: Handler) -> None:
        """Start delivering."""

    def has_lane(self) -> bool:
        """Return whether a run that is about to be submitted may begin here at once, if it is admitted.

        It may not while others wait for a lane. A dispatcher whose queue is elsewhere may always say no: the run is
        then stored, offered and delivered as any other.
        """

    def occupy(self, run_id: str, work: Work) -> None:
        """Execute `work`, which returns what a handler does, in the free lane that `has_lane` found."""

    def wait_for(self, run: Due) -> None:
        """Deliver a run at the time it waits for."""

    async def sweep(self) -> None:
        """Deliver the runs in the store that are due, or will be, and were lost.

        Raises:
            StoreError: the store could not be searched.
        """

    async def stop(self) -> None:
        """Stop delivering. Runs being handled continue; the worker drains them."""


@dataclass(frozen=True, slots=True, order=True)
class _Delivery:
    """A run to be delivered; the most urgent one first, then in the order they came."""

    rank: int
    order: int
    run_id: str


class EmbeddedDispatcher:
    """A priority heap in the process, fed by the commits that admit runs (`store.runs.admission`).

    Args:
        lanes: Runs handled at once.
        lease_seconds: Length of a lease.
    """

    def __init__(self, store: Store, *, lanes: int, lease_seconds: float) -> None:
        self._store = store
        self._lease_seconds = lease_seconds
        self.lanes = Lanes(lanes, left=self._left, freed=self._deliver)
        self._heap: list[_Delivery] = []
        self._order = itertools.count()
        self._queued: set[str] = set()
        self._again: dict[str, int] = {}  # what is to be delivered once more, with its priority
        # By the monotonic clock: what each run waits for, with its timer, and what those that are due have waited for.
        self._timers: dict[str, tuple[datetime | None, asyncio.TimerHandle]] = {}
        self._waited: dict[str, datetime] = {}
        self._handler: Handler | None = None
        store.wakes.listen(Topic.RUN_DUE, partial(self._due, 0))
        store.wakes.listen(Topic.RUN_DUE_FIRST, partial(self._due, UNDER_WAY))

    async def serve(self, handler: Handler) -> None:
        """Start delivering."""
        self._handler = handler
        self._deliver()

    def has_lane(self) -> bool:
        """Return whether a run that is about to be submitted would be next."""
        return self._handler is not None and not self._heap and self.lanes.free > 0

    def occupy(self, run_id: str, work: Work) -> None:
        """Execute `work` in a free lane."""
        self.lanes.begin(run_id, work)

    def wait_for(self, run: Due) -> None:
        """Deliver a run at the time it waits for.

        The wait of a run may become shorter: the clock may have been set forward, and this process may have slept. It
        never becomes longer: the clock may have been set back.
        """
        self._offer(run)
        self._deliver()

    async def sweep(self) -> None:
        """Deliver what is due, unless it is already queued or being handled."""
        for found in await self._store.write(due, self._lease_seconds):
            self._offer(found)
        self._deliver()

    async def stop(self) -> None:
        """Stop delivering; safe to call before `serve` and twice."""
        self._handler = None
        self._heap.clear()
        self._queued.clear()
        for _, timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _offer(self, run: Due) -> None:
        if run.run_id in self.lanes or run.run_id in self._queued:
            return
        if run.wait_seconds > 0:
            self._later(run.run_id, run.wait_seconds, run.not_before)
        else:
            self._stop_timer(run.run_id)
            self._push(run.run_id, run.priority)

    def _due(self, priority: int, run_id: str) -> None:
        if run_id != EVERYTHING:  # the rescue finds what was missed
            self._push(run_id, priority)
            self._deliver()

    def _push(self, run_id: str, priority: int) -> None:
        if self._handler is None:
            return
        if run_id in self.lanes:
            self._again[run_id] = priority  # it may be released by now: deliver it again when its handler returns
            return
        if run_id in self._queued:
            return
        self._queued.add(run_id)
        heapq.heappush(self._heap, _Delivery(priority, next(self._order), run_id))

    def _deliver(self) -> None:
        while self._handler is not None and self._heap and self.lanes.free > 0:
            run_id = heapq.heappop(self._heap).run_id
            self._queued.discard(run_id)
            self.lanes.begin(run_id, self._handler(run_id, self._waited.get(run_id)))

    def _left(self, run_id: str, refusal: NotClaimed | None) -> None:
        self._waited.pop(run_id, None)
        if (priority := self._again.pop(run_id, None)) is not None:
            self._push(run_id, priority)
        if refusal is not None and refusal.reason is Refusal.LATER and refusal.wait_seconds is not None:
            self._later(run_id, refusal.wait_seconds, refusal.not_before)

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
