"""`github.get_issue`: an issue with its text, and its comments when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from packline import Metadata, PackContext, PackError, PostCondition, excerpt, pack

from ._client import MAY_USE_TOKEN, PAGE_SIZE, open_github
from ._input import Target
from ._marks import without_mark
from ._repo import parse_repo
from ._shapes import Comment, IssueHead, RawComment, RawIssue, comment_of, head_fields, read

if TYPE_CHECKING:
    from ._client import JSONValue


class Input(Target):
    """Which issue."""

    issue_number: int | None = Field(
        default=None,
        ge=1,
        description="Number of the issue or pull request. May be left out when `repo` is the address of an issue.",
        examples=[12],
    )
    max_comments: int = Field(default=0, ge=0, le=100, description="At most so many comments, oldest first.")


class Output(IssueHead):
    """The issue."""

    repo: str = Field(description="`owner/name`.")
    repo_url: str = Field(description="Address of the repository, as `repo.fetch` takes it.")
    body: str = Field(description="Text, in GitHub's Markdown; may be empty.")
    comments: list[Comment] = Field(description="Oldest first; as many as asked for.")


def _is_asked_for(output: Output, _files: object) -> str | None:
    return None if output.url.startswith(("https://", "http://")) else "the answer has no address"


@pack(
    "github.get_issue",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=90,
    credentials=[MAY_USE_TOKEN],
    post_conditions=[PostCondition("the issue has an address", _is_asked_for)],
    metadata=Metadata(
        accepts=["repo_url", "issue_number", "url"],
        produces=["markdown", "source_content", "repo_url", "json"],
        intent_keywords=[
            "github issue",
            "read issue",
            "issue text",
            "bug report",
            "ticket",
            "issue comments",
            "pull request text",
        ],
        example_intents=[
            "Get issue 12 of octo/lights",
            "What does https://github.com/octo/lights/issues/12 say?",
            "Read the bug report with all its comments",
            "fetch the ticket so we can fix it",
            "Is issue 7 still open, and who is it assigned to?",
            "Pull the text of that GitHub issue into a brief",
            "Show me the discussion on pull request 31",
            "Which labels does issue 104 have?",
        ],
        typical_use="Use this when the text or state of one GitHub issue or pull request is needed by a later step.",
        limitations=[
            "Private repositories need the credential `github`.",
            "Without that credential GitHub allows 60 requests an hour, and an answer may be five minutes old.",
            "Of a pull request it returns the description and comments, not the changes or the reviews of lines.",
            "At most 100 comments.",
        ],
    ),
)
async def get_issue(ctx: PackContext, input: Input) -> Output:
    """Reads one issue or pull request of a GitHub repository: title, text, state, labels, people.

    `repo` is `owner/name` or an address; the address of an issue is enough by itself.
    """
    repo = parse_repo(ctx, input.repo)
    number = input.issue_number or repo.number
    if number is None:
        raise PackError(
            "invalid_input",
            f"`issue_number` is missing, and `repo` names no issue of {repo.full_name}.",
            field="issue_number",
            hint="Give the number, or the address of the issue as `repo`.",
        )
    if repo.number not in (None, number):
        raise PackError(
            "invalid_input",
            f"`issue_number` is {number}, and `repo` is the address of issue {repo.number}.",
            field="issue_number",
            hint="Leave one of them out.",
        )
    what = f"issue {number} of {repo.full_name}"
    ctx.progress(None, f"Reading {what}")
    github = await open_github(ctx, fields={}, must_sign_in=False)
    path = f"{repo.path}/issues/{number}"
    raw = read(RawIssue, await github.get_kept(path, _issue_kept, what=what, field="issue_number"))
    comments: list[Comment] = []
    if input.max_comments and raw.comments:
        url = github.list_url(f"{path}/comments", per_page=str(min(PAGE_SIZE, input.max_comments)))
        page = await github.page_kept(url, _comment_kept, what=f"comments on {what}")
        comments = [comment_of(read(RawComment, item)) for item in page.items[: input.max_comments]]
    ctx.progress(1.0, f"{what}: {excerpt(raw.title, 100)}")
    repo_url = raw.html_url.rsplit("/", 2)[0]  # without `/issues/7` or `/pull/7`
    return Output(
        **head_fields(raw), repo=repo.full_name, repo_url=repo_url, body=without_mark(raw.body or ""), comments=comments
    )


def _issue_kept(data: dict[str, Any]) -> JSONValue:
    return read(RawIssue, data).model_dump(mode="json")


def _comment_kept(data: dict[str, Any]) -> JSONValue:
    return read(RawComment, data).model_dump(mode="json")
