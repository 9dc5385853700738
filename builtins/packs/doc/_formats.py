"""What a file is, judged by its content; names and declared types only settle what content leaves open."""

from __future__ import annotations

import codecs
import re
import zipfile
from typing import TYPE_CHECKING, Literal

from packline import PackError, excerpt

from .._html import decode

if TYPE_CHECKING:
    from pathlib import Path

Format = Literal["pdf", "docx", "xlsx", "pptx", "html", "markdown", "text"]

MEDIA_TYPES: dict[Format, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "html": "text/html",
    "markdown": "text/markdown",
    "text": "text/plain",
}

#: Office files are ZIP archives; more than this unpacked is a trap, not a document.
MAX_UNPACKED_BYTES = 300 * 1024 * 1024
MAX_ARCHIVE_ENTRIES = 20_000

_OFFICE_PARTS: tuple[tuple[str, Format], ...] = (
    ("word/document", "docx"),
    ("xl/workbook", "xlsx"),
    ("ppt/presentation", "pptx"),
)
_HTML_START = re.compile(r"<(!doctype\s+html|html|head|body)\b", re.IGNORECASE)
#: What may stand before the first element of XML: instructions, comments, a document type.
_PROLOG = re.compile(
    r"""(?: \s | <\?.*?\?> | <!--.*?-->
          | <!DOCTYPE [^<>\[]*+ (?: \[ (?: "[^"]*" | '[^']*' | <!--.*?(?:-->|\Z) | [^\]] )*+ \] \s*+ )? >
        )*+""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_SVG_START = re.compile(r"<(?:[\w.-]+:)?svg[\s/>]", re.IGNORECASE)
#: Pictures that are written as text, by how they begin.
_TEXT_PICTURES = (
    (re.compile(r"%!PS"), "PostScript"),
    (re.compile(r"/\* XPM \*/"), "XPM"),
    (re.compile(r"#define \w+_width \d+\s+#define \w+_height \d+"), "XBM"),
    (re.compile(r"P[123]\s(?:#[^\n]*\n|\s)*+\d+\s+\d+\s(?:#[^\n]*|[\d\s])*+\Z"), "PNM"),
)
_MARKDOWN_SIGNS = re.compile(
    r"^(#{1,6} \S|```|[-*+] \S|\d+\. \S|> \S|\|.+\|\s*$)|\[[^\]\n]+\]\([^)\n]+\)", re.MULTILINE
)
_CONVERT_HINT = "Save it as PDF, DOCX, XLSX, PPTX, HTML, Markdown or plain text and try again."


def detect(path: Path, media_type: str, name: str) -> Format:
    """The format of a file.

    Args:
        path: The file.
        media_type: As declared by the sender; may be wrong or empty.
        name: File name; may be wrong or empty.

    Raises:
        PackError: `invalid_input` when it is none we read, is a picture, is encrypted, or unpacks to too much.
    """
    with path.open("rb") as file:
        head = file.read(8192)
    if not head.strip():
        raise PackError("invalid_input", f"{called(name)} is empty.")
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith(b"PK\x03\x04"):
        return _detect_archive(path, name)
    if head.startswith(bytes.fromhex("d0cf11e0a1b11ae1")):
        return _detect_compound_file(path, name)
    if not _is_text(head):
        raise PackError(
            "invalid_input",
            f"{called(name)} is in a format that is not understood (declared as `{media_type or 'unknown'}`).",
            hint=_CONVERT_HINT,
        )
    start = decode(head).removeprefix("\ufeff")
    if (picture := _picture(path, start, media_type)) is not None:
        raise PackError(
            "invalid_input",
            f"{called(name)} is a picture ({picture}), not a text.",
            hint="Give the document it belongs to, or a description of it.",
        )
    if _HTML_START.search(start, 0, 2048):
        return "html"
    if head.startswith(b"{\\rtf"):
        raise PackError("invalid_input", f"{called(name)} is a rich text (RTF) file.", hint=_CONVERT_HINT)
    if name.lower().endswith((".md", ".markdown")) or media_type in ("text/markdown", "text/x-markdown"):
        return "markdown"
    if media_type in ("text/html", "application/xhtml+xml") and "<" in start:
        return "html"
    return "markdown" if _looks_like_markdown(start) else "text"


def _detect_archive(path: Path, name: str) -> Format:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise PackError(
            "invalid_input", f"{called(name)} is damaged: {error}.", hint="Open it, save it again and retry."
        ) from error
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MAX_UNPACKED_BYTES or len(entries) > MAX_ARCHIVE_ENTRIES:
        raise PackError(
            "invalid_input",
            f"{called(name)} unpacks to {unpacked:,} bytes in {len(entries)} parts; "
            f"at most {MAX_UNPACKED_BYTES:,} bytes in {MAX_ARCHIVE_ENTRIES:,} parts are read.",
            hint="Take large pictures and embedded files out of it.",
        )
    for start, found in _OFFICE_PARTS:
        if any(entry.filename.startswith(start) for entry in entries):
            return found
    raise PackError(
        "invalid_input",
        f"{called(name)} is an archive without a Word, Excel or PowerPoint document.",
        hint=_CONVERT_HINT,
    )


def _detect_compound_file(path: Path, name: str) -> Format:
    """Files of Office before 2007, and encrypted newer ones, share one container; its directory tells which."""
    content = path.read_bytes()

    def has(stream: str) -> bool:
        return stream.encode("utf-16-le") in content

    if has("EncryptedPackage"):
        raise PackError(
            "invalid_input", f"{called(name)} is protected with a password.", hint="Remove the password and try again."
        )
    if has("Workbook"):
        return "xlsx"
    raise PackError("invalid_input", f"{called(name)} is in an Office format from before 2007.", hint=_CONVERT_HINT)


def _picture(path: Path, start: str, media_type: str) -> str | None:
    """What kind of picture a text is, by its content or as declared; None when it is none."""
    for pattern, kind in _TEXT_PICTURES:
        if pattern.match(start):
            return kind
    if start.lstrip().startswith(("<?", "<!")):  # what comes first may be longer than the part that was read
        start = decode(path.read_bytes()).removeprefix("\ufeff")
    prolog = _PROLOG.match(start)
    if _SVG_START.match(start, prolog.end() if prolog else 0):
        return "SVG"
    return excerpt(media_type, 100) if media_type.startswith("image/") else None


def _is_text(head: bytes) -> bool:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
    return b"\x00" not in head and controls <= len(head) // 100


def _looks_like_markdown(start: str) -> bool:
    return len(_MARKDOWN_SIGNS.findall(start)) >= 2


def called(name: str) -> str:
    """What messages call a file."""
    return f"`{name}`" if name else "The document"
