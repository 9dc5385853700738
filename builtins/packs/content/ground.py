"""`content.ground`: a text in, the same text with its sources out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, PostCondition, excerpt, pack

from .._writing import WRITER, WRITER_HELPS, use_model
from ._citing import CHECKED_HEADING, CHECKED_NOTE, Replacement, Source, cite, numbers_of
from ._claims import find_claims
from ._lexical import look_up, topic_of
from ._modelled import Grounding, ground_with_model

if TYPE_CHECKING:
    from ._statements import Statement
    from ._verdicts import Evidence


class Input(BaseModel):
    """What to find sources for."""

    text: str = Field(
        min_length=1,
        max_length=400_000,
        description="The text, in Markdown.",
        examples=["The first Fresnel lens was used in 1823 in the Cordouan lighthouse."],
    )
    rewrite: bool = Field(
        default=False,
        description="Correct sentences that a source contradicts, which needs a model; every change is in the output. "
        "Otherwise the words stay as they are.",
    )
    max_claims: int = Field(
        default=8,
        ge=1,
        le=20,
        description="Look up at most so many sentences, those that look most like statements of fact.",
    )
    mode: Literal["auto", "lexical", "model"] = Field(
        default="auto",
        description="`model`: a model compares each statement with pages found for it. `lexical`: pages are chosen by "
        "shared words, without a model. `auto`: with a model where one is configured.",
    )
    model: str | None = Field(
        default=None,
        max_length=200,
        description="A configured model, `provider:name`, to be tried first; else those of the role `writer`.",
    )


class Citation(BaseModel):
    """A sentence and the page found for it."""

    number: int = Field(description="The mark `[n]` in the text.")
    claim: str = Field(description="The sentence, without markup.")
    url: str = Field(description="Address of the page.")
    title: str = Field(description="Title of the page.")
    verdict: Literal["related", "supported", "contradicted"] = Field(
        description="`related`: the page shares the sentence's words; whether it supports it was not checked. "
        "`supported`, `contradicted`: what a model says of the passage, by the quotation."
    )
    passage: str = Field(description="The part of the page that shares most with the sentence.")
    quote: str | None = Field(description="The words of the passage the verdict rests on; null when `related`.")
    coverage: float | None = Field(
        ge=0, le=1, description="Weighted share of the sentence's words found in the passage; null with a model."
    )


class Change(BaseModel):
    """A sentence that was corrected."""

    before: str = Field(description="The sentence before the change.")
    after: str = Field(description="The sentence after the change.")
    number: int = Field(ge=1, description="The mark `[n]` of the source it was corrected by.")


class Output(BaseModel):
    """The text with its sources."""

    grounded_text: str = Field(
        description="The text with `[n]` marks and a list of sources; unchanged when none were found."
    )
    mode: Literal["lexical", "model"] = Field(
        description="How sources were chosen: by shared words, or by a model that compared them with the text."
    )
    citations: list[Citation] = Field(description="In the order of the text.")
    changes: list[Change] = Field(description="Corrected sentences in the order of the text; empty without `rewrite`.")
    unclear: list[str] = Field(description="Statements looked up for which no page made anything clear.")
    claims_considered: int = Field(ge=0, description="Sentences that were looked up.")
    claims_dropped: int = Field(
        ge=0, description="Sentences a model picked that are not in the text as it gave them, or have a source already."
    )
    provider: Literal["searxng", "wikipedia"] | None = Field(description="The search provider; null if none was used.")
    coverage: Literal["web", "encyclopedic"] | None = Field(description="What that provider knows about.")
    model: str | None = Field(description="The model that compared, `provider:name`; null when none did.")


def _marks_are_there(output: Output, _files: object) -> str | None:
    missing = [str(entry.number) for entry in output.citations if f" [{entry.number}]" not in output.grounded_text]
    return f"the text lacks mark {', '.join(missing)}" if missing else None


@pack(
    "content.ground",
    version="1.1.0",
    effects="none",
    repeatable=True,
    timeout_seconds=600,
    models=[WRITER_HELPS],
    cost="With a model one writer call for the text and one for each statement looked up, 21 at most; nothing without "
    "one.",
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
            "fact check",
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
            "Check the figures in this post against the web and correct what is wrong",
        ],
        typical_use="Use this when a finished text should point its readers to pages on what it states, before it "
        "becomes slides, a post or a recording.",
        limitations=[
            "Without a model it does not check facts: sources are chosen by shared words and called related, and it "
            "finds about half of the statements, by rules made for English.",
            "With a model a verdict means that a quotation from the page bears it out, not that the page is right.",
            "Corrects sentences only with a model and only when `rewrite` is set; adds no new ones.",
            "Looks up at most 20 statements, and with a model those of the first 80,000 characters.",
            "Without a configured SearXNG it knows English Wikipedia only.",
            "Without a model the text passes unchanged, with a warning, where no search can be reached.",
        ],
    ),
)
async def ground(ctx: PackContext, input: Input) -> Output:
    """Adds sources to the statements of a text, and on request corrects what they contradict.

    With a model: it picks statements of fact, each is searched for, and the model compares it with passages of the
    pages found. A page is cited only when the quotation the model gives is really in it. Without a model: sentences
    that look like statements are searched for, and a page that shares enough of a sentence's words is listed as
    related; this compares words and checks nothing. Headings, tables, code and quotes stay as they are.
    """
    has_model = use_model(ctx, input.mode, "lexical")
    if input.rewrite and not has_model:
        missing = ctx.models.missing(WRITER)
        because = f"there is none: {missing.message}" if missing else "`mode` is `lexical`."
        raise PackError(
            "invalid_input",
            f"Only a model can correct the text (`rewrite`), and {because}",
            field="rewrite",
            hint=f"{f'{missing.hint} Or set' if missing else 'Set `mode` to `model`, or'} `rewrite` to false.",
        )
    if not has_model:
        return await _by_words(ctx, input)
    result = await ground_with_model(
        ctx, input.text, most=input.max_claims, correct=input.rewrite, model=input.model or None
    )
    if not result.statements:
        ctx.warn("No sentence was found that states something to look up; the text is unchanged.")
    elif not result.evidence:
        ctx.warn(f"No page found makes one of the {len(result.statements)} statements clear; the text is unchanged.")
    ctx.progress(1.0, f"{len(result.evidence)} of {len(result.statements)} statements have a source")
    return _by_model(input, result)


def _by_model(input: Input, result: Grounding) -> Output:
    pairs = [(result.statements[place], result.evidence[place]) for place in sorted(result.evidence)]
    order = list(dict.fromkeys(evidence.page.url for _, evidence in pairs))
    replacements = [
        Replacement(statement.start, statement.end, evidence.correction)
        for statement, evidence in pairs
        if evidence.correction is not None
    ]
    sources = []
    for url in order:
        own = [(statement, evidence) for statement, evidence in pairs if evidence.page.url == url]
        sources.append(Source(url, own[0][1].page.title, tuple(statement.end for statement, _ in own), _remark(own)))
    numbers = numbers_of(input.text, sources)
    return Output(
        grounded_text=cite(
            input.text, sources, numbers, heading=CHECKED_HEADING, note=CHECKED_NOTE, replacements=replacements
        ),
        mode="model",
        citations=[
            Citation(
                number=numbers[evidence.page.url],
                claim=statement.text,
                url=evidence.page.url,
                title=evidence.page.title,
                verdict=evidence.verdict,
                passage=excerpt(evidence.passage, 600, ending=""),
                quote=evidence.quote,
                coverage=None,
            )
            for statement, evidence in pairs
        ],
        changes=[
            Change(
                before=input.text[statement.start : statement.end],
                after=evidence.correction,
                number=numbers[evidence.page.url],
            )
            for statement, evidence in pairs
            if evidence.correction is not None
        ],
        unclear=[
            statement.text
            for place, statement in enumerate(result.statements)
            if place not in result.evidence and place not in result.unchecked
        ],
        claims_considered=len(result.statements) - len(result.unchecked),
        claims_dropped=result.dropped,
        provider=result.found.provider if result.found else None,
        coverage=result.found.coverage if result.found else None,
        model=result.model,
    )


def _remark(own: list[tuple[Statement, Evidence]]) -> str:
    """Says in the list of sources that one contradicts the text, where the text was not corrected."""
    wrong = [
        statement.text
        for statement, evidence in own
        if evidence.verdict == "contradicted" and evidence.correction is None
    ]
    if not wrong:
        return ""
    said = wrong[0] if len(wrong[0]) <= 80 else f"{excerpt(wrong[0], 79, ending='').rsplit(' ', 1)[0]}\u2026"
    return f", which contradicts: \u201c{said}\u201d"


async def _by_words(ctx: PackContext, input: Input) -> Output:
    claims = await asyncio.to_thread(find_claims, input.text, input.max_claims)
    if not claims:
        ctx.warn("No sentence was found that states something to look up; the text is unchanged.")
    found, matches = await look_up(ctx, claims, topic_of(input.text))
    order = list(dict.fromkeys(match.hit.url for _, match in matches))
    sources = [
        Source(
            url,
            next(match.hit.title for _, match in matches if match.hit.url == url),
            tuple(claim.end for claim, match in matches if match.hit.url == url),
        )
        for url in order
    ]
    numbers = numbers_of(input.text, sources)
    if claims and found is not None and not matches:
        ctx.warn(f"None of the pages found is close to one of the {len(claims)} statements; the text is unchanged.")
    ctx.progress(1.0, f"{len(matches)} of {len(claims)} statements have a related source")
    return Output(
        grounded_text=cite(input.text, sources, numbers),
        mode="lexical",
        citations=[
            Citation(
                number=numbers[match.hit.url],
                claim=claim.text,
                url=match.hit.url,
                title=match.hit.title,
                verdict="related",
                passage=excerpt(match.passage, 600, ending=""),
                quote=None,
                coverage=match.coverage,
            )
            for claim, match in matches
        ],
        changes=[],
        unclear=[],
        claims_considered=len(claims),
        claims_dropped=0,
        provider=found.provider if found else None,
        coverage=found.coverage if found else None,
        model=None,
    )
