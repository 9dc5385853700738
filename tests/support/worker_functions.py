"""Functions for worker processes: well-behaved, broken and hostile.

Those that take `signs` write their process id, a line each, into that FIFO.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import time
from pathlib import Path

from packline import PackError, excerpt

#: Something heavy enough to notice that nobody else imports.
PRELOAD = ("xmlrpc.server",)


class Panic(BaseException):
    """Like the one of Rust extensions: not an Exception."""


class Picky(Exception):
    """Cannot be made again from its pickle."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def add(left: int, right: int) -> int:
    return left + right


def about_me() -> dict[str, object]:
    return {
        "group": os.getpgid(0) == os.getpid(),
        "modules": [name for name in ("xmlrpc.server", "pydantic") if name in sys.modules],
        "settings": [name for name in os.environ if name.startswith("PACKLINE_")],
    }


def blob(size: int, echo: bytes = b"") -> bytes:
    return echo + bytes(size)


def fail(kind: str) -> None:
    match kind:
        case "pack_error":
            raise PackError("rate_limited", "Slow down.", field="a.b", hint="wait", retry_after_seconds=3, detail=[1])
        case "value_error":
            raise ValueError("no luck")
        case "timeout_error":
            raise TimeoutError("mine, not yours")
        case "panic":
            raise Panic("index out of bounds")
        case "picky":
            raise Picky("this", "that")
        case "exit":
            sys.exit(3)
        case "die":
            print("last words", file=sys.stderr, flush=True)
            os._exit(7)
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)


def complain(kind: str, words: str) -> None:
    """Fails, quoting words of somebody else."""
    match kind:
        case "value_error":
            raise ValueError(words)
        case "panic":
            raise Panic(words)
        case "excerpt":
            raise PackError("invalid_input", f"It said: {excerpt(words, 300)}.")
        case "end-excerpt":
            raise PackError("invalid_input", f"It said: {excerpt(words, 300, from_end=True)}.")
        case "stderr":
            print(words.replace("y" * 100, "y" * 99 + "\n"), file=sys.stderr, end="", flush=True)
            os._exit(7)


def unpicklable() -> object:
    return lambda: None


def allocate(size: int) -> int:
    return len(bytearray(size))


def spin(seconds: int) -> None:
    """Never ends by itself; the kernel ends it after so much processor time."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    while True:
        pass


def write_file(path: str, size: int) -> None:
    Path(path).write_bytes(bytes(size))


def hang(signs: str) -> None:
    sign(signs)
    while True:
        time.sleep(60)


def convert_or_hang(source: str, media_type: str, charset: str | None, name: str, server_process: int) -> object:
    """What `doc.parse` does, except that it never ends with documents called heavy, which hold the path of a FIFO."""
    if name.startswith("heavy"):
        hang(Path(source).read_text().strip())
    module = importlib.import_module("packline_packs.builtin.doc._convert")
    return module.convert(source, media_type, charset, name, server_process)


def tree(signs: str) -> None:
    """Nine descendants, some in sessions of their own, some orphaned, and itself: ten signs."""
    for number in range(4):
        if os.fork() == 0:
            if number % 2:
                os.setsid()
                if os.fork():
                    os._exit(0)
            if os.fork() == 0:
                hang(signs)
            hang(signs)
    if os.fork() == 0:
        hang(signs)
    hang(signs)


def run_away(signs: str) -> None:
    """A descendant that is never where it was: it forks, leaves the session and lets its parent end."""
    if os.fork() == 0:
        for hop in range(3000):
            if os.fork():
                os._exit(0)
            os.setsid()
            if hop == 100:
                sign(signs)
        hang(signs)
    hang(signs)


def leave_grandchild(signs: str) -> str:
    """Returns at once; a child that holds everything it inherited goes on."""
    ready, told = os.pipe()
    if os.fork() == 0:
        os.setsid()
        sign(signs)
        os.close(told)
        hang(signs)
    os.close(told)
    os.read(ready, 1)
    return "done"


def die_leaving_grandchild(signs: str) -> None:
    leave_grandchild(signs)
    os._exit(9)


def sign(fifo: str) -> None:
    file = os.open(fifo, os.O_WRONLY)
    os.write(file, f"{os.getpid()}\n".encode())
    os.close(file)
