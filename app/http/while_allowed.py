"""Cancel a slow answer when its caller's token ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

#: Calls shorter than this are not watched.
_UNWATCHED_SECONDS: Final = 1.0


class NoLongerAllowedError(Exception):
    """The caller's access ended during a call. A run it started continues, unless its caller was disabled."""


async def while_allowed(answering: Awaitable[T], ended: Callable[[], Awaitable[None]]) -> T:
    """Await a call's result, unless the caller's token ends first.

    Args:
        answering: The call; cancelled when the token ends.
        ended: Returns within 5 seconds of the token's end.

    Raises:
        NoLongerAllowedError: the token ended.
    """
    loop, limit = asyncio.get_running_loop(), asyncio.timeout(None)
    watching: asyncio.Task[None] | None = None

    async def watch(limit: asyncio.Timeout) -> None:
        await ended()
        limit.reschedule(loop.time())

    def begin(limit: asyncio.Timeout) -> None:
        nonlocal watching
        watching = loop.create_task(watch(limit))

    timer = loop.call_later(_UNWATCHED_SECONDS, begin, limit)
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
            watching = None
        # Break the cycle limit → task → its error → this frame, which only the collector would free.
        del limit
