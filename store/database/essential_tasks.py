"""Tasks that the server cannot do without: if one ends unasked, the process ends, for its supervisor to restart it.

Otherwise the process would live on without them, such as with the lock of its data folder and without renewing leases.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Coroutine


class EssentialTaskError(SystemExit):
    """An essential task ended; raised on the event loop, which it stops."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class EssentialTask:
    """A task that runs until it returns or `stop` is called.

    If it raises or another part of the program cancels it, the event loop stops with `EssentialTaskError`.

    Args:
        work: Its work; returns only when there is nothing left to do, such as once the store is closed.
        name: Its name, for people.
    """

    def __init__(self, work: Coroutine[object, object, None], name: str) -> None:
        self._name = name
        self._task = asyncio.create_task(work, name=name)
        self._task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Cancel it and wait for its end."""
        self._task.remove_done_callback(self._ended)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            raise EssentialTaskError(f"the task {self._name} was cancelled")
        if (error := task.exception()) is not None:
            raise EssentialTaskError(f"the task {self._name} raised {type(error).__name__}") from error
