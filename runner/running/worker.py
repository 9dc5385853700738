"""Runs pipelines: claims a run, executes its steps, settles each one, releases the run.

`Worker.advance` may be called at any time, any number of times, on any machine: it claims or returns. Long work is a
row of phases over one `runner.running.claimed_run.ClaimedRun`; what follows an attempt is decided in
`runner.running.outcome` and written in one place.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import orjson
import structlog

from runner import tracing
from runner.definitions.compiled import CompileError
from runner.definitions.definition_cache import definitions
from runner.failures import Failure, FailureCode
from runner.resuming.sessions import Sessions
from runner.running.attempts import STOPPED, run_attempt
from runner.running.claimed_run import ClaimedRun, LackedStep, PreparedStep, RefusedStep
from runner.running.claiming import FirstStep, RunClaim, RunClaimer
from runner.running.heartbeat import CANCELLED, Heartbeat
from runner.running.loop_watch import LoopWatch
from runner.running.next_step import StepPreparer
from runner.running.offers import WorkerOffers
from runner.running.outcome import check_lost_attempt, check_lost_start, decide_next, failure_json
from runner.running.run_log import RunLog, record_cancelled
from store.database.errors import StoreClosedError, StoreError
from store.database.wakes import EVERYTHING, Topic
from store.runs.claimed_run import fail_run, release
from store.runs.needs import needs_of, needs_text
from store.runs.sessions import end_sessions_of_run
from store.runs.settle import fail_step, finish_run, settle, start_attempt
from store.runs.unit_types import Fail, Fence, LostLeaseError, NotClaimed, Refusal, Settled
from store.states import FINAL_RUN_STATES, RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from runner.definitions.compiled import CompiledPipeline
    from runner.running.executor import Attempt, Outcome
    from runner.running.offers import PackNeeds
    from runner.running.resources import Resources
    from runner.tracing import Attribute
    from store.database.dialects import Connection
    from store.runs.unit_types import Claim, Spent
    from store.runs.workers import WorkerIdentity

P = ParamSpec("P")
T = TypeVar("T")

log = structlog.get_logger(__name__)

#: How long `stop` waits for stopped runs: handlers may return late, and the store may be slow.
LAST_WAIT_SECONDS = 30.0


class Worker:
    """Executes runs in this process.

    Args:
        on_draining: Called when `draining` has changed.
        on_return: Called when it is alive again after others have seen it as lost.

    Attributes:
        name: Its name in leases and in the list of workers.
        claimer: Claims runs for this worker, in units of work.
        offers: What its runs may need.
    """

    def __init__(
        self,
        resources: Resources,
        identity: WorkerIdentity,
        needs: PackNeeds,
        on_draining: Callable[[], None] = lambda: None,
        on_return: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = identity.id
        self._resources = resources
        self._store = resources.store
        self.offers = WorkerOffers(resources)
        self._preparer = StepPreparer(resources, needs, self.offers)
        self.claimer = RunClaimer(self._preparer, resources.limits, identity.id, self.offers)
        self._sessions = Sessions(resources)
        self._advancing: set[str] = set()
        self._cancelled: set[str] = set()  # runs cancelled while they are being claimed
        self._compiling: set[asyncio.Task[CompiledPipeline]] = set()
        self._active: dict[str, ClaimedRun] = {}
        self._stopping = False
        # On a shared database a start or a wait's end queues for its caller's slots; if this process froze, each one in
        # the queue would hold up other workers until it timed out, so only one at a time goes there.
        self._claiming = asyncio.Semaphore(1 if self._store.shared else 1_000_000)
        self._idle = asyncio.Event()
        self._idle.set()
        self._heartbeat = Heartbeat(
            resources.store,
            identity,
            self.offers,
            resources.limits.lease_seconds,
            active=self._active,
            advancing=self._advancing,
            on_draining=on_draining,
            on_return=on_return,
        )
        self._loop_watch = LoopWatch(self.attempts)
        self._store.wakes.listen(Topic.RUN_CANCELLING, self._cancelling)
        self._store.wakes.listen(Topic.WORKER, self._changed)

    @property
    def accepting(self) -> bool:
        """Whether it takes runs; no longer once it stops."""
        return not self._stopping

    @property
    def draining(self) -> bool:
        """Whether an operator wants it to take no further runs; those it has go on."""
        return self._heartbeat.draining

    @property
    def can_claim(self) -> bool:
        """Whether it would claim a run now: it does not stop, and no other claim has to come first."""
        return not (self._stopping or self._claiming.locked())

    async def start(self) -> None:
        """Start the heartbeat and the watch on the event loop; a second call does nothing."""
        await self._heartbeat.start()
        self._loop_watch.start()

    async def stop(self, grace_seconds: float) -> None:
        """Let short steps finish and release the rest to other workers; safe to call twice and before `start`."""
        self._stopping = True
        for compiling in self._compiling:
            compiling.cancel()
        try:
            async with asyncio.timeout(grace_seconds):
                await self._idle.wait()
        except TimeoutError:
            for run in list(self._active.values()):
                run.stop(STOPPED)
            try:
                async with asyncio.timeout(LAST_WAIT_SECONDS):
                    await self._idle.wait()
            except TimeoutError:
                left = sorted(self._advancing)
                log.error("runs were left behind; their leases free them", runs=left)  # noqa: TRY400 - not a fault
        await self._heartbeat.stop()
        self._loop_watch.stop()

    def attempts(self) -> list[Attempt]:
        """List the attempts that are running; may be called from another thread."""
        return [attempt for run in list(self._active.values()) if (attempt := run.attempt) is not None]

    async def advance(self, run_id: str, waited_for: datetime | None = None) -> NotClaimed | None:
        """Claim a run and execute it as far as it goes; return why it was not claimed, or that it waits for a retry."""
        if self._stopping or run_id in self._advancing:
            return None
        with self.busy(run_id):
            try:
                taken = await self.claim(self.claimer.take, run_id, waited_for)
            except StoreError as error:
                log.warning("a run could not be claimed; the rescue will find it again", run=run_id, error=str(error))
                return None
            if isinstance(taken, NotClaimed):
                if taken.reason is Refusal.ENDED:
                    await record_cancelled(self._resources, run_id)
                return taken
            return await self.run_claimed(taken)

    @contextmanager
    def busy(self, run_id: str) -> Iterator[None]:
        """Mark a run as being claimed or executed by this worker."""
        self._advancing.add(run_id)
        self._idle.clear()
        try:
            yield
        finally:
            self._advancing.discard(run_id)
            self._cancelled.discard(run_id)
            if not self._advancing:
                self._idle.set()

    async def claim(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit of work that may claim a run through `claimer`; call it inside `busy`."""
        async with self._claiming:
            return await self._store.write_few(unit, *args, **kwargs)

    async def run_claimed(self, taken: RunClaim) -> NotClaimed | None:
        """Execute a claimed run as far as it goes; return until when it waits for a retry, if it does.

        On every exit this worker no longer holds the run.
        """
        if not tracing.is_on():
            return await self._run_to_its_end(taken)
        claimed = taken.claim
        attributes: dict[str, Attribute] = {
            "packline.run.id": claimed.run_id,
            "packline.run.target": claimed.target,
            "packline.run.taken_over": claimed.taken_over,
        }
        # A run keeps its trace: this span is one of several if it waits, is resumed or moves to another worker.
        parent = None if claimed.trace is None else orjson.loads(claimed.trace)
        with tracing.span("run", attributes=attributes, parent=parent):
            return await self._run_to_its_end(taken)

    async def _run_to_its_end(self, taken: RunClaim) -> NotClaimed | None:
        """Execute a claimed run as far as it goes, whatever happens."""
        claimed, fence = taken.claim, taken.fence
        run_log = RunLog(claimed)
        run_log.claimed()
        metrics = self._resources.metrics
        if claimed.taken_over:
            metrics.took_over()
        left = None
        try:
            left = await self._run_claimed(taken, run_log)
        except LostLeaseError as lost:
            log.warning("a run was taken over; its result here is dropped", run=fence.run_id, reason=str(lost))
        except StoreClosedError:
            log.warning("a run was left behind by a closing store; its lease frees it", run=fence.run_id)
        except StoreError as error:
            log.warning("a run could not be recorded and is released", run=fence.run_id, error=str(error))
            await self._heartbeat.abandon(fence.run_id, fence.epoch)
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException:  # also panics of native libraries
            log.exception("a run failed here because of a bug", run=fence.run_id)
            failure = Failure(
                FailureCode.INTERNAL,
                f"Packline failed by a defect while it executed this run. Its log has the details of {fence.run_id}.",
                hint="Report it. A resume tries again.",
            )
            try:
                left = await self._fail_run(fence, failure)
            except (LostLeaseError, StoreError):
                await self._heartbeat.abandon(fence.run_id, fence.epoch)
        finally:
            self._active.pop(fence.run_id, None)
        if left is None:
            return None
        run_log.left(left)
        tracing.current().set("packline.run.state", left.state.value)
        if left.failure is not None and tracing.is_on():
            tracing.current().fail(orjson.loads(left.failure)["code"])
        if left.state in FINAL_RUN_STATES:
            metrics.run_ended(claimed.target, left.state, run_log.seconds())
        if left.not_before is None:
            return None
        return NotClaimed(Refusal.LATER, claimed.caller_id, left.wait_seconds, left.not_before)

    async def _run_claimed(self, taken: RunClaim, run_log: RunLog) -> Settled:
        """Execute a claimed run until it ends, waits or is released."""
        claimed, fence, begun = taken
        try:
            if begun is not None:
                run = begun.run
            elif (lost := check_lost_start(claimed)) is not None:
                return await self._fail_run(fence, lost)
            else:
                pipeline = await self._compiled(claimed)
                if pipeline is None:
                    return await self._release(fence, None)
                run = ClaimedRun.of(claimed, fence, pipeline)
            self._active[claimed.run_id] = run
            if claimed.run_id in self._cancelled:
                run.stop(CANCELLED)
            elif begun is not None and self._stopping:
                run.stop(STOPPED)
            left = await self._drive(run, begun, run_log)
        except CompileError as error:
            return await self._fail_run(fence, Failure(FailureCode.INTERNAL, str(error)))
        if left.state is RunState.SUCCEEDED and run.sessions:
            await self._store.write_few(end_sessions_of_run, claimed.run_id)
        return left

    async def _compiled(self, claimed: Claim) -> CompiledPipeline | None:
        """Return the definition of a claimed run; None when the server stops before a large one is compiled."""
        pipeline = definitions.get_if_quick(claimed.document, claimed.input_schema)
        if pipeline is not None or self._stopping:
            return pipeline
        compiling = asyncio.ensure_future(definitions.get(claimed.caller_id, claimed.document, claimed.input_schema))
        self._compiling.add(compiling)
        try:
            await asyncio.wait((compiling,))
        finally:
            self._compiling.discard(compiling)
            compiling.cancel()
        return None if compiling.cancelled() else compiling.result()

    # -------------------------------------------------------------------------------------------- steps

    async def _drive(self, run: ClaimedRun, begun: FirstStep | None, run_log: RunLog) -> Settled:
        """Execute steps from the first that has not succeeded, until the run ends, waits or is released."""
        opened = await self._begin(run) if begun is None else (begun.first, begun.settled)
        if isinstance(opened, Settled):
            return opened
        current, started = opened
        while started.started:
            began = time.monotonic()
            outcome, end = await run_attempt(self._resources, run, current)
            if run.lost:
                raise LostLeaseError(f"Run {run.fence.run_id} was taken over while a step ran.")
            if outcome.failure is STOPPED:
                return await self._release(run.fence, (end.step_id, end.attempt_id), end.spent)
            following, upcoming = decide_next(run, current, outcome, self._preparer, is_stopping=self._stopping)
            started = await self._store.write_few(
                settle,
                run.fence,
                end,
                following,
                artifact_days=self._resources.limits.artifact_days,
            )
            self._count(current, outcome, started, time.monotonic() - began)
            if outcome.failure is not None and not outcome.cancelled:
                run_log.step_failed(current, outcome.failure, started)
            if started.state is RunState.RUNNING and not started.started:
                started, upcoming = await self._after_pause(run, upcoming)
            if upcoming is None:
                break
            current = upcoming
        return started

    def _count(self, current: PreparedStep, outcome: Outcome, settled: Settled, seconds: float) -> None:
        if outcome.cancelled:
            result = "cancelled"
        elif outcome.failure is None:
            result = "succeeded"
        else:
            result = "failed" if settled.wait_seconds is None else "retried"
        self._resources.metrics.attempt_ended(current.pack.name, result, seconds)

    async def _begin(self, run: ClaimedRun) -> tuple[PreparedStep, Settled] | Settled:
        """Start the first step that has not succeeded, or return how the run was left where none can start."""
        if (lost := check_lost_attempt(run, self._resources)) is not None:
            return await self._fail_run(run.fence, lost)
        if self._stopping:
            return await self._release(run.fence, None)
        if (broken := await self._sessions.recreate(run)) is not None:
            return await self._fail_run(run.fence, broken)
        current = self._preparer.next(run)
        if current is None:
            return await self._store.write_few(
                finish_run, run.fence, artifact_days=self._resources.limits.artifact_days
            )
        if isinstance(current, RefusedStep):
            return await self._refuse_first(run, current)
        if isinstance(current, LackedStep):
            # Both what was recorded and what is found here: workers that disagree would hand it over for ever.
            needs = needs_text(needs_of(run.needs) | current.needs)
            return await self._store.write_few(release, run.fence, None, current.reason, needs=needs)
        started = await self._store.write_few(start_attempt, run.fence, current.start, run.states[current.step.key])
        return current, started

    async def _after_pause(self, run: ClaimedRun, upcoming: PreparedStep | None) -> tuple[Settled, PreparedStep | None]:
        """Go on between two steps: release the run if the server stops, else start an at-most-once step."""
        if self._stopping or upcoming is None:
            return await self._release(run.fence, None), None
        started = await self._store.write_few(start_attempt, run.fence, upcoming.start, run.states[upcoming.step.key])
        return started, upcoming

    async def _refuse_first(self, run: ClaimedRun, refused: RefusedStep) -> Settled:
        fail = Fail(failure_json(refused.failure), refused.failure.message)
        return await self._store.write_few(fail_step, run.fence, refused.start, run.states[refused.step.key], fail)

    async def _fail_run(self, fence: Fence, failure: Failure) -> Settled:
        return await self._store.write_few(fail_run, fence, Fail(failure_json(failure), failure.message))

    async def _release(self, fence: Fence, attempt: tuple[str, str] | None, spent: Spent | None = None) -> Settled:
        """Release a run to another worker."""
        return await self._store.write_few(release, fence, attempt, STOPPED.message, spent)

    def _changed(self, worker_id: str) -> None:
        if worker_id == self.name:
            self._heartbeat.hurry()

    def _cancelling(self, run_id: str) -> None:
        if run_id == EVERYTHING:
            self._heartbeat.hurry()
        elif (run := self._active.get(run_id)) is not None:
            run.stop(CANCELLED)
        elif run_id in self._advancing:  # being claimed: the claim has not returned yet
            self._cancelled.add(run_id)
