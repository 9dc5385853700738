"""Decides when a failed step is retried (guarantees R1, R2 and R3), as a pure function over values and a clock."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.definitions.parsing import RetryPolicy
    from runner.failures import Failure
    from runner.packs.pack import Effects

#: Attempts of one step since the start or last resume of a run; no policy may exceed it.
MAX_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class TooLate:
    """Another attempt would follow, but its wait would reach the run's deadline."""

    wait_seconds: float


def next_attempt_in(
    policy: RetryPolicy,
    attempts_since_resume: int,
    failure: Failure,
    *,
    effects: Effects,
    takes_idempotency_key: bool,
    seconds_left: float,
    random: float,
) -> float | TooLate | None:
    """Return the seconds to wait for the next attempt, or why there is none.

    None if the failure is not retryable, the attempts are used up, or external changes of the pack could happen twice.

    Args:
        policy: The step's policy.
        attempts_since_resume: Attempts since the run was started or last resumed, including the failed one.
        failure: The failure; its `retry_after_seconds` is the shortest wait.
        effects: External changes of the pack.
        takes_idempotency_key: Whether repeats with one key cause one external change.
        seconds_left: Until the deadline of this run of the run.
        random: From [0, 1); how much of the share left to chance is waited.
    """
    if not failure.retryable or attempts_since_resume >= min(policy.max_attempts, MAX_ATTEMPTS):
        return None
    if effects == "external" and not takes_idempotency_key:
        return None
    wait_seconds = _wait_seconds(policy, attempts_since_resume, random)
    if failure.retry_after_seconds is not None:
        if math.isnan(failure.retry_after_seconds):
            return None
        wait_seconds = max(wait_seconds, failure.retry_after_seconds)
    return TooLate(wait_seconds) if wait_seconds >= seconds_left else wait_seconds


def _wait_seconds(policy: RetryPolicy, attempts: int, random: float) -> float:
    """`initial_seconds` times `factor` for each further attempt, at most `max_seconds`; `jitter` of it is chance."""
    full = min(policy.initial_seconds * policy.factor ** max(attempts - 1, 0), policy.max_seconds)
    return full * (1 - policy.jitter) + full * policy.jitter * random
