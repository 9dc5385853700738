"""Where a recording is put together, and what its files are called."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import unicodedata
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def workspace() -> AsyncIterator[Path]:
    """A folder for what a video or an episode is made of; gone at the end."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="packline-media-"))
    try:
        yield folder
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, True))


def file_stem(title: str, otherwise: str) -> str:
    """A plain file name made from a title: letters, digits and dashes, at most 60 characters."""
    stem = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", title).lower()).strip("-")
    return stem[:60].rstrip("-") or otherwise
