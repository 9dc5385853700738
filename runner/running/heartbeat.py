"""Heartbeat of a worker: renews its row and all its leases in one write, and learns of cancels and lost runs."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from runner.failures import Failure, FailureCode
from store.database.errors import StoreClosedError, StoreError
from store.database.essential_tasks import EssentialTask
from store.runs.claim import abandon
from store.runs.workers import remove_worker, sign_of_life

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from runner.running.claimed_run import ClaimedRun
    from runner.running.offers import WorkerOffers
    from store.database.engine import Store
    from store.runs.workers import Renewal, WorkerIdentity

log = structlog.get_logger(__name__)

#: Share of the lease kept as a safety margin: a worker that has not renewed by then stops, as others may own its runs.
FENCE_MARGIN = 0.15
#: Share of the lease for which a renewal waits for the probes of what the worker offers.
PROBES_SHARE = 0.05
#: How long a stopping worker tries to remove itself from the list.
LEAVE_SECONDS = 5.0

CANCELLED = Failure(FailureCode.CANCELLED, "Cancelled by request.")
_LOST = Failure(FailureCode.CANCELLED, "Another worker owns the run.")


class Heartbeat:
    """Renews the leases of a worker and stops runs that were cancelled, lost, or could not be renewed in time.

    Args:
        offers: What the worker offers; refreshed with each renewal.
        active: The worker's runs, as they change.
        advancing: Ids of the runs it is claiming or executing.
        on_draining: Called when `draining` has changed.
        on_return: Called when the worker is alive again after others have seen it as lost.

    Attributes:
        draining: Whether an operator wants the worker to take no further runs.
    """

    def __init__(
        self,
        store: Store,
        worker: WorkerIdentity,
        offers: WorkerOffers,
        lease_seconds: float,
        *,
        active: Mapping[str, ClaimedRun],
        advancing: AbstractSet[str],
        on_draining: Callable[[], None],
        on_return: Callable[[], None],
    ) -> None:
        self._store = store
        self._worker = worker
        self._offers = offers
        self._lease_seconds = lease_seconds
        self._active = active
        self._advancing = advancing
        self._on_draining = on_draining
        self._on_return = on_return
        self.draining = False
        self._renewing = asyncio.Lock()
        self._hurried = asyncio.Event()
        self._task: EssentialTask | None = None
        self._refreshing: asyncio.Future[None] | None = None

    async def start(self) -> None:
        """List the worker and start renewing; a second call does nothing."""
        if self._task is None:
            await self._refresh_offers(None)
            await self._sign_of_life(0.0)
            self._task = EssentialTask(self._keep(), "packline-heartbeat")

    async def stop(self) -> None:
        """Stop renewing and remove the worker from the list; safe to call twice and before `start`."""
        task, self._task = self._task, None
        if task is None:
            return
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                async with self._renewing:  # a renewal under way could write the row again after its removal
                    await task.stop()
                await self._store.write_few(remove_worker, self._worker.id)
        except (StoreError, TimeoutError) as error:
            log.warning("the worker stays listed for a while", error=str(error) or type(error).__name__)
        finally:
            await task.stop()

    def hurry(self) -> None:
        """Renew now instead of at the next beat, because there is news for the worker, or some may have been lost."""
        self._hurried.set()

    async def abandon(self, run_id: str, epoch: int) -> None:
        """Give up the lease of a run whose result cannot be stored; if that fails, the next heartbeat retries it."""
        try:
            await self._store.write_few(abandon, run_id, epoch, self._worker.id)
        except StoreError as error:
            log.debug("a lease could not be released; the next heartbeat retries it", run=run_id, error=str(error))

    async def _refresh_offers(self, seconds: float | None) -> None:
        """Ask the probes again, for at most `seconds`: they are the packs' code, and the leases come first.

        What was found before stays offered until all have answered.
        """
        if not self._offers.matter:
            return
        if self._refreshing is None:
            self._refreshing = asyncio.ensure_future(asyncio.to_thread(self._offers.refresh))
        done, _ = await asyncio.wait((self._refreshing,), timeout=seconds)
        if not done:
            return
        refreshed, self._refreshing = self._refreshing, None
        if (error := refreshed.exception()) is not None:
            log.warning("what the worker offers could not be found again", error=str(error) or type(error).__name__)

    async def _sign_of_life(self, up_seconds: float) -> Renewal:
        return await self._store.write(
            sign_of_life,
            self._worker,
            self._offers.text,
            up_seconds,
            self._lease_seconds,
            draining=self.draining,
        )

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        trusted = self._lease_seconds * (1 - FENCE_MARGIN)
        renewed_at = seen_at = started_at = loop.time()
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurried.wait(), self._lease_seconds / 3)
            self._hurried.clear()
            await self._refresh_offers(self._lease_seconds * PROBES_SHARE)
            begun = loop.time()
            before = dict(self._active)  # runs claimed during the renewal may be missing from its answer
            try:
                # The store may retry for longer than the lease lasts; this worker must not.
                patience = max(renewed_at + trusted - loop.time(), self._lease_seconds / 10)
                async with self._renewing, asyncio.timeout(patience):
                    held, draining = await self._sign_of_life(begun - started_at)
            except StoreClosedError:
                return
            except Exception as error:  # the heartbeat must survive any error
                log.warning("leases could not be renewed", error=str(error) or type(error).__name__)
                if loop.time() - renewed_at >= trusted:
                    _lose(before.values())
                    # Runs held now were claimed since and get the whole margin: otherwise a slow store would make
                    # every run be dropped as soon as it is claimed.
                    renewed_at = begun
                continue
            renewed_at = loop.time()
            was_lost = renewed_at - seen_at > self._lease_seconds
            seen_at = renewed_at
            for run_id, run in before.items():
                epoch, is_cancelled = held.get(run_id, (None, False))
                if epoch != run.fence.epoch:
                    _lose([run])
                elif is_cancelled:
                    run.stop(CANCELLED)
            for run_id, (epoch, _) in held.items():
                if run_id not in self._advancing:  # its release failed earlier
                    await self.abandon(run_id, epoch)
            if draining != self.draining:
                self.draining = draining
                self._on_draining()
            if was_lost:
                self._on_return()


def _lose(runs: Iterable[ClaimedRun]) -> None:
    for run in runs:
        run.lost = True
        run.stop(_LOST)
