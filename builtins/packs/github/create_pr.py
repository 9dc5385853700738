"""`github.create_pr`: opens a pull request for a branch, or returns the open one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, field_validator

from packline import Metadata, PackContext, PackError, PostCondition, excerpt, pack

from ._client import MAX_PAGES, NEEDS_TOKEN, PAGE_SIZE, open_github
from ._input import Target, one_line
from ._marks import MAX_BODY_CHARS, find_own, with_mark, without_mark
from ._repo import parse_repo
from ._shapes import RawPull, read

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic import ValidationInfo

    from ._client import GitHub
    from ._repo import Repo

#: What Git allows in the name of a branch (git-check-ref-format), and an owner before a colon.
_BRANCH = re.compile(
    r"(?:[A-Za-z0-9][A-Za-z0-9_-]{0,99}:)?(?![-/.@]\Z)(?![-/.])(?!.*(?:\.\.|//|@\{|/\.|\.lock(?:/|\Z)))"
    r"[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![/.])\Z"
)


class Input(Target):
    """The pull request to open."""

    title: str = Field(min_length=1, max_length=256, description="Title, one line.")
    head: str = Field(
        min_length=1,
        max_length=300,
        description="Branch with the changes; `owner:branch` when it is in a fork.",
        examples=["fix-lamp"],
    )
    base: str | None = Field(
        default=None, min_length=1, max_length=200, description="Branch to merge into; the default branch if left out."
    )
    body: str = Field(default="", max_length=MAX_BODY_CHARS, description="Text, in GitHub's Markdown.")
    draft: bool = Field(default=False, description="Open it as a draft.")

    _title = field_validator("title")(one_line)

    @field_validator("head", "base")
    @classmethod
    def _is_branch(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None and (not _BRANCH.match(name) or (info.field_name == "base" and ":" in name)):
            raise ValueError(f"`{excerpt(name, 100)}` cannot be the name of a branch.")
        return name


class Output(BaseModel):
    """The pull request that is there now."""

    number: int = Field(ge=1, description="Number within the repository.")
    url: str = Field(description="Its address.")
    pr_url: str = Field(description="The same, by the name pipelines know it under.")
    title: str = Field(description="Title.")
    state: str = Field(description="`open`, or `closed` when it was closed or merged since.")
    draft: bool = Field(description="Whether it is a draft.")
    head: str = Field(description="Branch with the changes.")
    base: str = Field(description="Branch to merge into.")
    body: str = Field(description="Text, in GitHub's Markdown.")
    repo: str = Field(description="`owner/name`.")
    created: bool = Field(description="False when there was one for these branches already.")


def _has_address(output: Output, _files: object) -> str | None:
    is_right = output.url.startswith(("https://", "http://")) and output.url.endswith(f"/{output.number}")
    return None if is_right else f"`{output.url}` is not the address of pull request {output.number}"


@pack(
    "github.create_pr",
    version="1.0.0",
    effects="external",
    repeatable=True,
    takes_idempotency_key=True,
    timeout_seconds=180,
    credentials=[NEEDS_TOKEN],
    post_conditions=[PostCondition("the pull request can be found at its address", _has_address)],
    metadata=Metadata(
        accepts=["repo_url", "markdown", "text"],
        produces=["pr_url", "url", "json"],
        intent_keywords=[
            "pull request",
            "open pr",
            "create pr",
            "merge request",
            "propose changes",
            "draft pull request",
            "review this branch",
        ],
        example_intents=[
            "Open a pull request from fix-lamp to main",
            "Make a PR for my branch in octo/lights",
            "propose these changes upstream from my fork",
            "Create a draft pull request so others can look",
            "Put the branch up for review with this description",
            "I pushed feature/relight, now I need a PR",
            "Send the fix as a pull request to the release branch",
            "turn branch docs-typo into a merge request",
        ],
        typical_use="Use this when a branch that is already on GitHub should be proposed for merging.",
        limitations=[
            "The branch must have been pushed; it pushes nothing itself.",
            "An open pull request for the same branches is returned as it is; its title and text are not changed.",
            "Needs the credential `github` with permission to write pull requests.",
            "Sets no reviewers, labels or assignees.",
        ],
    ),
)
async def create_pr(ctx: PackContext, input: Input) -> Output:
    """Opens a pull request in a GitHub repository, or returns the one that is open for the same branches.

    A step that runs again finds what it opened, even when that was closed or merged meanwhile.
    """
    repo = parse_repo(ctx, input.repo)
    names = {"title": "title", "body": "body", "head": "head", "base": "base", "draft": "draft"}
    github = await open_github(ctx, fields=names, must_sign_in=True)
    base = input.base or await _default_branch(github, repo)
    head = input.head if ":" in input.head else f"{repo.owner}:{input.head}"
    if head == f"{repo.owner}:{base}":
        raise PackError(
            "invalid_input",
            f"`head` and `base` are both `{base}`.",
            field="head",
            hint="Give the branch with the changes as `head`.",
        )
    ctx.progress(0.2, f"Looking whether {repo.full_name} has a pull request from {head} to {base}")
    data = await _find(ctx, github, repo, head, base)
    is_new = data is None
    if data is None:
        ctx.progress(0.5, f"Opening a pull request from {head} to {base}")
        try:
            data = await github.post(
                f"{repo.path}/pulls",
                {
                    "title": input.title,
                    "head": input.head,
                    "base": base,
                    "body": with_mark(ctx, input.body),
                    "draft": input.draft,
                },
                what=f"a pull request from {head} to {base} of {repo.full_name}",
            )
        except PackError as error:
            # Somebody else may have opened it a moment ago, which GitHub refuses as invalid.
            if error.failure.code != "invalid_input":
                raise
            data, is_new = await _find(ctx, github, repo, head, base), False
            if data is None:
                raise
    raw = read(RawPull, data)
    if not is_new:
        ctx.warn(f"Pull request {raw.number} from {head} to {base} was there already; it was kept as it is.")
    ctx.progress(1.0, f"Pull request {raw.number} of {repo.full_name}")
    return Output(
        number=raw.number,
        url=raw.html_url,
        pr_url=raw.html_url,
        title=raw.title,
        state=raw.state,
        draft=raw.draft,
        head=raw.head.ref,
        base=raw.base.ref,
        body=without_mark(raw.body or ""),
        repo=repo.full_name,
        created=is_new,
    )


async def _default_branch(github: GitHub, repo: Repo) -> str:
    data = await github.get(repo.path, what=f"repository {repo.full_name}")
    branch = data.get("default_branch")
    if not isinstance(branch, str) or not branch:
        raise PackError("upstream_unavailable", f"GitHub does not say what the default branch of {repo.full_name} is.")
    return branch


async def _find(ctx: PackContext, github: GitHub, repo: Repo, head: str, base: str) -> dict[str, Any] | None:
    """The open pull request for these branches, or the one this step opened earlier."""
    found = github.items(
        f"{repo.path}/pulls",
        what=f"pull requests of {repo.full_name}",
        head=head,
        base=base,
        state="all",
        sort="created",
        direction="desc",
    )
    listed = [item async for item in found]
    if is_open := next((item for item in listed if item.get("state") == "open"), None):
        return is_open

    async def again() -> AsyncIterator[dict[str, Any]]:
        for item in listed:
            yield item

    return await find_own(ctx, again(), max_items=MAX_PAGES * PAGE_SIZE, newest_first=True)
