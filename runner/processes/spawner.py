"""The server's side of the spawner: starts it, requests workers, and receives their events.

One spawner serves the whole process, for all its event loops: a thread listens to it and passes each event to the loop
that requested the worker.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from runner.failures import PackError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeVar

    _T = TypeVar("_T")

_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[2]); "
    "from runner.processes.worker import serve; serve(int(sys.argv[1]))"
)
#: How long to wait for killed processes; only one stuck in the kernel needs more.
END_SECONDS = 5.0


class Child:
    """A worker process, used on the event loop that made it.

    Attributes:
        started: Done once the process exists; the result is the reason when it could not be started.
        exited: Done when its leader is dead; the result is the exit code, negative for a signal, None when unknown.
        ended: Done when nothing of it is left.
    """

    def __init__(self, spawner: Spawner, call: int) -> None:
        self._spawner = spawner
        self._call = call
        self._pid: int | None = None
        self._is_ending = False
        self._loop = asyncio.get_running_loop()
        self.started: asyncio.Future[str | None] = self._loop.create_future()
        self.exited: asyncio.Future[int | None] = self._loop.create_future()
        self.ended: asyncio.Future[None] = self._loop.create_future()

    def on_event(self, message: Mapping[str, object]) -> None:
        """Take an event from the listening thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._take, message)

    def _take(self, message: Mapping[str, object]) -> None:
        match message["event"]:
            case "started":
                pid = message["pid"]
                self._pid = pid if isinstance(pid, int) else None
                if self._is_ending:
                    self._kill()
                _settle(self.started, None)
            case "refused":
                _settle(self.started, str(message["reason"]))
                _settle(self.exited, None)
            case "exited":
                status = message["status"]
                _settle(self.exited, status if isinstance(status, int) else None)
            case "ended" | "lost":
                if message["event"] == "lost":
                    self._kill()
                self._pid = None
                _settle(self.started, "the process that starts workers has died")
                _settle(self.exited, None)
                _settle(self.ended, None)

    def kill(self) -> None:
        """Kill the process with all its descendants; does nothing when it is dead."""
        if not self._is_ending:
            self._is_ending = True
            self._kill()
            self._spawner.ask({"do": "end", "call": self._call})

    def _kill(self) -> None:
        # Safe: the process is not reaped, so its id is not reused, before the spawner has received "end".
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)

    async def end(self) -> None:
        """Kill all processes that are left and wait until they are gone."""
        self.kill()
        await asyncio.wait([self.ended], timeout=END_SECONDS)
        self._spawner.forget(self._call)


def _settle(future: asyncio.Future[_T], value: _T) -> None:
    if not future.done():
        future.set_result(value)


class Spawner:
    """The spawner process; made by `get_spawner`."""

    def __init__(self) -> None:
        mine, its = socket.socketpair()
        with its:
            environment = {name: value for name, value in os.environ.items() if not name.startswith("PACKLINE_")}
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOT, str(its.fileno()), json.dumps(sys.path)],
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        self._control = mine
        self._lock = threading.Lock()
        self._children: dict[int, Child] = {}
        self._next_call = 0
        self.is_lost = False
        self._listener = threading.Thread(target=self._listen, name="packline-processes", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def spawn(self, request: dict[str, object], files: Sequence[int]) -> Child:
        """Start a worker.

        Args:
            request: `do` (`call` or `exec`), `limits`, and `preload` for a call.
            files: Its socket, then standard input, output and error; the caller closes its copies.
        """
        with self._lock:
            self._next_call += 1
            call = self._next_call
            child = self._children[call] = Child(self, call)
        self.ask({**request, "call": call}, files)
        return child

    def ask(self, message: dict[str, object], files: Sequence[int] = ()) -> None:
        """Send a message; when the spawner is gone, its children are reported as lost."""
        from runner.processes.worker import send_message

        try:
            with self._lock:
                send_message(self._control, message, list(files))
        except OSError:
            self._lose()

    def forget(self, call: int) -> None:
        """Stop listening for a child."""
        with self._lock:
            self._children.pop(call, None)

    def close(self) -> None:
        """Kill the spawner and all workers, and wait for it."""
        self.is_lost = True
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(END_SECONDS + 1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(1)
        self._control.close()

    def _listen(self) -> None:
        from runner.processes.worker import receive_message

        while True:
            try:
                arrived = receive_message(self._control)
            except OSError:
                arrived = None
            if arrived is None:
                self._lose()
                return
            message, _ = arrived
            call = message["call"]
            with self._lock:
                child = self._children.get(call) if isinstance(call, int) else None
            if child is not None:
                child.on_event(message)

    def _lose(self) -> None:
        self.is_lost = True
        with self._lock:
            children, self._children = list(self._children.values()), {}
        for child in children:
            child.on_event({"event": "lost"})


_spawner: Spawner | None = None
_making = threading.Lock()


def get_spawner() -> Spawner:
    """Return the spawner of this process; started if there is none or the last one died, which takes 0.1 s.

    Raises:
        PackError: `handler_failed` on systems without `fork`.
    """
    global _spawner
    if not hasattr(os, "fork"):
        raise PackError("handler_failed", "Worker processes need Linux or macOS.")
    with _making:
        if _spawner is None or _spawner.is_lost:
            lost, _spawner = _spawner, Spawner()
            if lost is not None:
                lost.close()
        return _spawner


@atexit.register
def close_spawner() -> None:
    """Kill all workers and the spawner, if there is one; the next call starts another."""
    global _spawner
    with _making:
        last, _spawner = _spawner, None
    if last is not None:
        last.close()
