"""Whether all of a picture can be decoded."""

from __future__ import annotations

import importlib.util
import io

from packline import excerpt

#: Formats that are taken, with the ending of their files.
MEDIA_TYPES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


def can_decode() -> bool:
    """Whether a library is installed that decodes pictures."""
    return importlib.util.find_spec("PIL") is not None


def decode(content: bytes) -> str | None:
    """Decodes the whole picture; what is wrong with it, or None. Runs in a worker process."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "WEBP")) as picture:
            picture.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return excerpt(str(error), 200) or type(error).__name__
    return None
