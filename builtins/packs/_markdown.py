"""Small repairs to Markdown that several packs make."""

from __future__ import annotations

import re

from packline import excerpt

_TRAILING_HEADINGS = re.compile(r"(\n+#{1,6} [^\n]*)+\Z")


def tidy(markdown: str) -> str:
    """The same Markdown with no trailing spaces and at most one empty line in a row, outside fenced code."""
    lines: list[str] = []
    fenced = False
    for raw in markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").split("\n"):
        line = raw.rstrip()
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if not fenced and not line and (not lines or not lines[-1]):
            continue
        lines.append(line)
    return "\n".join(lines).strip("\n")


def cut_at_paragraph(markdown: str, *, max_chars: int, max_bytes: int) -> str:
    """The beginning that fits both limits, ended at a paragraph and not at a heading; all of it if it fits."""
    if len(markdown) <= max_chars and len(markdown.encode()) <= max_bytes:
        return markdown
    cut = excerpt(markdown, max_chars, ending="").encode()[:max_bytes].decode(errors="ignore")
    paragraph = cut.rfind("\n\n")
    return _TRAILING_HEADINGS.sub("", cut[:paragraph] if paragraph > len(cut) // 2 else cut)
