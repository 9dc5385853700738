"""Detects the media type of a file from its first bytes, not from what its sender claims.

The name decides only among kinds of text, and the claim only when neither content nor name is specific. Signatures are
those of the WHATWG MIME Sniffing Standard and of the formats' specifications.
"""

from __future__ import annotations

import re

#: First bytes of a file that `media_type_of` needs.
HEAD_BYTES = 8192

UNKNOWN_TYPE = "application/octet-stream"
_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"{\\rtf", "application/rtf"),
    (b"\x7fELF", UNKNOWN_TYPE),
    (b"MZ", UNKNOWN_TYPE),
)
_OFFICE = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
)
_OFFICE_BY_NAME = {".docx": _OFFICE[0][1], ".pptx": _OFFICE[1][1], ".xlsx": _OFFICE[2][1]}
_TEXT_BY_NAME = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".html": "text/html",
    ".htm": "text/html",
    ".xml": "application/xml",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".srt": "application/x-subrip",
    ".vtt": "text/vtt",
    ".css": "text/css",
    ".js": "text/javascript",
    ".diff": "text/x-diff",
    ".patch": "text/x-diff",
}
#: Types that are text although they do not begin with `text/`.
TEXT_TYPES = frozenset(
    {"application/json", "application/xml", "application/yaml", "application/x-subrip", "image/svg+xml"}
)
_HTML = re.compile(
    rb"\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body|script|iframe|h1|div|table|style|title)\b", re.I | re.S
)
_SVG = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!doctype svg[^>]*>\s*)?<svg\b", re.I | re.S)


def media_type_of(head: bytes, name: str = "", claimed: str | None = None) -> str:
    """Detect the media type of a file.

    Args:
        head: Its first `HEAD_BYTES` bytes, or all of it.
        name: Its name; the ending distinguishes kinds of text, and Office documents whose parts come late.
        claimed: The type its sender claims; used only for plain text, and only if it is another `text/` type.
    """
    for signature, media_type in _SIGNATURES:
        # A text may begin with these two or three letters.
        if head.startswith(signature) and (len(signature) > 3 or not is_text(head)):
            return media_type
    ending = "." + name.lower().rpartition(".")[2] if "." in name else ""
    if head.startswith(b"PK\x03\x04"):
        return _zip_type(head, ending)
    found = _container_type(head)
    if found is not None:
        return found
    if not is_text(head):
        return UNKNOWN_TYPE
    return _text_type(head, ending, claimed)


def is_text(head: bytes) -> bool:
    """Return whether the beginning of a file is UTF-8 text; its last character may be cut off."""
    if b"\0" in head or any(byte < 9 or 13 < byte < 27 for byte in head):
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3 and error.reason == "unexpected end of data"
    return True


def is_text_type(media_type: str) -> bool:
    """Return whether files of a media type are read as text."""
    plain = media_type.partition(";")[0].strip().lower()
    return plain.startswith("text/") or plain in TEXT_TYPES


def _zip_type(head: bytes, ending: str) -> str:
    for part, media_type in _OFFICE:
        if part in head:
            return media_type
    if b"mimetypeapplication/epub+zip" in head[:128]:
        return "application/epub+zip"
    if b"mimetypeapplication/vnd.oasis.opendocument." in head[:128]:
        return head[38:128].partition(b"PK")[0].decode("ascii", "ignore").strip() or "application/zip"
    if b"[Content_Types].xml" in head and ending in _OFFICE_BY_NAME:
        return _OFFICE_BY_NAME[ending]
    return "application/zip"


def _container_type(head: bytes) -> str | None:
    """Return the media type of container formats whose signature names the content."""
    if head[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}.get(head[8:12])
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        if brand in (b"avif", b"avis"):
            return "image/avif"
        if brand in (b"heic", b"heix", b"mif1"):
            return "image/heic"
        if brand.startswith(b"M4A"):
            return "audio/mp4"
        return "video/quicktime" if brand == b"qt  " else "video/mp4"
    if head[:4] == b"OggS":
        return "video/ogg" if b"theora" in head[:512] else "audio/ogg"
    # The beginning of an MPEG audio frame of layer II or III; UTF-16 begins similarly.
    if len(head) > 3 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] & 0x06 in (0x02, 0x04):
        return "audio/mpeg"
    return None


def _text_type(head: bytes, ending: str, claimed: str | None) -> str:
    if _SVG.match(head[:2048]):
        return "image/svg+xml"
    known = _TEXT_BY_NAME.get(ending)
    # Markdown may begin with a tag; any other text that begins like a page is HTML, whatever its name.
    if known != "text/markdown" and _HTML.match(head[:2048]):
        return "text/html"
    if known is not None:
        return known
    plain = (claimed or "").partition(";")[0].strip().lower()
    if re.fullmatch(r"text/[a-z0-9][a-z0-9.+-]{0,60}", plain) and plain not in ("text/html", "text/javascript"):
        return plain
    return "text/plain"
