"""The text of a page as a server sent it: what it may be announced as, and whether it is text at all.

Servers label anything `text/html`, and an extractor makes words of any bytes. So a body is read by what it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from packline import PackError

from ._html import decode

if TYPE_CHECKING:
    from ._http import Fetched

PAGES = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml", ""})
TEXTS = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
ACCEPT = "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8"

#: Largest share of characters that written texts do not contain. Random bytes have 13% of them in any 8-bit charset.
NOT_WRITTEN_SHARE = 0.05
_DOCUMENTS = ("application/pdf", "application/msword", "application/vnd.")
_DOCUMENT_HINT = "Use the pack `doc.parse` with this address as `source_url`."
#: Control characters without white space and escape, replacements of what cannot be decoded, private use.
_NOT_WRITTEN = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd-\uffff\ue000-\uf8ff]+")
_MARKUP = re.compile(
    r"<(?:!doctype\b|!--|\?xml\b|(?:html|head|body|title|meta|link|script|style|p|div|span|h[1-6]|a|ul|ol|table|article"
    r"|main|section|header|br|img)[\s/>])",
    re.IGNORECASE,
)


class _Kind(NamedTuple):
    signature: re.Pattern[bytes]
    name: str
    hint: str


def _kind(signature: bytes, name: str, hint: str = "Give the address of a page.") -> _Kind:
    return _Kind(re.compile(signature, re.DOTALL), name, hint)


#: What is no page, by its first bytes (registry of the WHATWG MIME Sniffing Standard, and the formats' own).
_KINDS = (
    _kind(rb"\s{0,1000}%PDF-", "a PDF", _DOCUMENT_HINT),
    _kind(
        rb"PK\x03\x04.{0,5000000}(?:word/document|xl/workbook|ppt/presentation)", "an Office document", _DOCUMENT_HINT
    ),
    _kind(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document", _DOCUMENT_HINT),
    _kind(rb"PK(?:\x03\x04|\x05\x06)", "a ZIP archive", "Unpack it and upload the document in it for `doc.parse`."),
    _kind(rb"\x89PNG\r\n\x1a\n", "a PNG picture"),
    _kind(rb"\xff\xd8\xff", "a JPEG picture"),
    _kind(rb"GIF8[79]a", "a GIF picture"),
    _kind(rb"RIFF.{4}WEBP", "a WebP picture"),
    _kind(rb"(?:II\*\x00|MM\x00\*)", "a TIFF picture"),
    _kind(rb"\x1f\x8b\x08", "gzip data"),
    _kind(rb"\x28\xb5\x2f\xfd", "zstd data"),
    _kind(rb"BZh[1-9]1AY&SY", "bzip2 data"),
    _kind(rb"\xfd7zXZ\x00", "xz data"),
    _kind(rb"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    _kind(rb"Rar!\x1a\x07", "a RAR archive"),
    _kind(rb".{257}ustar[\x00 ]", "a tar archive"),
    _kind(rb"\x00\x00\x00.ftyp", "an MP4 file"),
    _kind(rb"\x1aE\xdf\xa3", "a Matroska or WebM file"),
    _kind(rb"OggS\x00", "an Ogg file"),
    _kind(rb"ID3[\x02-\x04]\x00", "an MP3 file"),
    _kind(rb"RIFF.{4}(?:WAVE|AVI )", "a WAVE or AVI file"),
    _kind(rb"wOF[F2]\x00\x01\x00\x00", "a font"),
    _kind(rb"SQLite format 3\x00", "an SQLite database"),
    _kind(rb"\x7fELF|\x00asm\x01\x00", "a program"),
)


def refuse_other_types(answer: Fetched) -> None:
    """Returns when an answer is announced as a page or a text, or as nothing.

    Raises:
        PackError: `invalid_input` otherwise, so that nothing else is downloaded.
    """
    if answer.media_type in PAGES | TEXTS:
        return
    raise PackError(
        "invalid_input",
        f"{answer.url} is not a web page but `{answer.media_type}`.",
        field="url",
        hint=_DOCUMENT_HINT if answer.media_type.startswith(_DOCUMENTS) else "Give a web page.",
    )


def text_in(body: bytes, charset: str | None, media_type: str, url: str) -> str:
    """The text of a body in any charset.

    Raises:
        PackError: `invalid_input` for what is not text, with the pack that reads it where there is one.
    """
    kind = next((kind for kind in _KINDS if kind.signature.match(body)), None)
    text = "" if kind else decode(body, charset)
    if kind is None and _is_written(text):
        return text
    announced = f"is announced as `{media_type}`" if media_type else "comes without a type"
    what, hint = (kind.name, kind.hint) if kind else ("no text", "Check the address in a browser; give that of a page.")
    raise PackError("invalid_input", f"{url} {announced}, but its content is {what}.", field="url", hint=hint)


def has_markup(text: str) -> bool:
    """Whether a text without a type is a page rather than plain text."""
    return _MARKUP.search(text, 0, 10_000) is not None


def _is_written(text: str) -> bool:
    """Whether people wrote this: a few bad bytes are in many pages, but data is full of them."""
    strange = sum(len(found.group()) for found in _NOT_WRITTEN.finditer(text))
    return strange <= max(2, NOT_WRITTEN_SHARE * len(text))
