"""Reads, checks and compiles large definitions in threads, fairly between callers.

The largest take seconds and would block the event loop. At most one text per caller is processed at a time, so that a
caller who sends many delays only itself; two are processed overall, since more would slow down everything. Small texts
have a separate thread and never wait for large ones.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_Result = TypeVar("_Result")

#: Texts and documents up to this size are checked and compiled at once: it takes some 10 ms, and a thread
#: costs time, too. To parse so much YAML takes up to 0.2 s, so that is never done on the event loop.
LARGE_BYTES = 8 * 1024


class _Lane:
    """Threads of one kind of work, and whose turn it is there.

    Attributes:
        turns: By event loop and caller; kept as long as somebody waits or is served.
    """

    def __init__(self, threads: int) -> None:
        self.pool = ThreadPoolExecutor(threads, "definition-reader")
        self.turns: dict[tuple[asyncio.AbstractEventLoop, str], _Turn] = {}

    async def turn(self, caller_id: str) -> _Turn:
        """Wait for a caller's turn; to be released when what it was for has ended."""
        key = (asyncio.get_running_loop(), caller_id)
        turn = self.turns.get(key)
        if turn is None:
            turn = self.turns[key] = _Turn(partial(self.turns.pop, key, None))
        await turn.acquire()
        return turn


class _Turn:
    """For one at a time.

    Args:
        forget: Called when nobody waits or is served any more.
    """

    def __init__(self, forget: Callable[[], object]) -> None:
        self.forget = forget
        self._lock = asyncio.Lock()
        self._wanted = 0

    async def acquire(self) -> None:
        self._wanted += 1
        try:
            await self._lock.acquire()
        except BaseException:
            self._leave()
            raise

    def release(self) -> None:
        self._lock.release()
        self._leave()

    def _leave(self) -> None:
        self._wanted -= 1
        if self._wanted == 0:
            self.forget()


LARGE, SMALL = _Lane(2), _Lane(1)
#: Shared work that has begun, by what it is.
_under_way: dict[Hashable, Future[Any]] = {}


async def in_background(caller_id: str, work: Callable[[], _Result], given: object) -> _Result:
    """Run work in a thread when it is its caller's turn, and return its result.

    On cancellation, work that has begun goes on, and the caller's next work waits for its end.

    Args:
        caller_id: Who asks for it.
        work: What to do.
        given: The text or the document it works on, whose size tells which threads do it.
    """
    lane = LARGE if is_large(given) else SMALL
    turn = await lane.turn(caller_id)
    try:
        working = lane.pool.submit(work)
    except BaseException:
        turn.release()
        raise
    try:
        return await _outcome(working, turn)
    except asyncio.CancelledError:
        working.cancel()
        raise


async def in_background_if_large(caller_id: str, work: Callable[[], _Result], given: object) -> _Result:
    """Run large work in a thread, small work immediately."""
    return await in_background(caller_id, work, given) if is_large(given) else work()


async def in_background_once(
    caller_id: str, key: Hashable, known: Callable[[], _Result | None], work: Callable[[], _Result]
) -> _Result:
    """Run large work in a thread once for all who ask for it at the same time.

    On cancellation it goes on for the others.

    Args:
        caller_id: Who asks for it.
        key: What it is.
        known: What it came to before; looked at when it is the caller's turn.
        work: Does it, and keeps what it comes to for `known`.
    """
    turn = await LARGE.turn(caller_id)
    try:
        found = known()
        working = None
        if found is None:
            working = _under_way.get(key)
            if working is None:
                working = _under_way[key] = LARGE.pool.submit(work)
                working.add_done_callback(lambda _: _under_way.pop(key, None))
    except BaseException:
        turn.release()
        raise
    if working is not None:
        return await _outcome(working, turn)
    turn.release()
    assert found is not None
    return found


def is_large(given: object) -> bool:
    """Whether a text or a document is read beside the event loop."""
    if isinstance(given, str):
        return len(given) > LARGE_BYTES
    try:
        return len(orjson.dumps(given)) > LARGE_BYTES
    except TypeError:  # nested too deep to be written, or holding what no JSON holds
        return True


async def _outcome(working: Future[_Result], turn: _Turn) -> _Result:
    """The outcome of what a thread does; whether anybody still waits for it or not, the turn ends when it does."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_Result] = loop.create_future()

    def tell(done: Future[_Result]) -> None:
        turn.release()
        if answer.done():
            return
        if (error := done.exception()) is not None:
            answer.set_exception(error)
        else:
            answer.set_result(done.result())

    # It does not name `working`: a future that is in a cycle keeps what it has made until garbage is looked for.
    def ended(done: Future[_Result]) -> None:
        if loop.is_closed():
            turn.forget()
        else:
            loop.call_soon_threadsafe(tell, done)

    working.add_done_callback(ended)
    return await answer
