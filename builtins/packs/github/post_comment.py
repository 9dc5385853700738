"""`github.post_comment`: comments on an issue or pull request, once however often the step runs."""

from __future__ import annotations

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, PostCondition, pack

from .._marks import not_before
from ._client import MAX_PAGES, NEEDS_TOKEN, PAGE_SIZE, open_github
from ._input import Target
from ._marks import MAX_BODY_CHARS, find_own, with_mark
from ._repo import parse_repo
from ._shapes import RawComment, comment_of, read


class Input(Target):
    """The comment and where it goes."""

    issue_number: int | None = Field(
        default=None,
        ge=1,
        description="Number of the issue or pull request. May be left out when `repo` is the address of one.",
    )
    body: str = Field(min_length=1, max_length=MAX_BODY_CHARS, description="Text, in GitHub's Markdown.")


class Output(BaseModel):
    """The comment that is there now."""

    id: int = Field(ge=1, description="GitHub's id of the comment.")
    url: str = Field(description="Its address.")
    author: str | None = Field(description="Login it was written by.")
    body: str = Field(description="Text, in GitHub's Markdown.")
    number: int = Field(ge=1, description="Number of the issue or pull request.")
    repo: str = Field(description="`owner/name`.")
    created: bool = Field(description="False when an earlier attempt of this step had written it.")


def _has_address(output: Output, _files: object) -> str | None:
    return None if output.url.startswith(("https://", "http://")) else "the comment has no address"


@pack(
    "github.post_comment",
    version="1.0.0",
    effects="external",
    repeatable=True,
    takes_idempotency_key=True,
    timeout_seconds=180,
    credentials=[NEEDS_TOKEN],
    post_conditions=[PostCondition("the comment has an address", _has_address)],
    metadata=Metadata(
        accepts=["repo_url", "issue_number", "markdown", "text"],
        produces=["url", "json"],
        intent_keywords=[
            "comment on issue",
            "post comment",
            "reply on github",
            "answer ticket",
            "comment on pull request",
            "leave a note",
        ],
        example_intents=[
            "Comment on issue 12 that it is fixed",
            "Reply to the bug report with these findings",
            "leave a note on pull request 31",
            "Post the test results under the issue",
            "Tell them on GitHub that we are looking into it",
            "Add my summary to https://github.com/octo/lights/issues/12",
            "Answer the ticket with this text",
            "Write the review as a comment on the PR",
        ],
        typical_use="Use this when a result or an answer should appear under an issue or pull request on GitHub.",
        limitations=[
            "Comments on the issue or pull request as a whole, not on lines of code.",
            "Does not edit or delete comments.",
            "Needs the credential `github` with permission to write issues or pull requests.",
            "The text carries an invisible comment by which a repeated step finds what it wrote.",
        ],
    ),
)
async def post_comment(ctx: PackContext, input: Input) -> Output:
    """Comments on an issue or pull request of a GitHub repository.

    A step that runs again (after a crash, a lost answer, a resume) finds the comment it wrote and returns that one.
    """
    repo = parse_repo(ctx, input.repo)
    number = input.issue_number or repo.number
    if number is None or repo.number not in (None, number):
        mismatch = "is missing" if number is None else f"is {number}, and `repo` is the address of {repo.number}"
        raise PackError(
            "invalid_input",
            f"`issue_number` {mismatch}.",
            field="issue_number",
            hint="Give the number, or the address of the issue as `repo`.",
        )
    if not input.body.strip():
        raise PackError("invalid_input", "The comment is blank.", field="body", hint="Give it some text.")
    what = f"issue {number} of {repo.full_name}"
    github = await open_github(ctx, fields={"body": "body"}, must_sign_in=True)
    path = f"{repo.path}/issues/{number}/comments"
    ctx.progress(0.1, f"Looking whether {what} has this comment already")
    since = not_before(ctx).strftime("%Y-%m-%dT%H:%M:%SZ")
    recent = github.items(path, what=what, field="issue_number", since=since)
    data = await find_own(ctx, recent, max_items=MAX_PAGES * PAGE_SIZE, newest_first=False)
    is_new = data is None
    if data is None:
        ctx.progress(0.5, f"Commenting on {what}")
        data = await github.post(path, {"body": with_mark(ctx, input.body)}, what=what)
    else:
        ctx.warn(f"An earlier attempt of this step had commented on {what}; that comment was kept.")
    raw = read(RawComment, data)
    comment = comment_of(raw)
    ctx.progress(1.0, f"Commented on {what}")
    return Output(
        id=raw.id,
        url=comment.url,
        author=comment.author,
        body=comment.body,
        number=number,
        repo=repo.full_name,
        created=is_new,
    )
