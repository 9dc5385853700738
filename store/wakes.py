"""Wake-ups: after a commit, tell who waits that something changed, never what.

`broadcaster` carries them, a channel for each topic. They hold an id and nothing else, and all of them may be lost: who
waits reads the store again after a while anyway.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

import structlog
from broadcaster import Broadcast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from broadcaster import BroadcastBackend

log = structlog.get_logger(__name__)

#: In place of an id: anything of the topic may have changed, for instance because wake-ups were missed.
EVERYTHING = "*"


class Topic(StrEnum):
    """What changed; the comment says what the id is of."""

    RUN = "run"  # a run
    RUN_DUE = "run_due"  # a run
    RUN_DUE_FIRST = "run_due_first"  # a run that was under way before
    RUN_CANCELLING = "run_cancelling"  # a run
    RUN_ENDED = "run_ended"  # a run
    RUN_DELETED = "run_deleted"  # a run
    SLOT_FREE = "slot_free"  # a caller
    OUTPUT = "output"  # an attempt
    TOKEN_REVOKED = "token_revoked"
    VAULT = "vault"
    MCP_TOOLS = "mcp_tools"


Wake: TypeAlias = "tuple[Topic, str]"


class Wakes:
    """Publishes what commits woke and calls those who listen, on the event loop.

    Args:
        backend: Reaches other processes; without one, wake-ups stay in this process.
    """

    def __init__(self, backend: BroadcastBackend | None = None) -> None:
        self._broadcast = Broadcast("memory://") if backend is None else Broadcast(backend=backend)
        self._committed: asyncio.Queue[Iterable[Wake]] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begins to carry wake-ups."""
        await self._broadcast.connect()
        self._tasks.append(asyncio.create_task(self._publish(), name="packline-wakes"))

    async def stop(self) -> None:
        """Carries nothing more. A second call does nothing."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._broadcast.disconnect()

    def committed(self, woken: Iterable[Wake]) -> None:
        """Publishes, soon, what a commit woke."""
        self._committed.put_nowait(woken)

    def listen(self, topic: Topic, listener: Callable[[str], None]) -> None:
        """Calls `listener(id)` after each commit that woke an id of the topic; the id may be `EVERYTHING`."""
        self._tasks.append(asyncio.create_task(self._listen(topic, listener), name=f"packline-wakes-{topic}"))

    async def _publish(self) -> None:
        while True:
            for topic, id in await self._committed.get():
                await self._broadcast.publish(topic, id)

    async def _listen(self, topic: Topic, listener: Callable[[str], None]) -> None:
        async with self._broadcast.subscribe(topic) as subscriber:
            while True:
                event = await subscriber.get()
                try:
                    listener(event.message)
                except Exception:
                    log.exception("a wake-up listener failed", topic=topic)
