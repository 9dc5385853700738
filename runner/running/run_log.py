"""Logs what happens to runs: one line each, with ids and codes, never with inputs, outputs or messages.

A step that succeeds has no line: a run of ten steps would write ten more, and its record has them.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

import orjson
import structlog

from store.database.errors import StoreError
from store.runs.reads import target_of_run
from store.states import RunState

if TYPE_CHECKING:
    from runner.failures import Failure
    from runner.running.claimed_run import PreparedStep
    from runner.running.resources import Resources
    from store.runs.unit_types import Claim, Settled

log = structlog.get_logger(__name__)


class RunLog:
    """Log of a run from its claim until its worker no longer holds it."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._claimed_at = monotonic()
        self._of = {
            "run": claim.run_id,
            "pack" if claim.pipeline_id is None else "pipeline": claim.target,
            "caller": claim.subject,
        }

    def claimed(self) -> None:
        """Log that the run starts, goes on, or was taken over from a worker that was lost."""
        claim = self._claim
        moved = {"worker": claim.worker, "previous_worker": claim.previous_worker} if claim.previous_worker else {}
        if claim.taken_over:
            log.warning("run taken over", **self._of, lost_attempt=claim.lost_attempt, **moved)
        elif claim.epoch == 1:
            log.info("run started", **self._of, cause=claim.cause)
        else:
            log.info("run continued", **self._of, **moved)

    def step_failed(self, step: PreparedStep, failure: Failure, settled: Settled) -> None:
        """Log that an attempt failed, and when the step is tried again, if it is."""
        raised = failure.exception
        place = None if raised is None else raised.place
        log.warning(
            "step failed" if settled.wait_seconds is None else "step failed and is retried",
            run=self._claim.run_id,
            step=step.step.key,
            attempt=step.start.attempt_id,
            number=step.start.number,
            pack=step.pack.name,
            code=failure.code.value,
            **({} if raised is None else {"exception_class": raised.type}),
            **({} if place is None else {"raised_at": f"{place.file}:{place.line}"}),
            **({} if settled.wait_seconds is None else {"wait_seconds": round(settled.wait_seconds, 3)}),
        )

    def left(self, settled: Settled) -> None:
        """Log how the run ended, or that another worker goes on with it; a wait for a retry was logged before."""
        seconds = round(self.seconds(), 3)
        match settled.state:
            case RunState.FAILED:
                failure = orjson.loads(settled.failure or "{}")
                code, step = failure.get("code"), failure.get("step_key")
                log.warning("run failed", **self._of, code=code, step=step, seconds=seconds)
            case RunState.SUCCEEDED | RunState.CANCELLED:
                log.info(f"run {settled.state.value}", **self._of, seconds=seconds)
            case RunState.QUEUED:
                log.info("run released", **self._of, seconds=seconds)

    def seconds(self) -> float:
        """Return how long the run took since its start or last resume, without the time nobody held it."""
        claim = self._claim
        left = (claim.deadline_at - claim.now).total_seconds()
        return claim.deadline_seconds - left + monotonic() - self._claimed_at


async def record_cancelled(resources: Resources, run_id: str) -> None:
    """Log and count a run that was cancelled while no worker held it."""
    log.info("run cancelled", run=run_id)
    with suppress(StoreError):  # it is cancelled all the same
        if (target := await target_of_run(resources.store, run_id)) is not None:
            resources.metrics.run_cancelled(target)


def log_resumed(run_id: str, caller: str) -> None:
    """Log that a caller resumed a run."""
    log.info("run resumed", run=run_id, caller=caller)
