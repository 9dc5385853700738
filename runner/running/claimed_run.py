"""A claimed run while this worker has it: what is known, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import orjson

from store.states import StepState

if TYPE_CHECKING:
    from runner.definitions.compiled import CompiledPipeline, CompiledStep
    from runner.failures import Failure, JSONValue
    from runner.packs.context import PackSession
    from runner.packs.pack import Pack
    from runner.running.executor import Attempt
    from store.runs.values import AttemptStart, Claim, ClaimedStep, Fence


class PreparedStep(NamedTuple):
    """A step ready to start: everything that can be known before its attempt row exists.

    Attributes:
        warning: What of its input was left out; None when nothing was.
    """

    step: ClaimedStep
    compiled: CompiledStep
    pack: Pack
    input: dict[str, JSONValue]
    start: AttemptStart
    warning: str | None
    session: PackSession | None


@dataclass(frozen=True, slots=True)
class RefusedStep:
    """A step that cannot start, and why."""

    step: ClaimedStep
    start: AttemptStart
    failure: Failure


@dataclass(slots=True)
class ClaimedRun:
    """A claimed run while this worker has it.

    Attributes:
        outputs: Output of each succeeded step, by step key.
        sessions: Session of each succeeded step that left one, by step key.
        tries: Attempts of this run by step key; lost ones do not count.
        numbers: Attempts in all by step key.
        attempt: What is under way now.
        stopped: Why the run is to be let go; an attempt that begins afterwards is stopped at once.
        lost: Somebody else owns the run by now.
    """

    claim: Claim
    fence: Fence
    pipeline: CompiledPipeline
    inputs: dict[str, JSONValue]
    outputs: dict[str, JSONValue]
    sessions: dict[str, str]
    tries: dict[str, int]
    numbers: dict[str, int]
    states: dict[str, StepState]
    attempt: Attempt | None = None
    stopped: Failure | None = None
    lost: bool = False
    _claimed_at: float = field(default_factory=monotonic)
    _seconds_at_claim: float | None = None

    @classmethod
    def of(cls, claim: Claim, fence: Fence, pipeline: CompiledPipeline) -> ClaimedRun:
        """The run as a claim finds the run."""
        done = [step for step in claim.steps if step.state is StepState.SUCCEEDED]
        return cls(
            claim=claim,
            fence=fence,
            pipeline=pipeline,
            inputs=orjson.loads(claim.inputs),
            outputs={step.key: orjson.loads(step.output or "null") for step in done},
            sessions={step.key: step.session_id for step in done if step.session_id},
            tries={step.key: step.stretch_attempts for step in claim.steps},
            numbers={step.key: step.attempts for step in claim.steps},
            states={step.key: step.state for step in claim.steps},
        )

    def seconds_left(self) -> float:
        """Until the deadline, by the monotonic clock; negative once it has passed."""
        if self._seconds_at_claim is None:
            self._seconds_at_claim = (self.claim.deadline_at - self.claim.now).total_seconds()
        return self._seconds_at_claim - (monotonic() - self._claimed_at)

    def begin(self, attempt: Attempt) -> None:
        """An attempt is under way; it is stopped at once when the run was to be let go before it began."""
        self.attempt = attempt
        if self.stopped is not None:
            attempt.stop(self.stopped)

    def stop(self, failure: Failure) -> None:
        """Has the run let go: stops the attempt under way or the next to begin. The first reason counts."""
        if self.stopped is None:
            self.stopped = failure
        if self.attempt is not None:
            self.attempt.stop(self.stopped)
