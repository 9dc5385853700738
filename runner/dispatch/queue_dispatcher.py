"""Delivers runs out of the queue that the processes of a shared database have in common (docs/adr/0011)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.dispatch.dispatcher import LEAST_WAIT_SECONDS
from runner.dispatch.lanes import Lanes
from store.database.postgres_queue import POLL_SECONDS
from store.database.wakes import EVERYTHING, Topic
from store.runs.needs import needs_of
from store.runs.queue_sweep import sweep_queue
from store.runs.unit_types import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.dispatch.dispatcher import Handler
    from runner.dispatch.lanes import Work
    from store.database.engine import Store
    from store.database.postgres_queue import RunQueue
    from store.runs.claim import Due
    from store.runs.unit_types import NotClaimed


class QueueDispatcher:
    """Takes one run after another out of the queue, as long as a lane is free.

    Args:
        queue: The queue of `store`.
        lanes: Runs handled at once.
        lease_seconds: Length of a lease.
        offers: What this process offers to steps; `refresh` reads it again.
    """

    def __init__(
        self,
        store: Store,
        queue: RunQueue,
        *,
        lanes: int,
        lease_seconds: float,
        offers: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self.lanes = Lanes(lanes, left=self._left, freed=self._freed)
        self._store = store
        self._queue = queue
        self._lease_seconds = lease_seconds
        self._offers = offers
        self._needs = {""}  # what runs are known to need, as `run.needs` has it
        self._served: frozenset[str] = frozenset()
        self._handler: Handler | None = None
        self._again: set[str] = set()  # what was delivered while it was handled here
        self._free = asyncio.Event()
        self._free.set()
        store.wakes.listen(Topic.NEEDS, self._needed)

    async def serve(self, handler: Handler) -> None:
        """Start delivering."""
        self._handler = handler
        self._served = self._servable()
        await self._queue.start(self._deliver, self._free.wait, lambda: self._served, self._lease_seconds)

    def refresh(self) -> None:
        """Serve the needs that this process meets by now; a loop has the same queues for its life."""
        if (served := self._servable()) != self._served:
            self._served = served
            self._queue.restart()

    def has_lane(self) -> bool:
        """Return whether a run that is about to be submitted may begin here.

        Not in the last lane: a run that came out of the queue takes that, so new runs never keep it from old ones.
        """
        return self._handler is not None and self.lanes.free > 1

    def occupy(self, run_id: str, work: Work) -> None:
        """Execute `work` in a free lane."""
        self._begin(run_id, work)

    def wait_for(self, run: Due) -> None:
        """Put a run into the queue, for the time it waits for."""
        self._put(run.run_id)

    async def sweep(self) -> None:
        """Put what the queue has lost in again, and learn what its runs need."""
        swept = await self._store.write(sweep_queue, self._lease_seconds)
        self._put(*swept.lost)
        self._needs |= swept.needs
        self.refresh()

    async def stop(self) -> None:
        """Stop delivering; safe to call before `serve` and twice."""
        self._handler = None
        await self._queue.stop()

    async def _deliver(self, run_id: str) -> None:
        """Begin a run, and return when the next one may be fetched: what is fetched here no other worker begins."""
        if self._handler is not None:
            if run_id in self.lanes:
                self._again.add(run_id)  # it may be released by now: deliver it again when its handler returns
            else:
                self._begin(run_id, self._handler(run_id, None))
        await self._free.wait()

    def _begin(self, run_id: str, work: Work) -> None:
        self.lanes.begin(run_id, work)
        if self.lanes.free < 1:
            self._free.clear()

    def _freed(self) -> None:
        if self.lanes.free > 0:
            self._free.set()

    def _left(self, run_id: str, refusal: NotClaimed | None) -> None:
        again = run_id in self._again
        self._again.discard(run_id)
        if refusal is not None and refusal.reason is Refusal.LATER and refusal.wait_seconds is not None:
            if refusal.wait_seconds < POLL_SECONDS:  # the queue does not notify when the time of a row comes
                wait = max(LEAST_WAIT_SECONDS, refusal.wait_seconds)
                asyncio.get_running_loop().call_later(wait, self._put, run_id)
            else:
                self._put(run_id)
        elif refusal is not None and refusal.reason is Refusal.LACKS:
            # What the run needs has changed since it was put in, or what this process offers.
            self.refresh()
            self._put(run_id)
        elif again:
            self._put(run_id)

    def _needed(self, needs: str) -> None:
        if needs == EVERYTHING:
            # The connection that listens was lost. The queue's own may be half open: it would wait for ever.
            self._queue.restart()
            return
        self._needs.add(needs)
        self.refresh()

    def _servable(self) -> frozenset[str]:
        offers = self._offers()
        return frozenset(needs for needs in self._needs if needs_of(needs) <= offers)

    def _put(self, *run_ids: str) -> None:
        self._store.wakes.committed([(Topic.RUN_DUE, run_id) for run_id in run_ids])
