"""Real `packline up` processes that share a database, and packs a test holds by the hand.

async with held_calls() as calls:
    servers = Fleet(tmp_path, url, calls)
    a, b = await servers.up("a"), await servers.up("b")
    …                                   # start a run of `held.step` on a
    call = await calls.next(step="first")
    assert call.server == "a"
    a.kill()
    call = await calls.next(step="first", attempt=2)
    call.go()
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.databases import prepare_sqlite
from tests.support.forks import AsyncFork, async_fork
from tests.support.graphql_client import PATIENCE_SECONDS, GraphQLClient, GraphQLSocket
from tests.support.ports import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

#: What the administrator presents to every server.
ADMIN_TOKEN = "pkl_test_administrator_token"
#: The packs of `calls`: `held.step`, `held.quick`, `held.session` …
PACKS = Path(__file__).parents[1] / "faults" / "folder"
_RUNNING = re.compile(r"Packline (is|worker \S+ is) running")
_COMMAND = (sys.executable, "-c", "from app.cli import main; main()")


# -- calls of packs ----------------------------------------------------------------------------------------


@dataclass(eq=False)
class Call:
    """A call of a held pack; see `tests/faults/folder`.

    Attributes:
        ended: Set once the handler has ended, was cancelled or died with its process.
        taken: Whether `Calls.next` has given it to the test.
        let_go: Whether the test has let it end.
    """

    server: str
    run: str
    step: str
    attempt: int
    key: str
    text: str
    hold: bool
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    taken: bool = False
    let_go: bool = False
    _writer: asyncio.StreamWriter | None = None

    @property
    def is_held(self) -> bool:
        """Whether its handler certainly still runs."""
        return not self.let_go and not self.ended.is_set()

    def go(self) -> None:
        """Lets it end."""
        assert self._writer is not None
        self.let_go = True
        self._writer.write(b"go\n")


class Calls:
    """All calls of held packs, on whichever server, oldest first."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.log: list[Call] = []
        self._news = asyncio.Condition()
        self._open: set[asyncio.Task[None]] = set()

    def of(self, run: str, step: str | None = None) -> list[Call]:
        """The calls of a run, or of one of its steps."""
        return [call for call in self.log if call.run == run and step in (None, call.step)]

    def held(self) -> list[Call]:
        """The calls whose handler certainly runs now."""
        return [call for call in self.log if call.is_held]

    async def next(self, *runs: str, **wanted: object) -> Call:
        """The oldest call of these runs that nobody has taken and that is as wanted; waits for it."""

        def found() -> Call | None:
            for call in self.log:
                if not call.taken and call.run in runs and _is_like(call, wanted):
                    return call
            return None

        async with asyncio.timeout(PATIENCE_SECONDS), self._news:
            await self._news.wait_for(lambda: found() is not None)
        call = found()
        assert call is not None
        call.taken = True
        return call

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            call = Call(**json.loads(await reader.readline()), _writer=writer)
            async with self._news:
                self.log.append(call)
                self._news.notify_all()
            if not call.hold:
                call.go()
            with suppress(ConnectionError):
                await reader.read()
            call.ended.set()
        finally:
            writer.close()
            self._open.discard(task)


@asynccontextmanager
async def held_calls() -> AsyncIterator[Calls]:
    """Listens for calls of held packs; those still held at the end are cut off."""
    calls = Calls("")
    listener = await asyncio.start_server(calls._serve, "127.0.0.1", 0)
    calls.address = f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield calls
    finally:
        listener.close()
        for task in list(calls._open):
            task.cancel()
        await asyncio.gather(*calls._open, return_exceptions=True)


def _is_like(call: Call, wanted: Mapping[str, object]) -> bool:
    return all(getattr(call, name) == value for name, value in wanted.items())


# -- servers -----------------------------------------------------------------------------------------------


@dataclass
class RealServer:
    """One `packline up` or `packline worker`.

    Attributes:
        name: What its calls say.
        output: What it has written so far, its log among it.
    """

    name: str
    folder: Path
    port: int
    process: asyncio.subprocess.Process | AsyncFork
    admin: GraphQLClient
    output: list[str] = field(default_factory=list)
    reading: asyncio.Task[None] | None = None
    token: str = ADMIN_TOKEN

    def url(self, path: str = "/") -> str:
        """An address on this server."""
        return f"http://127.0.0.1:{self.port}{path}"

    async def ask(self, query: str, /, **variables: object) -> dict[str, Any]:
        """The data of an operation of the administrator's."""
        return (await self.admin.execute(query, variables)).data

    async def command(self, query: str, /, **variables: object) -> dict[str, Any]:
        """What the only field of a command answers."""
        data = await self.ask(query, **variables)
        return dict(next(iter(data.values())))

    async def subscribe(self, query: str, *, token: str = ADMIN_TOKEN, **variables: object) -> AsyncIterator[Any]:
        """The values of a subscription's only field, until it completes."""
        async with GraphQLSocket.open(f"ws://127.0.0.1:{self.port}/graphql", token=token) as opened:
            async for payload in opened.subscribe(query, variables):
                assert "errors" not in payload, payload["errors"]
                yield next(iter(payload["data"].values()))

    def signal(self, number: int) -> None:
        """Sends a signal."""
        self.process.send_signal(number)

    async def kill(self) -> None:
        """Ends it at once, as a power cut would; harmless twice."""
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()

    async def stop(self) -> int:
        """Ends it as an operator would; its exit status."""
        self.process.terminate()
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.process.wait()


class Fleet:
    """Servers on one database.

    Args:
        folder: Holds their data folders.
        database_url: The database they share.
        calls: Where their held packs report.
        within: Words of a command line that runs the rest of it, such as `unshare -rm`; the process stays the same.
        forked: Whether servers without such words are forked from a process that has imported the product, which they
            inherit their initial environment from; else each is started as a program.
        settings: PACKLINE_ variables of all of them, without the prefix.
    """

    def __init__(
        self,
        folder: Path,
        database_url: str,
        calls: Calls,
        *,
        within: Sequence[str] = (),
        forked: bool = True,
        **settings: object,
    ) -> None:
        self._within = within
        self._folder = folder
        self._database_url = database_url
        self._calls = calls
        self._settings = settings
        self._forked = forked and not within
        self._servers: list[RealServer] = []

    def environment(self, name: str, **settings: object) -> dict[str, str]:
        """The environment of one of them."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PACKLINE_")}
        given = {
            "DATABASE_URL": self._database_url,
            "DATA_DIR": self._folder / name,
            "BOOTSTRAP_TOKEN": ADMIN_TOKEN,
            "PACK_PATH": PACKS,
            "LOG_LEVEL": "warning",
            "LOG_FORMAT": "json",
            "SHARED_STORAGE": "off",  # most have a data folder each
            **self._settings,
            **settings,
        }
        held = {"HELD_ADDRESS": self._calls.address, "HELD_SERVER": name}
        return clean | held | {f"PACKLINE_{key.upper()}": str(value) for key, value in given.items()}

    async def up(self, name: str, port: int = 0, **settings: object) -> RealServer:
        """Starts a server and waits until it takes work.

        Args:
            name: Names it and its data folder; that of one which has ended starts it again.
            port: That of an earlier start, for clients that stay.
            settings: PACKLINE_ variables of this one, without the prefix.

        Raises:
            AssertionError: it ended instead; the message says with which status and words.
        TimeoutError: it neither runs nor ended.
        """
        return await self._begin("up", name, port, settings)

    async def worker(self, name: str, **settings: object) -> RealServer:
        """Starts a `packline worker` and waits until it takes work; its port answers `/healthz` alone.

        Raises as `up`.
        """
        return await self._begin("worker", name, 0, settings)

    async def _begin(self, command: str, name: str, port: int, settings: Mapping[str, object]) -> RealServer:
        port = port or free_port()
        words, environment = [command, "--port", str(port)], self.environment(name, **settings)
        folder = Path(environment["PACKLINE_DATA_DIR"])
        process: asyncio.subprocess.Process | AsyncFork
        if not self._forked:
            process = await asyncio.create_subprocess_exec(
                *self._within,
                *_COMMAND,
                *words,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
        else:
            if self._database_url == "sqlite":
                prepare_sqlite(folder, starters=True)
            process = await async_fork(words, environment)
        admin = GraphQLClient(f"http://127.0.0.1:{port}/graphql", token=ADMIN_TOKEN)
        server = RealServer(name, folder, port, process, admin)
        self._servers.append(server)
        running = asyncio.Event()
        server.reading = asyncio.create_task(_read(process, server.output, running))
        async with asyncio.timeout(2 * PATIENCE_SECONDS):
            await running.wait()
        if process.returncode is not None or not any(map(_RUNNING.match, server.output)):
            raise AssertionError(f"{name} ended with {await process.wait()}: {''.join(server.output)}")
        return server

    async def run(self, name: str, *arguments: str, **settings: object) -> tuple[int, str]:
        """Runs another command as on a server's machine, forked; its exit status, and what it wrote."""
        process = await async_fork(arguments, self.environment(name, **settings))
        try:
            async with asyncio.timeout(2 * PATIENCE_SECONDS):
                output = await process.stdout.read()
                return await process.wait(), output.decode()
        except TimeoutError:
            process.kill()
            raise

    async def down(self) -> None:
        """Ends all of them at once."""
        for server in self._servers:
            if server.process.returncode is None:
                server.signal(signal.SIGKILL)
        for server in self._servers:
            await server.process.wait()
            if server.reading is not None:
                await server.reading
            await server.admin.http.aclose()
        self._servers.clear()


async def _read(process: asyncio.subprocess.Process | AsyncFork, output: list[str], running: asyncio.Event) -> None:
    """Reads what a server writes, so that it never waits for a reader."""
    assert process.stdout is not None
    async for line in process.stdout:
        output.append(line.decode(errors="replace"))
        if _RUNNING.match(output[-1]):
            running.set()
    running.set()  # it has ended
