from __future__ import annotations

import pytest

from runner.definitions.parsing import RetryPolicy
from runner.failures import RETRYABLE, Failure, FailureCode
from runner.running.retry import TooLate, next_attempt_in


def wait(
    attempts=1,
    *,
    policy=None,
    code=FailureCode.TIMEOUT,
    effects="none",
    keyed=False,
    deadline=1800,
    after=None,
    random=0.0,
):
    return next_attempt_in(
        policy or RetryPolicy(jitter=0),
        attempts,
        Failure(code, "x", retry_after_seconds=after),
        effects=effects,
        takes_idempotency_key=keyed,
        seconds_left=deadline,
        random=random,
    )


@pytest.mark.parametrize("code", list(FailureCode))
def test_only_retryable_codes_are_tried_again(code):
    assert (wait(code=code) is not None) == (code in RETRYABLE)


def test_waits_grow_up_to_the_longest():
    policy = RetryPolicy(max_attempts=10, initial_seconds=1, factor=4, max_seconds=60, jitter=0)
    assert [wait(attempts, policy=policy) for attempts in range(1, 10)] == [1, 4, 16, 60, 60, 60, 60, 60, 60]


def test_the_default_makes_three_attempts():
    assert [wait(attempts, policy=RetryPolicy(), random=0.999999) is None for attempts in (1, 2, 3, 4)] == [
        False,
        False,
        True,
        True,
    ]


def test_never_more_than_ten_attempts():
    policy = RetryPolicy(max_attempts=99)
    assert wait(9, policy=policy) is not None
    assert wait(10, policy=policy) is None


@pytest.mark.parametrize(("random", "seconds"), [(0.0, 8.0), (0.5, 9.0), (0.999999, 10.0)])
def test_jitter_is_the_share_left_to_chance(random, seconds):
    assert wait(policy=RetryPolicy(initial_seconds=10, jitter=0.2), random=random) == pytest.approx(seconds, abs=1e-4)


@pytest.mark.parametrize(
    ("effects", "keyed", "again"),
    [("none", False, True), ("idempotent", False, True), ("external", False, False), ("external", True, True)],
)
def test_outside_effects_are_not_repeated_without_a_key(effects, keyed, again):
    assert (wait(effects=effects, keyed=keyed) is not None) == again


def test_retry_after_is_the_least_wait_even_past_the_longest():
    assert wait(code=FailureCode.RATE_LIMITED, after=90) == 90
    assert wait(code=FailureCode.RATE_LIMITED, after=0.1) == 1
    assert wait(code=FailureCode.RATE_LIMITED, after=-5) == 1


def test_a_wait_that_is_no_number_gives_up():
    assert wait(code=FailureCode.RATE_LIMITED, after=float("nan")) is None


@pytest.mark.parametrize("after", [float("inf"), 1e300, 1801])
def test_a_wait_that_reaches_the_deadline_gives_up_and_says_so(after):
    assert wait(code=FailureCode.RATE_LIMITED, after=after) == TooLate(after)
    assert wait(deadline=1.5) == 1
    assert wait(deadline=1) == TooLate(1)
    assert wait(deadline=-1) == TooLate(1)


def test_what_would_not_be_tried_again_anyway_says_nothing_of_the_deadline():
    assert wait(code=FailureCode.INVALID_INPUT, deadline=0) is None
    assert wait(3, deadline=0) is None
