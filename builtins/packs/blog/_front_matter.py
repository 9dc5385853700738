"""A post as a Markdown file with front matter, the way Hugo, Jekyll and Astro read it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._input import Post


def markdown_post(post: Post, title: str, slug: str) -> str:
    """Front matter and body. Values are written as JSON strings, which YAML 1.2 reads as they are."""

    def quoted(value: str) -> str:
        return json.dumps(" ".join(value.split()), ensure_ascii=False)

    lines = [f"title: {quoted(title)}", f"slug: {quoted(slug)}"]
    if post.author and post.author.strip():
        lines.append(f"author: {quoted(post.author)}")
    if post.excerpt and post.excerpt.strip():
        lines.append(f"excerpt: {quoted(post.excerpt)}")
    if post.tags:
        lines.append("tags:")
        lines.extend(f"  - {quoted(tag)}" for tag in post.tags)
    body = markdown_body(post.body, title)
    return "---\n" + "\n".join(lines) + "\n---\n\n" + body.strip("\n") + "\n"


def markdown_body(body: str, title: str) -> str:
    """The text without its front matter and without a heading that repeats the title."""
    return _without_own_title(_without_front_matter(body), title)


def _without_front_matter(body: str) -> str:
    """The body without its front matter, which would end up as text."""
    text = body.replace("\r\n", "\n").removeprefix("\ufeff")
    match = re.match(r"\s*---[ \t]*\n((?:[A-Za-z_][\w-]*[ \t]*:.*\n|[ \t]+.*\n|-[ \t].*\n)+)---[ \t]*(?:\n|\Z)", text)
    return text[match.end() :] if match else text


def _without_own_title(body: str, title: str) -> str:
    """The body without a first heading that only repeats the title, which sites set themselves."""
    match = re.match(r"\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\n|\Z)", body)
    if match and title_key(match[1]) == title_key(title):
        return body[match.end() :]
    return body


def title_key(text: str) -> str:
    """What two spellings of one title have in common."""
    return re.sub(r"[\W_]+", " ", text).strip().lower()
