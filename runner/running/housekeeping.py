"""Background cleanup: ended sessions, workspaces of finished attempts, and data past its retention."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import structlog

from runner.agents.workspace import remove_folder
from store.database.errors import StoreClosedError, StoreError
from store.database.essential_tasks import EssentialTask
from store.maintenance.retention import Swept, sweep
from store.runs.sessions import end_expired_sessions, ended_or_unknown
from store.runs.step_reads import find_attempts
from store.states import AttemptState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from runner.running.resources import Resources

log = structlog.get_logger(__name__)

#: Interval of the retention sweep.
RETENTION_SECONDS = 600.0
#: Delay before the first sweep: startup is not slowed down, and short-lived servers still clean up.
FIRST_SECONDS = 60.0


class Housekeeping:
    """Cleans up in the background."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store
        self._tasks: tuple[EssentialTask, ...] = ()

    async def start(self) -> None:
        """Start the sweeps; a second call does nothing."""
        if not self._tasks:
            limits = self._resources.limits
            self._tasks = (
                EssentialTask(self._repeat(self.sweep_sessions, limits.session_sweep_seconds), "packline-janitor"),
                EssentialTask(self._repeat(self.sweep_workspaces, limits.session_sweep_seconds), "packline-workspaces"),
                EssentialTask(self._repeat(self.sweep_retention, RETENTION_SECONDS), "packline-retention"),
            )

    async def stop(self) -> None:
        """Stop the sweeps; safe to call twice and before `start`."""
        tasks, self._tasks = self._tasks, ()
        for task in tasks:
            await task.stop()

    async def sweep_sessions(self) -> int:
        """End expired sessions and remove folders without a live session; return how many folders."""
        limits = self._resources.limits
        await self._store.write(end_expired_sessions, self._store.machine, idle_seconds=limits.session_idle_seconds)
        folder = self._resources.sessions_folder
        names = await asyncio.to_thread(_folders, folder)
        if not names:
            return 0
        dead = await ended_or_unknown(self._store, names)
        for name in dead:
            await asyncio.to_thread(remove_folder, folder / name)
        return len(dead)

    async def sweep_retention(self) -> int:
        """Remove runs, artifacts, audit rows and cached values past their retention; return how many runs."""
        swept = await sweep(self._store, self._resources.blobs, self._resources.retention)
        if swept != Swept():
            log.info("retention removed data", **asdict(swept))
        return swept.runs

    async def sweep_workspaces(self) -> int:
        """Remove agent workspaces whose attempt is over, as after a crash; return how many."""
        folder = self._resources.agents.folder
        names = await asyncio.to_thread(_folders, folder)
        if not names:
            return 0
        found = await find_attempts(self._store, names)
        over = [name for name in names if name not in found or found[name].state is not AttemptState.RUNNING]
        for name in over:
            await asyncio.to_thread(remove_folder, folder / name)
        return len(over)

    async def _repeat(self, work: Callable[[], Awaitable[int]], seconds: float) -> None:
        pause = min(seconds, FIRST_SECONDS)
        while True:
            await asyncio.sleep(pause)
            pause = seconds
            try:
                await work()
            except StoreClosedError:
                return
            except (StoreError, OSError) as error:
                log.warning("cleanup failed and will be retried", work=work.__name__, error=str(error))
            except Exception:  # no error may end the sweeps
                log.exception("cleanup failed because of a bug and will be retried", work=work.__name__)


def _folders(folder: Path) -> list[str]:
    with suppress(FileNotFoundError):
        return [entry.name for entry in folder.iterdir() if entry.is_dir()]
    return []
