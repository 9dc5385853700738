"""Tells format and size of a picture from its first bytes, and whether all of it can be decoded."""

from __future__ import annotations

import importlib.util
import io
import struct
from dataclasses import dataclass

#: Formats that are taken, with the ending of their files.
MEDIA_TYPES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}
#: Frame headers that carry the size (ITU-T T.81, table B.1); C4, C8 and CC are other segments.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True, slots=True)
class Measured:
    """Format and size of a picture."""

    media_type: str
    width: int
    height: int


def measure(head: bytes) -> Measured | None:
    """Format and size, read from the beginning of the file; None when it is no PNG, JPEG or WebP."""
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return Measured("image/png", *struct.unpack_from(">II", head, 16))
        if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            return _webp(head)
        if head.startswith(b"\xff\xd8\xff"):
            return _jpeg(head)
    except (struct.error, IndexError):
        return None
    return None


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
        return str(error)[:200] or type(error).__name__
    return None


def _webp(head: bytes) -> Measured | None:
    """RFC 9649: lossy, lossless and extended files keep the size in different places."""
    if len(head) < 30:
        return None
    match head[12:16]:
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", head, 26)
            return Measured("image/webp", width & 0x3FFF, height & 0x3FFF)
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", head, 21)
            return Measured("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            width = int.from_bytes(head[24:27], "little") + 1
            return Measured("image/webp", width, int.from_bytes(head[27:30], "little") + 1)
    return None


def _jpeg(head: bytes) -> Measured | None:
    position = 2
    while True:
        if head[position] != 0xFF:
            return None
        marker = head[position + 1]
        if marker == 0xFF:  # padding
            position += 1
            continue
        (length,) = struct.unpack_from(">H", head, position + 2)
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", head, position + 5)
            return Measured("image/jpeg", width, height)
        position += 2 + length
