"""Where a recording is put together, and what its files are called."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

_WATCH_SECONDS = 1.0


@asynccontextmanager
async def workspace() -> AsyncIterator[Path]:
    """A folder for what a video or an episode is made of; gone at the end."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="packline-media-"))
    try:
        yield folder
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, True))


@asynccontextmanager
async def watched(path: Path, total: int, tell: Callable[[float], None]) -> AsyncIterator[None]:
    """Tells how far a worker process is that writes a count to a file, as a share of `total`, while the block runs."""

    async def watch() -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            done = await asyncio.to_thread(_count, path)
            if done is not None:
                tell(min(1.0, done / total))

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def _count(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None
