"""Bounds how much work a piece of code does, in calls: the same on every machine, however busy."""

import cProfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fails when this thread calls more Python and C functions inside.

    Catches what multiplies with a hostile input. A single call that never returns, such as a pattern that backtracks,
    shows as a test that never ends.
    """
    with cProfile.Profile(subcalls=False) as profile:
        yield
    made = sum(entry.callcount for entry in profile.getstats())
    assert made <= calls, f"made {made:,} calls, at most {calls:,} are expected"
