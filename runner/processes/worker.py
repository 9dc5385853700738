"""The spawner, a small single-threaded process that forks workers, and what the workers run.

The server starts one *spawner* (`serve`) and talks to it over a socket. The spawner forks a worker per call, so a
worker starts in a millisecond or two with libraries already imported, and is never forked from the server, which has
threads. It also guarantees that no process is left behind:

- Each worker leads a process group. Its process id stays reserved, unreaped, until the server says `end`, so the
  server may signal the group at any time without hitting an unrelated process.
- Workers are subreapers, and so is the spawner: descendants that left the group (`setsid`, double fork) come to the
  worker while it lives, then to the spawner, which kills every child it does not know.
- When the server is gone, however it died, the socket ends: the spawner kills all groups and exits. Workers also
  watch their own socket and ask the kernel to be killed with the spawner (Linux).

Messages are a length (4 bytes, big-endian) and JSON; open files travel with the length. This module starts with every
spawner, so it imports the standard library and modules of `runner` that do the same.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import importlib
import importlib.util
import json
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import warnings
from typing import NoReturn

from runner import excerpts
from runner.failures import PackError
from runner.processes import pack_modules
from runner.tracebacks import describe

#: Workers have lower priority than the server: on two cores, encoding a video delayed its answers by up to 0.3 s.
_NICE = 5
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LENGTH = struct.Struct(">I")
_FRAME = struct.Struct(">Q")
_SHUTDOWN_SECONDS = 5.0
_ON_LINUX = sys.platform.startswith("linux")
_libc = ctypes.CDLL(None, use_errno=True) if _ON_LINUX else None


def receive_exactly(connection: socket.socket, size: int) -> bytes | None:
    """Read exactly `size` bytes from a blocking socket; None when it ends before."""
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(size - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)


def receive_message(control: socket.socket) -> tuple[dict[str, object], list[int]] | None:
    """Read the next message with its files (not inheritable); None at the end."""
    files = array.array("i")
    space = socket.CMSG_SPACE(8 * files.itemsize)
    header, ancillary, _, _ = control.recvmsg(_LENGTH.size, space)
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    for file in files:
        os.set_inheritable(file, False)
    rest = receive_exactly(control, _LENGTH.size - len(header)) if header else None
    if rest is None:
        return None
    body = receive_exactly(control, _LENGTH.unpack(header + rest)[0])
    return None if body is None else (json.loads(body), list(files))


def send_message(control: socket.socket, message: dict[str, object], files: list[int] | None = None) -> None:
    """Send a message, with the files attached to its first bytes."""
    body = json.dumps(message).encode()
    header = _LENGTH.pack(len(body))
    sent = socket.send_fds(control, [header], files) if files else control.send(header)
    control.sendall(header[sent:] + body)


def serve(control_file: int) -> NoReturn:
    """Run the spawner until the server's end of the socket is closed."""
    _Spawner(socket.socket(fileno=control_file)).run()
    os._exit(0)


class _Spawner:
    def __init__(self, control: socket.socket) -> None:
        control.set_inheritable(False)
        self._control = control
        self._pids: dict[int, int] = {}  # worker by call
        self._calls: dict[int, int] = {}  # call by worker
        self._exited: set[int] = set()  # calls whose leader is dead but not reaped
        self._ending: set[int] = set()  # calls whose remaining processes are being killed
        self._reaped: set[int] = set()  # ending calls whose leader is reaped
        self._preloaded: set[str] = set()
        self._wake_read, wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(wake_write, False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # the server decides when to stop
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        warnings.simplefilter("ignore")

    def run(self) -> None:
        """Serve until the control socket ends, then kill the remaining processes."""
        while True:
            ready, _, _ = select.select([self._control.fileno(), self._wake_read], [], [])
            if self._wake_read in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake_read, 4096)
            if self._control.fileno() in ready:
                try:
                    arrived = receive_message(self._control)
                except OSError:
                    arrived = None
                if arrived is None:
                    self._shut_down()
                    return
                self._handle(*arrived)
            self._watch()

    def _handle(self, message: dict[str, object], files: list[int]) -> None:
        call = message["call"]
        assert isinstance(call, int)
        if message["do"] == "end":
            if call in self._pids:
                self._ending.add(call)
                _kill_group(self._pids[call])
            else:
                self._tell(call, "ended")
            return
        if message["do"] == "call":
            self._preload(message["preload"])
        try:
            pid = os.fork()
        except OSError as error:
            self._tell(call, "refused", reason=error.strerror)
        else:
            if pid == 0:
                _become_worker(self._control, self._wake_read, message, files)
            with contextlib.suppress(OSError):  # the worker does the same, whichever is first
                os.setpgid(pid, pid)
            self._pids[call] = pid
            self._calls[pid] = call
            self._tell(call, "started", pid=pid)
        for file in files:
            os.close(file)

    def _preload(self, names: object) -> None:
        assert isinstance(names, list)
        for name in names:
            if name not in self._preloaded:
                self._preloaded.add(name)
                with contextlib.suppress(BaseException):  # the worker gets the same error and reports it
                    importlib.import_module(name)
                gc.collect()
                gc.freeze()  # keeps the collector from copying pages shared with workers

    def _watch(self) -> None:
        """Report dead workers, and kill the remaining processes of ending ones."""
        for call, pid in list(self._pids.items()):
            if call not in self._exited:
                status = _exit_status(pid)
                if status is not None:
                    self._exited.add(call)
                    self._tell(call, "exited", status=status)
            if call in self._ending and call in self._exited:
                _kill_group(pid)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
                del self._pids[call], self._calls[pid]
                self._exited.discard(call)
                self._reaped.add(call)
        if self._reaped and not self._kill_orphans():
            for call in self._reaped:
                self._ending.discard(call)
                self._tell(call, "ended")
            self._reaped.clear()

    def _kill_orphans(self) -> bool:
        """Kill the children that are not workers, which have outlived theirs; return whether any are left.

        Each that dies may hand over its own children, so the list is read again until it holds none, or only some
        whose death is still to come; it wakes the loop.
        """
        while orphans := [pid for pid in _children() if pid not in self._calls]:
            for pid in orphans:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            reaped = False
            for pid in orphans:
                with contextlib.suppress(ChildProcessError):
                    reaped |= os.waitpid(pid, os.WNOHANG)[0] != 0
            if not reaped:
                return True
        return False

    def _tell(self, call: int, event: str, **details: object) -> None:
        with contextlib.suppress(OSError):
            send_message(self._control, {"call": call, "event": event, **details})

    def _shut_down(self) -> None:
        until = time.monotonic() + _SHUTDOWN_SECONDS
        self._ending = set(self._pids)
        for pid in self._pids.values():
            _kill_group(pid)
        while time.monotonic() < until:
            self._watch()
            if not self._pids and not self._kill_orphans():
                return
            select.select([self._wake_read], [], [], 0.05)


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _exit_status(pid: int) -> int | None:
    """The exit code of a dead child, negative for a signal, leaving it unreaped; None while it lives."""
    if not hasattr(os, "waitid"):  # macOS: reaps at once, so its id is not reserved while the group is killed
        reaped, status = os.waitpid(pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if reaped else None
    found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _children() -> list[int]:
    """Direct children, dead ones included; empty where the kernel does not tell."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _become_worker(control: socket.socket, wake_file: int, message: dict[str, object], files: list[int]) -> NoReturn:
    """Everything a worker does after the fork; never returns to the spawner's loop."""
    try:
        spawner = os.getppid()
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        os.nice(_NICE)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        if os.getppid() != spawner:
            os._exit(1)
        os.close(signal.set_wakeup_fd(-1))
        # Python itself ignores the last two, so that functions see an OSError; programs expect the system's default.
        also = (signal.SIGPIPE, signal.SIGXFSZ) if message["do"] == "exec" else ()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, *also):
            signal.signal(number, signal.SIG_DFL)
        os.close(wake_file)
        control.close()
        for standard, file in enumerate(files[1:]):
            os.dup2(file, standard, inheritable=True)
            os.close(file)
        _set_limits(message["limits"])
        connection = socket.socket(fileno=files[0])
        if message["do"] == "exec":
            _execute(connection)
        _call(connection)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _set_limits(limits: object) -> None:
    assert isinstance(limits, dict)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, limit in (("memory_bytes", resource.RLIMIT_AS), ("file_bytes", resource.RLIMIT_FSIZE)):
        value = limits.get(name)
        if value is not None:
            hard = resource.getrlimit(limit)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (value, value))


def _receive_frame(connection: socket.socket) -> bytes:
    header = receive_exactly(connection, _FRAME.size)
    body = None if header is None else receive_exactly(connection, _FRAME.unpack(header)[0])
    if body is None:
        os._exit(1)  # the server has given up already
    return body


def _execute(connection: socket.socket) -> NoReturn:
    """Become another program, or say why that cannot be."""
    argv, environment, folder = pickle.loads(_receive_frame(connection))
    try:
        if folder is not None:
            os.chdir(folder)
        os.execve(argv[0], argv, environment)
    except OSError as error:
        body = pickle.dumps((error.errno, folder if error.filename == folder else argv[0]))
        connection.sendall(_FRAME.pack(len(body)) + body)
    os._exit(127)


def _call(connection: socket.socket) -> NoReturn:
    """Run one function and send back the result."""
    excerpts.leave_to_server()
    request = _receive_frame(connection)
    threading.Thread(target=_die_with, args=(connection,), daemon=True).start()
    answer = _answer(request)
    connection.sendall(_FRAME.pack(len(answer)) + answer)
    os._exit(0)


def _die_with(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.recv(1)
    os.killpg(0, signal.SIGKILL)


def _answer(request: bytes) -> bytes:
    """Run a request and pickle `(kind, value)`: result, failure (JSON), exception with its description, or unusual."""
    module = ""
    try:
        sources, module, file, call = pickle.loads(request)
        pack_modules.add_sources(sources)
        _import_by_path(module, file)
        function, arguments = pickle.loads(call)
        return _pickled_result(function(*arguments))
    except PackError as error:
        return pickle.dumps(("failure", error.failure.to_json()))
    except MemoryError:
        return pickle.dumps(("failure", {"code": "resource_exhausted", "message": "The worker ran out of memory."}))
    except BaseException as error:  # Rust panics and sys.exit() are no Exceptions
        raised = describe(error, package=pack_modules.package_of(module), without=__file__)
        if isinstance(error, Exception):
            with contextlib.suppress(BaseException):  # its class may do anything when it is pickled
                body = pickle.dumps(("exception", error, raised))
                pickle.loads(body)
                return body
        return pickle.dumps(("unusual", raised))


def _pickled_result(result: object) -> bytes:
    try:
        return pickle.dumps(("result", result), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise PackError("handler_failed", f"The result cannot be pickled: {error}.") from error


def _import_by_path(module: str, file: str | None) -> None:
    """Make a module that was loaded from a file under any name importable under that name."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if file is None or error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        spec = importlib.util.spec_from_file_location(module, file)
        if spec is None or spec.loader is None:
            raise
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[module] = loaded
        spec.loader.exec_module(loaded)
