"""Records progress and log lines of a running attempt."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson
import structlog

from runner.excerpts import plain_text
from runner.watching.bus import wait_flag
from store.database.errors import StoreError
from store.runs.claimed_run import record_progress
from store.runs.logs import MAX_BYTES, MAX_LINES, append_log_lines
from store.runs.unit_types import LostLeaseError

if TYPE_CHECKING:
    from runner.failures import JSONValue
    from runner.packs.context import LogLevel
    from runner.running.resources import Resources
    from store.runs.unit_types import Fence

log = structlog.get_logger(__name__)

#: Progress of one attempt is recorded at most this often.
PROGRESS_SECONDS = 0.2
#: Log lines are gathered for this long before they are stored.
LOG_SECONDS = 0.5
#: Longest message of a milestone, in characters.
MESSAGE_CHARACTERS = 500
#: Milestones a step keeps.
MILESTONES = 100


class ProgressReporter:
    """Buffers progress and log lines of an attempt, redacts them, and stores them a few times a second."""

    def __init__(self, resources: Resources, fence: Fence, step_id: str, attempt_id: str) -> None:
        self._resources = resources
        self._fence = fence
        self._step_id = step_id
        self._attempt_id = attempt_id
        self._milestones: list[dict[str, JSONValue]] = []
        self._unsaved: dict[str, JSONValue] | None = None
        self._lines: list[tuple[datetime, str, str]] = []
        self._logged_lines = self._logged_characters = 0
        self._closing: asyncio.Event | None = None
        self._is_closed = False
        self._progress_task: asyncio.Task[None] | None = None
        self._log_task: asyncio.Task[None] | None = None

    def progress(self, fraction: float | None, message: str) -> None:
        """Report how far along the step is."""
        if fraction is not None:
            fraction = min(1.0, max(0.0, float(fraction)))
            if math.isnan(fraction):
                fraction = None
        milestone: dict[str, JSONValue] = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "fraction": fraction,
            "message": self._resources.redactor.excerpt(plain_text(message), MESSAGE_CHARACTERS),
        }
        self._unsaved = milestone
        if self._progress_task is None:
            self._progress_task = asyncio.create_task(self._save_progress())

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Add lines to the attempt's log; lines beyond its limits are dropped."""
        if self._logged_lines > MAX_LINES or self._logged_characters > MAX_BYTES:
            return
        now = datetime.now(UTC)
        text = self._resources.redactor.excerpt(plain_text(message), 2 * MAX_BYTES, ending="")
        lines = (text.splitlines() or [""])[: MAX_LINES + 1 - self._logged_lines]
        self._logged_lines += len(lines)
        self._logged_characters += len(text)
        self._lines.extend((now, level, line) for line in lines)
        if self._log_task is None:
            self._log_task = asyncio.create_task(self._save_log())

    def finish(self) -> bool:
        """Accept nothing more; return whether `close` still has something to store."""
        self._is_closed = True
        return self._progress_task is not None or self._log_task is not None

    async def close(self) -> None:
        """Store what is still buffered.

        Writes under way are awaited, never cancelled: on PostgreSQL they could otherwise commit after the settled
        attempt.
        """
        self._is_closed = True
        if self._closing is not None:
            self._closing.set()
        for task in (self._progress_task, self._log_task):
            if task is not None:
                await task

    async def _pause(self, seconds: float) -> None:
        """Wait, or return early on `close`."""
        if self._closing is None:
            self._closing = asyncio.Event()
            if self._is_closed:
                self._closing.set()
        await wait_flag(self._closing, seconds)

    async def _save_progress(self) -> None:
        try:
            while self._unsaved is not None:
                await self._flush_progress()
                await self._pause(PROGRESS_SECONDS)
        except LostLeaseError:
            return  # the worker notices at its next write
        except StoreError as error:
            log.warning("progress could not be recorded", run=self._fence.run_id, error=str(error))
        finally:
            self._progress_task = None

    async def _flush_progress(self) -> None:
        milestone, self._unsaved = self._unsaved, None
        if milestone is None:
            return
        self._milestones = [*self._milestones[1 - MILESTONES :], milestone]
        fraction = milestone["fraction"]
        assert fraction is None or isinstance(fraction, float), "set by `progress`"
        await self._resources.store.write_few(
            record_progress,
            self._fence,
            self._step_id,
            fraction,
            orjson.dumps(self._milestones).decode(),
            orjson.dumps(milestone).decode(),
        )

    async def _save_log(self) -> None:
        try:
            while self._lines:
                await self._pause(LOG_SECONDS)
                await self._flush_log()
        except StoreError as error:
            log.warning("log lines could not be stored", run=self._fence.run_id, error=str(error))
        finally:
            self._log_task = None

    async def _flush_log(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            await self._resources.store.write(append_log_lines, self._attempt_id, lines)
