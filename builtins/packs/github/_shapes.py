"""What the packs return of GitHub's answers, and how an answer becomes that."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from packline import PackError, excerpt

from ._marks import without_mark

#: Lists carry the beginnings of texts only, so that 200 issues stay within what a step may return.
EXCERPT_CHARS = 1_000
_Model = TypeVar("_Model", bound=BaseModel)


class Comment(BaseModel):
    """A comment on an issue or pull request."""

    author: str | None = Field(description="Login of who wrote it; null when the account is gone.")
    body: str = Field(description="Text, in GitHub's Markdown.")
    created_at: datetime = Field(description="When it was written.")
    url: str = Field(description="Its address.")


class IssueHead(BaseModel):
    """An issue or pull request without its whole text."""

    number: int = Field(ge=1, description="Number within the repository.")
    title: str = Field(description="Title.")
    state: Literal["open", "closed"] = Field(description="Whether it is open.")
    url: str = Field(description="Its address.")
    author: str | None = Field(description="Login of who opened it; null when the account is gone.")
    labels: list[str] = Field(description="Names of its labels.")
    assignees: list[str] = Field(description="Logins of who it is assigned to.")
    milestone: str | None = Field(description="Title of its milestone.")
    comments_count: int = Field(ge=0, description="How many comments it has.")
    is_pull_request: bool = Field(description="Whether it is a pull request.")
    created_at: datetime = Field(description="When it was opened.")
    updated_at: datetime = Field(description="When anything about it last changed.")
    closed_at: datetime | None = Field(description="When it was closed.")


class _Account(BaseModel):
    login: str


class _Label(BaseModel):
    name: str = ""


class _Milestone(BaseModel):
    title: str


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore")


class RawComment(_Loose):
    """A comment as GitHub sends it."""

    id: int
    html_url: str
    body: str | None = None
    user: _Account | None = None
    created_at: datetime


class RawIssue(_Loose):
    """An issue as GitHub sends it; pull requests come as issues, too."""

    number: int
    title: str
    state: Literal["open", "closed"]
    html_url: str
    body: str | None = None
    user: _Account | None = None
    labels: list[_Label | str] = []
    assignees: list[_Account] = []
    milestone: _Milestone | None = None
    comments: int = 0
    pull_request: dict[str, Any] | None = None
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None


class _Branch(_Loose):
    ref: str
    label: str | None = None


class RawPull(_Loose):
    """A pull request as GitHub sends it."""

    number: int
    title: str
    state: Literal["open", "closed"]
    html_url: str
    body: str | None = None
    draft: bool = False
    head: _Branch
    base: _Branch
    created_at: datetime


def read(model: type[_Model], data: object) -> _Model:
    """GitHub's data as a model.

    Raises:
        PackError: `upstream_unavailable` when it is something else.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise PackError(
            "upstream_unavailable",
            f"GitHub's answer is not what its documentation says: `{place}`: {first['msg']}.",
            hint="If this lasts, an operator should check PACKLINE_SERVICE_GITHUB_URL and any proxy in between.",
        ) from error


def comment_of(raw: RawComment) -> Comment:
    """The comment in our form."""
    return Comment(
        author=raw.user.login if raw.user else None,
        body=without_mark(raw.body or ""),
        created_at=raw.created_at,
        url=raw.html_url,
    )


def head_fields(raw: RawIssue) -> dict[str, Any]:
    """The fields of `IssueHead`."""
    labels = [label if isinstance(label, str) else label.name for label in raw.labels]
    return {
        "number": raw.number,
        "title": raw.title,
        "state": raw.state,
        "url": raw.html_url,
        "author": raw.user.login if raw.user else None,
        "labels": [label for label in labels if label],
        "assignees": [account.login for account in raw.assignees],
        "milestone": raw.milestone.title if raw.milestone else None,
        "comments_count": raw.comments,
        "is_pull_request": raw.pull_request is not None,
        "created_at": raw.created_at,
        "updated_at": raw.updated_at,
        "closed_at": raw.closed_at,
    }


def opening(text: str | None) -> str:
    """The beginning of a text, cut at a word."""
    whole = without_mark(text or "").strip()
    if len(whole) <= EXCERPT_CHARS:
        return whole
    cut = excerpt(whole, EXCERPT_CHARS, ending="")
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[-100:] else cut} …"
