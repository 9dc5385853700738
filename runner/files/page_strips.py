"""Draws pages of a document as thumbnails, one below another in a single picture: all, for paging, or the first.

A strip is drawn in a worker process, as previews are, when it is first requested. It is cached in memory only.
"""

from __future__ import annotations

import io
import os
from functools import partial
from typing import TYPE_CHECKING

from runner.bounded_cache import BoundedCache
from runner.failures import FailureCode, PackError
from runner.processes.processes import ProcessLimits, run_in_process

if TYPE_CHECKING:
    from store.files.artifacts import ArtifactRecord
    from store.files.blob_port import Blobs

#: Size of a page's cell in pixels, twice the size at which it is shown.
CELL = (192, 144)
#: Most pages that are drawn.
MOST_PAGES = 60
#: Pages in the strip of a row in a list; the page shows no more (`PageStrip.tsx`).
FIRST_PAGES = 4
DRAW_SECONDS = 30.0
MEMORY_BYTES = 1 << 30
_KEPT = 32
#: Strips of first pages are some 20 kB.
_KEPT_FIRST = 256
_QUALITY = 75


def draw_strip(path: str, most: int = MOST_PAGES) -> bytes:
    """Draw the strip of a PDF as WebP.

    Args:
        path: The file.
        most: How many of its pages to draw at most.

    Raises:
        PackError: `not_found` when a library is not installed; `invalid_output` when the file cannot be read.
    """
    os.nice(5)  # below the workers of running steps
    try:
        from PIL import Image
        from pypdfium2 import PdfDocument, PdfiumError  # type: ignore[import-untyped] # ships no types
    except ImportError as error:
        raise PackError(FailureCode.NOT_FOUND, f"Pages need a library that is not installed: {error.name}.") from error
    try:
        document = PdfDocument(path)
        pages = min(len(document), most)
        strip = Image.new("RGBA", (CELL[0], CELL[1] * max(pages, 1)))
        for number in range(pages):
            page = document[number]
            width, height = page.get_size()
            if not (width > 0 and height > 0):
                continue
            drawn = page.render(scale=min(CELL[0] / width, CELL[1] / height), may_draw_forms=False).to_pil()
            drawn.thumbnail(CELL)
            strip.paste(drawn, ((CELL[0] - drawn.width) // 2, number * CELL[1] + (CELL[1] - drawn.height) // 2))
            page.close()
    except PdfiumError as error:
        raise PackError(FailureCode.INVALID_OUTPUT, f"The document cannot be read: {error}.") from error
    encoded = io.BytesIO()
    strip.save(encoded, "WEBP", quality=_QUALITY, method=2)
    return encoded.getvalue()


class PageStrips:
    """Draws strips and caches the last few.

    Args:
        blobs: The contents.
    """

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._strips = BoundedCache(partial(self._drawn, MOST_PAGES), _KEPT)
        self._first = BoundedCache(partial(self._drawn, FIRST_PAGES), _KEPT_FIRST)

    async def of(self, artifact: ArtifactRecord, *, only_first: bool = False) -> bytes:
        """Return the strip of a document as WebP.

        Args:
            artifact: The document.
            only_first: Draw `FIRST_PAGES` instead of all, which a list can ask for many documents.

        Raises:
            PackError: it cannot be drawn; cached, so the same again for the same content.
            BlobError: its content is not available.
        """
        return await (self._first if only_first else self._strips).of(artifact)

    async def _drawn(self, most: int, artifact: ArtifactRecord) -> bytes:
        if artifact.media_type.partition(";")[0] != "application/pdf":
            raise PackError(FailureCode.NOT_FOUND, f"{artifact.name} has no pages to show.")
        path = await self._blobs.local(artifact.digest)
        limits = ProcessLimits(memory_bytes=MEMORY_BYTES, file_bytes=0)
        return await run_in_process(draw_strip, str(path), most, timeout_seconds=DRAW_SECONDS, limits=limits)
