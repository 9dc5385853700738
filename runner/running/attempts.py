"""One attempt of a step: its context, its time limit, and the record of its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from runner import tracing
from runner.failures import Failure, FailureCode
from runner.gateway.uses import spent_on
from runner.processes.processes import work_for
from runner.running import loop_watch
from runner.running.attempt_context import AttemptContext
from runner.running.executor import Attempt, Outcome
from runner.running.outcome import failure_json, unknown_outcome
from store.runs.unit_types import AttemptEnd
from store.states import AttemptState, StepState

if TYPE_CHECKING:
    from runner.running.claimed_run import ClaimedRun, PreparedStep
    from runner.running.resources import Resources
    from runner.tracing import Attribute

#: Failure of an attempt that is stopped because the server shuts down; its run is released.
STOPPED = Failure(FailureCode.CANCELLED, "Released: the server is shutting down.")


async def run_attempt(resources: Resources, run: ClaimedRun, current: PreparedStep) -> tuple[Outcome, AttemptEnd]:
    """Run a started step; return its outcome and the record of it. Updates `run`."""
    key, pack, start = current.step.key, current.pack, current.start
    run.states[key] = StepState.RUNNING
    run.tries[key] += 1
    run.numbers[key] = start.number
    context = AttemptContext(
        resources,
        pack,
        run.fence,
        caller_id=run.claim.caller_id,
        subject=run.claim.subject,
        step_id=current.step.id,
        step_key=key,
        attempt_id=start.attempt_id,
        attempt_number=start.number,
        idempotency_key=start.idempotency_key,
        session=current.session,
        pipeline_id=run.claim.pipeline_id,
        force=run.claim.force,
    )
    broken = resources.registry.unloaded(pack.name)
    if broken is not None and broken.keeps_former:
        context.warn(broken.message_for(pack.name))
    limit = current.compiled.timeout_seconds or pack.timeout_seconds or resources.limits.step_timeout_seconds
    left = run.seconds_left()
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
    run.begin(attempt)
    work_for(run.claim.caller_id)
    attributes: dict[str, Attribute] = {
        "packline.step.key": key,
        "packline.pack": pack.name,
        "packline.attempt": start.number,
    }
    try:
        with tracing.span("step", attributes=attributes) as span:
            outcome = await attempt.execute()
            if outcome.failure is not None:
                span.fail(outcome.failure.code.value)
    finally:
        run.attempt = None
        loop_watch.record(attempt)
        if context.finish():
            await context.close()
    failure = outcome.failure
    if failure is STOPPED and pack.at_most_once and attempt.began:
        failure = unknown_outcome(key, pack.name, "was stopped, since the server shuts down,")
        outcome = Outcome(failure=failure)
    if failure is not None and failure is not STOPPED:
        is_safe = pack.effects != "external" or pack.takes_idempotency_key
        failure = failure.at_step(key, safe_to_repeat=is_safe and failure.safe_to_repeat)
        outcome = Outcome(failure=failure, cancelled=outcome.cancelled)
    session_ended = None
    if failure is not None and failure.code is FailureCode.SESSION_UNAVAILABLE and current.session is not None:
        session_ended = current.session.id  # the next attempt makes a new one
    left_behind = context.session_left if failure is None else None
    if left_behind is not None:
        run.sessions[key] = left_behind.id
    state = AttemptState.SUCCEEDED if failure is None else AttemptState.FAILED
    end = AttemptEnd(
        step_id=current.step.id,
        attempt_id=start.attempt_id,
        state=AttemptState.CANCELLED if outcome.cancelled else state,
        output=outcome.output_text,
        failure=None if failure is None else failure_json(failure),
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
