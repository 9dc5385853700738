"""`github.search`: issues, pull requests, repositories or code on GitHub."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator

from packline import Metadata, PackContext, PackError, PostCondition, excerpt, pack

from ._client import MAY_USE_TOKEN, open_github
from ._input import one_line
from ._repo import parse_repo
from ._shapes import RawIssue, opening, read

Kind = Literal["issues", "pull_requests", "repositories", "code"]
_PATHS: dict[Kind, str] = {
    "issues": "/search/issues",
    "pull_requests": "/search/issues",
    "repositories": "/search/repositories",
    "code": "/search/code",
}
_OF_REPO = re.compile(r"/repos/([^/]+/[^/]+)\Z")


class Input(BaseModel):
    """What to look for."""

    query: str = Field(
        min_length=1,
        max_length=256,
        description="Words and GitHub's qualifiers, such as `label:bug` or `language:python`.",
        examples=["lamp flickers label:bug"],
    )
    kind: Kind = Field(default="issues", description="What to look among.")
    repo: str | None = Field(
        default=None, max_length=300, description="Only in this repository, as `owner/name` or as an address."
    )
    limit: int = Field(default=20, ge=1, le=100, description="At most so many results.")

    _query = field_validator("query")(one_line)


class Result(BaseModel):
    """One result."""

    title: str = Field(description="Title of an issue, name of a repository, path of a file.")
    url: str = Field(description="Its address.")
    repo: str | None = Field(description="`owner/name`.")
    number: int | None = Field(default=None, description="Of an issue or pull request.")
    state: str | None = Field(default=None, description="Of an issue or pull request: `open` or `closed`.")
    snippet: str = Field(default="", description="The beginning of its text, or its description.")
    updated_at: datetime | None = Field(default=None, description="When it last changed.")


class Output(BaseModel):
    """What was found."""

    query: str = Field(description="What GitHub was asked.")
    results: list[Result] = Field(description="Best first.")
    count: int = Field(ge=0, description="How many are listed here.")
    total_count: int = Field(ge=0, description="How many there are, by GitHub's count.")
    incomplete: bool = Field(description="GitHub ran out of time and there may be more or better ones.")


def _is_counted(output: Output, _files: object) -> str | None:
    return None if output.count == len(output.results) else "the count is not that of the results"


class _Repository(BaseModel):
    full_name: str
    html_url: str
    description: str | None = None
    pushed_at: datetime | None = None
    updated_at: datetime | None = None


class _Code(BaseModel):
    path: str
    html_url: str
    repository: _Repository


class _Found(BaseModel):
    total_count: int
    incomplete_results: bool = False
    items: list[dict[str, Any]]


@pack(
    "github.search",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=90,
    credentials=[MAY_USE_TOKEN],
    post_conditions=[PostCondition("the results are counted", _is_counted)],
    metadata=Metadata(
        accepts=["query", "text"],
        produces=["search_results", "json"],
        intent_keywords=[
            "search github",
            "find issue",
            "find repository",
            "similar bugs",
            "search code",
            "find pull request",
            "known problem",
        ],
        example_intents=[
            "Search GitHub for issues about flickering lamps",
            "Is this a known bug in octo/lights?",
            "find repositories that render Markdown slides in Rust",
            "Where in our code is PACKLINE_HOST read?",
            "Has somebody already asked for dark mode?",
            "Find merged pull requests that touched the parser",
            "look for similar tickets before filing one",
            "Which open source projects do lighthouse simulation?",
        ],
        typical_use="Use this when issues, pull requests, repositories or code on GitHub have to be found first.",
        limitations=[
            "At most 100 results of one search, and only what GitHub has indexed; new things take a minute.",
            "Searching code needs the credential `github`, and looks at default branches only.",
            "GitHub allows 30 searches a minute with a credential and 10 without.",
        ],
    ),
)
async def search(ctx: PackContext, input: Input) -> Output:
    """Searches GitHub for issues, pull requests, repositories or code, with GitHub's own query words."""
    parts = [input.query]
    if input.repo:
        parts.append(f"repo:{parse_repo(ctx, input.repo).full_name}")
    if input.kind in ("issues", "pull_requests"):
        parts.append("is:issue" if input.kind == "issues" else "is:pull-request")
    query = " ".join(parts)
    github = await open_github(ctx, fields={"q": "query"}, must_sign_in=False)
    if input.kind == "code" and github.token is None:
        raise PackError(
            "credential_invalid",
            "GitHub searches code for signed-in callers only.",
            field="kind",
            hint="Store a credential `github` and grant it to this pack, or search for something else.",
            detail={"credential": "github"},
        )
    ctx.progress(None, f"Searching GitHub's {input.kind.replace('_', ' ')} for {excerpt(input.query, 80)}")
    answer = await github.get(
        _PATHS[input.kind], what=f"answer to `{excerpt(query, 100)}`", field="query", q=query, per_page=str(input.limit)
    )
    found = read(_Found, answer)
    results = [_result(input.kind, item) for item in found.items[: input.limit]]
    if found.incomplete_results:
        ctx.warn("GitHub did not finish the search in time; there may be more or better results.")
    ctx.progress(1.0, f"{len(results)} of {found.total_count} results")
    return Output(
        query=query,
        results=results,
        count=len(results),
        total_count=max(found.total_count, len(results)),
        incomplete=found.incomplete_results,
    )


def _result(kind: Kind, item: dict[str, Any]) -> Result:
    if kind == "repositories":
        repository = read(_Repository, item)
        return Result(
            title=repository.full_name,
            url=repository.html_url,
            repo=repository.full_name,
            snippet=opening(repository.description),
            updated_at=repository.pushed_at or repository.updated_at,
        )
    if kind == "code":
        code = read(_Code, item)
        return Result(title=code.path, url=code.html_url, repo=code.repository.full_name)
    issue = read(RawIssue, item)
    place = _OF_REPO.search(str(item.get("repository_url", "")))
    return Result(
        title=issue.title,
        url=issue.html_url,
        repo=place[1] if place else None,
        number=issue.number,
        state=issue.state,
        snippet=opening(issue.body),
        updated_at=issue.updated_at,
    )
