"""Progress out of a worker process: a named pipe that the server's event loop listens to."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextlib.contextmanager
def heard_progress(folder: Path, listener: Callable[[float, str], None]) -> Iterator[str]:
    """The path of a pipe for `ToldProgress`; what comes through it reaches `listener` while the block lasts."""
    path = folder / "progress"
    os.mkfifo(path, 0o600)
    # Opened for writing as well: it then has no end, however often the worker opens and closes it.
    file = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    loop = asyncio.get_running_loop()
    text = bytearray()

    def ready() -> None:
        with contextlib.suppress(BlockingIOError):
            text.extend(os.read(file, 65536))
        *lines, rest = text.split(b"\n")
        text[:] = rest
        if lines:
            fraction, _, message = lines[-1].decode("utf-8", "replace").partition(" ")
            listener(float(fraction), message)

    loop.add_reader(file, ready)
    try:
        yield str(path)
    finally:
        loop.remove_reader(file)
        os.close(file)


class ToldProgress:
    """The worker's end; a full pipe drops a report rather than holding up the work."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_NONBLOCK)

    def tell(self, fraction: float, message: str) -> None:
        """Tells how far along the work is, 0 to 1."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(self._file, f"{fraction:.4f} {message}\n".encode())

    def close(self) -> None:
        """Tells nothing more."""
        os.close(self._file)
