"""Whether a site's robots.txt lets a page be read (RFC 9309)."""

from __future__ import annotations

from typing import cast

from packline import PackContext, PackError

from .._http import AGENT_TOKEN, Fetched, fetch, origin_of

#: RFC 9309 asks to read at least 500 KiB and to keep rules no longer than 24 hours.
MAX_BYTES = 512 * 1024
KEEP_SECONDS = 3600.0
TIMEOUT_SECONDS = 10.0


async def check_robots(ctx: PackContext, url: str) -> None:
    """Returns when the page may be read.

    Raises:
        PackError: `policy_denied` when the rules forbid it; `upstream_unavailable` when the site cannot tell.
    """
    from protego import Protego

    origin = origin_of(url)
    rules = cast("str", await ctx.cached(f"robots:{origin}", KEEP_SECONDS, lambda: _read_rules(ctx, origin)))
    if rules and not Protego.parse(rules).can_fetch(url, AGENT_TOKEN):
        raise _refused(f"The robots.txt of {origin} forbids reading {url}.")


async def _read_rules(ctx: PackContext, origin: str) -> str:
    """The rules, empty when the site has none; 4xx means none, 5xx means nobody knows (RFC 9309 §2.3.1)."""
    try:
        answer: Fetched = await fetch(
            ctx,
            f"{origin}/robots.txt",
            field=None,
            max_bytes=MAX_BYTES,
            timeout_seconds=TIMEOUT_SECONDS,
            accept="text/plain, */*;q=0.1",
            keep_statuses=range(400, 600),
        )
    except PackError as error:
        if error.failure.code != "resource_exhausted":
            raise
        raise _refused(f"The robots.txt of {origin} is too large to be read.") from error
    if answer.status >= 500:
        raise PackError(
            "upstream_unavailable", f"{origin} cannot say what may be read: its robots.txt answers {answer.status}."
        )
    return answer.body.decode("utf-8", errors="replace").removeprefix("\ufeff") if answer.status < 300 else ""


def _refused(message: str) -> PackError:
    return PackError(
        "policy_denied",
        message,
        field="url",
        cause="The site does not want programs to read the page.",
        hint="Ask the site's owner, or set `respect_robots` to false if you have permission.",
        remedy="change_input",
    )
