"""The server's side of one running process: its socket and outputs, and the guarantee that nothing of it is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import tempfile
from typing import IO, TYPE_CHECKING, Any, Literal

from runner.failures import PackError
from runner.processes.spawner import END_SECONDS, Child, get_spawner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

OutputName = Literal["stdout", "stderr"]

_FRAME = struct.Struct(">Q")
_MAX_RESULT_BYTES = 256 * 1024 * 1024


class Output:
    """The reading end of an output pipe: reads everything, keeps a part, calls a listener."""

    def __init__(self, keep: int, keep_last: bool, listener: Callable[[bytes], None] | None) -> None:
        self.read_file, self.write_file = os.pipe()
        os.set_blocking(self.read_file, False)
        self._keep = keep
        self._keep_last = keep_last
        self._listener = listener
        self._data = bytearray()
        self.is_cut = False
        self._is_open = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self.read_file, self._ready)

    def kept(self) -> bytes:
        """The part that was kept: the first bytes, or the last."""
        return bytes(self._data)

    def _ready(self) -> bool:
        """Read once; return whether there may be more."""
        try:
            part = os.read(self.read_file, 65536) if self._is_open else b""
        except BlockingIOError:
            return False
        if not part:
            self._loop.remove_reader(self.read_file)
            self._is_open = False
            return False
        self._data += part
        if len(self._data) > self._keep:
            self.is_cut = True
            if self._keep_last:
                del self._data[: -self._keep or None]
            else:
                del self._data[self._keep :]
        if self._listener is not None:
            self._listener(part)
        return True

    def drain(self) -> None:
        """Read what is left; the writer is dead, so this ends."""
        while self._ready():
            pass

    def close(self) -> None:
        """Stop reading."""
        self._loop.remove_reader(self.read_file)
        os.close(self.read_file)


class Worker:
    """A started process with the server's side of its socket and outputs."""

    def __init__(self, child: Child, connection: socket.socket, stdout: Output, stderr: Output) -> None:
        self.child = child
        self.stdout = stdout
        self.stderr = stderr
        self._connection = connection
        self._loop = asyncio.get_running_loop()

    def drain(self) -> None:
        """Read what is left in both outputs of a dead process."""
        self.stdout.drain()
        self.stderr.drain()

    async def exchange(self, request: bytes) -> bytes | None:
        """Send a request and return the answer, or None when the socket ends or the process dies without one."""
        reason = await self.child.started
        if reason is not None:
            raise PackError("resource_exhausted", f"No process can be started: {reason}.", hint="Try again later.")
        talk = asyncio.ensure_future(self._talk(request))
        try:
            await _first(talk, self.child.exited)
            if not talk.done():
                # Its leader is dead. Once its descendants are gone too, the other end of the socket is closed.
                await self.child.end()
                await asyncio.wait([talk], timeout=END_SECONDS)
            return talk.result() if talk.done() else None
        finally:
            talk.cancel()
            await asyncio.wait([talk])

    async def _talk(self, request: bytes) -> bytes | None:
        with contextlib.suppress(ConnectionError):
            await self._loop.sock_sendall(self._connection, _FRAME.pack(len(request)) + request)
            header = await self._receive(_FRAME.size)
            if header is not None:
                size = _FRAME.unpack(header)[0]
                if size > _MAX_RESULT_BYTES:
                    raise PackError("resource_exhausted", f"The result is larger than {_MAX_RESULT_BYTES:,} bytes.")
                return await self._receive(size)
        return None

    async def _receive(self, size: int) -> bytes | None:
        data = bytearray()
        while len(data) < size:
            part = await self._loop.sock_recv(self._connection, min(size - len(data), 1 << 20))
            if not part:
                return None
            data += part
        return bytes(data)


async def _first(*futures: asyncio.Future[Any]) -> None:
    """Wait until one of the futures is done, without cancelling the others."""
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


@contextlib.asynccontextmanager
async def started_worker(
    do: Literal["call", "exec"],
    limits: Mapping[str, int | None],
    *,
    preload: Sequence[str] = (),
    stdin: bytes | None = None,
    keep: int = 0,
    on_output: Callable[[OutputName, bytes], None] | None = None,
) -> AsyncIterator[Worker]:
    """Run a process for the duration of the block; afterwards nothing of it is left, however the block ends."""

    def listener(name: OutputName) -> Callable[[bytes], None] | None:
        return None if on_output is None else lambda part: on_output(name, part)

    with contextlib.ExitStack() as stack:
        mine, its = socket.socketpair()
        stack.callback(mine.close)
        mine.setblocking(False)
        stdout = Output(keep, False, listener("stdout"))
        stack.callback(stdout.close)
        stderr = Output(keep, True, listener("stderr"))
        stack.callback(stderr.close)
        try:
            with _standard_input(stdin) as source:
                files = [its.fileno(), source.fileno(), stdout.write_file, stderr.write_file]
                request: dict[str, object] = {"do": do, "limits": dict(limits), "preload": list(preload)}
                child = get_spawner().spawn(request, files)
        finally:
            its.close()
            os.close(stdout.write_file)
            os.close(stderr.write_file)
        try:
            yield Worker(child, mine, stdout, stderr)
        finally:
            await child.end()


@contextlib.contextmanager
def _standard_input(content: bytes | None) -> Iterator[IO[bytes]]:
    """Open a file for standard input: empty, or with the content, so that no task has to feed it."""
    if content is None:
        with open(os.devnull, "rb") as nothing:
            yield nothing
        return
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file
