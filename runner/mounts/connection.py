"""One MCP server, kept connected.

A single task enters and leaves the client, because its cancel scopes must not cross tasks; any task may call. What
breaks is re-established after a growing, jittered wait. The `mcp` library takes about a second to import, so the task
imports it in a thread.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import random
import sys
import threading
from collections import deque
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import structlog

from runner.excerpts import excerpt, quoted
from runner.failures import FailureCode, PackError
from runner.mounts.results import failure_of, is_connection_lost
from runner.mounts.tools import DESCRIPTION_CHARACTERS, Tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from runner.egress.client import Egress
    from runner.failures import JSONValue
    from runner.mounts.spec import MountSpec

log = structlog.get_logger(__name__)

#: First and longest wait before a connection is tried again, in seconds.
RETRY_SECONDS = (0.2, 30.0)
#: Pages of a tool list that are read at most.
TOOL_PAGES = 50
#: What is kept of what a server says on its standard error, in lines.
STDERR_LINES = 50
#: How much is kept of each of them.
LINE_BYTES = 16 * 1024
#: Longest description of what is wrong with a connection.
TOLD_CHARACTERS = 1000
_LAUNCHER = Path(__file__).with_name("launcher.py")
#: Variables of ours that a server's process is given; `mcp` itself would add more of the user's.
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ")
_HTTP_BYTES = 64 << 20

State = Literal["connecting", "connected", "stopped"]


class Connection:
    """A server and the present connection to it.

    Args:
        spec: Which server.
        folder: Its own HOME and working directory.
        egress: Guards an HTTP server's requests; its own origin may be private.
        secrets: Environment and bearer token from the vault, asked for at each connection.
        on_tools: Called with the tools after each connection and change.

    Attributes:
        state: Whether it can be reached.
        last_error: What last went wrong.
        connected_at: When the present connection was made.
    """

    def __init__(
        self,
        spec: MountSpec,
        folder: Path,
        egress: Egress,
        secrets: Callable[[MountSpec], tuple[Mapping[str, str], str | None]],
        on_tools: Callable[[list[Tool]], Awaitable[None]],
    ) -> None:
        self.spec = spec
        self.state: State = "stopped"
        self.last_error: str | None = spec.problem
        self.connected_at: datetime | None = None
        self._folder = folder
        self._egress = egress
        self._secrets = secrets
        self._on_tools = on_tools
        self._client: Any = None
        self._generation = 0
        self._ready = asyncio.Event()
        self._lost = asyncio.Event()
        self._changed = asyncio.Event()
        self._slots = asyncio.Semaphore(spec.concurrency)
        self._task: asyncio.Task[None] | None = None
        self._said: deque[str] = deque(maxlen=STDERR_LINES)

    def start(self) -> None:
        """Begin to connect, unless the server is declared wrongly; harmless twice."""
        if self._task is None and self.spec.problem is None:
            self.state = "connecting"
            self._task = asyncio.create_task(self._own(), name=f"mcp:{self.spec.key}")

    async def stop(self) -> None:
        """End the connection and the server's process; harmless twice and before `start`."""
        task, self._task = self._task, None
        self.state = "stopped"
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def call(
        self,
        tool: str,
        arguments: dict[str, JSONValue],
        on_progress: Callable[[float | None, str], None],
    ) -> Any:  # noqa: ANN401 - `mcp.types.CallToolResult`, imported late
        """Call a tool; what it answers, refusals included.

        Raises:
            PackError: by what went wrong, see `failure_of`; `upstream_unavailable` when there is no connection.
        """
        async with self._slots:
            try:
                async with asyncio.timeout(self.spec.start_seconds):
                    await self._ready.wait()
            except TimeoutError:
                raise PackError(
                    FailureCode.UPSTREAM_UNAVAILABLE,
                    f"MCP server {self.spec.key} is not connected: {self.last_error or 'it is still starting'}",
                    hint="Look at the server; `packline doctor` tells its state.",
                ) from None
            client, generation = self._client, self._generation

            async def progress(done: float, total: float | None, message: str | None) -> None:
                on_progress(done / total if total else None, message or "")

            try:
                return await client.call_tool(
                    tool, arguments, read_timeout_seconds=self.spec.call_seconds, progress_callback=progress
                )
            except Exception as error:
                if is_connection_lost(error) and generation == self._generation:
                    self._ready.clear()  # at once: the next call is to wait for a new connection, not to meet this one
                    self._lost.set()
                raise failure_of(self.spec.key, tool, error) from error

    async def _own(self) -> None:
        """Connects, serves until the connection breaks, and again."""
        shortest, longest = RETRY_SECONDS
        wait = shortest
        await asyncio.to_thread(importlib.import_module, "mcp.client.streamable_http")
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                await self._connect_and_stay()
                wait = shortest
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # a server may fail in any way, groups of exceptions among them
                self.last_error = self._told(error)
                log.warning("an MCP server cannot be reached", server=self.spec.key, error=self.last_error)
            finally:
                if self.connected_at is not None and loop.time() - began > longest:
                    wait = shortest  # it was well for long: what broke it is another matter than before
                self._ready.clear()
                self._client = self.connected_at = None
                if self.state != "stopped":
                    self.state = "connecting"
            await asyncio.sleep(wait * random.uniform(0.5, 1.5))
            wait = min(wait * 2, longest)

    async def _connect_and_stay(self) -> None:
        from mcp import Client

        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self.spec.start_seconds):
                client = Client(
                    self._transport(),
                    read_timeout_seconds=self.spec.call_seconds,
                    message_handler=self._heard,
                    cache=None,
                )
                await stack.enter_async_context(client)
                # Before the list is read: what changes in between is heard of.
                hears = asyncio.Event()
                listening = asyncio.create_task(self._listen(client, hears))
                stack.callback(listening.cancel)
                await hears.wait()
                tools = await self._list(client)
            await self._on_tools(tools)
            self._client, self.last_error = client, None
            self._generation += 1
            self.state, self.connected_at = "connected", datetime.now(UTC)
            self._lost.clear()
            self._ready.set()
            while not self._lost.is_set():
                await _first(self._lost.wait(), self._changed.wait())
                if self._changed.is_set() and not self._lost.is_set():
                    self._changed.clear()
                    await self._on_tools(await self._list(client))

    async def _listen(self, client: Any, hears: asyncio.Event) -> None:  # noqa: ANN401 - mcp is imported late
        """Learn of changed tools from servers of the 2026 era, which do not send notifications unasked."""
        from mcp.client.subscriptions import ListenNotSupportedError

        try:
            if not getattr(client.server_capabilities.tools, "list_changed", False):
                return
            async with client.listen(tools_list_changed=True) as events:
                hears.set()
                async for _ in events:
                    self._changed.set()
        except ListenNotSupportedError:
            return  # it is of the 2025 era and tells `_heard`
        except Exception as error:
            log.info("changes of an MCP server's tools are not heard of", server=self.spec.key, error=str(error))
        finally:
            hears.set()

    async def _heard(self, message: Any) -> None:  # noqa: ANN401 - `mcp` is imported late
        from mcp import types

        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()
        elif isinstance(message, Exception):
            log.debug("an MCP server sent rubbish", server=self.spec.key, error=repr(message))

    async def _list(self, client: Any) -> list[Tool]:  # noqa: ANN401 - mcp is imported late
        found: list[Tool] = []
        cursor = None
        for _ in range(TOOL_PAGES):
            page = await client.list_tools(cursor=cursor)
            found.extend(
                Tool(
                    tool.name,
                    excerpt(tool.description or tool.title or tool.name, DESCRIPTION_CHARACTERS, ending=""),
                    tool.input_schema,
                    tool.output_schema,
                )
                for tool in page.tools
            )
            cursor = page.next_cursor
            if cursor is None:
                break
        wanted = self.spec.tools
        return [tool for tool in found if wanted is None or tool.name in wanted]

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        secret_env, bearer = self._secrets(self.spec)
        if self.spec.url is not None:
            from mcp.client.streamable_http import streamable_http_client

            client = self._egress.client((self.spec.url,), max_bytes=_HTTP_BYTES, total_seconds=86_400, max_redirects=0)
            if bearer is not None:
                client.headers["Authorization"] = f"Bearer {bearer}"
            async with client, streamable_http_client(self.spec.url, http_client=client) as streams:
                yield streams
            return
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        home = {
            "HOME": str(self._folder),
            "USER": "packline",
            "LOGNAME": "packline",
            "SHELL": "/bin/sh",
            "TERM": "dumb",
        }
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-S", str(_LAUNCHER), str(os.getpid()), *self.spec.command],
            env={**inherited, **home, **self.spec.env, **secret_env},
            cwd=self._folder,
        )
        with _Stderr(self._said) as stderr:
            async with stdio_client(parameters, errlog=stderr) as streams:
                yield streams

    def _told(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        words = str(error) or type(error).__name__
        if isinstance(error, TimeoutError):
            words = f"it did not answer within {self.spec.start_seconds:g} s"
        # Masked with the lines before it: its last line may be part of a secret of several.
        said = str(quoted("\n".join(self._said).rstrip())).rpartition("\n")[2]
        return excerpt(f"{words} (it last said: {said})" if said else words, TOLD_CHARACTERS)


class _Stderr:
    """A file for a child's standard error whose last lines are kept."""

    def __init__(self, lines: deque[str]) -> None:
        self._lines = lines

    def __enter__(self) -> Any:  # noqa: ANN401 - a text file
        reader, writer = os.pipe()
        self._writer = os.fdopen(writer, "w")
        threading.Thread(target=self._read, args=(reader,), daemon=True, name="mcp-stderr").start()
        return self._writer

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def _read(self, reader: int) -> None:
        with os.fdopen(reader, "rb") as stream:
            # By blocks, so that a server that never ends its line costs no more memory than one that does. Only the
            # first block of a line is kept: the next may begin in the middle of a secret.
            is_new = True
            while block := stream.readline(LINE_BYTES):
                if is_new:
                    self._lines.append(block.decode("utf-8", "replace").rstrip())
                is_new = block.endswith(b"\n")


async def _first(*waits: Any) -> None:  # noqa: ANN401 - coroutines
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
