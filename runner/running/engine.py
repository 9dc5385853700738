"""Facade of the runner for the use cases: start, resume and wait for runs."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson
import structlog

from runner import tracing
from runner.dispatch.dispatcher import Dispatcher, EmbeddedDispatcher
from runner.running.claiming import RunClaim
from runner.running.housekeeping import Housekeeping
from runner.running.offers import PackNeeds
from runner.running.rescue import Rescue
from runner.running.worker import Worker
from runner.watching.bus import Bus, wait_flag
from store.database.ids import new_id
from store.database.wakes import Topic
from store.runs.admission import offer
from store.runs.claim import Due
from store.runs.commands import resume
from store.runs.events import run_state
from store.runs.needs import needs_text
from store.runs.submit import submit
from store.runs.workers import WorkerIdentity
from store.states import FINAL_RUN_STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.running.offers import WorkerOffers
    from runner.running.resources import Resources
    from store.database.dialects import Connection
    from store.runs.unit_types import NewRun, NewStep, NotClaimed, Resume, Submitted

log = structlog.get_logger(__name__)

#: A waiter looks at the store this often even when no wake-up comes.
POLL_SECONDS = 1.0


class Engine:
    """Everything that executes runs in this process.

    Args:
        resources: Dependencies and limits.

    Attributes:
        resources: Dependencies and limits.
        bus: Wake-ups for watchers of runs.
    """

    def __init__(self, resources: Resources, dispatcher: Dispatcher | None = None) -> None:
        self.resources = resources
        self.bus = Bus(resources.store)
        self._store = resources.store
        name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        identity = WorkerIdentity(name, resources.store.machine, resources.release, resources.limits.lanes)
        self._needs = PackNeeds(resources.registry)
        self.worker = Worker(resources, identity, self._needs, self._draining, self._returned)
        self._dispatcher = dispatcher or _dispatcher(resources, self.worker.offers)
        self.rescue = Rescue(resources, self._dispatcher)
        self.housekeeping = Housekeeping(resources)
        self._stopping = self._delivering = False
        self._switching = asyncio.Lock()
        self._switches: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start executing runs, searching for lost ones, and cleaning up."""
        if self.resources.executes:
            await self.worker.start()
        await self._switch()
        await self.rescue.start()
        await self.housekeeping.start()

    async def stop(self, grace_seconds: float) -> None:
        """Stop taking runs, let short steps finish and release the rest."""
        self._stopping = True
        await self._switch()
        await self.worker.stop(grace_seconds)
        await self.rescue.stop()
        await self.housekeeping.stop()

    def _draining(self) -> None:
        log.info("the worker is drained" if self.worker.draining else "the worker takes runs", worker=self.worker.name)
        switch = asyncio.create_task(self._drain(), name="packline-drain")
        self._switches.add(switch)
        switch.add_done_callback(self._switches.discard)

    def _returned(self) -> None:
        self.rescue.hurry()  # while no worker was alive, a search may have let its runs wait for one

    async def _drain(self) -> None:
        await self._switch()
        self.rescue.hurry()  # a dispatcher that stopped has forgotten its runs

    async def _switch(self) -> None:
        """Deliver runs to the worker as long as it takes some."""
        async with self._switching:
            wanted = self.resources.executes and not (self._stopping or self.worker.draining)
            if wanted == self._delivering:
                return
            if wanted:
                await self._dispatcher.serve(self.worker.advance)
            else:
                await self._dispatcher.stop()
            self._delivering = wanted

    async def submit(
        self,
        new: NewRun,
        along: Callable[[Connection, Submitted], None] | None = None,
        before: Callable[[Connection, str, NewRun], NewRun] | None = None,
    ) -> Submitted:
        """Start a run, or find an equivalent one; see `store.runs.submit`.

        A run that would be next anyway, and for which this process has a free lane, is claimed and begun in the same
        commit, by the lane that goes on with it.

        Args:
            new: The run.
            along: Called in the same transaction, with what the start led to.
            before: Called in the same transaction before the start, with the run's id; returns the run as it starts.

        Raises:
            IdempotencyClashError: the idempotency key belongs to another request.
            SpentKeyError: the run the key led to is gone.
            QueueFullError: the caller has too many runs waiting.
        """
        run_id = new.id or new_id("run")
        if needs := self.needs_of(step for step in new.steps if step.reused_attempt is None):
            new = replace(new, needs=needs)
        if tracing.is_on():
            new = replace(new, trace=_trace_of(new))
        if new.start_at is None and self.worker.can_claim and self._dispatcher.has_lane():
            answer: asyncio.Future[Submitted] = asyncio.get_running_loop().create_future()
            self._dispatcher.occupy(run_id, self._start(run_id, new, along, before, answer))
            return await answer
        submitted, _ = await self._store.write_few(self._submit, run_id, new, along, before, claims=False)
        if submitted.wait_seconds is not None:
            self._dispatcher.wait_for(Due(run_id, 0, submitted.wait_seconds, new.start_at))
        return submitted

    async def _start(
        self,
        run_id: str,
        new: NewRun,
        along: Callable[[Connection, Submitted], None] | None,
        before: Callable[[Connection, str, NewRun], NewRun] | None,
        answer: asyncio.Future[Submitted],
    ) -> NotClaimed | None:
        """Submit a run, resolve `answer`, and execute the run if the same commit claimed it.

        Runs in a lane, since the request that asked for it may be cancelled.
        """
        accepting = self.worker.accepting  # the worker may have begun to stop since the lane was found
        with self.worker.busy(run_id):
            try:
                submitted, taken = await self.worker.claim(self._submit, run_id, new, along, before, claims=accepting)
            except (asyncio.CancelledError, GeneratorExit):
                answer.cancel()
                raise
            except BaseException as error:  # also panics of native libraries
                if not answer.done():
                    answer.set_exception(error)
                return None
            if not answer.done():
                answer.set_result(submitted)
            return None if taken is None else await self.worker.run_claimed(taken)

    def needs_of(self, steps: Iterable[NewStep]) -> str:
        """Return what the first of these steps needs of a worker, as the store records it."""
        first = next(iter(steps), None)
        if first is None or not self._store.shared:
            return ""
        return needs_text(self._needs.of(first.pack, first.pack_version).needs)

    def resume(self, conn: Connection, change: Resume) -> None:
        """Resume a run, as part of a unit of work; see `store.runs.resume`.

        Raises:
            WrongStateError: it neither failed nor was cancelled.
            QueueFullError: the caller has too many runs waiting.
        """
        resume(conn, change, queue_limit=self.resources.limits.queued_runs)

    async def wait_ended(self, run_id: str, seconds: float, *, just_started: bool = False) -> bool:
        """Wait until a run has ended, at most `seconds`; return whether it has.

        With `just_started` the first read waits for a wake-up: that saves a read on every start that waits, and a
        wake-up that came too early costs one poll.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        with self.bus.watch((Topic.RUN_ENDED, run_id)) as flag:
            look = not just_started
            while True:
                flag.clear()
                if look:
                    state = await run_state(self._store, run_id)
                    if state is None or state in FINAL_RUN_STATES:
                        return state is not None
                look = True
                left = until - loop.time()
                if left <= 0:
                    return False
                await wait_flag(flag, min(left, POLL_SECONDS))
                if flag.by_name:
                    return True

    def _submit(
        self,
        conn: Connection,
        run_id: str,
        new: NewRun,
        along: Callable[[Connection, Submitted], None] | None,
        before: Callable[[Connection, str, NewRun], NewRun] | None,
        *,
        claims: bool,
    ) -> tuple[Submitted, RunClaim | None]:
        """Store a run; if it is admitted, offer it, or claim it at once with `claims`."""
        if before is not None:
            new = before(conn, run_id, new)
        limit = self.resources.limits.queued_runs if new.limited else None
        submitted = submit(conn, new, run_id=run_id, queue_limit=limit)
        taken = None
        if submitted.admitted:
            if claims:
                taken = self.worker.claimer.take(conn, run_id)
            if not isinstance(taken, RunClaim):
                offer(conn, run_id)
        if along is not None:
            along(conn, submitted)
        return submitted, taken if isinstance(taken, RunClaim) else None


def _trace_of(new: NewRun) -> str | None:
    """Return the trace context to keep for a new run: the current one, or a trace of its own if a trigger starts it."""
    if new.trigger_id is None:
        carrier = tracing.carrier()
    else:
        with tracing.span("start run", attributes={"packline.trigger.id": new.trigger_id}, own_trace=True):
            carrier = tracing.carrier()
    return orjson.dumps(carrier).decode() if carrier else None


def _dispatcher(resources: Resources, offers: WorkerOffers) -> Dispatcher:
    """Make the one dispatcher there is for a database."""
    store, limits = resources.store, resources.limits
    if store.queue is None:
        return EmbeddedDispatcher(store, lanes=limits.lanes, lease_seconds=limits.lease_seconds)
    from runner.dispatch.queue_dispatcher import QueueDispatcher

    return QueueDispatcher(
        store, store.queue, lanes=limits.lanes, lease_seconds=limits.lease_seconds, offers=lambda: offers.now
    )
