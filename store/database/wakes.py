"""Wake-ups: notifications after a commit that something changed, without the change itself.

`broadcaster` carries them, with a channel for each topic. They hold only an id, and any may be lost: waiters also poll
the store. Wake-ups that nothing in this process waits for are not published: most steps run unwatched, and a wake-up
takes two turns of the event loop.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import structlog
from broadcaster import Broadcast, BroadcastBackend, Event

from store.database.essential_tasks import EssentialTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

log = structlog.get_logger(__name__)

#: Instead of an id: anything of the topic may have changed, for instance because wake-ups were missed.
EVERYTHING = "*"


class Topic(StrEnum):
    """What changed; the comment says what the id refers to."""

    RUN = "run"  # a run
    RUN_DUE = "run_due"  # a run
    RUN_DUE_FIRST = "run_due_first"  # a run that was claimed before
    NEEDS = "needs"  # no id: what a run needs, which none of this process needed before
    RUN_CANCELLING = "run_cancelling"  # a run
    RUN_ENDED = "run_ended"  # a run
    RUN_DELETED = "run_deleted"  # a run
    OUTPUT = "output"  # an attempt
    TOKEN_REVOKED = "token_revoked"
    CALLER_DISABLED = "caller_disabled"
    VAULT = "vault"
    MCP_TOOLS = "mcp_tools"
    WORKER = "worker"  # a worker: it is drained, or no longer
    TRIGGERS = "triggers"  # a trigger whose next firing changed
    TRIGGERS_DUE = "triggers_due"  # a run that ended, and that triggers may fire for


Wake: TypeAlias = "tuple[Topic, str]"


class LocalBackend(BroadcastBackend):
    """Delivers what this process publishes to this process; Broadcast itself drops what has no subscriber."""

    def __init__(self) -> None:
        self._published: asyncio.Queue[Event] = asyncio.Queue()
        self._wanted: dict[str, list[Callable[[str], bool]]] = {}

    async def connect(self) -> None:
        """Do nothing: there is nothing to connect to."""

    async def disconnect(self) -> None:
        """Do nothing."""

    async def subscribe(self, channel: str) -> None:
        """Do nothing: every channel is delivered."""

    async def unsubscribe(self, channel: str) -> None:
        """Do nothing."""

    async def publish(self, channel: str, message: Any) -> None:  # noqa: ANN401 - broadcaster's
        self.publish_soon(channel, message)

    def publish_soon(self, channel: str, message: str) -> None:
        """Publish in this process if a listener wants it, without waiting."""
        if any(wants(message) for wants in self._wanted.get(channel, ())):
            self._published.put_nowait(Event(channel, message))

    def want(self, channel: str, wants: Callable[[str], bool]) -> None:
        """Publish messages of a channel that a listener wants."""
        self._wanted.setdefault(channel, []).append(wants)

    def announce(self, woken: Iterable[Wake]) -> None:
        """Publish the wake-ups of a commit."""
        for topic, id in woken:
            self.publish_soon(topic, id)

    async def next_published(self) -> Event:
        """Wait for a wake-up."""
        return await self._published.get()


class Wakes:
    """Publishes the wake-ups of commits and calls listeners, on the event loop.

    Args:
        backend: Reaches other processes; without one, wake-ups stay in this process.
    """

    def __init__(self, backend: LocalBackend | None = None) -> None:
        self._backend = backend or LocalBackend()
        self._broadcast = Broadcast(backend=self._backend)
        self._tasks: list[EssentialTask] = []
        self._started = False

    async def start(self) -> None:
        """Start delivering wake-ups."""
        self._started = True
        await self._broadcast.connect()

    async def stop(self) -> None:
        """Stop delivering; a second call does nothing."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            await task.stop()
        if self._started:
            self._started = False
            await self._broadcast.disconnect()

    def committed(self, woken: Iterable[Wake]) -> None:
        """Publish the wake-ups of a commit."""
        self._backend.announce(woken)

    def listen(
        self, topic: Topic, listener: Callable[[str], None], wants: Callable[[str], bool] = lambda _: True
    ) -> None:
        """Call `listener(id)` after each commit with a wake-up of the topic; the id may be `EVERYTHING`.

        Args:
            topic: The topic to listen for.
            listener: Called also with ids it does not want, because other listeners may.
            wants: Whether the listener has a use for an id now.
        """
        self._backend.want(topic, wants)
        self._tasks.append(EssentialTask(self._listen(topic, listener), f"packline-wakes-{topic}"))

    async def _listen(self, topic: Topic, listener: Callable[[str], None]) -> None:
        async with self._broadcast.subscribe(topic) as subscriber:
            while True:
                event = await subscriber.get()
                try:
                    listener(event.message)
                except Exception:
                    log.exception("a wake-up listener failed", topic=topic)
