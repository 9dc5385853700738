"""One MCP server kept connected, over both transports, by the protocol's own library on the other side."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from runner.egress.client import Egress
from runner.excerpts import in_force
from runner.failures import FailureCode, PackError
from runner.mounts.connection import ERROR_CHARACTERS, LINE_BYTES, Connection
from runner.mounts.spec import MountSpec
from runner.secrets.redaction import Redactor
from tests.support.ports import free_port
from tests.support.waiting import eventually, pass_time

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from runner.mounts.tools import Tool

pytestmark = pytest.mark.slow

SERVER = Path(__file__).resolve().parents[2] / "support" / "mcp_tool_server.py"


class Offers:
    """What a server offered, each time it was asked."""

    def __init__(self) -> None:
        self.lists: list[dict[str, Tool]] = []
        self._came = asyncio.Condition()

    async def take(self, tools: list[Tool]) -> None:
        async with self._came:
            self.lists.append({tool.name: tool for tool in tools})
            self._came.notify_all()

    async def count(self, number: int) -> dict[str, Tool]:
        """The newest list once there are `number` of them."""
        async with asyncio.timeout(60), self._came:
            await self._came.wait_for(lambda: len(self.lists) >= number)
        return self.lists[-1]


@asynccontextmanager
async def mounted(folder: Path, *, http: bool = False, **changes: object) -> AsyncIterator[tuple[Connection, Offers]]:
    offers = Offers()
    folder.mkdir(exist_ok=True)  # noqa: ASYNC240
    process = None
    if http:
        port = free_port()
        process = serve(folder, port)
        spec = MountSpec("t", url=f"http://127.0.0.1:{port}/mcp", **changes)  # type: ignore[arg-type]
    else:
        spec = MountSpec("t", (sys.executable, str(SERVER), "stdio", str(folder)), **changes)  # type: ignore[arg-type]
    egress = Egress()
    secrets = ({"SECRET": "from the vault"}, "token")
    connection = Connection(spec, folder / "home", egress, lambda _: secrets, offers.take)
    connection.start()
    try:
        yield connection, offers
    finally:
        await connection.stop()
        await egress.aclose()
        if process is not None:
            process.kill()
            process.wait()


def serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(SERVER), "http", str(folder), str(port)])


def progress(_fraction: float | None, _message: str) -> None:
    """Nobody watches."""


@pytest.mark.parametrize("http", [False, True], ids=["stdio", "http"])
async def test_tools_are_told_and_called(tmp_path: Path, http: bool) -> None:
    told: list[tuple[float | None, str]] = []
    async with mounted(tmp_path, http=http) as (connection, offers):
        tools = await offers.count(1)
        assert tools["echo"].description == "Says what it is told."
        assert tools["addNumbers"].output_schema is not None
        said = await connection.call("echo", {"text": "tea"}, lambda *what: told.append(what))
        assert said.content[0].text == "tea"
        added = await connection.call("addNumbers", {"a": 1, "b": 2}, progress)
        assert added.structured_content == {"sum": 3}
        assert connection.state == "connected"
        assert connection.connected_at is not None
    assert connection.state == "stopped"
    if not http:
        assert (0.5, "half way") in told


async def test_a_tool_added_while_connected_is_heard_of(tmp_path: Path) -> None:
    async with mounted(tmp_path) as (connection, offers):
        assert "extra" not in await offers.count(1)
        await connection.call("grow", {}, progress)
        assert "extra" in await offers.count(2)


async def test_a_server_that_dies_fails_the_call_and_is_started_again(tmp_path: Path) -> None:
    async with mounted(tmp_path) as (connection, offers):
        await offers.count(1)
        with pytest.raises(PackError) as broken:
            await connection.call("crash", {}, progress)
        assert broken.value.failure.code is FailureCode.UPSTREAM_UNAVAILABLE
        await offers.count(2)
        assert (await connection.call("echo", {"text": "again"}, progress)).content[0].text == "again"


async def test_an_http_server_that_was_restarted_is_used_again(tmp_path: Path) -> None:
    async with mounted(tmp_path, http=True) as (connection, offers):
        await offers.count(1)
        assert connection.spec.url is not None
        port = int(connection.spec.url.split(":")[2].split("/")[0])
        owner = next(
            process for process in psutil.process_iter(["cmdline"]) if str(port) in (process.info["cmdline"] or ())
        )
        owner.kill()
        owner.wait()
        with pytest.raises(PackError) as broken:
            await connection.call("echo", {"text": "a"}, progress)
        assert broken.value.failure.retryable
        again = serve(tmp_path, port)
        try:
            await offers.count(2)
            assert (await connection.call("echo", {"text": "b"}, progress)).content[0].text == "b"
        finally:
            again.kill()
            again.wait()


async def test_a_slow_call_times_out_and_the_connection_stays(tmp_path: Path) -> None:
    async with mounted(tmp_path) as (connection, offers):
        await offers.count(1)
        calling = asyncio.create_task(connection.call("slow", {}, progress))
        await eventually((tmp_path / "slow").exists)
        pass_time(connection.spec.call_seconds)
        with pytest.raises(PackError) as late:
            await calling
        assert late.value.failure.code is FailureCode.TIMEOUT
        assert (await connection.call("echo", {"text": "still"}, progress)).content[0].text == "still"
        assert len(offers.lists) == 1


async def test_what_is_not_of_the_declared_shape_is_told_as_such(tmp_path: Path) -> None:
    async with mounted(tmp_path) as (connection, offers):
        await offers.count(1)
        with pytest.raises(PackError) as odd:
            await connection.call("liar", {}, progress)
        assert odd.value.failure.code is FailureCode.INVALID_OUTPUT


async def test_its_process_knows_nothing_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACKLINE_BOOTSTRAP_TOKEN", "pkl_do_not_tell_this")
    async with mounted(tmp_path, env={"MODE": "quiet"}) as (connection, offers):
        await offers.count(1)
        told = await connection.call("environment", {}, progress)
    names = dict(line.split("=", 1) for line in told.content[0].text.splitlines())
    ours = {"HOME", "USER", "LOGNAME", "SHELL", "TERM", "MODE", "SECRET"}
    assert set(names) <= ours | {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"}
    assert names["HOME"] == str(tmp_path / "home")
    assert (names["MODE"], names["SECRET"]) == ("quiet", "from the vault")


async def test_no_process_of_it_outlives_the_connection(tmp_path: Path) -> None:
    async with mounted(tmp_path) as (connection, offers):
        await offers.count(1)
        told = await connection.call("children", {}, progress)
        ids = [int(word) for word in told.content[0].text.split()]
        assert all(psutil.pid_exists(process) for process in ids)
    await eventually(lambda: not any(psutil.pid_exists(process) for process in ids))


async def test_a_server_dies_with_the_process_that_mounted_it(tmp_path: Path) -> None:
    script = f"""
import asyncio, sys
from pathlib import Path
from runner.egress.client import Egress
from runner.mounts.connection import LINE_BYTES, ERROR_CHARACTERS, Connection
from runner.mounts.spec import MountSpec
from runner.secrets.redaction import Redactor
async def main():
    ready = asyncio.Event()
    async def take(tools): ready.set()
    spec = MountSpec("t", ({sys.executable!r}, {str(SERVER)!r}, "stdio", {str(tmp_path)!r}))
    connection = Connection(spec, Path({str(tmp_path / "home")!r}), Egress(), lambda _: ({{}}, None), take)
    connection.start()
    await ready.wait()
    told = await connection.call("children", {{}}, lambda *_: None)
    print(told.content[0].text.split()[0], flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    ours = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert ours.stdout is not None
    async with asyncio.timeout(60):
        server = psutil.Process(int(await ours.stdout.readline()))
    os.kill(ours.pid, signal.SIGKILL)
    await ours.wait()
    _, alive = psutil.wait_procs([server], timeout=60)
    assert alive == []


async def last_error_of(folder: Path, program: str) -> str:
    """What is told of a server that does not start."""
    offers = Offers()
    egress = Egress()
    spec = MountSpec("t", (sys.executable, "-c", program), start_seconds=20)
    connection = Connection(spec, folder, egress, lambda _: ({}, None), offers.take)
    connection.start()
    try:
        # Its words may come after its end; it is started again and again.
        return await eventually(lambda: "its last output:" in (error := connection.last_error or "") and error) or ""
    finally:
        await connection.stop()
        await egress.aclose()


async def test_a_server_that_cannot_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    assert "no such configuration" in await last_error_of(tmp_path, "import sys; sys.exit('no such configuration')")


@pytest.mark.parametrize(
    ("before", "after"),
    [(10, ERROR_CHARACTERS - 60), (ERROR_CHARACTERS - 60, 10), (LINE_BYTES - 60, 500)],
    ids=["its end is told", "its beginning is told", "its beginning is kept"],
)
async def test_a_secret_in_its_last_words_is_masked_before_they_are_cut(
    tmp_path: Path, before: int, after: int
) -> None:
    secret = "".join(chr(97 + (number * 7) % 26) + str(number) for number in range(45))
    with in_force(Redactor({"its key": secret})):
        program = f"import sys; sys.exit('x' * {before} + '{secret}' + 'y' * {after})"
        told = await last_error_of(tmp_path, program)
    assert [start for start in range(len(secret) - 7) if secret[start : start + 8] in told] == []
