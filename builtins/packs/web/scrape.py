"""`web.scrape`: an article on the web in, Markdown out."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, PostCondition, pack

from .._http import Fetched, checked_url, fetch
from .._markdown import cut_at_paragraph
from .._page_text import ACCEPT, refuse_other_types
from .._process import too_slow
from ._extract import Extracted, extract_page
from ._robots import check_robots

MAX_BYTES = 5 * 1024 * 1024
FETCH_SECONDS = 20.0
EXTRACT_SECONDS = 60.0
#: A step's output may hold 1 MiB.
MAX_MARKDOWN_BYTES = 900_000


class Input(BaseModel):
    """Which page to read."""

    url: str = Field(
        max_length=2_000,
        json_schema_extra={"format": "uri"},
        description="Address of the page, http or https, as it is pasted: in any script, escaped or not.",
        examples=["https://en.wikipedia.org/wiki/Lighthouse"],
    )
    respect_robots: bool = Field(
        default=True,
        description="Read the page only if the site's robots.txt allows it. Turn off only with the owner's permission; "
        "that is noted in the log.",
    )
    max_chars: int = Field(
        default=200_000,
        ge=500,
        le=800_000,
        description="Longest Markdown to return, in characters; a longer page is cut at a paragraph, with a warning.",
    )


class Output(BaseModel):
    """The page's main content, and what is known about it."""

    markdown: str = Field(description="The main content as Markdown, without navigation, advertisements and footers.")
    title: str | None = Field(description="Title of the page.")
    url: str = Field(description="Address it was read from, after redirects; escaped, the host in ASCII.")
    byline: str | None = Field(description="Author, as the page says.")
    published: str | None = Field(description="Date of publication, as the page writes it; usually ISO 8601.")
    word_count: int = Field(ge=0, description="Words in `markdown`.")
    links: int = Field(ge=0, description="Links to web addresses in `markdown`.")
    extractor: Literal["trafilatura", "rules", "none"] = Field(
        description="Which way of finding the main content was used; `none` for plain text and Markdown pages."
    )
    confidence: float = Field(
        ge=0,
        le=1,
        description="How sure it is that this is the main content, all of it and nothing else: "
        "the agreement of two independent ways of finding it.",
    )


def _has_text(output: Output, _files: object) -> str | None:
    return None if output.markdown.strip() else "the page gave no text"


@pack(
    "web.scrape",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=120,
    post_conditions=[PostCondition("the page has text", _has_text)],
    metadata=Metadata(
        accepts=["url"],
        produces=["markdown", "source_content"],
        intent_keywords=[
            "scrape page",
            "read web page",
            "fetch article",
            "url to markdown",
            "clip page",
            "extract article",
            "web page text",
            "read this link",
        ],
        example_intents=[
            "Read https://en.wikipedia.org/wiki/Lighthouse for me",
            "Get the text of this blog post",
            "scrape this page and give me markdown",
            "What does this article say? https://example.com/news/1",
            "Save that web page without the ads and menus",
            "Pull the content from our documentation page so we can make slides of it",
            "Who wrote this article and when?",
            "turn this link into something I can feed to the next step",
        ],
        typical_use="Use this when the starting point is the address of one article or page on the web and later "
        "steps need its text.",
        limitations=[
            "Does not run JavaScript; pages that build their text in the browser give little or nothing.",
            "Cannot sign in, solve captchas or get past paywalls.",
            "Reads one page, not a whole site; a page that robots.txt forbids only if the input allows it.",
            "PDF and Office files are for `doc.parse`; those, pictures, archives and other data are refused, even if "
            "the server declares them as text.",
            "Leaves out pictures and embedded media.",
        ],
    ),
)
async def scrape(ctx: PackContext, input: Input) -> Output:
    """Reads a web page and returns its main content as Markdown.

    Navigation, cookie banners, advertisements and footers are left out; headings, lists, tables, code and links stay,
    links made absolute. The site's robots.txt is respected. Two extractors are compared; which one won, and how far
    they agree, is in the output. Data that is not text is refused, even if it is declared as text.
    """
    url = checked_url(input.url, field="url")
    if not input.respect_robots:
        ctx.log(f"robots.txt is not asked before reading {url}, as the input says.", "warning")
    ctx.progress(0.0, "Fetching the page")

    async def allowed(address: str) -> None:
        await check_robots(ctx, address)

    answer = await fetch(
        ctx,
        url,
        field="url",
        max_bytes=MAX_BYTES,
        timeout_seconds=FETCH_SECONDS,
        accept=ACCEPT,
        before_hop=allowed if input.respect_robots else None,
        check_headers=refuse_other_types,
    )
    ctx.progress(0.5, f"Reading {len(answer.body):,} bytes")
    found = await _extracted(ctx, answer)
    if not found["markdown"].strip():
        raise _without_text(answer.url, found)
    if found["needs_javascript"]:
        ctx.warn("The page has hardly any text without JavaScript, which is not run here; this may not be all of it.")
    elif found["extractor"] != "none" and found["confidence"] < 0.5:
        ctx.warn(
            f"It is not clear what the main content of the page is (confidence {found['confidence']:.0%}); "
            "check the Markdown for menus or missing parts."
        )
    markdown = _cut(ctx, found["markdown"], input.max_chars)
    ctx.progress(1.0, f"{len(markdown.split()):,} words read")
    return Output(
        markdown=markdown,
        title=found["title"],
        url=answer.url,
        byline=found["byline"],
        published=found["published"],
        word_count=len(markdown.split()),
        links=found["links"],
        extractor=found["extractor"],
        confidence=found["confidence"],
    )


async def _extracted(ctx: PackContext, answer: Fetched) -> Extracted:
    try:
        return await ctx.run_in_process(
            extract_page,
            *(answer.body, answer.charset, answer.media_type, answer.url, os.getpid()),
            timeout_seconds=EXTRACT_SECONDS,
        )
    except PackError as error:
        if error.failure.code != "timeout":
            raise
        raise too_slow(answer.url, EXTRACT_SECONDS, "url") from error


def _without_text(url: str, found: Extracted) -> PackError:
    if found["needs_javascript"]:
        return PackError(
            "invalid_input",
            f"{url} has no text without JavaScript, which is not run here.",
            field="url",
            hint="Look for a print view, a feed or an API of the site, or save the page as PDF and use `doc.parse`.",
        )
    return PackError("invalid_input", f"{url} has no text on it.", field="url", hint="Check the address in a browser.")


def _cut(ctx: PackContext, markdown: str, max_chars: int) -> str:
    cut = cut_at_paragraph(markdown, max_chars=max_chars, max_bytes=MAX_MARKDOWN_BYTES)
    if len(cut) < len(markdown):
        ctx.warn(f"The page is {len(markdown):,} characters long; the first {len(cut):,} are returned.")
    return cut
