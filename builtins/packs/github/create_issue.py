"""`github.create_issue`: opens an issue, once however often the step runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, field_validator

from packline import Metadata, PackContext, PostCondition, pack

from ._client import MAX_PAGES, NEEDS_TOKEN, PAGE_SIZE, open_github
from ._input import Target, one_line
from ._marks import MAX_BODY_CHARS, find_own, with_mark, without_mark
from ._repo import parse_repo
from ._shapes import RawIssue, head_fields, read

if TYPE_CHECKING:
    from ._client import JSONValue


class Input(Target):
    """The issue to open."""

    title: str = Field(min_length=1, max_length=256, description="Title, one line.")
    body: str = Field(default="", max_length=MAX_BODY_CHARS, description="Text, in GitHub's Markdown.")
    labels: list[str] = Field(default_factory=list, max_length=20, description="Labels to put on it.")
    assignees: list[str] = Field(default_factory=list, max_length=10, description="Logins to assign it to.")

    _title = field_validator("title")(one_line)


class Output(BaseModel):
    """The issue that is there now."""

    number: int = Field(ge=1, description="Number within the repository.")
    url: str = Field(description="Its address.")
    title: str = Field(description="Title.")
    state: str = Field(description="`open`, or `closed` when somebody closed it since an earlier attempt opened it.")
    labels: list[str] = Field(description="Names of its labels.")
    body: str = Field(description="Text, in GitHub's Markdown.")
    author: str | None = Field(description="Login it was opened by.")
    repo: str = Field(description="`owner/name`.")
    created: bool = Field(description="False when an earlier attempt of this step had opened it.")


def _has_address(output: Output, _files: object) -> str | None:
    is_right = output.url.startswith(("https://", "http://")) and output.url.endswith(f"/{output.number}")
    return None if is_right else f"`{output.url}` is not the address of issue {output.number}"


@pack(
    "github.create_issue",
    version="1.0.0",
    effects="external",
    repeatable=True,
    takes_idempotency_key=True,
    timeout_seconds=180,
    credentials=[NEEDS_TOKEN],
    post_conditions=[PostCondition("the issue can be found at its address", _has_address)],
    metadata=Metadata(
        accepts=["repo_url", "markdown", "text", "brief"],
        produces=["issue_number", "url", "json"],
        intent_keywords=[
            "open issue",
            "create issue",
            "file a bug",
            "new ticket",
            "report problem on github",
            "feature request",
            "log an issue",
        ],
        example_intents=[
            "Open an issue in octo/lights about the broken link",
            "File a bug with this error report",
            "make a ticket for the missing capability",
            "Create a GitHub issue titled Lamp flickers, label it bug",
            "Log this as a feature request and assign it to mona",
            "I want the findings of the review as an issue",
            "report this problem upstream",
            "Turn my note into an issue on our repo",
        ],
        typical_use="Use this when something should be written down as a new issue of a GitHub repository.",
        limitations=[
            "Needs the credential `github` with permission to write issues.",
            "Labels and assignees are only set for people who may; what GitHub drops is a warning.",
            "Does not look for similar issues of others first; `github.search` does.",
            "The text carries an invisible comment by which a repeated step finds its issue; removing it from the "
            "issue lets a repeat open another.",
        ],
    ),
)
async def create_issue(ctx: PackContext, input: Input) -> Output:
    """Opens an issue in a GitHub repository.

    A step that runs again (after a crash, a lost answer, a resume) finds the issue it opened and returns that one.
    """
    repo = parse_repo(ctx, input.repo)
    names = {"title": "title", "body": "body", "labels": "labels", "assignees": "assignees"}
    github = await open_github(ctx, fields=names, must_sign_in=True)
    ctx.progress(0.1, f"Looking whether {repo.full_name} has this issue already")
    newest = github.items(
        f"{repo.path}/issues", what=f"issues of {repo.full_name}", state="all", sort="created", direction="desc"
    )
    data = await find_own(ctx, newest, max_items=MAX_PAGES * PAGE_SIZE, newest_first=True)
    is_new = data is None
    if data is None:
        ctx.progress(0.5, f"Opening an issue in {repo.full_name}")
        body: dict[str, JSONValue] = {
            "title": input.title,
            "body": with_mark(ctx, input.body),
            "labels": list(input.labels),
            "assignees": list(input.assignees),
        }
        data = await github.post(
            f"{repo.path}/issues", body={name: value for name, value in body.items() if value}, what=repo.full_name
        )
    raw = read(RawIssue, data)
    head = head_fields(raw)
    if is_new:
        _warn_of_dropped(ctx, "labels", input.labels, head["labels"])
        _warn_of_dropped(ctx, "assignees", input.assignees, head["assignees"])
    else:
        ctx.warn(f"An earlier attempt of this step had opened issue {raw.number} of {repo.full_name}; it was kept.")
    ctx.progress(1.0, f"Issue {raw.number} of {repo.full_name}")
    return Output(
        number=raw.number,
        url=raw.html_url,
        title=raw.title,
        state=raw.state,
        labels=head["labels"],
        body=without_mark(raw.body or ""),
        author=head["author"],
        repo=repo.full_name,
        created=is_new,
    )


def _warn_of_dropped(ctx: PackContext, what: str, asked: list[str], got: list[str]) -> None:
    have = {name.lower() for name in got}
    if dropped := [name for name in asked if name.lower() not in have]:
        ctx.warn(f"GitHub left out the {what} {', '.join(dropped)}; the account may not set them.")
