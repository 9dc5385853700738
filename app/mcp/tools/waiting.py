"""Waiting for a run within one call, with reports of progress.

A call waits at most 50 s, because clients give up on one that is silent for 60 s. Clients that ask for progress get it
at least every 10 s, which makes some of them wait longer. Nothing here touches the run: a call that is cancelled, or
whose connection breaks, only ends its wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from resolvers.tools import WAIT_SECONDS_MAX
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

#: Interval of progress reports; at most 10.
PROGRESS_SECONDS: Final = 5.0
#: The first wait is short, so that progress is reported early.
FIRST_SECONDS: Final = 2
#: The tool for each action of a run.
ACTION_TOOLS: Final = {
    "RESUME": "resume_run",
    "RERUN": "rerun_run",
    "CANCEL": "cancel_run",
    "PROMOTE": "promote_run",
}
#: What to change before repeating a run whose failure is not transient, by action.
_CHANGE: Final = {
    "RESUME": "Unchanged, it fails again. Do what failure.hint says, or pass changed `inputs` or `step_input`.",
    "RERUN": "Unchanged, it fails again. Do what failure.hint says, or pass changed `inputs`.",
}
#: What comes before repeating a step that may already have changed an external system.
_ASK: Final = (
    "Ask the user: the step may already have changed an external system, and repeating it may change it a second time."
)
#: The tool that runs a recommendation, by its kind.
_RUNS: Final = {"PIPELINE": "run_pipeline", "PACK": "run_pack"}
FINAL_STATES: Final = frozenset({"SUCCEEDED", "FAILED", "CANCELLED"})

#: Receives a fraction from 0 to 1 that always grows, and a line for people.
Progress = Callable[[float, str], Awaitable[None]]
#: Waits some seconds for a run and returns the answer of wait_run.
WaitOnce = Callable[[int], Awaitable[dict[str, Any]]]


def possible(actions: Iterable[str], shown: Container[str]) -> list[str]:
    """The actions of a run that a caller with these tools can take."""
    return [action for action in actions if ACTION_TOOLS.get(action) in shown]


async def wait_for_run(
    run: dict[str, Any], seconds: float, wait_once: WaitOnce, progress: Progress | None, ending: asyncio.Event | None
) -> dict[str, Any]:
    """Wait until the run has ended or time is up, and return its last answer.

    Args:
        run: The run as it is now.
        seconds: Longest wait.
        wait_once: Waits once.
        progress: Receives the progress, if the client asked for it.
        ending: Ends the wait once it is set.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    reporter = _Reporter(progress)
    while run.get("state") not in FINAL_STATES:
        await reporter.report(run)
        left = until - loop.time()
        if left < 1 or (ending is not None and ending.is_set()):
            break
        run = await wait_or_end(wait_once, max(1, int(min(left, PROGRESS_SECONDS))), ending)
    return run


async def wait_or_end(wait_once: WaitOnce, seconds: int, ending: asyncio.Event | None) -> dict[str, Any]:
    """Wait once; when `ending` is set, cancel that and ask again without waiting."""
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


class _Reporter:
    """Report fractions that always grow, as the protocol requires."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._last = 0.0

    async def report(self, run: Mapping[str, Any]) -> None:
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
    """The next call for a run: wait while it is active, resume or rerun it after a failure.

    `first` says what to do before: come back later if the run waits for a time beyond any call's wait, ask the user if
    an external change may happen a second time, and change something if an unchanged run would fail again.
    """
    run_id, state = run.get("run_id"), run.get("state")
    if run_id is None or state is None:
        return None
    if state not in FINAL_STATES:
        waiting: dict[str, Any] = {"tool": "wait_run", "arguments": {"run_id": run_id, "wait_seconds": 45}}
        until = (run.get("wait") or {}).get("until")
        longest = datetime.now(UTC) + timedelta(seconds=WAIT_SECONDS_MAX)
        if until is not None and datetime.fromisoformat(until) > longest:
            waiting["first"] = f"The run waits until {until}. Come back then."
        return waiting
    if state != "FAILED":
        return None
    actions = run.get("actions", ())
    for action in ("RESUME", "RERUN"):
        if action in actions:
            following = {"tool": ACTION_TOOLS[action], "arguments": {"run_id": run_id}}
            failure = run.get("failure") or {}
            asked = _ASK if failure.get("safe_to_repeat") is False else None
            changed = _CHANGE[action] if failure.get("retryable") is False else None
            if first := " ".join(filter(None, (asked, changed))):
                following["first"] = first
            return following
    return None


def next_of_route(route: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call that runs the recommendation for a request; `first` says what to do before."""
    best = route["recommendation"]
    tool = _RUNS.get(best["kind"])
    if tool is None or best.get("id") is None:
        return None
    of_kind, takes = best["kind"].lower(), "inputs" if best["kind"] == "PIPELINE" else "input"
    arguments = {of_kind: best["id"], takes: best.get("suggested_inputs") or {}}
    missing = best.get("missing_inputs")
    first = f"Ask the user for {', '.join(missing)}, and have" if missing else "Have"
    return {"tool": tool, "arguments": arguments, "first": f"{first} the user confirm the {of_kind} and its inputs."}
