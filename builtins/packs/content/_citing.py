"""Putting numbered marks and a list of sources into a Markdown text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: For sources chosen by shared words.
HEADING = "## Related sources"
NOTE = "Found by comparing words; nobody has checked that they support the text."
#: For sources a model compared with the text.
CHECKED_HEADING = "## Sources"
CHECKED_NOTE = "Compared with the text by a model; each quotation it rests on is in its source."

_MARK = re.compile(r"\[(\d{1,3})\](?!\()")
_SECTION = r"^{heading}\s*$(?!.*^#)"


@dataclass(frozen=True, slots=True)
class Source:
    """A page to list; `ends` are the offsets in the text after which its mark goes, `remark` follows its link."""

    url: str
    title: str
    ends: tuple[int, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Replacement:
    """New words for the text between two offsets."""

    start: int
    end: int
    text: str


def first_number(markdown: str) -> int:
    """The number after the highest `[n]` that the text has already."""
    return max((int(number) for number in _MARK.findall(markdown)), default=0) + 1


def cite(
    markdown: str,
    sources: Sequence[Source],
    first: int,
    *,
    heading: str = HEADING,
    note: str = NOTE,
    replacements: Sequence[Replacement] = (),
) -> str:
    """The text with ` [n]` after each place and the sources listed at its end.

    Nothing but the replacements is changed otherwise; they must not overlap, nor hold a place inside them. A list of
    sources that an earlier pass put at the end under the same heading is continued.
    """
    if not sources:
        return markdown
    edits = [
        *((end, 1, number, end, f" [{number}]") for number, source in enumerate(sources, first) for end in source.ends),
        *((change.start, 0, 0, change.end, change.text) for change in replacements),
    ]
    text = markdown
    for start, _, _, end, new in sorted(edits, reverse=True):
        text = f"{text[:start]}{new}{text[end:]}"
    entries = "\n".join(
        f"{number}. [{_link_text(source.title)}]({_link_target(source.url)}){source.remark}"
        for number, source in enumerate(sources, first)
    )
    text = text.rstrip()
    if re.search(_SECTION.format(heading=re.escape(heading)), text, re.MULTILINE | re.DOTALL):
        return f"{text}\n{entries}\n"
    return f"{text}\n\n{heading}\n\n{note}\n\n{entries}\n"


def _link_text(title: str) -> str:
    return re.sub(r"([\\\[\]`*_<])", r"\\\1", " ".join(title.split()))[:300]


def _link_target(url: str) -> str:
    """An address that cannot end the link early (CommonMark §6.3)."""
    return re.sub(r"[\s()<>]", lambda match: f"%{ord(match.group()):02X}", url)
