"""Detects handlers that block the event loop, and reports which, for how long, and at which line.

Handlers run on the event loop. One that waits without `await`, or computes for seconds, stops everything else in the
process: other runs, requests, leases. Nothing on the loop can notice this, so a thread looks twice a second.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from pathlib import Path
from time import monotonic, process_time
from typing import TYPE_CHECKING

import structlog

from runner.processes.pack_modules import package_of
from runner.running import executor
from runner.running.executor import Blockage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from runner.running.executor import Attempt

log = structlog.get_logger(__name__)

#: Longest time a handler may keep the loop before it is reported: people notice a page that does not respond for
#: longer, and imports of a pack's libraries take less.
BLOCKED_SECONDS = 2.0
#: How often the thread looks, and of the heartbeat of the loop.
TICK_SECONDS = 0.5
#: Longest stack that is logged.
_STACK_CHARACTERS = 8000
_HINT = (
    "Run what blocks with `await ctx.run_in_process(function, …)`, or await an asynchronous call, such as "
    "`asyncio.sleep` for `time.sleep` and `ctx.http` for another client."
)


class LoopWatch:
    """Watches the loop that it is started on.

    Args:
        attempts: Lists the attempts that are running; called in the thread.
    """

    def __init__(self, attempts: Callable[[], list[Attempt]]) -> None:
        self._attempts = attempts
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._beats = 0
        self._beat_at = 0.0

    def start(self) -> None:
        """Start watching the running loop; a second call does nothing."""
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._beat(loop)
            self._thread = threading.Thread(
                target=self._watch, args=(loop, threading.get_ident()), name="packline-loop-watch", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Stop watching; harmless before `start` and a second time."""
        self._stopped.set()
        if self._timer is not None:
            self._timer.cancel()
        if self._thread is not None:
            self._thread.join()

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self._beat_at = monotonic()
        self._beats += 1
        self._timer = loop.call_later(TICK_SECONDS, self._beat, loop)

    def _watch(self, loop: asyncio.AbstractEventLoop, loop_thread: int) -> None:
        beats, task, is_reported = -1, None, False
        since = looked_at = monotonic()
        ticks, worked = 0, process_time()
        while not self._stopped.wait(TICK_SECONDS) and not loop.is_closed():
            current = asyncio.current_task(loop)
            if self._beats != beats or current is not task:
                since = looked_at if self._beats == beats else self._beat_at
                beats, task, ticks, is_reported = self._beats, current, 0, False
            ticks += 1
            # A machine that was suspended or overloaded kept this thread from looking, too. So its ticks count, not the
            # clock; unless this process worked meanwhile, as code does that holds the GIL.
            used, worked = process_time() - worked, process_time()
            looked_at = monotonic()
            is_sure = ticks * TICK_SECONDS >= BLOCKED_SECONDS or used >= BLOCKED_SECONDS / 2
            if task is not None and not is_reported and is_sure and looked_at - since >= BLOCKED_SECONDS:
                is_reported = True
                frame = sys._current_frames().get(loop_thread)
                try:
                    if frame is not None and asyncio.current_task(loop) is task:
                        self._report(loop, task, since, frame)
                except Exception:  # the watch must survive any error
                    log.exception("a blocked event loop could not be reported")

    def _report(
        self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[object], since: float, frame: FrameType
    ) -> None:
        """Log the blockage, and leave it with its attempt for the loop to record."""
        frames = list(_frames_of_handler(frame))
        found = self._attempts_of(task, frames)
        if not found or not frames:
            return
        packages = {package_of(one.pack.handler.__module__) for one in found}
        place = _place(next((one for one in frames if package_of(_module(one)) in packages), frames[0]))
        if len(found) > 1:
            seconds = round(monotonic() - since, 1)
            packs = sorted({one.pack.name for one in found})
            log.warning("one of several runs blocks the server", packs=packs, place=place, seconds=seconds)
            return
        (attempt,) = found
        if place in attempt.blocked_at:
            return
        # Without reading a file, which would let code that holds the GIL run on meanwhile.
        stack = [_summary(one) for one in reversed(frames)]
        attempt.blocked_at += (place,)
        blocked = attempt.blocked = Blockage(max(since, attempt.began_at), place, stack)
        loop.call_soon_threadsafe(record, attempt)
        seconds = round(monotonic() - blocked.since, 1)
        text = _stack_text(attempt, blocked)
        log.warning("a pack blocks the server", **_names(attempt), place=place, seconds=seconds, stack=text)

    def _attempts_of(self, task: asyncio.Task[object], frames: list[FrameType]) -> list[Attempt]:
        """Find the attempt whose handler this task runs, else all whose packs are on the stack.

        Agent steps and tools of MCP servers have handlers of Packline's.
        """
        running = [one for one in self._attempts() if package_of(one.pack.handler.__module__) != "runner"]
        packages = {package_of(_module(frame)) for frame in frames}
        return [one for one in running if one.runs_in(task)] or [
            one for one in running if package_of(one.pack.handler.__module__) in packages
        ]


def _frames_of_handler(frame: FrameType) -> Iterator[FrameType]:
    """Yield the frames of a turn, the inmost first, up to the code of Packline or asyncio that called the pack's."""
    current: FrameType | None = frame
    while current is not None:
        name = _module(current)
        if name == executor.__name__ or name.partition(".")[0] in ("asyncio", "uvicorn"):
            return
        yield current
        current = current.f_back


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _summary(frame: FrameType) -> traceback.FrameSummary:
    return traceback.FrameSummary(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, lookup_line=False)


def _stack_text(attempt: Attempt, blocked: Blockage) -> str:
    lines = traceback.StackSummary.from_list(blocked.stack).format()
    return attempt.redactor.excerpt("".join(lines), _STACK_CHARACTERS, from_end=True)


def _place(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}, in {frame.f_code.co_name}"


def _names(attempt: Attempt) -> dict[str, object]:
    context = attempt.context
    return {
        "pack": attempt.pack.name,
        "run": context.run_id,
        "step": context.step_key,
        "attempt": context.attempt_number,
    }


def record(attempt: Attempt) -> None:
    """Record a blockage that has ended: as a warning of the step, in the attempt's log, and in the server's.

    If the handler ends just while a blockage is found, only the server's log has it.
    """
    blocked, attempt.blocked = attempt.blocked, None
    if blocked is None:
        return
    seconds = monotonic() - blocked.since
    what = f"{attempt.pack.name} blocked the server for {seconds:.1f} s at {blocked.place}"
    attempt.context.warn(f"{what}; no other run or request was served meanwhile. {_HINT}")
    attempt.context.log(f"{what}. {_HINT}\n{_stack_text(attempt, blocked)}", "warning")
    seconds = round(seconds, 1)
    log.warning("a pack blocked the server", **_names(attempt), place=blocked.place, seconds=seconds, hint=_HINT)
