"""The hidden comment that tells a step's own issues, pull requests and comments from others (see `.._marks`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from packline import PackError

from .._marks import mark_of, not_before

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from packline import PackContext

#: GitHub takes 65,536 characters; the rest is for the mark.
MAX_BODY_CHARS = 65_000
_MARK = re.compile(r"\s*<!-- packline:[0-9a-f]{32} -->[ \t]*\n*")


def with_mark(ctx: PackContext, body: str) -> str:
    """The text with this step's mark: at its end, or at its start where the end is in an open code block or comment."""
    from markdown_it import MarkdownIt

    text, mark = body.rstrip(), _mark(ctx)
    if not text:
        return mark
    marked = f"{text}\n\n{mark}"
    tokens = MarkdownIt("commonmark").parse(marked)
    is_apart = bool(tokens) and tokens[-1].type == "html_block" and tokens[-1].content.strip() == mark
    return marked if is_apart else f"{mark}\n\n{text}"


def without_mark(body: str) -> str:
    """The text as its reader sees it."""
    return _MARK.sub("\n\n", body).strip("\n") if "<!-- packline:" in body else body


async def find_own(
    ctx: PackContext, items: AsyncIterator[dict[str, Any]], *, max_items: int, newest_first: bool
) -> dict[str, Any] | None:
    """What this step made on an earlier attempt, the first of it if there are several.

    Args:
        ctx: The step.
        items: Things with `body` and `created_at`.
        max_items: How many the iterator gives at most.
        newest_first: Whether they come in that order, so that what is older than the run ends the search; else they
            come oldest first.

    Raises:
        PackError: `outcome_unknown` when this is a repeat and there is more than that to look through.
    """
    mark, earliest = _mark(ctx), not_before(ctx).strftime("%Y-%m-%dT%H:%M:%SZ")
    found: dict[str, Any] | None = None
    seen = 0
    async for item in items:
        seen += 1
        if mark in (item.get("body") or ""):
            found = item
            if not newest_first:
                return found
        if newest_first and str(item.get("created_at")) < earliest:
            return found
    if found is None and seen >= max_items and ctx.attempt_number > 1:
        raise PackError(
            "outcome_unknown",
            f"An earlier attempt may have written to GitHub, and {seen} newer entries have come since, more than are "
            "looked through.",
            hint="Look on GitHub; if it is not there, start a new run.",
        )
    return found


def _mark(ctx: PackContext) -> str:
    return f"<!-- packline:{mark_of(ctx)} -->"
