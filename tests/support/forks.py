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
import select
import signal
import socket
import subprocess
import sys
import time
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
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)

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
        stdout: What it writes to standard output and standard error.
    """

    def __init__(self, pid: int, stdout: asyncio.StreamReader, ended: asyncio.Task[int]) -> None:
        self.pid = pid
        self.stdout = stdout
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


def fork(arguments: Sequence[str], environment: Mapping[str, str]) -> Fork:
    """Start a command that has nothing to read and writes errors where the tests do."""
    stdout, status = _start(arguments, environment, stderr=2)
    return Fork(os.fdopen(stdout), os.fdopen(status))


async def async_fork(arguments: Sequence[str], environment: Mapping[str, str]) -> AsyncFork:
    """Start a command that has nothing to read and writes errors between its output."""
    stdout, status = _start(arguments, environment)
    written, _ = await _reader(stdout)
    reports, transport = await _reader(status)

    async def end() -> int:
        with contextlib.closing(transport):
            return int(await reports.readline())

    return AsyncFork(int(await reports.readline()), written, asyncio.create_task(end()))


def _start(arguments: Sequence[str], environment: Mapping[str, str], stderr: int | None = None) -> tuple[int, int]:
    """Start a command; return where its output and where its process id and exit status are read, a line each."""
    stdout, stdout_end = os.pipe()
    status, status_end = os.pipe()
    request = json.dumps({"arguments": list(arguments), "environment": dict(environment)}).encode()
    socket.send_fds(_parent(), [request], [stdout_end, stdout_end if stderr is None else stderr, status_end])
    os.close(stdout_end)
    os.close(status_end)
    return stdout, status


async def _reader(pipe: int) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(pipe, "rb"))
    return reader, transport


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
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            reports = children.pop(pid)
            write(reports, os.waitstatus_to_exitcode(status))
            os.close(reports)

    signal.signal(signal.SIGCHLD, report)
    while True:
        request, given, _, _ = socket.recv_fds(connection, _MOST_BYTES, 3)
        if not request:
            sys.exit()
        stdout, stderr, status = given
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        if (pid := os.fork()) == 0:
            break
        write(status, pid)
        children[pid] = status
        os.close(stdout)
        if stderr != stdout:
            os.close(stderr)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    connection.close()
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    for descriptor in {stdout, stderr, status, *children.values()}:
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
    sys.argv = ["packline", *command["arguments"]]
    app.cli.main()


if __name__ == "__main__":
    _main()
