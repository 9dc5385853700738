"""A worker's signs of life: leases renewed all at once, and what renewing them tells."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from runner.failures import Failure, FailureCode
from store.database.engine import StoreClosedError, StoreError
from store.runs.claim import abandon, renew

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from runner.running.claimed_run import ClaimedRun
    from store.database.engine import Store

log = structlog.get_logger(__name__)

#: A worker whose last renewal is older than the lease less this share of it stops what it does: others may own it.
FENCE_MARGIN = 0.15

CANCELLED = Failure(FailureCode.CANCELLED, "Cancelled by request.")
_LOST = Failure(FailureCode.CANCELLED, "Another worker owns the run.")


class Heartbeat:
    """Renews the leases of a worker, learns of cancels and losses, and stops the worker when renewing fails.

    Args:
        active: The worker's runs, as they change.
        advancing: Ids of the runs it is busy with, those it is just claiming included.
    """

    def __init__(
        self,
        store: Store,
        owner: str,
        lease_seconds: float,
        *,
        active: Mapping[str, ClaimedRun],
        advancing: AbstractSet[str],
    ) -> None:
        self._store = store
        self._owner = owner
        self._lease_seconds = lease_seconds
        self._active = active
        self._advancing = advancing
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts to renew; a second call does nothing."""
        if self._task is None:
            self._task = asyncio.create_task(self._keep(), name="packline-heartbeat")

    async def stop(self) -> None:
        """Renews no more; harmless twice and before `start`."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def abandon(self, run_id: str, epoch: int) -> None:
        """Lets go of a run that cannot be recorded now; if not even that can be, the next renewal does it."""
        try:
            await self._store.write_few(abandon, run_id, epoch, self._owner)
        except StoreError as error:
            log.debug("a run could not be let go yet", run=run_id, error=str(error))

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        trusted = self._lease_seconds * (1 - FENCE_MARGIN)
        renewed_at = loop.time()
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            begun = loop.time()
            before = dict(self._active)  # a run claimed while the leases are renewed may be missing from the answer
            try:
                # The store may try for longer than the lease lasts; this worker must not.
                async with asyncio.timeout(max(renewed_at + trusted - loop.time(), self._lease_seconds / 10)):
                    held = await self._store.write(renew, self._owner, self._lease_seconds)
            except StoreClosedError:
                return
            except Exception as error:  # whatever it is, the leases must go on being renewed
                log.warning("leases could not be renewed", error=str(error) or type(error).__name__)
                if loop.time() - renewed_at >= trusted:
                    _lose(before.values())
                    # What is held now was claimed since. Without its whole time, no attempt would succeed any more
                    # where the store is slow, and every run would be let go as soon as it is claimed.
                    renewed_at = begun
                continue
            renewed_at = loop.time()
            for run_id, run in before.items():
                epoch, is_cancelled = held.get(run_id, (None, False))
                if epoch != run.fence.epoch:
                    _lose([run])
                elif is_cancelled:
                    run.stop(CANCELLED)
            for run_id, (epoch, _) in held.items():
                if run_id not in self._advancing:  # it could not be let go when it failed here
                    await self.abandon(run_id, epoch)


def _lose(stretches: Iterable[ClaimedRun]) -> None:
    for run in stretches:
        run.lost = True
        run.stop(_LOST)
