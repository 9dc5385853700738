"""A synthesis by a model: what it is asked for, and how its citations are checked before any of them is printed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from packline import excerpt

from .._links import only_known_links
from .._quotes import find_quote
from .._writing import MATERIAL_RULE, asked, blanks, material, one_line, unsourced
from ..content._passages import ranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._pages import Page

#: How much of the pages a model is given: of each, and of all together.
PAGE_CHARS, ALL_CHARS = 7_000, 60_000
#: Put after a sentence whose citations did not hold.
UNSUPPORTED = "*(no source)*"
SENTENCE_CHARS = 1_500
#: Longest paragraph in sentences.
PARAGRAPH = 4

INSTRUCTIONS = f"""You answer a question from numbered sources and cite them sentence by sentence.

{MATERIAL_RULE}

- Use only what the sources say. Nothing from your own knowledge, no guesses.
- Each statement is one sentence. It cites the sources it rests on: the number, and a quotation copied from that \
source word for word, four to thirty words long, that says the same. Quotations stay in the language of the source.
- Keep figures, names and dates as the sources have them. Where sources contradict each other, say so and cite both.
- Answer the question first; then what explains it, by sections with telling headings. Say what the sources leave open.
- Do not write citation marks such as [1] into the statements, and no addresses; both are added from your references.
- Write in the language of the question."""

_MARKS = re.compile(r"\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\](?!\()")
_BLOCK_START = re.compile(r"^\s*(?:#{1,6}\s+|[-*+]\s+|>\s*|\d{1,3}[.)]\s+|`{3,}|~{3,})+")


class Reference(BaseModel):
    """What a statement rests on."""

    source: int = Field(description="Number of the source.")
    quote: str = Field(description="Words of that source, copied exactly.")


class Statement(BaseModel):
    """One sentence of the answer."""

    text: str = Field(description="The sentence, plain text without citation marks.")
    references: list[Reference] = Field(description="The sources it rests on.")


class Section(BaseModel):
    """Some sentences under a heading."""

    heading: str = Field(description="Two to eight words.")
    statements: list[Statement] = Field(min_length=1)


class Synthesis(BaseModel):
    """An answer from sources."""

    title: str = Field(description="Title of the answer, three to ten words.")
    sections: list[Section] = Field(min_length=1)


class Searches(BaseModel):
    """What to search for."""

    queries: list[str] = Field(description="Short search queries, most important first.", min_length=1)


@dataclass(frozen=True, slots=True)
class Checked:
    """A synthesis whose citations hold.

    Attributes:
        title: Its title.
        body: Its sections in Markdown, with `[n]` marks by the numbers of the pages given.
        cited: Numbers of the sources it cites.
        statements: How many sentences it has.
        unsupported: Those without a citation that holds; marked in `body`.
    """

    title: str
    body: str
    cited: frozenset[int]
    statements: int
    unsupported: tuple[str, ...]


def searches_prompt(question: str, count: int) -> str:
    """Asks for queries that look at a question from several sides."""
    return (
        f"Give {count} search queries that together find what is needed to answer this question. Two to six words "
        "each, names and technical terms rather than sentences, each from another side.\n\n"
        f"{material('question', question)}"
    )


def synthesis_prompt(question: str, pages: Sequence[Page], words: int) -> str:
    """The question and the parts of the pages that are about it."""
    share = min(PAGE_CHARS, ALL_CHARS // max(len(pages), 1))
    sources = "\n\n".join(
        material(f"source {number}", f"{page.title}\n{page.url}\n\n{_telling(question, page, share)}")
        for number, page in enumerate(pages, 1)
    )
    wanted = asked(length=f"about {words} words")
    return f"Answer this question.\n\n{wanted}\n\n{material('question', question)}\n\n{sources}"


def _telling(question: str, page: Page, most_chars: int) -> str:
    """The passages of a page nearest to the question, in the order of the page, its first one always."""
    order = [0, *(place for _, place in ranked(question, page.passages)), *range(len(page.passages))]
    chosen: set[int] = set()
    length = 0
    for place in dict.fromkeys(order):
        if length + len(page.passages[place]) > most_chars and chosen:
            break
        chosen.add(place)
        length += len(page.passages[place])
    parts: list[str] = []
    for place in sorted(chosen):
        if parts and place - 1 not in chosen:
            parts.append("[…]")
        parts.append(page.passages[place])
    return "\n".join(parts)


def checked(answer: Synthesis, pages: Sequence[Page]) -> Checked:
    """The answer as Markdown; only citations whose source exists and holds the quotation are kept.

    A sentence with a figure that none of the sources it cites holds counts as unsupported too.
    """
    cited: set[int] = set()
    unsupported: list[str] = []
    statements = 0
    sections = []
    for section in answer.sections:
        sentences = []
        for statement in section.statements:
            text = _sentence(statement.text)
            if not text:
                continue
            statements += 1
            numbers = _holding(statement, text, pages)
            cited.update(numbers)
            if not numbers:
                unsupported.append(text)
            marks = " ".join(f"[{number}]" for number in numbers) or UNSUPPORTED
            sentences.append(f"{text} {marks}")
        if sentences:
            paragraphs = [" ".join(sentences[n : n + PARAGRAPH]) for n in range(0, len(sentences), PARAGRAPH)]
            sections.append("\n\n".join([f"## {_heading(section.heading)}", *paragraphs]))
    body = "\n\n".join(sections)
    return Checked(_heading(answer.title), body, frozenset(cited), statements, tuple(unsupported))


def _holding(statement: Statement, text: str, pages: Sequence[Page]) -> list[int]:
    numbers = sorted(
        {
            reference.source
            for reference in statement.references
            if 1 <= reference.source <= len(pages) and find_quote(reference.quote, pages[reference.source - 1].text)
        }
    )
    if numbers and unsourced(text, [f"{pages[n - 1].title}\n{pages[n - 1].text}" for n in numbers]):
        return []
    return numbers


def _sentence(text: str) -> str:
    """One line that starts no block, links nowhere and leaves no blank."""
    line, _ = only_known_links(_MARKS.sub("", one_line(excerpt(text, SENTENCE_CHARS, ending=""))), ())
    line = _BLOCK_START.sub("", line).replace("<!--", "").strip()
    return "" if not re.search(r"\w", line) or blanks(line, "") else line


def _heading(text: str) -> str:
    return _sentence(text).strip("#").strip().rstrip(".:") or "Findings"
