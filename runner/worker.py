"""Runs pipelines: claims a run, walks its steps, settles each one, lets go.

`Worker.advance` may be called at any time, any number of times, on any machine: it claims or returns. Long work is a
row of phases over one `runner.stretch.Stretch`; what follows an attempt is decided in `runner.verdict` and written in
one place.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import orjson
import structlog

from runner.compiled import CompileError, compile_document
from runner.context import AttemptContext
from runner.dispatch import RESCUE_PRIORITY
from runner.executor import Attempt, Outcome
from runner.failures import Failure, FailureCode
from runner.gateway.spending import spent_on
from runner.keeper import CANCELLED, Keeper
from runner.preparation import Preparation
from runner.sessions import Sessions
from runner.stretch import Prepared, Refused, Stretch
from runner.verdict import judge_lost, stored, unknown_outcome, what_follows
from store.engine import StoreClosedError, StoreError
from store.runs import (
    AttemptEnd,
    Claim,
    Fail,
    Fence,
    LostLeaseError,
    NotClaimed,
    Refusal,
    Settled,
    claim,
    fail_run,
    fail_step,
    finish_run,
    release,
    settle,
    start_attempt,
)
from store.sessions import end_sessions_of_run
from store.states import AttemptState, RunState, StepState

if TYPE_CHECKING:
    from runner.dispatch import Dispatcher
    from runner.resources import Resources
    from store.dialects import Connection
    from store.runs import Spent

log = structlog.get_logger(__name__)

#: How long `stop` waits at most for what it has stopped: handlers that let go late, and a store that is slow.
LAST_WAIT_SECONDS = 30.0

_STOPPED = Failure(FailureCode.CANCELLED, "Released: the server is shutting down.")


class Worker:
    """Executes runs in this process.

    Args:
        name: Identity of this process in leases; unique among all that share the database.
    """

    def __init__(self, resources: Resources, dispatcher: Dispatcher, *, name: str) -> None:
        self._resources = resources
        self._store = resources.store
        self._dispatcher = dispatcher
        self._name = name
        self._preparation = Preparation(resources)
        self._sessions = Sessions(resources)
        self._advancing: set[str] = set()
        self._active: dict[str, Stretch] = {}
        self._stopping = False
        # On PostgreSQL claims queue for a lock on their caller; if this process froze, each one in the queue would hold
        # up other workers until it timed out, so only one at a time goes there.
        self._claiming = asyncio.Semaphore(1 if self._store.dialect == "postgresql" else 1_000_000)
        self._idle = asyncio.Event()
        self._idle.set()
        self._keeper = Keeper(
            resources.store, name, resources.limits.lease_seconds, active=self._active, advancing=self._advancing
        )
        self._store.on_wake(self._woken)

    @property
    def accepting(self) -> bool:
        """Whether it takes runs; no longer once it stops."""
        return not self._stopping

    @property
    def running(self) -> int:
        """Runs this worker holds now."""
        return len(self._active)

    async def start(self) -> None:
        """Starts to renew leases and to take runs."""
        if self._keeper.start():
            await self._dispatcher.serve(self.advance)

    async def stop(self, grace_seconds: float) -> None:
        """Lets short steps finish and releases the rest to other workers; harmless twice and before `start`."""
        self._stopping = True
        await self._dispatcher.stop()
        try:
            async with asyncio.timeout(grace_seconds):
                await self._idle.wait()
        except TimeoutError:
            for stretch in list(self._active.values()):
                stretch.stop(_STOPPED)
            try:
                async with asyncio.timeout(LAST_WAIT_SECONDS):
                    await self._idle.wait()
            except TimeoutError:
                left = sorted(self._advancing)
                log.error("runs were left behind; their leases free them", runs=left)  # noqa: TRY400 - not a fault
        await self._keeper.stop()

    async def advance(self, run_id: str) -> NotClaimed | None:
        """Claims a run and takes it as far as it goes; None when it was claimed and let go, else why it is not over."""
        if self._stopping or run_id in self._advancing:
            return None
        self._advancing.add(run_id)
        self._idle.clear()
        try:
            limits = self._resources.limits
            try:
                async with self._claiming:
                    claimed = await self._store.write(
                        claim,
                        run_id,
                        owner=self._name,
                        lease_seconds=limits.lease_seconds,
                        caller_limit=limits.concurrent_runs,
                    )
            except StoreError as error:
                log.warning("a run could not be claimed; the rescue will find it again", run=run_id, error=str(error))
                return None
            if isinstance(claimed, NotClaimed):
                return claimed
            return await self._hold(claimed, Fence(run_id, claimed.epoch, limits.lease_seconds, claimed.next_seq))
        finally:
            self._advancing.discard(run_id)
            if not self._advancing:
                self._idle.set()

    async def _hold(self, claimed: Claim, fence: Fence) -> NotClaimed | None:
        """Takes a claimed run as far as it goes; however that ends, the run does not stay behind in this worker."""
        try:
            return await self._take(claimed, fence)
        except LostLeaseError as lost:
            log.warning("a run was taken over; its result here is dropped", run=fence.run_id, reason=str(lost))
        except StoreClosedError:
            log.warning("a run was left behind by a closing store; its lease frees it", run=fence.run_id)
        except StoreError as error:
            log.warning("a run could not be recorded and is let go", run=fence.run_id, error=str(error))
            await self._keeper.abandon(fence)
        except Exception:
            log.exception("a run failed here by a defect", run=fence.run_id)
            failure = Failure(
                FailureCode.INTERNAL,
                f"Packline failed while it worked on this run. Its log says more about {fence.run_id}.",
                hint="Report it; resuming tries once more.",
            )
            try:
                await self._fail_run(fence, failure)
            except (LostLeaseError, StoreError):
                await self._keeper.abandon(fence)
        finally:
            self._active.pop(fence.run_id, None)
        return None

    async def _take(self, claimed: Claim, fence: Fence) -> NotClaimed | None:
        """Runs what was claimed; when it ends up waiting for a retry, the answer says until when."""
        try:
            pipeline = compile_document(claimed.document, claimed.input_schema)
            stretch = Stretch.of(claimed, fence, pipeline)
            self._active[claimed.run_id] = stretch
            state = await self._drive(stretch)
        except CompileError as error:
            await self._fail_run(fence, Failure(FailureCode.INTERNAL, str(error)))
            return None
        if state is RunState.SUCCEEDED and stretch.sessions:
            await self._store.write(end_sessions_of_run, claimed.run_id)
        if state is RunState.WAITING:
            return NotClaimed(Refusal.LATER, claimed.caller_id, stretch.wait_until)
        return None

    # -------------------------------------------------------------------------------------------- the walk

    async def _drive(self, stretch: Stretch) -> RunState:
        """Walks the steps from the first that has not succeeded, until the run ends, waits or is let go."""
        if (lost := judge_lost(stretch, self._resources)) is not None:
            return await self._fail_run(stretch.fence, lost)
        if self._stopping:
            return await self._release(stretch.fence, None)
        if (broken := await self._sessions.mend(stretch)) is not None:
            return await self._fail_run(stretch.fence, broken)
        current = self._preparation.next(stretch)
        if current is None:
            done = await self._store.write(
                finish_run, stretch.fence, artifact_days=self._resources.limits.artifact_days
            )
            return done.state
        if isinstance(current, Refused):
            return await self._refuse_first(stretch, current)
        started = await self._store.write(start_attempt, stretch.fence, current.start, stretch.states[current.step.key])
        while started.started:
            outcome, end = await self._attempt(stretch, current)
            if stretch.lost:
                raise LostLeaseError(f"Run {stretch.fence.run_id} was taken over while a step ran.")
            if outcome.failure is _STOPPED:
                return await self._release(stretch.fence, (end.step_id, end.attempt_id), end.spent)
            following, upcoming = what_follows(stretch, current, outcome, self._preparation, is_stopping=self._stopping)
            started = await self._store.write(
                settle,
                stretch.fence,
                end,
                following,
                artifact_days=self._resources.limits.artifact_days,
            )
            if started.state is RunState.RUNNING and not started.started:
                started, upcoming = await self._after_pause(stretch, upcoming)
            if upcoming is None:
                break
            current = upcoming
        return started.state

    async def _after_pause(self, stretch: Stretch, upcoming: Prepared | None) -> tuple[Settled, Prepared | None]:
        """The run is held between two steps: either the server stops, or an at-most-once step starts by itself."""
        if self._stopping or upcoming is None:
            return Settled(await self._release(stretch.fence, None)), None
        started = await self._store.write(
            start_attempt, stretch.fence, upcoming.start, stretch.states[upcoming.step.key]
        )
        return started, upcoming

    async def _refuse_first(self, stretch: Stretch, refused: Refused) -> RunState:
        fail = Fail(stored(refused.failure), refused.failure.message)
        settled = await self._store.write(
            fail_step, stretch.fence, refused.start, stretch.states[refused.step.key], fail
        )
        return settled.state

    async def _fail_run(self, fence: Fence, failure: Failure) -> RunState:
        settled = await self._store.write(fail_run, fence, Fail(stored(failure), failure.message))
        return settled.state

    async def _release(self, fence: Fence, attempt: tuple[str, str] | None, spent: Spent | None = None) -> RunState:
        """Gives a run to another worker, which is told of it at once."""

        def unit(conn: Connection) -> None:
            release(conn, fence, attempt, _STOPPED.message, spent)
            self._dispatcher.enqueue(conn, fence.run_id, priority=RESCUE_PRIORITY)

        await self._store.write(unit)
        return RunState.QUEUED

    # -------------------------------------------------------------------------------------------- one attempt

    async def _attempt(self, stretch: Stretch, current: Prepared) -> tuple[Outcome, AttemptEnd]:
        key, pack, start = current.step.key, current.pack, current.start
        stretch.states[key] = StepState.RUNNING
        stretch.tries[key] += 1
        stretch.numbers[key] = start.number
        resources = self._resources
        context = AttemptContext(
            resources,
            pack,
            stretch.fence,
            caller_id=stretch.claim.caller_id,
            subject=stretch.claim.subject,
            step_id=current.step.id,
            step_key=key,
            attempt_id=start.attempt_id,
            attempt_number=start.number,
            idempotency_key=start.idempotency_key,
            session=current.session,
            pipeline_id=stretch.claim.pipeline_id,
            force=stretch.claim.force,
        )
        if current.warning is not None:
            context.warn(current.warning)
        limit = current.compiled.timeout_seconds or pack.timeout_seconds or resources.limits.step_timeout_seconds
        left = stretch.seconds_left()
        context.timeout_seconds = max(0.0, min(limit, left))
        attempt = Attempt(
            pack=pack,
            context=context,
            input=current.input,
            timeout_seconds=context.timeout_seconds,
            past_deadline=left < limit,
            limits=resources.limits,
            redactor=resources.redactor,
        )
        stretch.begin(attempt)
        try:
            outcome = await attempt.execute()
        finally:
            stretch.attempt = None
            if context.finish():
                await context.close()
        failure = outcome.failure
        if failure is _STOPPED and pack.at_most_once and attempt.began:
            failure = unknown_outcome(key, pack.name, "was stopped, since the server shuts down,")
            outcome = Outcome(failure=failure)
        if failure is not None and failure is not _STOPPED:
            is_safe = pack.effects != "external" or pack.takes_idempotency_key
            failure = failure.at_step(key, safe_to_repeat=is_safe and failure.safe_to_repeat)
            outcome = Outcome(failure=failure, cancelled=outcome.cancelled)
        session_ended = None
        if failure is not None and failure.code is FailureCode.SESSION_UNAVAILABLE and current.session is not None:
            session_ended = current.session.id  # the next attempt makes it anew
        left_behind = context.session_left if failure is None else None
        if left_behind is not None:
            stretch.sessions[key] = left_behind.id
        state = AttemptState.SUCCEEDED if failure is None else AttemptState.FAILED
        end = AttemptEnd(
            step_id=current.step.id,
            attempt_id=start.attempt_id,
            state=AttemptState.CANCELLED if outcome.cancelled else state,
            output=outcome.output_text,
            failure=None if failure is None else stored(failure),
            warnings=orjson.dumps(context.warnings).decode() if context.warnings else "[]",
            session_id=None if left_behind is None else left_behind.id,
            session_ended=session_ended,
            artifacts=tuple(context.artifacts),
            spent=spent_on(context.model_uses),
            isolation=context.isolation,
            receipt=context.receipt,
            # Only a step that is no agent's own can vouch for what an agent made.
            read=() if current.compiled.agent is not None else tuple(dict.fromkeys(context.opened)),
        )
        return outcome, end

    def _woken(self, keys: frozenset[str]) -> None:
        for key in keys:
            if key.startswith("cancel:") and (stretch := self._active.get(key.removeprefix("cancel:"))) is not None:
                stretch.stop(CANCELLED)
