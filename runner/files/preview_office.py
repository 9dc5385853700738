"""Reads the beginning of an Office document as text: its parts are XML in a ZIP archive.

Runs in a worker process, see `runner.files.preview_worker`.
"""

from __future__ import annotations

import html
import re
import zipfile
from typing import TYPE_CHECKING

from runner.files.preview_drawing import DrawnPreview

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Unpacked bytes that are read of a part: a few kilobytes can unpack to gigabytes.
PART_BYTES = 4 << 20
#: Most characters, as `Artifact.preview` returns.
CHARACTERS = 10_000
_PARTS = 10_000

_SLIDE = re.compile(r"ppt/slides/slide(\d{1,6})\.xml")
_PARAGRAPH = re.compile(r"</(?:a|w):p>|</si>")
_TEXT = re.compile(r"<(?:a:t|w:t|t)(?:\s[^>]*)?>([^<]*)<")


def draw_office(path: str, media_type: str) -> DrawnPreview:
    """Return the beginning of the text of a Word document, spreadsheet or presentation, and the number of slides."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) > _PARTS:
            return DrawnPreview("none", reason=f"The document has too many parts ({len(names):,}).")
        pages = None
        if "presentationml" in media_type:
            slides = sorted((int(match[1]), name) for name in names if (match := _SLIDE.fullmatch(name)))
            pages = len(slides)
            parts = [name for _, name in slides]
        else:
            parts = [name for name in ("word/document.xml", "xl/sharedStrings.xml") if name in names]
        text = _beginning(archive, parts)
    if not text:
        return DrawnPreview("none", reason="The document has no text.", pages=pages)
    return DrawnPreview("text", text=text, pages=pages)


def _beginning(archive: zipfile.ZipFile, parts: list[str]) -> str:
    found: list[str] = []
    size = 0
    for part in parts:
        with archive.open(part) as file:
            xml = file.read(PART_BYTES).decode("utf-8", "ignore")
        for line in _lines(xml):
            found.append(line)
            size += len(line) + 1
            if size > CHARACTERS:
                return "\n".join(found)[:CHARACTERS]
        found.append("")
    return "\n".join(found).strip()


def _lines(xml: str) -> Iterator[str]:
    for paragraph in _PARAGRAPH.split(xml):
        line = html.unescape("".join(_TEXT.findall(paragraph))).strip()
        if line:
            yield line.replace("\0", "")
