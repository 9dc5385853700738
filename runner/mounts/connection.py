"""The connection to one MCP server, which reconnects by itself.

A single task enters and leaves the client, because its cancel scopes must not cross tasks; any task may call. A broken
connection is re-established after a growing, jittered wait. Importing the `mcp` library takes about a second, so it is
done in a thread.
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

#: First and longest wait before reconnecting, in seconds.
RETRY_SECONDS = (0.2, 30.0)
#: Most pages of a tool list that are read.
TOOL_PAGES = 50
#: Lines of a server's standard error that are kept.
STDERR_LINES = 50
#: Bytes of each line that are kept.
LINE_BYTES = 16 * 1024
#: Longest description of an error.
ERROR_CHARACTERS = 1000
_LAUNCHER = Path(__file__).with_name("launcher.py")
#: Variables that a server's process inherits; `mcp` itself would pass on more.
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ")
_HTTP_BYTES = 64 << 20

State = Literal["connecting", "connected", "stopped"]


class Connection:
    """The connection to one server.

    Args:
        spec: The server's configuration.
        folder: HOME and working directory of the server's process.
        egress: Makes the HTTP client; the server's own address may be private.
        secrets: Returns environment and bearer token from the vault; called for each connection.
        on_tools: Called with the tools after each connection and change.

    Attributes:
        state: Whether it is connected.
        last_error: The last error.
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
        self._stderr_lines: deque[str] = deque(maxlen=STDERR_LINES)

    def start(self) -> None:
        """Start to connect, unless the configuration has a problem; a second call does nothing."""
        if self._task is None and self.spec.problem is None:
            self.state = "connecting"
            self._task = asyncio.create_task(self._run(), name=f"mcp:{self.spec.key}")

    async def stop(self) -> None:
        """End the connection and the server's process; does nothing before `start` or when called again."""
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
        """Call a tool; return its result, which may be a refusal.

        Raises:
            PackError: `upstream_unavailable` when there is no connection, otherwise as `failure_of` converts the error.
        """
        async with self._slots:
            try:
                async with asyncio.timeout(self.spec.start_seconds):
                    await self._ready.wait()
            except TimeoutError:
                raise PackError(
                    FailureCode.UPSTREAM_UNAVAILABLE,
                    f"MCP server {self.spec.key} is not connected: {self.last_error or 'it is still starting'}",
                    hint="Check the server: `packline doctor` shows its state.",
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
                    self._ready.clear()  # at once, so that the next call waits for a new connection
                    self._lost.set()
                raise failure_of(self.spec.key, tool, error) from error

    async def _run(self) -> None:
        """Connect, serve until the connection breaks, reconnect."""
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
            except BaseException as error:  # a server may fail in any way, also with exception groups
                self.last_error = self._description_of(error)
                log.warning("an MCP server cannot be reached", server=self.spec.key, error=self.last_error)
            finally:
                if self.connected_at is not None and loop.time() - began > longest:
                    wait = shortest  # it worked for long, so this is a new failure
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
                    message_handler=self._on_message,
                    cache=None,
                )
                await stack.enter_async_context(client)
                # Subscribe before the list is read, so that no change in between is missed.
                subscribed = asyncio.Event()
                listening = asyncio.create_task(self._listen(client, subscribed))
                stack.callback(listening.cancel)
                await subscribed.wait()
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

    async def _listen(self, client: Any, subscribed: asyncio.Event) -> None:  # noqa: ANN401 - mcp is imported late
        """Subscribe to changes of tools on servers of protocol 2026, which send no notifications unasked."""
        from mcp.client.subscriptions import ListenNotSupportedError

        try:
            if not getattr(client.server_capabilities.tools, "list_changed", False):
                return
            async with client.listen(tools_list_changed=True) as events:
                subscribed.set()
                async for _ in events:
                    self._changed.set()
        except ListenNotSupportedError:
            return  # a server of protocol 2025: `_on_message` gets its notifications
        except Exception as error:
            log.info("changes of an MCP server's tools cannot be subscribed to", server=self.spec.key, error=str(error))
        finally:
            subscribed.set()

    async def _on_message(self, message: Any) -> None:  # noqa: ANN401 - `mcp` is imported late
        from mcp import types

        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()
        elif isinstance(message, Exception):
            log.debug("an MCP server sent an invalid message", server=self.spec.key, error=repr(message))

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
        with _Stderr(self._stderr_lines) as stderr:
            async with stdio_client(parameters, errlog=stderr) as streams:
                yield streams

    def _description_of(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        words = str(error) or type(error).__name__
        if isinstance(error, TimeoutError):
            words = f"it did not answer within {self.spec.start_seconds:g} s"
        # Masked together with the lines before it: the last line may be part of a multi-line secret.
        last_line = str(quoted("\n".join(self._stderr_lines).rstrip())).rpartition("\n")[2]
        return excerpt(f"{words} (its last output: {last_line})" if last_line else words, ERROR_CHARACTERS)


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
            # In blocks, so that a line without an end does not fill the memory. Only the first block of a line is
            # kept: the next may begin in the middle of a secret.
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
