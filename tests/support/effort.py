"""Bounds how much work a piece of code does, in calls: the same on every machine, however busy."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fails when this thread calls more Python and C functions inside.

    Catches what multiplies with a hostile input. A single call that never returns, such as a pattern that backtracks,
    shows as a test that never ends.
    """
    made = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal made
        made += event.endswith("call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
    assert made <= calls, f"made {made:,} calls, at most {calls:,} are expected"
