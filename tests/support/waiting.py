"""Waiting for what gives no signal: other people's processes, files they write, states that can only be asked for."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_Found = TypeVar("_Found")


def pass_time(seconds: float) -> None:
    """Puts the clock of the running event loop forward, for good: what waits for no longer than that is over now.

    For time limits that must not come before something has happened, which takes as long as the machine likes. Clocks
    of other loops, processes and databases stay.
    """
    loop = asyncio.get_running_loop()
    own = type(loop).time
    ahead = loop.time() - own(loop) + seconds
    loop.time = lambda: own(loop) + ahead  # type: ignore[method-assign]


async def eventually(ask: Callable[[], _Found | Awaitable[_Found]], *, seconds: float = 60) -> _Found:
    """What `ask` answers once that is true; it is asked ever more rarely, at least every 80 ms.

    Raises:
        TimeoutError: it never was.
    """
    pause = 0.01
    async with asyncio.timeout(seconds):
        while True:
            answer = ask()
            found = await answer if inspect.isawaitable(answer) else answer
            if found:
                return found
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.08)
