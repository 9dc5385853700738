"""Putting numbered marks and a list of sources into a Markdown text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packline import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: For sources chosen by shared words.
HEADING = "## Related sources"
NOTE = "Found by comparing words; nobody has checked that they support the text."
#: For sources a model compared with the text.
CHECKED_HEADING = "## Sources"
CHECKED_NOTE = "Compared with the text by a model; each quotation it rests on is in its source."

_MARK = re.compile(r"\[(\d{1,3})\](?!\()")
_ENTRY = re.compile(r"(?m)^(\d{1,3})\. \[(?:\\.|[^\]\\\n])*\]\(([^()\s]*)\)")
_HEADING = re.compile(r"(?m)^#.*$")


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


def numbers_of(markdown: str, sources: Sequence[Source]) -> dict[str, int]:
    """The number of each source's mark by its address.

    A source the text lists already keeps its number there, unless there is something to remark on it; the others are
    counted on from the highest `[n]` the text has.
    """
    listed = {target: int(number) for number, target in _ENTRY.findall(markdown)}
    following = max((int(number) for number in _MARK.findall(markdown)), default=0) + 1
    following = max(following, *(number + 1 for number in listed.values())) if listed else following
    numbers: dict[str, int] = {}
    for source in sources:
        known = None if source.remark else listed.get(_link_target(source.url))
        if known is None:
            known, following = following, following + 1
        numbers[source.url] = known
    return numbers


def cite(
    markdown: str,
    sources: Sequence[Source],
    numbers: Mapping[str, int],
    *,
    heading: str = HEADING,
    note: str = NOTE,
    replacements: Sequence[Replacement] = (),
) -> str:
    """The text with ` [n]` after each place, `n` as `numbers_of` has it, and new sources listed at its end.

    Nothing but the replacements is changed otherwise; they must not overlap, nor hold a place inside them. A list of
    sources that an earlier pass put at the end under the same heading is continued.
    """
    if not sources:
        return markdown
    marks = [(end, numbers[source.url]) for source in sources for end in source.ends]
    edits = [
        *((end, 1, number, end, f" [{number}]") for end, number in marks),
        *((change.start, 0, 0, change.end, change.text) for change in replacements),
    ]
    text = markdown
    for start, _, _, end, new in sorted(edits, reverse=True):
        text = f"{text[:start]}{new}{text[end:]}"
    listed = {(int(number), target) for number, target in _ENTRY.findall(markdown)}
    added = [source for source in sources if (numbers[source.url], _link_target(source.url)) not in listed]
    if not added:
        return text
    entries = "\n".join(
        f"{numbers[source.url]}. [{_link_text(source.title)}]({_link_target(source.url)}){source.remark}"
        for source in added
    )
    text = text.rstrip()
    *_, last = ["", *_HEADING.findall(text)]
    if last.rstrip() == heading:
        return f"{text}\n{entries}\n"
    return f"{text}\n\n{heading}\n\n{note}\n\n{entries}\n"


def _link_text(title: str) -> str:
    return excerpt(re.sub(r"([\\\[\]`*_<])", r"\\\1", " ".join(title.split())), 300, ending="")


def _link_target(url: str) -> str:
    """An address that cannot end the link early (CommonMark §6.3)."""
    return re.sub(r"[\s()<>]", lambda match: f"%{ord(match.group()):02X}", url)
