"""Converts one document file of any format to Markdown. Runs in a separate process: parsers block and may crash."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TypedDict

from packline import PackError

from .._html import decode, page_facts, parse, remove_noise, to_markdown
from .._markdown import tidy
from .._process import limit_memory, limit_time
from ._formats import MEDIA_TYPES, Format, called, detect

#: Imported before the process is forked.
PRELOAD = ("pdf_oxide", "mammoth", "python_calamine", "selectolax.lexbor", "markdownify")

#: What reading a document may take: memory on top of the worker's own 50 MiB, and processor time.
MEMORY_BYTES = 448 * 1024**2
CPU_SECONDS = 12

_HEADING = re.compile(r"^#{1,3} +(.+?)\s*#*$", re.MULTILINE)


class Converted(TypedDict):
    """What came out; plain data, since it crosses a process border.

    `pages` counts PDF pages or slides and is None for formats without them.
    """

    markdown: str
    title: str | None
    format: Format
    media_type: str
    pages: int | None
    needs_ocr: bool
    warnings: list[str]


def convert(source: str | bytes, media_type: str, charset: str | None, name: str, server_process: int) -> Converted:
    """The document's text as Markdown.

    Args:
        source: Path of the file, or its content.
        media_type: As declared; only settles what content leaves open.
        charset: As declared, for text and HTML.
        name: File name, for messages and for telling Markdown from plain text.
        server_process: Id of the process that asks, see `limit_memory`.

    Raises:
        PackError: `invalid_input` for a file that cannot be read or is too large or too deep, with what to do about it.
    """
    limit_memory(server_process, MEMORY_BYTES)
    limit_time(server_process, CPU_SECONDS)
    try:
        if isinstance(source, str):
            return _convert_file(Path(source), media_type, charset, name)
        with tempfile.NamedTemporaryFile(prefix="packline-doc-") as file:
            file.write(source)
            file.flush()
            return _convert_file(Path(file.name), media_type, charset, name)
    except RecursionError:
        raise PackError(
            "invalid_input",
            f"{called(name)} holds too many elements within each other to be read.",
            hint="Reduce the nesting of its tables, lists or sections, or save it as PDF.",
        ) from None


def _convert_file(path: Path, media_type: str, charset: str | None, name: str) -> Converted:
    kind = detect(path, media_type, name)
    result = Converted(
        markdown="", title=None, format=kind, media_type=MEDIA_TYPES[kind], pages=None, needs_ocr=False, warnings=[]
    )
    match kind:
        case "pdf":
            from ._pdf import read_pdf

            pdf = read_pdf(path, called(name))
            result["markdown"], result["title"], result["pages"] = pdf.markdown, pdf.title, pdf.pages
            result["needs_ocr"], result["warnings"] = pdf.needs_ocr, pdf.warnings
        case "docx":
            from ._office import read_docx

            result["markdown"], result["title"] = read_docx(path, called(name))
        case "xlsx":
            from ._office import read_xlsx

            result["markdown"], result["title"], result["warnings"] = read_xlsx(path)
        case "pptx":
            from ._office import read_pptx

            result["markdown"], result["title"], result["pages"] = read_pptx(path, called(name))
        case "html":
            result["markdown"], result["title"] = _read_html(path.read_bytes(), charset, called(name))
        case "markdown" | "text":
            result["markdown"] = tidy(decode(path.read_bytes(), charset).removeprefix("\ufeff"))
    if result["title"] is None and kind != "text" and (heading := _HEADING.search(result["markdown"])):
        result["title"] = re.sub(r"[*_`]", "", heading.group(1))[:500]
    return result


def _read_html(body: bytes, charset: str | None, called: str) -> tuple[str, str | None]:
    """The whole page: a document somebody hands over is content from top to bottom, unlike a page on the web."""
    tree = parse(decode(body, charset), called)
    facts = page_facts(tree)
    remove_noise(tree)
    root = tree.body
    return to_markdown(root.html or "") if root is not None else "", facts.title
