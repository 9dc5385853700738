"""Runs pipelines: claims a run, walks its steps, settles each one, lets go.

`Worker.advance` may be called at any time, any number of times, on any machine: it claims or returns. Long work is a
row of phases over one `_Stretch`; what an attempt came to is decided in `_decide`, a choice among the closed set of
`store.runs` follow-ups, and written in one place.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson
import structlog

from runner.compiled import CompiledPipeline, CompiledStep, CompileError, compile_document
from runner.context import AttemptContext
from runner.document import canonical_json, idempotency_key
from runner.executor import Attempt, Outcome
from runner.failures import Failure, FailureCode, JSONValue
from runner.pack import PackSession
from runner.retry import next_attempt_at
from runner.templating import TemplateError
from store.engine import StoreClosedError, StoreError
from store.ids import new_id
from store.runs import (
    AttemptEnd,
    AttemptStart,
    Claim,
    ClaimedStep,
    Fail,
    FailNext,
    Fence,
    GoOn,
    LostLeaseError,
    NotClaimed,
    Pause,
    Refusal,
    Settled,
    Succeed,
    Wait,
    claim,
    fail_run,
    fail_step,
    release,
    renew,
    rewind,
    settle,
    start_attempt,
)
from store.sessions import end_session, end_sessions_of_run, live_sessions, touch_session
from store.states import AttemptState, RunState, StepState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.dispatch import Dispatcher
    from runner.pack import Pack
    from runner.resources import Resources

log = structlog.get_logger(__name__)

#: Consecutive attempts of one step lost with their process after which the run fails (CONTRACT 2.11).
LOST_LIMIT = 5
#: A worker whose last renewal is older than the lease less this share of it stops what it does: others may own it.
FENCE_MARGIN = 0.15

_STOPPED = "released: the server is shutting down"


@dataclass(slots=True)
class _Prepared:
    """A step ready to start: everything that can be known before its attempt row exists."""

    step: ClaimedStep
    compiled: CompiledStep
    pack: Pack
    input: dict[str, JSONValue]
    start: AttemptStart
    warnings: tuple[str, ...]
    session: PackSession | None


@dataclass(slots=True)
class _Refused:
    """A step that cannot start, and why."""

    step: ClaimedStep
    start: AttemptStart
    failure: Failure


@dataclass(slots=True)
class _Stretch:
    """A claimed run while this worker has it."""

    claim: Claim
    fence: Fence
    pipeline: CompiledPipeline
    inputs: dict[str, JSONValue]
    outputs: dict[str, JSONValue]
    sessions: dict[str, str]  # session id by the key of the step that left it
    tries: dict[str, int]  # attempts of this stretch by step key
    numbers: dict[str, int]  # attempts in all by step key
    states: dict[str, StepState]
    attempt: Attempt | None = None
    lost: bool = False
    wait_until: datetime | None = None

    def stop(self, failure: Failure) -> None:
        """Stops the attempt under way, if there is one."""
        if self.attempt is not None:
            self.attempt.stop(failure)


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
        self._active: dict[str, _Stretch] = {}
        self._stopping = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._keeper: asyncio.Task[None] | None = None
        self._store.on_wake(self._woken)

    @property
    def running(self) -> int:
        """Runs this worker holds now."""
        return len(self._active)

    @property
    def accepting(self) -> bool:
        """Whether it takes runs."""
        return self._keeper is not None and not self._stopping

    async def start(self) -> None:
        """Starts to renew leases and to take runs."""
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep(), name="packline-keeper")
            await self._dispatcher.serve(self.advance)

    async def stop(self, grace_seconds: float) -> None:
        """Lets short steps finish and releases the rest to other workers; harmless twice and before `start`."""
        self._stopping = True
        await self._dispatcher.stop()
        if self._active:
            try:
                async with asyncio.timeout(grace_seconds):
                    await self._idle.wait()
            except TimeoutError:
                for stretch in list(self._active.values()):
                    stretch.stop(Failure(FailureCode.CANCELLED, _STOPPED))
                await self._idle.wait()
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)

    async def advance(self, run_id: str) -> NotClaimed | None:
        """Claims a run and takes it as far as it goes; None when it was claimed, else why not."""
        if self._stopping:
            return None
        limits = self._resources.limits
        claimed = await self._store.write(
            claim,
            run_id,
            owner=self._name,
            lease_seconds=limits.lease_seconds,
            caller_limit=limits.concurrent_runs,
        )
        if isinstance(claimed, NotClaimed):
            if claimed.reason is Refusal.ENDED and claimed.caller_id is not None:
                self._dispatcher.let_go(claimed.caller_id)
            return claimed
        fence = Fence(run_id, claimed.epoch, limits.lease_seconds)
        waiting: NotClaimed | None = None
        try:
            waiting = await self._take(claimed, fence)
        except LostLeaseError as lost:
            log.warning("a run was taken over; its result here is dropped", run=run_id, reason=str(lost))
        except StoreClosedError:
            log.warning("a run was left behind by a closing store; its lease frees it", run=run_id)
        finally:
            self._active.pop(run_id, None)
            if not self._active:
                self._idle.set()
            self._dispatcher.let_go(claimed.caller_id)
        return waiting

    async def _take(self, claimed: Claim, fence: Fence) -> NotClaimed | None:
        """Runs what was claimed; when it ends up waiting for a retry, the answer says until when."""
        try:
            pipeline = compile_document(claimed.document, claimed.input_schema)
        except CompileError as error:
            await self._fail_run(fence, Failure(FailureCode.INTERNAL, str(error)))
            return None
        stretch = _Stretch(
            claim=claimed,
            fence=fence,
            pipeline=pipeline,
            inputs=orjson.loads(claimed.inputs),
            outputs={
                step.key: orjson.loads(step.output or "null")
                for step in claimed.steps
                if step.state is StepState.SUCCEEDED
            },
            sessions={step.key: step.session_id for step in claimed.steps if step.session_id},
            tries={step.key: step.stretch_attempts for step in claimed.steps},
            numbers={step.key: step.attempts for step in claimed.steps},
            states={step.key: step.state for step in claimed.steps},
        )
        self._active[claimed.run_id] = stretch
        self._idle.clear()
        state = await self._drive(stretch)
        if state is RunState.SUCCEEDED and stretch.sessions:
            await self._store.write(end_sessions_of_run, claimed.run_id)
        if state is RunState.WAITING:
            return NotClaimed(Refusal.LATER, claimed.caller_id, stretch.wait_until)
        return None

    # -------------------------------------------------------------------------------------------- the walk

    async def _drive(self, stretch: _Stretch) -> RunState:
        """Walks the steps from the first that has not succeeded, until the run ends, waits or is let go."""
        if (lost := self._judge_lost(stretch)) is not None:
            return await self._fail_run(stretch.fence, lost)
        if (broken := await self._mend_sessions(stretch)) is not None:
            return await self._fail_run(stretch.fence, broken)
        current = self._next(stretch)
        if current is None:  # every step had succeeded: only a crash between two releases leads here
            return await self._fail_run(
                stretch.fence, Failure(FailureCode.INTERNAL, "Every step has succeeded, yet the run has not ended.")
            )
        if isinstance(current, _Refused):
            return await self._refuse_first(stretch, current)
        started = await self._store.write(start_attempt, stretch.fence, current.start, stretch.states[current.step.key])
        while started.started:
            self._began(stretch, current)
            outcome, end = await self._attempt(stretch, current)
            if stretch.lost:
                raise LostLeaseError(f"Run {stretch.fence.run_id} was taken over while a step ran.")
            if outcome.cancelled and self._stopping and outcome.failure and outcome.failure.message == _STOPPED:
                await self._store.write(release, stretch.fence, (end.step_id, end.attempt_id), _STOPPED)
                return RunState.QUEUED
            following, upcoming = await self._decide(stretch, current, outcome)
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

    async def _after_pause(self, stretch: _Stretch, upcoming: _Prepared | None) -> tuple[Settled, _Prepared | None]:
        """The run is held between two steps: either the server stops, or an at-most-once step starts by itself."""
        if self._stopping or upcoming is None:
            await self._store.write(release, stretch.fence, None, _STOPPED)
            return Settled(RunState.QUEUED), None
        started = await self._store.write(
            start_attempt, stretch.fence, upcoming.start, stretch.states[upcoming.step.key]
        )
        return started, upcoming

    def _began(self, stretch: _Stretch, current: _Prepared) -> None:
        key = current.step.key
        stretch.states[key] = StepState.RUNNING
        stretch.tries[key] += 1
        stretch.numbers[key] = current.start.number

    async def _refuse_first(self, stretch: _Stretch, refused: _Refused) -> RunState:
        fail = Fail(_stored(refused.failure), refused.failure.message)
        settled = await self._store.write(
            fail_step, stretch.fence, refused.start, stretch.states[refused.step.key], fail
        )
        return settled.state

    async def _fail_run(self, fence: Fence, failure: Failure) -> RunState:
        settled = await self._store.write(fail_run, fence, Fail(_stored(failure), failure.message))
        return settled.state

    # -------------------------------------------------------------------------------------------- one attempt

    async def _attempt(self, stretch: _Stretch, current: _Prepared) -> tuple[Outcome, AttemptEnd]:
        resources = self._resources
        context = AttemptContext(
            resources,
            current.pack,
            stretch.fence,
            caller_id=stretch.claim.caller_id,
            subject=stretch.claim.subject,
            step_id=current.step.id,
            step_key=current.step.key,
            attempt_id=current.start.attempt_id,
            attempt_number=current.start.number,
            idempotency_key=current.start.idempotency_key,
            session=current.session,
        )
        context.warnings.extend(current.warnings)
        limit = (
            current.compiled.timeout_seconds or current.pack.timeout_seconds or resources.limits.step_timeout_seconds
        )
        left = (stretch.claim.deadline_at - datetime.now(UTC)).total_seconds()
        stretch.attempt = Attempt(
            pack=current.pack,
            context=context,
            input=current.input,
            timeout_seconds=max(0.0, min(limit, left)),
            past_deadline=left < limit,
            limits=resources.limits,
            redactor=resources.redactor,
        )
        try:
            outcome = await stretch.attempt.execute()
        finally:
            stretch.attempt = None
            await context.close()
        failure = outcome.failure
        if failure is not None:
            failure = failure.at_step(
                current.step.key,
                safe_to_repeat=current.pack.effects != "external" or current.pack.takes_idempotency_key,
            )
            outcome = Outcome(failure=failure, cancelled=outcome.cancelled)
        if failure is not None and failure.code is FailureCode.SESSION_UNAVAILABLE and current.session is not None:
            await self._store.write(end_session, current.session.id)  # the next attempt makes it anew
        left_behind = context.session_left
        if left_behind is not None and failure is None:
            stretch.sessions[current.step.key] = left_behind.id
        end = AttemptEnd(
            step_id=current.step.id,
            attempt_id=current.start.attempt_id,
            state=AttemptState.SUCCEEDED
            if failure is None
            else AttemptState.CANCELLED
            if outcome.cancelled
            else AttemptState.FAILED,
            output=outcome.output_text,
            failure=None if failure is None else _stored(failure),
            warnings=orjson.dumps(context.warnings).decode() if context.warnings else "[]",
            session_id=left_behind.id if left_behind is not None and failure is None else None,
            artifacts=tuple(context.artifacts),
        )
        return outcome, end

    async def _decide(
        self, stretch: _Stretch, current: _Prepared, outcome: Outcome
    ) -> tuple[GoOn | Pause | Succeed | Fail | FailNext | Wait, _Prepared | None]:
        """What follows an attempt."""
        failure = outcome.failure
        if failure is None:
            return self._go_on(stretch, current, outcome)
        if outcome.cancelled:
            return Fail(_stored(failure), failure.message), None
        now = datetime.now(UTC)
        not_before = next_attempt_at(
            current.compiled.retry,
            stretch.tries[current.step.key],
            failure,
            effects=current.pack.effects,
            takes_idempotency_key=current.pack.takes_idempotency_key,
            now=now,
            deadline_at=stretch.claim.deadline_at,
            random=random.random(),
        )
        if not_before is None or (failure.code is FailureCode.TIMEOUT and now >= stretch.claim.deadline_at):
            return Fail(_stored(failure), failure.message), None
        number = stretch.tries[current.step.key] + 1
        reason = f"{failure.code}: attempt {number} of {current.compiled.retry.max_attempts} follows"
        stretch.wait_until = not_before
        return Wait(not_before, reason), None

    def _go_on(
        self, stretch: _Stretch, current: _Prepared, outcome: Outcome
    ) -> tuple[GoOn | Pause | Succeed | FailNext, _Prepared | None]:
        key = current.step.key
        stretch.outputs[key] = outcome.output
        stretch.states[key] = StepState.SUCCEEDED
        upcoming = self._next(stretch)
        if upcoming is None:
            return Succeed(), None
        before = stretch.states[upcoming.step.key]
        if isinstance(upcoming, _Refused):
            return FailNext(upcoming.start, before, _stored(upcoming.failure), upcoming.failure.message), None
        progress = len(stretch.outputs) / len(stretch.claim.steps)
        if self._stopping:
            return Pause(progress), None
        if upcoming.pack.at_most_once:
            return Pause(progress), upcoming
        return GoOn(upcoming.start, before, progress), upcoming

    # -------------------------------------------------------------------------------------------- what comes next

    def _next(self, stretch: _Stretch) -> _Prepared | _Refused | None:
        """The first step that has not succeeded, with its input resolved; None when all have."""
        for step in stretch.claim.steps:
            if stretch.states[step.key] is not StepState.SUCCEEDED:
                return self._prepare(stretch, step)
        return None

    def _prepare(self, stretch: _Stretch, step: ClaimedStep) -> _Prepared | _Refused:
        compiled = stretch.pipeline.step(step.key)
        attempt_id = new_id("att")
        number = stretch.numbers[step.key] + 1

        def start(text: str | None, key: str, version: str, session: str | None, notes: str) -> AttemptStart:
            return AttemptStart(step.id, attempt_id, number, text, key, version, session, notes)

        def refused(failure: Failure) -> _Refused:
            bare = start(None, "", step.pack_version, None, "[]")
            return _Refused(step, bare, failure.at_step(step.key, safe_to_repeat=True))

        pack, notes = self._pack(step)
        if pack is None:
            return refused(self._no_pack(step))
        warnings: tuple[str, ...] = ()
        try:
            if step.input_override is not None:
                value = orjson.loads(step.input_override)
            else:
                resolved = compiled.resolve(stretch.inputs, stretch.outputs, stretch.pipeline.optional_inputs)
                value, warnings = resolved.value, resolved.warnings
        except TemplateError as error:
            return refused(error.failure)
        if not isinstance(value, dict):
            return refused(
                Failure(FailureCode.INVALID_INPUT, f"The input of step {step.key} is not an object but {value!r:.80}.")
            )
        session = self._session_for(stretch, pack, value)
        if session is not None and "_session_id" not in value:
            value = {**value, "_session_id": session.id}
        redacted = self._resources.redactor.value(value)
        text = orjson.dumps(redacted, option=orjson.OPT_SORT_KEYS)
        if len(text) > self._resources.limits.step_input_bytes:
            return refused(
                Failure(
                    FailureCode.INVALID_INPUT,
                    f"The input of step {step.key} has {len(text)} bytes; at most "
                    f"{self._resources.limits.step_input_bytes} are taken.",
                    hint="Pass large content as an artifact.",
                )
            )
        key = idempotency_key(stretch.claim.run_id, step.key, value)
        return _Prepared(
            step=step,
            compiled=compiled,
            pack=pack,
            input=value,
            start=start(text.decode(), key, pack.version, session.id if session else None, notes),
            warnings=warnings,
            session=session,
        )

    def _pack(self, step: ClaimedStep) -> tuple[Pack | None, str]:
        """The pack that runs the step, with notes as a JSON list.

        The version resolved at start, else another of its major (CONTRACT 1.2).
        """
        registry = self._resources.registry
        pack = registry.find(step.pack, step.pack_version)
        if pack is not None:
            return pack, "[]"
        other = registry.find(step.pack, step.pack_version.split(".", 1)[0])
        if other is None:
            return None, "[]"
        return other, orjson.dumps([f"runs on {other.version} instead of {step.pack_version}"]).decode()

    def _no_pack(self, step: ClaimedStep) -> Failure:
        installed = ", ".join(self._resources.registry.versions(step.pack)) or "none"
        return Failure(
            FailureCode.SCHEMA_MISMATCH,
            f"The pack {step.pack} {step.pack_version} is not installed here, nor another of its major version "
            f"(installed: {installed}).",
            hint="Install it again, or resume with the current definition.",
        )

    def _session_for(self, stretch: _Stretch, pack: Pack, value: dict[str, JSONValue]) -> PackSession | None:
        if not pack.uses_session:
            return None
        named = value.get("_session_id")
        if isinstance(named, str):
            session_id = named if named in stretch.sessions.values() else None
        else:
            session_id = next(
                (stretch.sessions[step.key] for step in reversed(stretch.claim.steps) if step.key in stretch.sessions),
                None,
            )
        if session_id is None:
            return None
        return PackSession(session_id, self._resources.sessions_folder / session_id)

    # -------------------------------------------------------------------------------------------- after a loss

    def _judge_lost(self, stretch: _Stretch) -> Failure | None:
        """Whether an attempt lost with its process lets the run go on (CONTRACT 2.11)."""
        claimed = stretch.claim
        if claimed.lost_attempt is None:
            return None
        step = next((step for step in claimed.steps if step.attempt_id == claimed.lost_attempt), None)
        if step is None:
            return None
        pack = self._resources.registry.find(step.pack, step.pack_version)
        if pack is not None and pack.at_most_once:
            return Failure(
                FailureCode.OUTCOME_UNKNOWN,
                f"The process was lost while step {step.key} ran: it may or may not have happened.",
                hint=f"Look whether {step.pack} took effect before you resume; resuming runs it again.",
                safe_to_repeat=False,
                step_key=step.key,
            )
        if claimed.lost_in_row >= LOST_LIMIT:
            return Failure(
                FailureCode.HANDLER_FAILED,
                f"Step {step.key} was lost with its process {claimed.lost_in_row} times in a row: "
                f"{step.pack} seems to kill it.",
                hint="Report it to the pack's author; resume once it is repaired.",
                step_key=step.key,
            )
        return None

    async def _mend_sessions(self, stretch: _Stretch) -> Failure | None:
        """Makes sessions that are gone anew by running their steps again, where that is allowed (CONTRACT 2.6)."""
        if not stretch.sessions:
            return None
        remaining = [step for step in stretch.claim.steps if stretch.states[step.key] is not StepState.SUCCEEDED]
        needing = [step for step in remaining if (pack := self._find(step)) is not None and pack.uses_session]
        if not needing:
            return None
        live = await self._store.write(live_sessions, stretch.claim.run_id, self._store.machine)
        dead = {
            key: session
            for key, session in stretch.sessions.items()
            if session not in live or not (self._resources.sessions_folder / session).is_dir()
        }
        if not dead:
            for session in stretch.sessions.values():
                await self._store.write(touch_session, session)
            return None
        again: list[ClaimedStep] = []
        for step in stretch.claim.steps:
            pack = self._find(step)
            makes = step.key in dead
            used = step.session_used in dead.values() and stretch.states[step.key] is StepState.SUCCEEDED
            if not (makes or used):
                continue
            if pack is None or not pack.repeatable or (used and pack.effects != "none"):
                return Failure(
                    FailureCode.SESSION_UNAVAILABLE,
                    f"The session that step {needing[0].key} needs is gone, and step {step.key} must not run again.",
                    hint="Run the pipeline again from the start.",
                    step_key=needing[0].key,
                )
            again.append(step)
        await self._store.write(
            rewind, stretch.fence, [step.id for step in again], "its session is gone: it runs again"
        )
        for step in again:
            stretch.states[step.key] = StepState.PENDING
            stretch.outputs.pop(step.key, None)
            stretch.sessions.pop(step.key, None)
        return None

    def _find(self, step: ClaimedStep) -> Pack | None:
        return self._pack(step)[0]

    # -------------------------------------------------------------------------------------------- signs of life

    async def _keep(self) -> None:
        """Renews all leases at once, learns of cancels and losses, and fences itself when renewing fails."""
        lease = self._resources.limits.lease_seconds
        loop = asyncio.get_running_loop()
        renewed_at = loop.time()
        while True:
            await asyncio.sleep(lease / 3)
            try:
                held = await self._store.write(renew, self._name, lease)
            except StoreError as error:
                log.warning("leases could not be renewed", error=str(error))
                if loop.time() - renewed_at > lease * (1 - FENCE_MARGIN):
                    self._lose(list(self._active.values()))
                continue
            renewed_at = loop.time()
            gone = []
            for run_id, stretch in self._active.items():
                entry = held.get(run_id)
                if entry is None or entry[0] != stretch.fence.epoch:
                    gone.append(stretch)
                elif entry[1]:
                    stretch.stop(Failure(FailureCode.CANCELLED, "Cancelled by request."))
            self._lose(gone)

    def _lose(self, stretches: Sequence[_Stretch]) -> None:
        for stretch in stretches:
            stretch.lost = True
            stretch.stop(Failure(FailureCode.CANCELLED, "Another worker owns the run."))

    def _woken(self, keys: frozenset[str]) -> None:
        for key in keys:
            if key.startswith("cancel:") and (stretch := self._active.get(key.removeprefix("cancel:"))) is not None:
                stretch.stop(Failure(FailureCode.CANCELLED, "Cancelled by request."))


def _stored(failure: Failure) -> str:
    return canonical_json(failure.to_json())
