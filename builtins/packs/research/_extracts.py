"""A synthesis without a model: what the sources say on a question in their own words, by source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .._pages import sentences_of
from .._writing import count_words, one_line, urls
from ..content._passages import ranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._pages import Page

LONGEST_SENTENCE, FEWEST_WORDS = 400, 5
#: A sentence without its surroundings must not begin with a pointer to them.
_POINTING = re.compile(
    r"(?:this|that|these|those|it|its|they|their|he|his|she|her|such|here|there|however|but|and|so|also|then|thus|"
    r"therefore|moreover|another|both|one of them)\b",
    re.IGNORECASE,
)


def extracts(question: str, pages: Sequence[Page], per_source: int) -> dict[int, list[str]]:
    """The sentences of each page nearest to the question, by the page's number, in the order of the page.

    Pages without one are left out. A sentence that two pages have is taken from the first.
    """
    candidates: list[tuple[int, int, str]] = []
    known: set[str] = set()
    for number, page in enumerate(pages, 1):
        for place, sentence in enumerate(s for passage in page.passages for s in sentences_of(passage)):
            text = one_line(sentence)
            key = re.sub(r"\W+", "", text.lower())
            is_fitting = len(text) <= LONGEST_SENTENCE and count_words(text) >= FEWEST_WORDS and not urls(text)
            if is_fitting and key not in known:
                known.add(key)
                candidates.append((number, place, text))
    chosen: dict[int, list[tuple[int, str]]] = {}
    order = ranked(question, [f"{pages[number - 1].title} {text}" for number, _, text in candidates])
    standing = [index for _, index in order if not _POINTING.match(candidates[index][2])]
    for index in standing:
        number, place, text = candidates[index]
        taken = chosen.setdefault(number, [])
        if len(taken) < per_source:
            taken.append((place, text))
    return {number: [text for _, text in sorted(chosen[number])] for number in sorted(chosen)}


def written(question: str, pages: Sequence[Page], chosen: dict[int, list[str]]) -> str:
    """The extracts as Markdown: a heading for each source, its sentences as quotations with its number."""
    count = len(chosen)
    sources = "one source" if count == 1 else f"{count} sources"
    sections = [
        f"# {_plain(question).rstrip('?.! ') or 'Findings'}",
        f"In the words of {sources}, quoted sentence by sentence and not summed up.",
    ]
    for number, sentences in chosen.items():
        quotes = "\n".join(f"- \u201c{_plain(sentence)}\u201d [{number}]" for sentence in sentences)
        sections.append(f"## {_plain(pages[number - 1].title)}\n\n{quotes}")
    return "\n\n".join(sections)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]<])", r"\\\1", one_line(text)).replace("\u201c", "\u2018").replace("\u201d", "\u2019")
