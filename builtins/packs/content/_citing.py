"""Putting numbered marks and a list of sources into a Markdown text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADING = "## Related sources"
NOTE = "Found by comparing words; nobody has checked that they support the text."

_MARK = re.compile(r"\[(\d{1,3})\](?!\()")
_SECTION = re.compile(rf"^{re.escape(HEADING)}\s*$(?!.*^#)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """A page to list; `ends` are the offsets in the text after which its mark goes."""

    url: str
    title: str
    ends: tuple[int, ...]


def first_number(markdown: str) -> int:
    """The number after the highest `[n]` that the text has already."""
    return max((int(number) for number in _MARK.findall(markdown)), default=0) + 1


def cite(markdown: str, sources: Sequence[Source], first: int) -> str:
    """The text with ` [n]` after each place and the sources listed at its end; nothing else is changed.

    A list of sources that an earlier pass put at the end is continued.
    """
    if not sources:
        return markdown
    marks = sorted(((end, number) for number, source in enumerate(sources, first) for end in source.ends), reverse=True)
    text = markdown
    for end, number in marks:
        text = f"{text[:end]} [{number}]{text[end:]}"
    entries = "\n".join(
        f"{number}. [{_link_text(source.title)}]({_link_target(source.url)})"
        for number, source in enumerate(sources, first)
    )
    text = text.rstrip()
    return f"{text}\n{entries}\n" if _SECTION.search(text) else f"{text}\n\n{HEADING}\n\n{NOTE}\n\n{entries}\n"


def _link_text(title: str) -> str:
    return re.sub(r"([\\\[\]`*_<])", r"\\\1", " ".join(title.split()))[:300]


def _link_target(url: str) -> str:
    """An address that cannot end the link early (CommonMark §6.3)."""
    return re.sub(r"[\s()<>]", lambda match: f"%{ord(match.group()):02X}", url)
