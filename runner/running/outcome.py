"""Decides what follows an attempt, and whether an attempt lost with its process fails the run."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.failures import Failure, FailureCode
from runner.json_values import canonical_json
from runner.resuming.substitute_packs import find_pack
from runner.running.claimed_run import ClaimedRun, LackedStep, PreparedStep, RefusedStep
from runner.running.retry import TooLate, next_attempt_in
from store.runs.needs import needs_text
from store.runs.unit_types import Fail, FailNext, GoOn, HandOver, Pause, Succeed, Wait
from store.states import StepState

if TYPE_CHECKING:
    from runner.running.executor import Outcome
    from runner.running.next_step import StepPreparer
    from runner.running.resources import Resources
    from store.runs.unit_types import Claim

#: Consecutive times that the process was lost with an attempt, or while it started one, after which the run fails
#: (guarantee E5).
LOST_LIMIT = 5


def decide_next(
    run: ClaimedRun, current: PreparedStep, outcome: Outcome, preparer: StepPreparer, *, is_stopping: bool
) -> tuple[GoOn | Pause | HandOver | Succeed | Fail | FailNext | Wait, PreparedStep | None]:
    """Decide what follows an attempt, and which step runs next; updates `run`.

    Args:
        run: The run.
        current: The step that ran.
        outcome: Its outcome.
        preparer: Prepares the next step.
        is_stopping: Whether the server is shutting down.
    """
    failure = outcome.failure
    if failure is None:
        return _go_on(run, current, outcome, preparer, is_stopping=is_stopping)
    failure = replace(failure, exception=None)  # the attempt has it
    # An at-most-once step is never retried automatically: it could then happen twice.
    if outcome.cancelled or current.pack.at_most_once:
        return Fail(failure_json(failure), failure.message), None
    tries = run.tries[current.step.key]
    wait = next_attempt_in(
        current.compiled.retry,
        tries,
        failure,
        effects=current.pack.effects,
        takes_idempotency_key=current.pack.takes_idempotency_key,
        seconds_left=run.seconds_left(),
        random=random.random(),
    )
    if isinstance(wait, TooLate):
        # A failure after the deadline says so itself.
        failure, wait = _not_tried_again(failure, wait) if run.seconds_left() > 0 else failure, None
    if wait is None:
        return Fail(failure_json(failure), failure.message), None
    reason = f"{failure.code}: attempt {tries + 1} of {current.compiled.retry.max_attempts} follows"
    return Wait(wait, reason), None


def _not_tried_again(failure: Failure, late: TooLate) -> Failure:
    """Return the failure of a step whose retry would start after the run's deadline."""
    said = failure.message if failure.message.endswith((".", "!", "?", "…")) else f"{failure.message}."
    wait = f"{round(late.wait_seconds, 1):g} s"
    return replace(
        failure,
        message=f"{said} It was not retried: the wait of {wait} would have passed the run's deadline.",
        hint=" ".join(filter(None, (failure.hint, "Resume the run, or give it a longer deadline."))),
    )


def _go_on(
    run: ClaimedRun, current: PreparedStep, outcome: Outcome, preparer: StepPreparer, *, is_stopping: bool
) -> tuple[GoOn | Pause | HandOver | Succeed | FailNext, PreparedStep | None]:
    key = current.step.key
    run.outputs[key] = outcome.output
    run.states[key] = StepState.SUCCEEDED
    upcoming = preparer.next(run)
    if upcoming is None:
        return Succeed(), None
    progress = len(run.outputs) / len(run.claim.steps)
    if isinstance(upcoming, LackedStep):
        return HandOver(progress, needs_text(upcoming.needs), upcoming.reason), None
    before = run.states[upcoming.step.key]
    if isinstance(upcoming, RefusedStep):
        return FailNext(upcoming.start, before, failure_json(upcoming.failure), upcoming.failure.message), None
    needs = preparer.changed_needs(run, upcoming.step)
    if is_stopping:
        return Pause(progress, needs), None
    if upcoming.pack.at_most_once:
        return Pause(progress, needs), upcoming
    return GoOn(upcoming.start, before, progress, needs), upcoming


def check_lost_attempt(run: ClaimedRun, resources: Resources) -> Failure | None:
    """Return the failure if an attempt lost with its process ends the run (guarantees E4 and E5)."""
    claimed = run.claim
    if claimed.lost_attempt is None:
        return None
    step = next((step for step in claimed.steps if step.attempt_id == claimed.lost_attempt), None)
    if step is None:
        return None
    pack = find_pack(resources.registry, run.pipeline, claimed.steps, step, resources.agents)
    if pack is not None and pack.at_most_once:
        return unknown_outcome(step.key, step.pack, "was lost with its process")
    if claimed.lost_in_row >= LOST_LIMIT:
        return Failure(
            FailureCode.HANDLER_FAILED,
            f"Step {step.key} was lost with its process {claimed.lost_in_row} times in a row: "
            f"{step.pack} or another step that ran at the same time may be killing it.",
            hint="Resume it. If it fails again while nothing else runs, report it to the pack's author.",
            step_key=step.key,
        )
    return None


def check_lost_start(claimed: Claim) -> Failure | None:
    """Return the failure of a run whose process was lost again and again before it could start an attempt."""
    if claimed.lost_attempt is not None or claimed.lost_in_row < LOST_LIMIT:
        return None
    step = next((step for step in claimed.steps if step.state is not StepState.SUCCEEDED), None)
    what = "ending this run" if step is None else f"starting step {step.key} ({step.pack})"
    return Failure(
        FailureCode.HANDLER_FAILED,
        f"The server was lost {claimed.lost_in_row} times in a row while it was {what}.",
        hint="Resume it. If it fails again while nothing else runs, the server's log may say what ends the server.",
        step_key=None if step is None else step.key,
    )


def unknown_outcome(key: str, pack: str, what: str) -> Failure:
    """Return the failure of an at-most-once step that may or may not have happened."""
    return Failure(
        FailureCode.OUTCOME_UNKNOWN,
        f"Step {key} {what} before its result was known: it may or may not have happened.",
        hint=f"Check whether {pack} took effect before you resume: a resume runs it again.",
        safe_to_repeat=False,
        step_key=key,
    )


def failure_json(failure: Failure) -> str:
    """Return a failure as the store keeps it, canonical JSON."""
    return canonical_json(failure.to_json())
