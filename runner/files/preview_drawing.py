"""A preview as workers return it, and the encoding of its picture."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

#: Longer side of a preview's picture, in pixels.
SIDE = 960
#: Pictures and frames with more pixels than this are not decoded.
PIXELS = 100_000_000
_QUALITY = 82


@dataclass(frozen=True, slots=True)
class DrawnPreview:
    """A preview as a worker returns it; the fields are those of `store.files.previews.PreviewRecord`.

    Attributes:
        image: The picture as WebP, or None.
    """

    kind: str
    image: bytes | None = None
    pages: int | None = None
    width: int | None = None
    height: int | None = None
    duration_seconds: float | None = None
    peaks: tuple[float, ...] | None = None
    text: str | None = None
    reason: str | None = None


def webp(picture: Image.Image) -> bytes:
    """Scale a picture down to `SIDE` and encode it as WebP."""
    has_alpha = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
    small = picture.convert("RGBA" if has_alpha else "RGB")
    small.thumbnail((SIDE, SIDE))
    encoded = io.BytesIO()
    small.save(encoded, "WEBP", quality=_QUALITY, method=4)
    return encoded.getvalue()
