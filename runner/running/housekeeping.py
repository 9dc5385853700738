"""What a server tidies up while it runs: ended sessions, and what retention lets go."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import structlog

from runner.agents.workspace import remove_folder
from store.database.engine import StoreClosedError, StoreError
from store.maintenance.retention import Swept, sweep
from store.runs.sessions import end_expired_sessions, ended_or_unknown
from store.runs.step_reads import find_attempts
from store.states import AttemptState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from runner.running.resources import Resources

log = structlog.get_logger(__name__)

#: Between two looks at what retention lets go.
RETENTION_SECONDS = 600.0
#: Before the first look at anything: a start is not held up, and servers that never live long tidy up, too.
FIRST_SECONDS = 60.0


class Housekeeping:
    """Tidies up in the background; started by `start`, ended by `stop`."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    async def start(self) -> None:
        """Starts to tidy up; a second call does nothing."""
        if not self._tasks:
            limits = self._resources.limits
            self._tasks = (
                asyncio.create_task(
                    self._repeat(self.sweep_sessions, limits.session_sweep_seconds), name="packline-janitor"
                ),
                asyncio.create_task(
                    self._repeat(self.sweep_workspaces, limits.session_sweep_seconds), name="packline-workspaces"
                ),
                asyncio.create_task(self._repeat(self.sweep_retention, RETENTION_SECONDS), name="packline-retention"),
            )

    async def stop(self) -> None:
        """Ends the work; harmless twice and before `start`."""
        tasks, self._tasks = self._tasks, ()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def sweep_sessions(self) -> int:
        """Ends sessions that nobody will use any more and removes folders without a living session; how many."""
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
        """Removes runs, artifacts, audit rows and cached values whose time is over; how many runs."""
        swept = await sweep(self._store, self._resources.blobs, self._resources.retention)
        if swept != Swept():
            log.info("retention let go", **asdict(swept))
        return swept.runs

    async def sweep_workspaces(self) -> int:
        """Removes workspaces of agents whose attempt is over, as after a crash; how many."""
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
                log.warning("tidying up failed; it is tried again", work=work.__name__, error=str(error))
            except Exception:  # nothing may end the tidying up
                log.exception("tidying up failed by a defect; it is tried again", work=work.__name__)


def _folders(folder: Path) -> list[str]:
    with suppress(FileNotFoundError):
        return [entry.name for entry in folder.iterdir() if entry.is_dir()]
    return []
