"""`web.search`: a question in, addresses with titles and snippets out."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, PostCondition, excerpt, pack

from .. import _search


class Input(BaseModel):
    """What to look for."""

    query: str = Field(
        min_length=1,
        max_length=400,
        description="What to search for, as one would type it.",
        examples=["Fresnel lens history"],
    )
    limit: int = Field(default=10, ge=1, le=_search.MAX_LIMIT, description="At most so many results.")
    provider: Literal["searxng", "wikipedia"] | None = Field(
        default=None,
        description="Ask only this provider. Left out: SearXNG where one is configured, else Wikipedia.",
    )


class Result(BaseModel):
    """One result."""

    url: str = Field(description="Address of the page.")
    title: str = Field(description="Title of the page.")
    snippet: str = Field(description="Text of the page around the match, or its beginning; plain text, may be empty.")
    published: str | None = Field(default=None, description="Date of publication, where the provider knows it.")


class Output(BaseModel):
    """The results and who gave them."""

    query: str = Field(description="What was searched for.")
    results: list[Result] = Field(description="Best first; empty when nothing was found.")
    provider: Literal["searxng", "wikipedia"] = Field(description="Who answered.")
    coverage: Literal["web", "encyclopedic"] = Field(
        description="`web`: general web search. `encyclopedic`: Wikipedia articles only, good for facts, not for news."
    )
    cached: bool = Field(description="The answer was kept from an earlier search, at most 24 hours old.")


def _within_limits(output: Output, _files: object) -> str | None:
    addresses = [result.url for result in output.results]
    return "an address appears twice" if len(set(addresses)) != len(addresses) else None


@pack(
    "web.search",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=60,
    post_conditions=[PostCondition("each address appears once", _within_limits)],
    metadata=Metadata(
        accepts=["query", "text"],
        produces=["search_results", "json"],
        intent_keywords=[
            "web search",
            "search the web",
            "look up",
            "find pages",
            "find sources",
            "search results",
            "google",
            "wikipedia",
        ],
        example_intents=[
            "Search the web for lighthouse automation",
            "Find me five sources about hydraulic lime",
            "look up who designed the Bell Rock lighthouse",
            "What does Wikipedia have on Fresnel lenses?",
            "Get links about offshore wind for a report",
            "Which pages should I read about the Great Storm of 1703?",
            "google typst vs latex",
            "I need a list of articles on post-quantum cryptography",
        ],
        typical_use="Use this when pages or sources on a subject have to be found first; read the ones that matter "
        "with `web.scrape`.",
        limitations=[
            "Without a SearXNG configured it finds English Wikipedia articles only, no news, shops or forums.",
            "Returns titles and snippets, not whole pages.",
            "At most 20 results, no further pages.",
            "Results may be up to 24 hours old.",
        ],
    ),
)
async def search(ctx: PackContext, input: Input) -> Output:
    """Searches the web and returns addresses with titles and snippets.

    SearXNG is asked where the operator has configured one; without it, or when it cannot be reached, English
    Wikipedia. Which one answered, and what it covers, is in the output. Answers are kept for 24 hours.
    """
    query = " ".join(input.query.split())
    if not query:
        raise PackError("invalid_input", "The query is empty.", field="query", hint="Say what to look for.")
    ctx.progress(None, f"Searching for {excerpt(query, 80)}")
    found = await _search.search(ctx, query, input.limit, input.provider)
    if not found.hits:
        ctx.warn(f"Nothing was found for `{query}`.")
    ctx.progress(1.0, f"{len(found.hits)} results")
    return Output(
        query=query,
        results=[
            Result(url=hit.url, title=hit.title, snippet=hit.snippet, published=hit.published) for hit in found.hits
        ],
        provider=found.provider,
        coverage=found.coverage,
        cached=found.cached,
    )
