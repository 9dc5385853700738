"""Limits how many runs this process executes at once."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import TypeAlias

    from store.runs.unit_types import NotClaimed

    #: Executes a run as far as it goes; returns why it did not, or None when it did.
    Work: TypeAlias = Coroutine[Any, Any, NotClaimed | None]

log = structlog.get_logger(__name__)


class Lanes:
    """The runs that this process is executing, each in a task.

    Args:
        count: Number of lanes. `begin` does not check that one is free.
        left: Called when a run leaves its lane, with its id and the result of its work.
        freed: Called after `left`, when the lane is free again.

    Attributes:
        tasks: The tasks that execute runs.
    """

    def __init__(
        self, count: int, *, left: Callable[[str, NotClaimed | None], None], freed: Callable[[], None]
    ) -> None:
        self.count = count
        self.tasks: set[asyncio.Task[None]] = set()
        self._handled: set[str] = set()
        self._left = left
        self._freed = freed

    @property
    def free(self) -> int:
        """How many more runs may begin."""
        return self.count - len(self.tasks)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._handled

    def begin(self, run_id: str, work: Work) -> None:
        """Execute a run's work in a lane; the run must not be in one already."""
        self._handled.add(run_id)
        # A fresh context: the work is not part of the request that submits the run.
        task = asyncio.create_task(self._handle(run_id, work), name=f"packline-{run_id}", context=contextvars.Context())
        self.tasks.add(task)
        task.add_done_callback(self._done)

    async def _handle(self, run_id: str, work: Work) -> None:
        refusal: NotClaimed | None = None
        try:
            refusal = await work
        finally:
            self._handled.discard(run_id)
            self._left(run_id, refusal)

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("handling a run failed; the rescue will find it again", run=task.get_name(), exc_info=error)
        self._freed()
