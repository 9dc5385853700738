"""`content.ground`: a text in, the same text with related sources out."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, PostCondition, pack

from .._search import Found, search
from ._citing import Source, cite, first_number
from ._claims import Claim, find_claims
from ._passages import Match, best_match, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

HITS_PER_SEARCH = 6
#: After this long no further search is begun; what was found until then is used.
SEARCH_SECONDS = 150.0

_TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)


class Input(BaseModel):
    """What to find sources for."""

    text: str = Field(min_length=1, max_length=400_000, description="The text, in Markdown.")
    rewrite: Literal[False] = Field(
        default=False, description="Only false for now: sources are added, the words stay as they are."
    )
    max_claims: int = Field(
        default=8,
        ge=1,
        le=20,
        description="Look up at most so many sentences, those that look most like statements of fact.",
    )


class Citation(BaseModel):
    """A sentence and the page found for it."""

    number: int = Field(description="The mark `[n]` in the text.")
    claim: str = Field(description="The sentence, without markup.")
    url: str = Field(description="Address of the page.")
    title: str = Field(description="Title of the page.")
    verdict: Literal["related"] = Field(
        description="Always `related`: the page shares the sentence's words. Whether it supports it was not checked."
    )
    passage: str = Field(description="The part of the page that shares most with the sentence.")
    coverage: float = Field(ge=0, le=1, description="Weighted share of the sentence's words found in the passage.")


class Output(BaseModel):
    """The text with its sources."""

    grounded_text: str = Field(
        description="The text with `[n]` marks and a list of related sources; unchanged when none were found."
    )
    mode: Literal["lexical"] = Field(description="How sources were chosen: by shared words, without a model.")
    citations: list[Citation] = Field(description="In the order of the text.")
    claims_considered: int = Field(ge=0, description="Sentences that were looked up.")
    provider: Literal["searxng", "wikipedia"] | None = Field(description="Who was searched; null when nobody was.")
    coverage: Literal["web", "encyclopedic"] | None = Field(description="What that provider knows about.")


def _marks_are_there(output: Output, _files: object) -> str | None:
    missing = [str(entry.number) for entry in output.citations if f" [{entry.number}]" not in output.grounded_text]
    return f"the text lacks mark {', '.join(missing)}" if missing else None


@pack(
    "content.ground",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=300,
    post_conditions=[PostCondition("each citation has its mark in the text", _marks_are_there)],
    metadata=Metadata(
        accepts=["markdown", "text", "source_content"],
        produces=["grounded_markdown", "markdown", "citations"],
        intent_keywords=[
            "add sources",
            "add citations",
            "cite sources",
            "add references",
            "ground text",
            "find sources for",
            "back up claims",
            "further reading",
        ],
        example_intents=[
            "Add sources to this article",
            "Find references for the claims in my draft",
            "Cite something for each of these statements",
            "ground this text before we make slides of it",
            "My blog post needs footnotes, find related Wikipedia pages",
            "Where could readers look up what I say here?",
            "add a reading list to this brief",
            "I wrote a summary without any links, put some citations in",
        ],
        typical_use="Use this when a finished text should point its readers to pages on what it states, before it "
        "becomes slides, a post or a recording.",
        limitations=[
            "Does not check facts: sources are chosen by shared words and called related, never verified.",
            "Does not rewrite or correct the text.",
            "Finds about half of the statements of fact, by rules made for English.",
            "Compares with search snippets and article introductions, not with whole pages.",
            "Without a configured SearXNG it knows English Wikipedia only.",
            "Where no search can be reached the text passes unchanged, with a warning.",
        ],
    ),
)
async def ground(ctx: PackContext, input: Input) -> Output:
    """Adds related sources to the statements of a text.

    Sentences that look like statements of fact are searched for, and where a found page shares enough of a sentence's
    words, a mark `[n]` is put behind it and the page is listed at the end. This compares words; it does not check
    facts. Headings, tables, code and quotes stay as they are. When no search can be reached the text is returned
    unchanged, with a warning.
    """
    claims = find_claims(input.text, input.max_claims)
    if not claims:
        ctx.warn("No sentence was found that states something to look up; the text is unchanged.")
    found, matches = await _look_up(ctx, claims, _topic(input.text))
    first = first_number(input.text)
    order = list(dict.fromkeys(match.hit.url for _, match in matches))
    sources = [
        Source(
            url,
            next(match.hit.title for _, match in matches if match.hit.url == url),
            tuple(claim.end for claim, match in matches if match.hit.url == url),
        )
        for url in order
    ]
    if claims and found is not None and not matches:
        ctx.warn(f"None of the pages found is close to one of the {len(claims)} statements; the text is unchanged.")
    ctx.progress(1.0, f"{len(matches)} of {len(claims)} statements have a related source")
    return Output(
        grounded_text=cite(input.text, sources, first),
        mode="lexical",
        citations=[
            Citation(
                number=first + order.index(match.hit.url),
                claim=claim.text,
                url=match.hit.url,
                title=match.hit.title,
                verdict="related",
                passage=match.passage[:600],
                coverage=match.coverage,
            )
            for claim, match in matches
        ],
        claims_considered=len(claims),
        provider=found.provider if found else None,
        coverage=found.coverage if found else None,
    )


async def _look_up(
    ctx: PackContext, claims: Sequence[Claim], topic: str
) -> tuple[Found | None, list[tuple[Claim, Match]]]:
    """The last provider's answer and the matches; searches end early, with a warning, when one cannot be made."""
    answer: Found | None = None
    matches: list[tuple[Claim, Match]] = []
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SEARCH_SECONDS
    for number, claim in enumerate(claims):
        ctx.progress(number / len(claims), f"Looking up statement {number + 1} of {len(claims)}")
        if loop.time() > deadline:
            ctx.warn(f"Searching took too long; only the first {number} of {len(claims)} statements were looked up.")
            break
        try:
            for query in queries(claim, topic):
                answer = await search(ctx, query, HITS_PER_SEARCH)
                if match := best_match(claim, answer.hits):
                    matches.append((claim, match))
                    break
        except PackError as error:
            ctx.warn(_unreachable(error, len(matches)))
            break
    return answer, matches


def _unreachable(error: PackError, matches: int) -> str:
    failure = error.failure
    result = f"only {matches} sources were added" if matches else "the text is unchanged and has no citations"
    return f"Searching failed, so {result}: {failure.message}{f' {failure.hint}' if failure.hint else ''}"


def queries(claim: Claim, topic: str) -> list[str]:
    """What to search for, most exact first.

    Engines of encyclopedias want all words at once, so a query holds a few telling words and never the sentence.
    """
    names = list(claim.names[:3])
    known = {term for name in names for term in terms(name)}
    words = re.findall(r"[^\W\d_]{4,}", claim.text)
    telling = [word for word in dict.fromkeys(words) if terms(word) and not set(terms(word)) & known]
    telling = sorted(telling, key=len, reverse=True)
    subject = names or [topic] if topic else names
    exact = " ".join([*subject, *claim.years[:1], *telling[: max(0, 4 - len(names))]])
    loose = " ".join([*names[:2], *([topic] if topic and len(names) < 2 else [])]) or " ".join(telling[:3])
    return [query[:200] for query in dict.fromkeys((exact, loose)) if query.strip()]


def _topic(text: str) -> str:
    """The first words of the text's title."""
    match = _TITLE.search(text)
    return " ".join(re.findall(r"\w+", match.group(1))[:4]) if match else ""
