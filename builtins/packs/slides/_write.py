"""Writes blocks back as Markdown, escaping everything that would otherwise be read as markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ._deck import Block, Cards, Code, Item, Listing, Paragraph, Quote, Run, Runs, Subheading, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPECIAL = re.compile(r"[\\`*\[\]<]|(?<![^\W_])_|_(?![^\W_])|~~|&(?=#?\w+;)")
_LINE_START = re.compile(
    r"(?m)^(\s*)(#{1,6}(?=\s|$)|[-+>](?=\s|$)|-{2,}\s*$|-{3,}|=+\s*$|\d{1,9}(?=[.)](?:\s|$))|>|:?-+:?\s*\|)"
)


def write_slide(title: Runs, blocks: Iterable[Block], *, level: int = 2, layout: str = "", notes: str = "") -> str:
    """One slide: layout comment, heading, blocks, notes comment."""
    parts = []
    if layout:
        parts.append(f"<!-- layout: {layout} -->")
    if title:
        parts.append(f"{'#' * level} {write_runs(title, one_line=True)}")
    parts.extend(write_block(block) for block in blocks)
    if notes.strip():
        parts.append(f"<!-- notes: {_comment(notes)} -->")
    return "\n\n".join(part for part in parts if part)


def write_block(block: Block) -> str:
    """A block as Markdown, without line feeds at its ends."""
    match block:
        case Paragraph(runs):
            return write_runs(runs)
        case Subheading(runs):
            return f"### {write_runs(runs, one_line=True)}"
        case Listing():
            return "\n".join(_listing(block, ""))
        case Table(head, rows, aligns):
            marks = {"left": "---", "right": "---:", "center": ":---:"}
            lines = [_row(head), "| " + " | ".join(marks[align] for align in aligns) + " |"]
            return "\n".join([*lines, *(_row(row) for row in rows)])
        case Code(text, language):
            fence = "`" * max(3, max((len(found) for found in re.findall(r"`+", text)), default=0) + 1)
            return f"{fence}{language}\n{text}\n{fence}"
        case Quote(paragraphs, source):
            lines = [write_runs(runs) for runs in paragraphs]
            if source:
                lines.append(f"\u2014 {write_runs(source, one_line=True)}")
            return "\n".join(f"> {line}".rstrip() for line in "\n\n".join(lines).split("\n"))
        case Cards(cards):
            return "\n".join(f"- **{write_runs(lead, one_line=True)}**: {write_runs(body)}" for lead, body in cards)


def _listing(listing: Listing, indent: str) -> Iterable[str]:
    for number, item in enumerate(listing.items, start=listing.start):
        marker = f"{number}." if listing.ordered else "-"
        yield from _item(item, indent, marker)


def _item(item: Item, indent: str, marker: str) -> Iterable[str]:
    inner = indent + " " * (len(marker) + 1)
    text = write_runs(item.runs).replace("\n", f"\n{inner}")
    yield f"{indent}{marker} {text}"
    for child in item.children:
        yield from _listing(child, inner)


def _row(cells: tuple[Runs, ...]) -> str:
    return "| " + " | ".join(write_runs(cell, one_line=True).replace("|", "\\|") for cell in cells) + " |"


def write_runs(runs: Runs, *, one_line: bool = False) -> str:
    """Styled text as Markdown; line breaks become hard breaks, or spaces in one line."""
    text = "".join(_run(run) for run in runs)
    text = text.replace("\n", " " if one_line else "\\\n")
    return _LINE_START.sub(lambda found: f"{found[1]}{_guard(found[2])}", text)


def _guard(start: str) -> str:
    """A line's start that would be read as markup, disarmed with a backslash."""
    return f"{start}\\" if start.isdigit() else f"\\{start}"


def _run(run: Run) -> str:
    if not run.text.strip():
        return run.text
    if run.code:
        ticks = "`" * (max((len(found) for found in re.findall(r"`+", run.text)), default=0) + 1)
        pad = " " if run.text.startswith("`") or run.text.endswith("`") else ""
        core = f"{ticks}{pad}{run.text.replace(chr(10), ' ')}{pad}{ticks}"
        before = after = ""
    else:
        stripped = run.text.strip()
        before = run.text[: len(run.text) - len(run.text.lstrip())]
        after = run.text[len(run.text.rstrip()) :]
        core = _SPECIAL.sub(lambda found: f"\\{found[0]}", stripped)
    for mark, wanted in (("~~", run.strike), ("*", run.italic), ("**", run.bold)):
        if wanted:
            core = f"{mark}{core}{mark}"
    if run.href:
        address = run.href.replace(" ", "%20").replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
        core = f"[{core}](<{address}>)" if re.search(r"[()]", address) else f"[{core}]({address})"
    return f"{before}{core}{after}"


def _comment(text: str) -> str:
    """Text that cannot end the surrounding comment, nor be taken for a slide break."""
    return re.sub(r"(?m)^(\s*)-{3,}\s*$", "\\1\u2014", text.replace("-->", "\u2192").replace("<!--", "")).strip()
