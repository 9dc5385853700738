"""Large definitions are read and checked beside the event loop, fairly between callers.

The largest take seconds, in which nobody else would be answered. At most one text of a caller's is at work at once, so
that whoever sends many holds up only themselves; two are at work overall, since more would slow down everything.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    from resolvers.context import Context

_Result = TypeVar("_Result")

#: Texts and documents up to this size are checked at once: it takes some 10 ms, and a thread of its own costs, too.
LARGE_BYTES = 8 * 1024
_READERS = 2

_pool = ThreadPoolExecutor(_READERS, "definition-reader")
#: Whose turn it is, by caller; kept as long as somebody waits or is served.
_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


async def apart(context: Context, work: Callable[[], _Result]) -> _Result:
    """What some work comes to, done in a thread when it is its caller's turn.

    Cancelled, work that has begun goes on, and its caller's next waits for its end.
    """
    turn = _turns.setdefault(context.caller.id, asyncio.Lock())
    await turn.acquire()
    loop = asyncio.get_running_loop()

    def ended(_: Future[_Result]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(turn.release)

    try:
        working = _pool.submit(work)
    except BaseException:
        turn.release()
        raise
    working.add_done_callback(ended)
    return await asyncio.wrap_future(working)


async def apart_if_large(context: Context, work: Callable[[], _Result], given: object) -> _Result:
    """The same; what is small is done here and now.

    Args:
        context: The caller's.
        work: What to do.
        given: The text or the document it works on.
    """
    return await apart(context, work) if _is_large(given) else work()


def _is_large(given: object) -> bool:
    if isinstance(given, str):
        return len(given) > LARGE_BYTES
    try:
        return len(orjson.dumps(given)) > LARGE_BYTES
    except TypeError:  # nested too deep to be written, or holding what no JSON holds
        return True
