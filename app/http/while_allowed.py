"""Answers that take long, for as long as their caller may be answered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

#: A call that takes longer is watched: whoever may no longer be answered is not.
_WATCHED_SECONDS: Final = 1.0


class NoLongerAllowedError(Exception):
    """The token of a call expired, was revoked or lost a scope while the call waited. What it started goes on."""


async def while_allowed(answering: Awaitable[T], ended: Callable[[], Awaitable[None]]) -> T:
    """What a call comes to, unless the caller loses the right to it while it waits.

    Args:
        answering: Cancelled when the right is lost.
        ended: Returns once the caller may no longer be answered, within 5 seconds of it.

    Raises:
        NoLongerAllowedError: the right was lost.
    """
    loop, limit = asyncio.get_running_loop(), asyncio.timeout(None)
    watching: asyncio.Task[None] | None = None

    async def watch(limit: asyncio.Timeout) -> None:
        await ended()
        limit.reschedule(loop.time())

    def begin(limit: asyncio.Timeout) -> None:
        nonlocal watching
        watching = loop.create_task(watch(limit))

    timer = loop.call_later(_WATCHED_SECONDS, begin, limit)
    try:
        async with limit:
            return await answering
    except TimeoutError:
        if not limit.expired():
            raise
        raise NoLongerAllowedError from None
    finally:
        timer.cancel()
        if watching is not None:
            watching.cancel()
            watching = None  # as below
        # It knows the task, and a cancelled task its error, which knows this frame: a ring for the collector.
        del limit
