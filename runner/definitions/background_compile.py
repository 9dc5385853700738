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

#: Texts and documents up to this size are checked and compiled on the event loop: that takes some 10 ms, and a thread
#: costs time, too. Parsing as much YAML takes up to 0.2 s, so it is never done on the event loop.
LARGE_BYTES = 8 * 1024


class _Lane:
    """A thread pool with one turn per caller.

    Attributes:
        turns: By event loop and caller, while somebody waits or is served.
    """

    def __init__(self, threads: int) -> None:
        self.pool = ThreadPoolExecutor(threads, "definition-reader")
        self.turns: dict[tuple[asyncio.AbstractEventLoop, str], _Turn] = {}

    async def turn(self, caller_id: str) -> _Turn:
        """Wait for a caller's turn; release it when the work has ended."""
        key = (asyncio.get_running_loop(), caller_id)
        turn = self.turns.get(key)
        if turn is None:
            turn = self.turns[key] = _Turn(partial(self.turns.pop, key, None))
        await turn.acquire()
        return turn


class _Turn:
    """A lock that one work of a caller holds at a time.

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
#: Shared work in progress, by key.
_in_progress: dict[Hashable, Future[Any]] = {}


async def in_background(caller_id: str, work: Callable[[], _Result], given: object) -> _Result:
    """Run work in a thread when it is its caller's turn, and return its result.

    On cancellation, work that has begun continues, and the caller's next work waits for its end.

    Args:
        caller_id: The caller who asks for it.
        work: The work.
        given: The text or document it works on, whose size selects the pool.
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
    """Run large work in a thread, once for all who ask for it at the same time.

    On cancellation it continues for the others.

    Args:
        caller_id: The caller who asks for it.
        key: Identifies the work.
        known: Returns an earlier result; called when it is the caller's turn.
        work: Does the work and stores the result for `known`.
    """
    turn = await LARGE.turn(caller_id)
    try:
        found = known()
        working = None
        if found is None:
            working = _in_progress.get(key)
            if working is None:
                working = _in_progress[key] = LARGE.pool.submit(work)
                working.add_done_callback(lambda _: _in_progress.pop(key, None))
    except BaseException:
        turn.release()
        raise
    if working is not None:
        return await _outcome(working, turn)
    turn.release()
    assert found is not None
    return found


def is_large(given: object) -> bool:
    """Whether a text or document is read in a thread."""
    if isinstance(given, str):
        return len(given) > LARGE_BYTES
    try:
        return len(orjson.dumps(given)) > LARGE_BYTES
    except TypeError:  # nested too deep, or not JSON
        return True


async def _outcome(working: Future[_Result], turn: _Turn) -> _Result:
    """Wait for a thread's result; the turn ends with the thread, whether or not somebody still waits."""
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

    # Does not name `working`: a future in a reference cycle keeps its result until the next garbage collection.
    def ended(done: Future[_Result]) -> None:
        if loop.is_closed():
            turn.forget()
        else:
            loop.call_soon_threadsafe(tell, done)

    working.add_done_callback(ended)
    return await answer
