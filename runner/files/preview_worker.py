"""Draws the preview of a file in a worker process, because files may be hostile.

`draw` runs with limits of memory and time (`runner.files.previews`). A library that crashes, hangs or uses up memory
costs only that process.
"""

from __future__ import annotations

import os
from pathlib import Path

from runner.failures import FailureCode, PackError
from runner.files.media_types import HEAD_BYTES, UNKNOWN_TYPE, media_type_of
from runner.files.preview_drawing import PIXELS, SIDE, DrawnPreview, webp

_PAGE_SIDE = 1200
#: Named one by one: some of Pillow's other readers start programs.
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF", "BMP", "TIFF")
#: The EXIF orientation tag, and its values for pictures rotated by 90 degrees.
_ORIENTATION = 0x0112
_ON_THEIR_SIDE = frozenset({5, 6, 7, 8})


def draw(path: str, name: str) -> DrawnPreview:
    """Draw the preview of a file.

    Args:
        path: The file.
        name: The artifact's name, by which Office documents are distinguished.

    Raises:
        PackError: `not_found` when a library is not installed. Any other problem with the file gives a drawing of kind
            `none` with its reason, or ends the process.
    """
    os.nice(5)  # below the workers of running steps
    with Path(path).open("rb") as file:
        head = file.read(HEAD_BYTES)
    media_type = media_type_of(head, name)
    try:
        return _draw(path, media_type)
    except PackError:
        raise
    except ImportError as error:
        raise PackError(
            FailureCode.NOT_FOUND, f"Previews of {media_type} need a library that is not installed: {error.name}."
        ) from error
    except MemoryError:
        return DrawnPreview("none", reason="Drawing a preview needs too much memory.")
    except Exception as error:
        return DrawnPreview("none", reason=f"The file could not be read and may be damaged ({type(error).__name__}).")


def _draw(path: str, media_type: str) -> DrawnPreview:
    if media_type == "application/pdf":
        return _page(path)
    if media_type.startswith("image/") and media_type != "image/svg+xml":
        return _picture(path)
    if media_type.startswith(("video/", "audio/")):
        from runner.files.preview_media import draw_media

        return draw_media(path)
    if "openxmlformats" in media_type:
        from runner.files.preview_office import draw_office

        return draw_office(path, media_type)
    if media_type == UNKNOWN_TYPE:
        return DrawnPreview("none", reason="The content is of no type of file that Packline recognizes.")
    return DrawnPreview("none", reason=f"Files of the type `{media_type}` have no preview.")


def _page(path: str) -> DrawnPreview:
    # PDFium, as browsers use: the library of `doc.parse` draws neither ligatures nor transparency.
    from pypdfium2 import PdfDocument  # type: ignore[import-untyped] # ships no types

    document = PdfDocument(path)
    pages = len(document)
    if pages < 1:
        return DrawnPreview("none", reason="The document has no pages.", pages=0)
    page = document[0]
    longer = max(page.get_size())
    if not longer > 0:
        return DrawnPreview("none", reason="The first page has no size.", pages=pages)
    drawn = page.render(scale=_PAGE_SIDE / longer, may_draw_forms=False)
    return DrawnPreview("page", webp(drawn.to_pil()), pages=pages)


def _picture(path: str) -> DrawnPreview:
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # our own limit gives a reason instead of a warning
    with Image.open(path, formats=_FORMATS) as picture:
        width, height = picture.size
        if width * height > PIXELS:
            return DrawnPreview("none", reason=f"A preview of {width} x {height} pixels would be too large to draw.")
        picture.draft("RGB", (SIDE, SIDE))  # decodes a JPEG no larger than needed
        if picture.getexif().get(_ORIENTATION, 1) in _ON_THEIR_SIDE:
            width, height = height, width
        return DrawnPreview("picture", webp(ImageOps.exif_transpose(picture)), width=width, height=height)
