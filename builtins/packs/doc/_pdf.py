"""Converts PDF to Markdown with pdf_oxide, and checks the result.

pdf_oxide is young (measured: 7 of 60 damaged files make its Rust code panic), so each page is read separately
and what it returns is compared with the plain text of the same page.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from packline import PackError, excerpt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pdf_oxide

_Result = TypeVar("_Result")

#: Below this share of the page's words in the Markdown, the step warns.
RECALL_FLOOR = 0.95

#: Pages of one document. Measured: 4 to 6 ms of processor time for a page of dense text.
MAX_PAGES = 1_500

_WORD = re.compile(r"\w+")
_FENCE = re.compile(r"^\s*(```|~~~)")
_NUMBERED_BULLET = re.compile(r"^(\s*)[-*] (\d{1,3}[.)]) ")
_HEADING = re.compile(r"^(#{1,6}) ")
_STRAY_NUMBER = re.compile(r"^- (\d+[.)])$")
_SPLIT_EMPHASIS = re.compile(r"(?<=[^\s*])\*[ ]\*(?=[^\s*])")
_LIST_ITEM = re.compile(r"^\s*([-*+]|\d{1,3}[.)])\s")
_SENTENCE_END = re.compile(r"""[.!?:;]["'\u201d\u2019)\]*_]*$""")
_PAGE_NUMBER = re.compile(r"^(page\s+)?\d{1,4}(\s*(/|of)\s*\d{1,4})?$", re.IGNORECASE)


@dataclass(slots=True)
class PdfText:
    """What came out of a PDF."""

    markdown: str
    title: str | None
    pages: int
    needs_ocr: bool
    warnings: list[str] = field(default_factory=list)


def read_pdf(path: Path, called: str = "The PDF") -> PdfText:
    """The document's text as Markdown, page after page without page breaks.

    Args:
        path: The file.
        called: What messages call it.

    Raises:
        PackError: `invalid_input` for a file that is encrypted, too damaged to read any page of, or too long.
    """
    import pdf_oxide

    pdf_oxide.disable_logging()
    document = _open(path)
    pages: list[str] = []
    unreadable: list[int] = []
    without_text: list[int] = []
    pictures = 0
    expected: Counter[str] = Counter()
    count = document.page_count()
    if count > MAX_PAGES:
        raise PackError(
            "invalid_input",
            f"{called} has {count:,} pages; at most {MAX_PAGES:,} are read.",
            hint=f"Split the document into parts of up to {MAX_PAGES:,} pages.",
        )
    for index in range(count):
        try:
            markdown, words = _read_page(document, index)
        except _UnreadableError:
            unreadable.append(index + 1)
            continue
        if words:
            expected += words
            pages.append(markdown)
        else:
            without_text.append(index + 1)
            pictures += _has_pictures(document, index)
    if len(unreadable) == count:
        raise _damaged("none of its pages can be read")
    body = join_pages(pages)
    return PdfText(
        markdown=body,
        title=_title(document),
        pages=count,
        needs_ocr=pictures > len(pages),
        warnings=_warnings(count, unreadable, without_text, expected, body),
    )


class _UnreadableError(Exception):
    """pdf_oxide gave up, by an error or by a panic."""


def _guarded(call: Callable[[], _Result]) -> _Result:
    """What `call` returns; Rust panics derive from BaseException and are recognised by name.

    Raises:
        _UnreadableError: any error of pdf_oxide.
    """
    try:
        return call()
    except Exception as error:
        raise _UnreadableError(str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise _UnreadableError(str(error)) from error


def _open(path: Path) -> pdf_oxide.PdfDocument:
    """The opened document, once it is known to have pages and to need no password."""
    import pdf_oxide

    try:
        document = _guarded(lambda: pdf_oxide.PdfDocument(str(path)))
        encrypted = _guarded(lambda: document.permissions()) is not None and not _guarded(
            lambda: document.authenticate("")
        )
        pages = _guarded(lambda: document.page_count())
    except _UnreadableError as error:
        raise _damaged(str(error)) from error
    if encrypted:
        raise PackError(
            "invalid_input", "The PDF is protected with a password.", hint="Remove the password and try again."
        )
    if pages < 1:
        raise _damaged("it has no pages")
    return document


def _read_page(document: pdf_oxide.PdfDocument, index: int) -> tuple[str, Counter[str]]:
    """A page's Markdown, and its words by the simpler reader, which finds all words but no structure."""
    markdown = _guarded(lambda: document.to_markdown(index, include_images=False, include_artifacts=False))
    try:
        plain = _guarded(lambda: document.extract_text(index, extract_tables=False, include_artifacts=False))
    except _UnreadableError:
        plain = markdown
    return markdown, _words(plain) or _words(markdown)


def _has_pictures(document: pdf_oxide.PdfDocument, index: int) -> bool:
    try:
        return bool(_guarded(lambda: document.page_images(index)))
    except _UnreadableError:
        return False


def _damaged(reason: str) -> PackError:
    return PackError(
        "invalid_input",
        f"The PDF is damaged: {excerpt(reason, 300)}.",
        hint="Open it in a PDF viewer, print it to a new PDF and try again.",
    )


def _title(document: pdf_oxide.PdfDocument) -> str | None:
    try:
        metadata = _guarded(lambda: document.xmp_metadata())
    except _UnreadableError:
        return None
    title = metadata.get("dc_title") if isinstance(metadata, dict) else None
    return " ".join(title.split())[:500] or None if isinstance(title, str) else None


def _warnings(
    count: int, unreadable: list[int], without_text: list[int], expected: Counter[str], body: str
) -> list[str]:
    warnings = []
    if unreadable:
        warnings.append(f"{_pages(unreadable)} of {count} could not be read and {_were(unreadable)} left out.")
    if without_text:
        warnings.append(
            f"{_pages(without_text)} of {count} gave no text (blank, scanned or damaged); "
            "run OCR over the document first if that matters."
        )
    total = expected.total()
    kept = (expected & _words(body)).total()
    if total and kept / total < RECALL_FLOOR:
        warnings.append(f"Only {kept / total:.0%} of the document's words are in the Markdown; check its layout.")
    return warnings


def join_pages(pages: list[str]) -> str:
    """One text out of pages: lists and sentences that a page break cut are put together again."""
    blocks: list[str] = []
    for page in pages:
        for index, block in enumerate(block for block in _blocks(page) if not _PAGE_NUMBER.match(block)):
            last = blocks[-1] if blocks else ""
            stray = _STRAY_NUMBER.match(block)
            if stray and _is_open_sentence(last):
                blocks[-1] = f"{last} {stray.group(1)}"
            elif index == 0 and _LIST_ITEM.match(block) and _LIST_ITEM.match(last.rsplit("\n", 1)[-1]):
                blocks[-1] = f"{last}\n{block}"
            elif index == 0 and _is_open_sentence(last) and block[0].islower():
                blocks[-1] = f"{last} {block}"
            else:
                blocks.append(block)
    return "\n\n".join(_levelled(blocks))


def _levelled(blocks: list[str]) -> list[str]:
    """The blocks with heading levels in use moved up to leave no gaps; they are guessed from font sizes."""
    used = sorted({len(match.group(1)) for block in blocks if (match := _HEADING.match(block))})
    level = {size: number for number, size in enumerate(used, start=min(used, default=1))}
    return [_HEADING.sub(lambda match: "#" * level[len(match.group(1))] + " ", block, count=1) for block in blocks]


def _is_open_sentence(block: str) -> bool:
    """Whether a paragraph stops in the middle of a sentence."""
    return bool(block) and not block.startswith(("#", "|", "```", "-", ">")) and not _SENTENCE_END.search(block)


def _blocks(page: str) -> list[str]:
    """The page's Markdown blocks, repaired: no page rules, single spaces at line joints, real numbered items."""
    blocks: list[str] = []
    current: list[str] = []
    fenced = False
    for line in page.replace("\x00", "").splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        if not fenced:
            line = _NUMBERED_BULLET.sub(r"\1\2 ", line.rstrip())
            indent = len(line) - len(line.lstrip())
            line = line[:indent] + _SPLIT_EMPHASIS.sub(" ", re.sub(r"[ \t\xa0]{2,}", " ", line[indent:]))
            if line == "---":
                line = ""
        if line or fenced:
            current.append(line)
        elif current:
            blocks.append("\n".join(current))
            current = []
    if current:
        blocks.append("\n".join(current))
    return blocks


def _words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(text))


def _pages(numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:10]) + (" and others" if len(numbers) > 10 else "")
    return f"Page {shown}" if len(numbers) == 1 else f"Pages {shown}"


def _were(numbers: list[int]) -> str:
    return "was" if len(numbers) == 1 else "were"
