"""Cuts slide Markdown into slides: `---` lines, comments and front matter, before any Markdown is read.

CommonMark turns text followed by `---` into a heading, which would swallow slide breaks, so this is done line by line;
fenced code is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: Control characters and noncharacters, which neither XML nor PDF text can hold.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_BREAK = re.compile(r" {0,3}-{3,}[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,2}[ \t]+\S")
_FRONT_MATTER_LINE = re.compile(r"(?:[A-Za-z_][\w-]*[ \t]*:.*|[ \t]+\S.*|-[ \t]+.*|#.*|[ \t]*)\Z")
_DIRECTIVE = re.compile(r"\s*_?([a-zA-Z][\w-]*)\s*:\s*(.*?)\s*\Z", re.DOTALL)

#: Marp's own directives (https://marpit.marp.app/directives): instructions to another renderer, not notes.
_MARP_WORDS = """
marp theme style headingdivider size math title author description keywords url image paginate header footer class
backgroundcolor backgroundimage backgroundposition backgroundrepeat backgroundsize color lang transition auto-scaling
"""
_MARP_DIRECTIVES = frozenset(_MARP_WORDS.split())


@dataclass(slots=True)
class RawSlide:
    """One slide's Markdown without its comments.

    Attributes:
        markdown: What is shown.
        layout: Layout its author asked for, valid or not; empty when none.
        notes: Texts of its notes, in order.
    """

    markdown: str
    layout: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RawDeck:
    """A presentation cut into slides.

    Attributes:
        slides: Those with anything on them.
        properties: Front matter as plain text, keys in lower case.
        by_headings: Whether there were no breaks, so that headings were taken for them.
    """

    slides: list[RawSlide]
    properties: dict[str, str]
    by_headings: bool = False


def split_slides(markdown: str) -> RawDeck:
    """Cuts `markdown` at its `---` lines, or before each first- and second-level heading when it has none."""
    text = markdown.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    lines = _UNSHOWABLE.sub("", text).split("\n")
    properties, lines = _front_matter(lines)
    chunks = _cut(lines, at_headings=False)
    by_headings = False
    if len(chunks) == 1:
        headed = _cut(lines, at_headings=True)
        if len(headed) > 1:
            chunks, by_headings = headed, True
    slides = [slide for chunk in chunks if (slide := _raw_slide(chunk)) is not None]
    return RawDeck(slides, properties, by_headings and len(slides) > 1)


def _front_matter(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    """Properties between two `---` lines at the very top, and the lines after them."""
    start = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    if start == len(lines) or not _BREAK.match(lines[start]):
        return {}, lines
    properties: dict[str, str] = {}
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if _BREAK.match(line):
            return (properties, lines[index + 1 :]) if properties else ({}, lines)
        if not _FRONT_MATTER_LINE.match(line):
            break
        key, colon, value = line.partition(":")
        if colon and not line.startswith((" ", "\t", "#", "-")):
            properties[key.strip().lower()] = value.strip().strip("'\"")
    return {}, lines


def _cut(lines: list[str], *, at_headings: bool) -> list[list[tuple[str, bool]]]:
    """Lines of each slide, each marked with whether it is inside fenced code."""
    chunks: list[list[tuple[str, bool]]] = [[]]
    fence = ""
    in_comment = False
    for line in lines:
        if fence:
            chunks[-1].append((line, True))
            closing = _FENCE.match(line)
            if closing and closing[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if not in_comment and (opening := _FENCE.match(line)):
            fence = opening[1]
            chunks[-1].append((line, True))
            continue
        if not in_comment and not at_headings and _BREAK.match(line):
            chunks.append([])
            continue
        if not in_comment and at_headings and _HEADING.match(line) and any(text.strip() for text, _ in chunks[-1]):
            chunks.append([])
        chunks[-1].append((line, False))
        opened, closed = line.rfind("<!--"), line.rfind("-->")
        if opened > closed or (in_comment and closed < 0):
            in_comment = True
        elif closed >= 0:
            in_comment = False
    return chunks


def _raw_slide(chunk: list[tuple[str, bool]]) -> RawSlide | None:
    """The slide with its comments taken out, or None when nothing is left of it."""
    slide = RawSlide("")
    shown: list[str] = []
    comment: list[str] | None = None
    for line, fenced in chunk:
        if fenced and comment is None:
            shown.append(line)
            continue
        kept = ""
        rest = line
        while rest:
            if comment is None:
                before, opening, after = rest.partition("<!--")
                if opening and before.count("`") % 2:  # inside inline code
                    kept += before + opening
                    rest = after
                    continue
                kept += before
                rest = after
                if opening:
                    comment = []
            else:
                before, closing, after = rest.partition("-->")
                comment.append(before)
                rest = after
                if closing:
                    _take_comment(slide, "".join(comment))
                    comment = None
        if comment is not None:
            comment.append("\n")
        if kept.strip() or not line.strip():
            shown.append(kept)
    if comment is not None:  # never closed: to the slide's end
        _take_comment(slide, "".join(comment))
    slide.markdown = "\n".join(shown).strip("\n")
    return slide if slide.markdown.strip() else None


def _take_comment(slide: RawSlide, text: str) -> None:
    """Files a comment as a layout, as notes, or as another renderer's directive, which is dropped."""
    if directive := _DIRECTIVE.match(text):
        key, value = directive[1].lower(), directive[2]
        if key in ("notes", "note", "speaker"):
            slide.notes.append(value)
            return
        if key == "layout" or (key == "class" and value.lower() in ("lead", "title", "section", "closing")):
            slide.layout = {"lead": "section"}.get(value.lower(), value.lower())
            return
        if key in _MARP_DIRECTIVES:
            return
    if text.strip():
        slide.notes.append(text.strip())
