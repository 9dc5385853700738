"""The input fields of a post, shared by all targets."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, field_validator

from packline import excerpt


class Post(BaseModel):
    """A finished post."""

    format: Literal["markdown", "html"] = Field(
        default="markdown",
        description="What `body` is written in; the file has the same format: Markdown with front matter, or a page.",
    )
    title: str = Field(min_length=1, max_length=300, description="Title of the post.")
    body: str = Field(max_length=800_000, description="Text of the post, in `format`.")
    author: str | None = Field(
        default=None,
        max_length=200,
        description="Who wrote it. On Ghost, the e-mail address of a staff member makes them the author; a name is "
        "put above the text.",
    )
    tags: list[str] = Field(default_factory=list, max_length=20, description="Subjects, at most 20.")
    excerpt: str | None = Field(default=None, max_length=600, description="A sentence or two for lists and previews.")

    @field_validator("tags")
    @classmethod
    def _short_tags(cls, tags: list[str]) -> list[str]:
        clean = list(dict.fromkeys(" ".join(tag.split()) for tag in tags if tag.strip()))
        if too_long := next((tag for tag in clean if len(tag) > 60), None):
            raise ValueError(f"Tag `{excerpt(too_long, 60)}` is longer than 60 characters.")
        return clean
