"""`github.list_issues`: the issues of a repository that fit."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, field_validator

from packline import Metadata, PackContext, PostCondition, excerpt, pack

from ._client import MAX_PAGES, MAY_USE_TOKEN, open_github
from ._input import Target
from ._repo import parse_repo
from ._shapes import IssueHead, RawIssue, head_fields, opening, read

if TYPE_CHECKING:
    from ._client import JSONValue

_LOGIN = r"(?:[A-Za-z0-9_\[\]-]{1,100}|\*)"


class Input(Target):
    """Which issues."""

    state: Literal["open", "closed", "all"] = Field(default="open", description="Only those in this state.")
    labels: list[str] = Field(default_factory=list, max_length=20, description="Only those with all of these labels.")
    assignee: str | None = Field(
        default=None, pattern=f"^{_LOGIN}$", description="Only those assigned to this login; `none` or `*` for anybody."
    )
    creator: str | None = Field(default=None, pattern=f"^{_LOGIN}$", description="Only those this login opened.")
    since: datetime | None = Field(default=None, description="Only those changed at or after this time.")
    sort: Literal["created", "updated", "comments"] = Field(default="created", description="What to order by.")
    direction: Literal["asc", "desc"] = Field(default="desc", description="Which end comes first.")
    include_pull_requests: bool = Field(default=False, description="GitHub counts them as issues; left out otherwise.")
    limit: int = Field(default=30, ge=1, le=200, description="At most so many.")

    @field_validator("labels")
    @classmethod
    def _plain_labels(cls, labels: list[str]) -> list[str]:
        if bad := next((label for label in labels if "," in label or not label.strip() or len(label) > 100), None):
            raise ValueError(f"`{excerpt(bad, 50)}` is not a label; give each label by itself, without a comma.")
        return [label.strip() for label in labels]


class ListedIssue(IssueHead):
    """One issue of the list."""

    excerpt: str = Field(description="The beginning of its text, at most about 1,000 characters.")


class Output(BaseModel):
    """The issues."""

    repo: str = Field(description="`owner/name`.")
    issues: list[ListedIssue] = Field(description="In the order asked for.")
    count: int = Field(ge=0, description="How many are listed here.")
    has_more: bool = Field(description="Whether there are more that fit.")
    markdown: str = Field(description="The list as Markdown, a line for each issue; empty when there is none.")


def _each_once(output: Output, _files: object) -> str | None:
    numbers = {issue.number for issue in output.issues}
    return None if len(numbers) == output.count == len(output.issues) else "an issue is listed twice"


@pack(
    "github.list_issues",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=180,
    credentials=[MAY_USE_TOKEN],
    post_conditions=[PostCondition("each issue is listed once", _each_once)],
    metadata=Metadata(
        accepts=["repo_url"],
        produces=["json", "markdown"],
        intent_keywords=[
            "list issues",
            "open issues",
            "issues with label",
            "bug list",
            "backlog",
            "open pull requests",
            "tickets of a repository",
        ],
        example_intents=[
            "List the open issues of octo/lights",
            "Which bugs were closed since Monday?",
            "show me everything labelled good first issue",
            "What is assigned to mona in our repo?",
            "Give me the 50 most discussed issues",
            "Make a status deck of the open tickets in https://github.com/octo/lights",
            "Are there pull requests waiting?",
            "Write release notes out of the issues closed this month",
        ],
        typical_use="Use this when a later step needs an overview of a repository's issues or pull requests.",
        limitations=[
            "At most 200 issues; `has_more` tells when there are others.",
            "Only the beginning of each text; read one whole with `github.get_issue`.",
            "Private repositories need the credential `github`; without it GitHub allows 60 requests an hour and a "
            "list may be five minutes old.",
        ],
    ),
)
async def list_issues(ctx: PackContext, input: Input) -> Output:
    """Lists the issues of a GitHub repository by state, labels, people and time, as data and as Markdown."""
    repo = parse_repo(ctx, input.repo)
    github = await open_github(ctx, fields={"labels": "labels", "assignee": "assignee"}, must_sign_in=False)
    what = f"issues of {repo.full_name}"
    url: str | None = github.list_url(f"{repo.path}/issues", **_parameters(input))
    found: dict[int, ListedIssue] = {}
    has_more = False
    for page_number in range(1, MAX_PAGES + 1):
        if url is None:
            break
        ctx.progress(None, f"Reading page {page_number} of the {what}")
        page = await github.page_kept(url, _kept, what=what)
        for item in page.items:
            issue = ListedIssue.model_validate(item)
            if issue.is_pull_request and not input.include_pull_requests:
                continue
            if len(found) == input.limit and issue.number not in found:
                has_more = True
                break
            found.setdefault(issue.number, issue)  # pages shift when an issue is opened meanwhile
        url = page.next_url
        if has_more:
            break
        if len(found) == input.limit:
            has_more = url is not None
            break
    else:
        has_more = url is not None
        if has_more:
            ctx.warn(f"Looked at the first {MAX_PAGES} pages of the {what} only; there may be others that fit.")
    issues = list(found.values())
    ctx.progress(1.0, f"{len(issues)} {what}")
    return Output(
        repo=repo.full_name,
        issues=issues,
        count=len(issues),
        has_more=has_more,
        markdown="\n".join(_line(issue) for issue in issues),
    )


def _parameters(input: Input) -> dict[str, str]:
    wanted: dict[str, str] = {"state": input.state, "sort": input.sort, "direction": input.direction}
    if input.labels:
        wanted["labels"] = ",".join(input.labels)
    if input.assignee:
        wanted["assignee"] = input.assignee
    if input.creator:
        wanted["creator"] = input.creator
    if input.since:
        since = input.since if input.since.tzinfo else input.since.replace(tzinfo=UTC)
        wanted["since"] = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return wanted


def _kept(data: dict[str, Any]) -> JSONValue:
    raw = read(RawIssue, data)
    return ListedIssue(**head_fields(raw), excerpt=opening(raw.body)).model_dump(mode="json")


def _line(issue: ListedIssue) -> str:
    title = re.sub(r"([\\`*_\[\]<>])", r"\\\1", " ".join(issue.title.split()))
    labels = f" ({', '.join(issue.labels)})" if issue.labels else ""
    return f"- [#{issue.number}]({issue.url}) {title}{labels}"
