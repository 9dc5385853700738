"""Signs of life of functions in worker processes, see `tests.support.worker_functions`."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Signs:
    """Process ids that workers write into a FIFO."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        self._file = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._text = ""

    async def pids(self, count: int) -> list[int]:
        """The next so many."""
        loop = asyncio.get_running_loop()
        more = asyncio.Event()
        loop.add_reader(self._file, more.set)
        try:
            async with asyncio.timeout(60):
                while self._text.count("\n") < count:
                    await more.wait()
                    more.clear()
                    with contextlib.suppress(BlockingIOError):
                        self._text += os.read(self._file, 65536).decode()
        finally:
            loop.remove_reader(self._file)
        *lines, self._text = self._text.split("\n", count)
        return [int(line) for line in lines]

    def close(self) -> None:
        os.close(self._file)
