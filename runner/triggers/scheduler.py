"""Waits for the next firing of any schedule and has those that are due fired."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from runner.watching.bus import wait_flag
from store.database.errors import StoreClosedError, StoreError
from store.database.essential_tasks import EssentialTask
from store.database.wakes import Topic
from store.triggers.firings import next_due

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from store.database.engine import Store

log = structlog.get_logger(__name__)

#: The longest wait: wake-ups may be lost, and clocks may be set.
POLL_SECONDS = 15.0
#: Triggers that are fired before the store is asked again.
BATCH = 500
#: The pause after an error of the store.
RETRY_SECONDS = 1.0


class Scheduler:
    """Fires schedules; each server has one, and all of them may look at the same triggers.

    Args:
        store: The triggers, and the clock they fire by.
        fire: Fires triggers, given their ids and that clock; returns how many it dealt with.
    """

    def __init__(self, store: Store, fire: Callable[[Sequence[str], datetime], Awaitable[int]]) -> None:
        self._store = store
        self._fire = fire
        self._changed = asyncio.Event()
        self._task: EssentialTask | None = None
        store.wakes.listen(Topic.TRIGGERS, lambda _: self._changed.set())

    async def start(self) -> None:
        """Start firing; a second call does nothing."""
        if self._task is None:
            self._task = EssentialTask(self._run(), "packline-scheduler")

    async def stop(self) -> None:
        """Stop firing; safe to call twice and before `start`."""
        task, self._task = self._task, None
        if task is not None:
            await task.stop()

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                wait = await self._fire_due()
            except StoreClosedError:
                return
            except StoreError as error:
                log.warning("schedules could not be fired and will be retried", error=str(error))
                wait = RETRY_SECONDS
            except Exception:  # no error may end the schedules
                log.exception("schedules could not be fired because of a bug and will be retried")
                wait = RETRY_SECONDS
            if wait > 0:
                await wait_flag(self._changed, wait)

    async def _fire_due(self) -> float:
        """Fire a batch; return the seconds until the next trigger is due."""
        due = await next_due(self._store, limit=BATCH)
        if due.ids:
            # None of them could be dealt with: the store is asked again, but not at once.
            return 0.0 if await self._fire(due.ids, due.now) else RETRY_SECONDS
        if due.next_at is None:
            return POLL_SECONDS
        return min(POLL_SECONDS, max(0.001, (due.next_at - due.now).total_seconds()))
