"""A claimed run, and its next step: the state a worker keeps in memory while it holds the lease."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import orjson

from runner.packs.fleet import worker_with
from store.states import StepState

if TYPE_CHECKING:
    from runner.definitions.compiled import CompiledPipeline, CompiledStep
    from runner.failures import Failure, JSONValue
    from runner.packs.context import PackSession
    from runner.packs.pack import Pack
    from runner.running.executor import Attempt
    from store.runs.unit_types import AttemptStart, Claim, ClaimedStep, Fence


class PreparedStep(NamedTuple):
    """A step that is ready to start, before its attempt is stored."""

    step: ClaimedStep
    compiled: CompiledStep
    pack: Pack
    input: dict[str, JSONValue]
    start: AttemptStart
    session: PackSession | None


@dataclass(frozen=True, slots=True)
class RefusedStep:
    """A step that cannot start, with its failure."""

    step: ClaimedStep
    start: AttemptStart
    failure: Failure


class LackedStep(NamedTuple):
    """A step that this worker cannot execute.

    Attributes:
        lacked: What it lacks.
    """

    step: ClaimedStep
    needs: frozenset[str]
    lacked: frozenset[str]

    @property
    def reason(self) -> str:
        """Why the run is handed over, for its event."""
        return f"step {self.step.key} needs {worker_with(self.lacked)}"


@dataclass(slots=True)
class ClaimedRun:
    """A run this worker holds the lease of.

    Attributes:
        outputs: Output of each succeeded step, by step key.
        sessions: Session of each succeeded step that left one, by step key.
        tries: Attempts since the start or last resume, by step key; lost ones do not count.
        numbers: All attempts, by step key.
        attempt: The current attempt.
        stopped: Why the run must stop; an attempt that begins later is stopped immediately.
        lost: Another worker owns the run.
        needs: What the store has recorded of what its next step needs.
        machines: Machine of each session; those that this worker makes are on its machine.
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
    needs: str = ""
    machines: dict[str, str] = field(default_factory=dict)
    _claimed_at: float = field(default_factory=monotonic)
    _seconds_at_claim: float | None = None

    @classmethod
    def of(cls, claim: Claim, fence: Fence, pipeline: CompiledPipeline) -> ClaimedRun:
        """Build the state from what the claim read."""
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
            needs=claim.needs,
        )

    def seconds_left(self) -> float:
        """Return the seconds until the deadline, by the monotonic clock; negative once it has passed."""
        if self._seconds_at_claim is None:
            self._seconds_at_claim = (self.claim.deadline_at - self.claim.now).total_seconds()
        return self._seconds_at_claim - (monotonic() - self._claimed_at)

    def latest_session(self, step: ClaimedStep) -> str | None:
        """Return the session that the latest earlier step left.

        Sessions of later steps do not count: a step that runs again may be followed by steps that have succeeded.
        """
        earlier = (each.key for each in reversed(self.claim.steps) if each.position < step.position)
        return next((self.sessions[key] for key in earlier if key in self.sessions), None)

    def begin(self, attempt: Attempt) -> None:
        """Set the current attempt, and stop it immediately if the run was already asked to stop."""
        self.attempt = attempt
        if self.stopped is not None:
            attempt.stop(self.stopped)

    def stop(self, failure: Failure) -> None:
        """Stop the current attempt, or the next one to begin. The first reason wins."""
        if self.stopped is None:
            self.stopped = failure
        if self.attempt is not None:
            self.attempt.stop(self.stopped)
