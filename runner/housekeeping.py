"""What a server tidies up while it runs: ended sessions every half minute, what retention lets go every ten."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

from store.engine import StoreClosedError, StoreError
from store.sessions import end_session, ended_or_unknown, expired_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from runner.resources import Resources

log = structlog.get_logger(__name__)

#: Between two looks at sessions (CONTRACT 2.6).
JANITOR_SECONDS = 30.0


class Housekeeping:
    """Tidies up in the background; started by `start`, ended by `stop`."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Starts to tidy up; a second call does nothing."""
        if self._task is None:
            self._task = asyncio.create_task(self._janitor(), name="packline-janitor")

    async def stop(self) -> None:
        """Ends the work; harmless twice and before `start`."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def sweep_sessions(self) -> int:
        """Ends sessions that nobody will use any more and removes folders without a living session; how many."""
        limits = self._resources.limits
        async with self._store.read() as connection:
            expired = await expired_sessions(
                connection, self._store.machine, datetime.now(UTC), idle_seconds=limits.session_idle_seconds
            )
        for session in expired:
            await self._store.write(end_session, session.id)
        folder = self._resources.sessions_folder
        names = await asyncio.to_thread(_folders, folder)
        if not names:
            return 0
        async with self._store.read() as connection:
            dead = await ended_or_unknown(connection, names)
        for name in dead:
            await asyncio.to_thread(shutil.rmtree, folder / name, ignore_errors=True)
        return len(dead)

    async def _janitor(self) -> None:
        while True:
            try:
                await self.sweep_sessions()
            except StoreClosedError:
                return
            except (StoreError, OSError) as error:
                log.warning("sessions could not be tidied up", error=str(error))
            await asyncio.sleep(JANITOR_SECONDS)


def _folders(folder: Path) -> list[str]:
    with suppress(FileNotFoundError):
        return [entry.name for entry in folder.iterdir() if entry.is_dir()]
    return []
