"""Statements of a text chosen by a model, each found in the text word for word before anything is done with it."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from packline import excerpt

from .._writing import MATERIAL_RULE, material, one_line
from ._claims import ATOMS, HAS_SOURCE, LONGEST_CHARS, paragraphs, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTRUCTIONS = f"""You pick the statements of fact in a text that a reader would want a source for.

{MATERIAL_RULE}

- Whole sentences of the text, copied character by character with their markup. Change nothing.
- Statements somebody could look up: figures, dates, names, events, causes, what is said to be known. No opinions, \
plans, questions, headings, instructions or statements about the text itself.
- Leave out sentences that have a link or a mark such as [1].
- The weightiest ones first, from all parts of the text.
- For each, a search query of three to seven words in the language of the text: names and terms, what "it" or "he" \
stands for written out, not the whole sentence."""

#: How often a sentence is looked for within one paragraph before it is given up.
REPETITIONS = 20
_END = re.compile(r"[.!?\u3002\uff01\uff1f]*[\"'\u201d\u2019)\]*_\u300d\u300f]*")
_LIST_MARK = re.compile(r"\A\s*(?:[-*+]|\d{1,3}[.)])\s+")
_FOLLOWED_BY_MARK = re.compile(r"\s*\[(?:\d{1,3}|\^[^\]]+)\](?!\()")


class Stated(BaseModel):
    """A statement of fact."""

    sentence: str = Field(description="The sentence, copied exactly.")
    query: str = Field(description="What to search for.")


class Statements(BaseModel):
    """The statements of a text."""

    statements: list[Stated] = Field(description="Weightiest first.")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement at its place.

    Attributes:
        text: The sentence without markup.
        source: The sentence as it is written.
        start: Offset of its first character in the source.
        end: Offset just after its last character, final punctuation included; a mark may be put here.
        query: What to search for.
    """

    text: str
    source: str
    start: int
    end: int
    query: str


def prompt_for(text: str, most: int) -> str:
    """Asks for at most so many statements of a text."""
    return f"Pick at most {most} statements of this text.\n\n{material('text', text)}"


def locate(markdown: str, stated: Sequence[Stated], most: int) -> tuple[list[Statement], int]:
    """The statements that stand in running text as they were given, in order, and how many do not.

    What is inside headings, tables, code, quotes or HTML, has a source already, or overlaps with another is among
    those that do not.
    """
    places = list(paragraphs(markdown))
    found: list[Statement] = []
    for candidate in stated:
        statement = _find(markdown, candidate, places, found)
        if statement is not None and len(found) < most:
            found.append(statement)
    return sorted(found, key=lambda statement: statement.start), len(stated) - len(found)


def _find(
    markdown: str,
    candidate: Stated,
    places: Sequence[tuple[int, int]],
    taken: Sequence[Statement],
) -> Statement | None:
    words = _LIST_MARK.sub("", candidate.sentence).split()
    text = plain(" ".join(words))
    if len(re.findall(r"\w", text)) < 6:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    if len(text) > LONGEST_CHARS:
        return None
    for begin, limit in places:
        atoms: list[tuple[int, int]] | None = None
        for match in itertools.islice(pattern.finditer(markdown, begin, limit), REPETITIONS):
            start, stop = match.span()
            end = _END.match(markdown, stop, limit)
            stop = end.end() if end else stop
            if atoms is None:
                atoms = [atom.span() for atom in ATOMS.finditer(markdown[begin:limit])]
            cuts_atom = any(low < edge - begin < high for low, high in atoms for edge in (start, stop))
            overlaps = any(start < other.end and other.start < stop for other in taken)
            cuts_word = markdown[stop : stop + 1].isalnum() and text[-1:].isascii() and text[-1:].isalnum()
            if cuts_atom or overlaps or cuts_word or HAS_SOURCE.search(markdown, start, stop):
                continue
            if not _FOLLOWED_BY_MARK.match(markdown, stop):
                return Statement(
                    text,
                    one_line(markdown[start:stop]),
                    start,
                    stop,
                    excerpt(one_line(candidate.query), 200, ending="") or excerpt(text, 200, ending=""),
                )
    return None
