"""Waiting for a run within one call, telling how far it is.

A call never waits longer than 50 s, since clients cut one that is silent for 60 s; while it waits, whoever asked for
progress is told at least every 10 s, which makes the patient ones wait longer. Nothing here touches the run: a call
that is cancelled, or whose connection breaks, ends its wait and no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

#: Seconds between two words about progress; at least every 10.
TELL_SECONDS: Final = 5.0
#: The first wait is short, so that something is told early.
FIRST_SECONDS: Final = 2
#: The tool that does what can be done with a run.
ACTION_TOOLS: Final = {
    "RESUME": "resume_run",
    "RERUN": "rerun_run",
    "CANCEL": "cancel_run",
    "PROMOTE": "promote_run",
}
#: What has to change before a run goes on whose failure is not one that passes by itself, by what can be done with it.
_CHANGE: Final = {
    "RESUME": "The same again fails alike. Do what failure.hint says, or give changed `inputs` or `step_input`.",
    "RERUN": "The same again fails alike. Do what failure.hint says, or give changed `inputs`.",
}
#: The tool that runs what is recommended, by its kind.
_RUNS: Final = {"PIPELINE": "run_pipeline", "PACK": "run_pack"}
FINAL_STATES: Final = frozenset({"SUCCEEDED", "FAILED", "CANCELLED"})

#: Told a fraction from 0 to 1 that always grows, and a line for people.
Progress = Callable[[float, str], Awaitable[None]]
#: Waits for a run some seconds: the answer of wait_run.
WaitOnce = Callable[[int], Awaitable[dict[str, Any]]]


def possible(actions: Iterable[str], shown: Container[str]) -> list[str]:
    """The actions of a run that a caller with these tools can take."""
    return [action for action in actions if ACTION_TOOLS.get(action) in shown]


async def waited(
    run: dict[str, Any], seconds: float, wait_once: WaitOnce, progress: Progress | None, ending: asyncio.Event | None
) -> dict[str, Any]:
    """The run once it has ended, or as it is when time is up; with what `RunParts` of the documents selects.

    Args:
        run: As it is now.
        seconds: Longest wait.
        wait_once: Waits once.
        progress: Told while it waits, if anybody is.
        ending: Once it is set, time is up.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    told = _Told(progress)
    while run.get("state") not in FINAL_STATES:
        await told.tell(run)
        left = until - loop.time()
        if left < 1 or (ending is not None and ending.is_set()):
            break
        run = await hurried(wait_once, max(1, int(min(left, TELL_SECONDS))), ending)
    return run


async def hurried(wait_once: WaitOnce, seconds: int, ending: asyncio.Event | None) -> dict[str, Any]:
    """The answer of a wait, asked again without waiting once `ending` is set."""
    if ending is None:
        return await wait_once(seconds)
    if not ending.is_set():
        waiting, ended = asyncio.ensure_future(wait_once(seconds)), asyncio.ensure_future(ending.wait())
        try:
            await asyncio.wait((waiting, ended), return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
        finally:
            for task in (waiting, ended):
                task.cancel()
            await asyncio.gather(waiting, ended, return_exceptions=True)
    return await wait_once(0)


class _Told:
    """Keeps the fractions growing, as the protocol asks."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._last = 0.0

    async def tell(self, run: Mapping[str, Any]) -> None:
        if self._progress is None:
            return
        step = run.get("current_step")
        alone = step if step and "pack" in run else {}  # a single pack's run has this one step
        done = max(float(run.get("progress") or 0.0), float(alone.get("progress") or 0.0))
        self._last = max(done, self._last + 1e-4)
        state = str(run.get("state", "")).lower()
        line = f"{state}: step {step['key']}" if step else state
        if step and step.get("progress"):
            line = f"{line}, {step['progress']:.0%}"
        wait = run.get("wait")
        if wait:
            line = f"{line}, {wait['message']}"
        await self._progress(min(self._last, 0.9999), excerpt(line, 200))


def next_of(run: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call that goes on with a run: waiting while it is under way, resuming once it failed.

    Where the same again would fail alike, `first` says what has to change before it.
    """
    run_id, state = run.get("run_id"), run.get("state")
    if run_id is None or state is None:
        return None
    if state not in FINAL_STATES:
        return {"tool": "wait_run", "arguments": {"run_id": run_id, "wait_seconds": 45}}
    if state != "FAILED":
        return None
    actions = run.get("actions", ())
    for action in ("RESUME", "RERUN"):
        if action in actions:
            following = {"tool": ACTION_TOOLS[action], "arguments": {"run_id": run_id}}
            failure = run.get("failure")
            if failure and failure.get("retryable") is False:
                following["first"] = _CHANGE[action]
            return following
    return None


def next_of_route(route: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call that runs what is recommended for a request; `first` says what has to come before it."""
    best = route["recommendation"]
    tool = _RUNS.get(best["kind"])
    if tool is None or best.get("id") is None:
        return None
    of_kind, takes = best["kind"].lower(), "inputs" if best["kind"] == "PIPELINE" else "input"
    arguments = {of_kind: best["id"], takes: best.get("suggested_inputs") or {}}
    missing = best.get("missing_inputs")
    first = f"Ask the user for {', '.join(missing)}, and have" if missing else "Have"
    return {"tool": tool, "arguments": arguments, "first": f"{first} the {of_kind} and its inputs confirmed."}
