"""Reads format and size of a picture from its first bytes, without a library and without decoding it."""

from __future__ import annotations

import struct
from dataclasses import dataclass

#: Frame headers with the size (ITU-T T.81, table B.1); C4, C8 and CC are other segments.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True, slots=True)
class PictureSize:
    media_type: str
    width: int
    height: int


def picture_size(head: bytes) -> PictureSize | None:
    """Read format and size from the beginning of a file; None when it is not a PNG, JPEG or WebP."""
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return PictureSize("image/png", *struct.unpack_from(">II", head, 16))
        if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            return _webp(head)
        if head.startswith(b"\xff\xd8\xff"):
            return _jpeg(head)
    except (struct.error, IndexError):
        return None
    return None


def _webp(head: bytes) -> PictureSize | None:
    """Read a WebP (RFC 9649): lossy, lossless and extended files have the size in different places."""
    if len(head) < 30:
        return None
    match head[12:16]:
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", head, 26)
            return PictureSize("image/webp", width & 0x3FFF, height & 0x3FFF)
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", head, 21)
            return PictureSize("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            width = int.from_bytes(head[24:27], "little") + 1
            return PictureSize("image/webp", width, int.from_bytes(head[27:30], "little") + 1)
    return None


def _jpeg(head: bytes) -> PictureSize | None:
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
            return PictureSize("image/jpeg", width, height)
        position += 2 + length
