"""Admits runs and finds those that no worker holds, from the store alone.

A queue may therefore lose, repeat or delay deliveries. Runs that had already started go before new ones.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from store.database.errors import StoreClosedError, StoreError
from store.database.essential_tasks import EssentialTask
from store.database.wakes import EVERYTHING, Topic
from store.runs.admission import readmit, running_of_disabled, set_caller_limit, uneven_callers
from store.runs.claim import release_leases
from store.runs.commands import request_cancel
from store.runs.serving import match_workers
from store.runs.unit_types import WrongStateError

if TYPE_CHECKING:
    from runner.dispatch.dispatcher import Dispatcher
    from runner.running.resources import Resources

log = structlog.get_logger(__name__)

_DISABLED = "Its caller was disabled."


class Rescue:
    """Searches the store for lost runs at an interval."""

    def __init__(self, resources: Resources, dispatcher: Dispatcher) -> None:
        self._store = resources.store
        self._dispatcher = dispatcher
        self._limits = resources.limits
        self._fleet = resources.fleet
        self._hurried = asyncio.Event()
        self._task: EssentialTask | None = None
        self._store.wakes.listen(Topic.NEEDS, self._missed, wants=lambda needs: needs == EVERYTHING)

    async def start(self) -> None:
        """Release the leases of a former process where that is safe, and start searching."""
        if self._task is not None:
            return
        if not self._store.shared:  # this process alone owns the file, so no lease is live
            freed = await self._store.write(release_leases, self._limits.lease_seconds)
            if freed:
                log.info("runs of the previous server resume", runs=freed)
        await self._store.write(set_caller_limit, self._limits.concurrent_runs)
        await self.sweep()
        self._task = EssentialTask(self._look(), "packline-rescue")

    async def stop(self) -> None:
        """Stop searching; safe to call twice and before `start`."""
        task, self._task = self._task, None
        if task is not None:
            await task.stop()

    async def sweep(self) -> None:
        """Learn what living workers offer, admit what the limit allows, and deliver what the dispatcher has lost.

        Each caller's runs are admitted in a separate unit, so that none holds the slots of two callers.
        """
        if self._store.shared:
            limits = self._limits
            living = await self._store.write(match_workers, limits.lease_seconds, limits.session_wait_seconds)
            self._fleet.update(living)
        for caller_id in await self._store.write(uneven_callers):
            await self._store.write(readmit, caller_id)
        await self.cancel_of_disabled()
        await self._dispatcher.sweep()

    async def cancel_of_disabled(self, caller_id: str | None = None) -> int:
        """Cancel the runs of disabled callers, or of one of them, that have begun; return how many."""
        cancelled = 0
        for run_id in await running_of_disabled(self._store, caller_id):
            with suppress(WrongStateError):
                await self._store.write(request_cancel, run_id, _DISABLED)
                cancelled += 1
        return cancelled

    def hurry(self) -> None:
        """Search now instead of at the next interval, because something was missed."""
        self._hurried.set()

    def _missed(self, needs: str) -> None:
        if needs == EVERYTHING:
            self.hurry()

    async def _look(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurried.wait(), self._limits.rescue_seconds)
            self._hurried.clear()
            try:
                await self.sweep()
            except StoreClosedError:
                return
            except StoreError as error:
                log.warning("the store could not be searched for lost runs", error=str(error))
            except Exception:  # nothing may end the search
                log.exception("the search for lost runs failed and continues")
