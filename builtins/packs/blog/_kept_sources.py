"""The numbered sources of a text, carried over into what is rewritten from it."""

from __future__ import annotations

import re

HEADING = "## Sources"

_SECTION = re.compile(
    r"(?im)^#{1,3}[ \t]+(?:related )?(?:sources|references|bibliography)[ \t#]*\n(?P<body>(?:(?!^#).*(?:\n|\Z))*)"
)
_ENTRY = re.compile(r"(?m)^[ \t]{0,3}(\d{1,3})[.)][ \t]+(\S.*)$")
_MARK = re.compile(r"[ \t]*(?<![\\\w])\[(\d{1,3})\](?![(\[:])")


def sources_of(markdown: str) -> dict[int, str]:
    """Entries of the text's last list of sources by their number; empty when it has none."""
    sections = list(_SECTION.finditer(markdown))
    return {int(number): entry.strip() for number, entry in _ENTRY.findall(sections[-1]["body"])} if sections else {}


def with_sources(body: str, sources: dict[int, str]) -> str:
    """The body with its marks counted from one and the sources they name listed at its end.

    Marks of no source, and a list the body has itself, are left out. Unchanged when there are no sources.
    """
    if not sources:
        return body
    text = _SECTION.sub("", body).rstrip()
    numbers: dict[int, int] = {}
    for mark in _MARK.findall(text):
        if int(mark) in sources:
            numbers.setdefault(int(mark), len(numbers) + 1)

    def renumber(match: re.Match[str]) -> str:
        number = numbers.get(int(match[1]))
        return f" [{number}]" if number else ""

    text = _MARK.sub(renumber, text)
    if not numbers:
        return text
    entries = "\n".join(f"{new}. {sources[old]}" for old, new in numbers.items())
    return f"{text}\n\n{HEADING}\n\n{entries}"
