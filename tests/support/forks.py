"""`packline` commands as processes forked from one that has imported the product.

Imports are most of what a start costs. Each test process keeps one parent of such commands; a command has a process id,
an environment, pipes and signals of its own, as a program that was started has. What a start imports, what it costs and
how it looks to `ps` are for tests that start the program itself.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from functools import cache
from typing import TYPE_CHECKING, Any, Self, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_BYTES = 1 << 20
#: Longest wait for the end of a command.
_END_SECONDS = 60.0


class Fork:
    """A command that runs, or has ended; a context that closes its pipes.

    Attributes:
        stdout: What it writes, read as it comes.
    """

    def __init__(self, stdout: TextIO, status: TextIO) -> None:
        self.stdout = stdout
        self._status = status
        self.pid = int(status.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self._status.close()

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, seconds: float = _END_SECONDS) -> int:
        """Wait for the end, and return the exit status; call it once.

        Raises:
            TimeoutError: It runs on after this time.
        """
        if not select.select([self._status], [], [], seconds)[0]:
            raise TimeoutError(f"Process {self.pid} has not ended within {seconds:g} s.")
        return int(self._status.readline())


class AsyncFork:
    """A command that runs, or has ended, for an event loop; used as `asyncio.subprocess.Process` is.

    Attributes:
        stdin: Writes what it reads, where that is a pipe.
        stdout: What it writes to standard output, where that is a pipe.
        stderr: What it writes to standard error, where that is a pipe of its own.
    """

    def __init__(
        self,
        pid: int,
        stdin: asyncio.StreamWriter | None,
        stdout: asyncio.StreamReader | None,
        stderr: asyncio.StreamReader | None,
        ended: asyncio.Task[int],
    ) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self._ended = ended

    @property
    def returncode(self) -> int | None:
        """The exit status, negative after a signal; None while it runs."""
        return self._ended.result() if self._ended.done() else None

    def send_signal(self, number: int) -> None:
        if not self._ended.done():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for the end, and return the exit status."""
        return await asyncio.shield(self._ended)

    async def communicate(self, text: bytes = b"") -> tuple[bytes, bytes]:
        """Write all it is to read, wait for its end, and return what it wrote to its pipes."""

        async def write() -> None:
            if self.stdin is not None:
                self.stdin.write(text)
                with contextlib.suppress(ConnectionError):  # it may end before it has read all
                    await self.stdin.drain()
                self.stdin.close()

        async def read(pipe: asyncio.StreamReader | None) -> bytes:
            return b"" if pipe is None else await pipe.read()

        _, out, err = await asyncio.gather(write(), read(self.stdout), read(self.stderr))
        await self.wait()
        return out, err


def fork(
    arguments: Sequence[str], environment: Mapping[str, str], *, stdout: int = PIPE, module: str | None = None
) -> Fork:
    """Start a command that has nothing to read and writes errors where the tests do.

    Args:
        stdout: A descriptor it writes to, such as a terminal, instead of a pipe.
        module: What runs instead of `packline`.
    """
    with open(os.devnull) as nothing:
        written, given = os.pipe() if stdout == PIPE else (os.open(os.devnull, os.O_RDONLY), os.dup(stdout))
        status = _start(arguments, environment, (nothing.fileno(), given, 2), module)
        os.close(given)
    return Fork(os.fdopen(written), os.fdopen(status))


async def async_fork(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: int = DEVNULL,
    stdout: int = PIPE,
    stderr: int = STDOUT,
) -> AsyncFork:
    """Start a command.

    Args:
        stdin: A descriptor, `PIPE` or `DEVNULL`.
        stdout: A descriptor or `PIPE`.
        stderr: A descriptor, `PIPE` or `STDOUT`.
    """
    given: list[int] = []
    ours: list[int | None] = []
    for number, wanted in enumerate((stdin, stdout, stderr)):
        end: int | None = None
        if wanted == PIPE:
            read, write = os.pipe()
            end, theirs = (write, read) if number == 0 else (read, write)
        elif wanted == DEVNULL:
            theirs = os.open(os.devnull, os.O_RDONLY)
        else:
            theirs = os.dup(given[1] if wanted == STDOUT else wanted)
        given.append(theirs)
        ours.append(end)
    status = _start(arguments, environment, given)
    for descriptor in given:
        os.close(descriptor)
    to_read, written, errors = ours
    reports, transport = await _reader(status)

    async def ended() -> int:
        with contextlib.closing(transport):
            return int(await reports.readline())

    return AsyncFork(
        int(await reports.readline()),
        None if to_read is None else await _writer(to_read),
        None if written is None else (await _reader(written))[0],
        None if errors is None else (await _reader(errors))[0],
        asyncio.create_task(ended()),
    )


def _start(
    arguments: Sequence[str], environment: Mapping[str, str], given: Sequence[int], module: str | None = None
) -> int:
    """Start a command with these three descriptors; return where its id and exit status are read, a line each."""
    status, status_end = os.pipe()
    asked = {"arguments": list(arguments), "environment": dict(environment), "module": module}
    request = json.dumps(asked).encode()
    socket.send_fds(_parent(), [request], [*given, status_end])
    os.close(status_end)
    return status


async def _reader(pipe: int) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(pipe, "rb"))
    return reader, transport


async def _writer(pipe: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(pipe, "wb")
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


@cache
def _parent() -> socket.socket:
    """The connection to the parent of this process's commands; both end with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        parent = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forks", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        parent.wait()

    atexit.register(end)
    return ours


# -- in the parent -----------------------------------------------------------------------------------------


def _wait_for_command(connection: socket.socket) -> dict[str, Any]:
    """Fork at every request, and return it in the child. Ends the parent once the tests have ended."""
    children: dict[int, int] = {}

    def write(pipe: int, number: int) -> None:
        with contextlib.suppress(BrokenPipeError):  # an aborted test reads no longer
            os.write(pipe, f"{number}\n".encode())

    def report(*_: object) -> None:
        while children:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:  # this interrupts itself, and the later call took the last
                return
            if pid == 0:
                return
            reports = children.pop(pid)
            write(reports, os.waitstatus_to_exitcode(status))
            os.close(reports)

    signal.signal(signal.SIGCHLD, report)
    while True:
        request, given, _, _ = socket.recv_fds(connection, _MOST_BYTES, 4)
        if not request:
            sys.exit()
        status = given.pop()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        if (pid := os.fork()) == 0:
            break
        write(status, pid)
        children[pid] = status
        for descriptor in given:
            os.close(descriptor)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    connection.close()
    for number, descriptor in enumerate(given):
        os.dup2(descriptor, number)
    for descriptor in (*given, status, *children.values()):
        os.close(descriptor)
    return dict(json.loads(request))


def _main() -> None:
    import app.cli.commands
    import app.main
    import app.server
    import app.surfaces

    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        command = _wait_for_command(connection)
    os.environ.clear()
    os.environ.update(command["environment"])
    time.tzset()
    sys.argv = [command["module"] or "packline", *command["arguments"]]
    if command["module"] is not None:
        runpy.run_module(command["module"], run_name="__main__")
    else:
        app.cli.main()


if __name__ == "__main__":
    _main()
