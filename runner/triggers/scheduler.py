"""Waits for what triggers fire for, instants of schedules and ends of runs, and has them fired."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import structlog

from runner.watching.bus import wait_flag
from store.database.errors import StoreClosedError, StoreError
from store.database.essential_tasks import EssentialTask
from store.database.wakes import Topic
from store.triggers.firings import next_due
from store.triggers.run_ends import due_ended_runs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from store.database.engine import Store
    from store.triggers.run_ends import EndedRun

log = structlog.get_logger(__name__)

#: The longest wait: wake-ups may be lost, and clocks may be set.
POLL_SECONDS = 15.0
#: Triggers that are fired before the store is asked again.
BATCH = 500
#: The pause after an error of the store.
RETRY_SECONDS = 1.0


class _FiringLoop(ABC):
    """Fires what is due; each server has one, and all of them may look at the same triggers.

    Args:
        store: What is due.
        topic: Wakes the loop.
        what: What it fires, for the log and as the name of its task.
    """

    def __init__(self, store: Store, topic: Topic, what: str) -> None:
        self._store = store
        self._what = what
        self._changed = asyncio.Event()
        self._task: EssentialTask | None = None
        store.wakes.listen(topic, lambda _: self._changed.set())

    async def start(self) -> None:
        """Start firing; a second call does nothing."""
        if self._task is None:
            self._task = EssentialTask(self._run(), f"packline-{self._what.replace(' ', '-')}")

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
                log.warning("triggers could not be fired and will be retried", of=self._what, error=str(error))
                wait = RETRY_SECONDS
            except Exception:  # no error may end the loop
                log.exception("triggers could not be fired because of a bug and will be retried", of=self._what)
                wait = RETRY_SECONDS
            if wait > 0:
                await wait_flag(self._changed, wait)

    @abstractmethod
    async def _fire_due(self) -> float:
        """Fire a batch; return the seconds until more may be due."""


class Scheduler(_FiringLoop):
    """Fires schedules.

    Args:
        store: The triggers, and the clock they fire by.
        fire: Fires triggers, given their ids and that clock; returns how many it dealt with.
    """

    def __init__(self, store: Store, fire: Callable[[Sequence[str], datetime], Awaitable[int]]) -> None:
        super().__init__(store, Topic.TRIGGERS, "schedules")
        self._fire = fire

    async def _fire_due(self) -> float:
        due = await next_due(self._store, limit=BATCH)
        if due.ids:
            # None of them could be dealt with: the store is asked again, but not at once.
            return 0.0 if await self._fire(due.ids, due.now) else RETRY_SECONDS
        if due.next_at is None:
            return POLL_SECONDS
        return min(POLL_SECONDS, max(0.001, (due.next_at - due.now).total_seconds()))


class EndedRuns(_FiringLoop):
    """Fires the triggers of runs that have ended, also of those that ended while no server was running.

    Args:
        store: The runs.
        fire: Fires the triggers of runs; returns how many runs it dealt with.
    """

    def __init__(self, store: Store, fire: Callable[[Sequence[EndedRun]], Awaitable[int]]) -> None:
        super().__init__(store, Topic.TRIGGERS_DUE, "ended runs")
        self._fire = fire

    async def _fire_due(self) -> float:
        due = await due_ended_runs(self._store, limit=BATCH)
        if not due:
            return POLL_SECONDS
        return 0.0 if await self._fire(due) else RETRY_SECONDS
