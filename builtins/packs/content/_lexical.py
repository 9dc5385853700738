"""Grounding without a model: statements found by rules, pages chosen by the words they share."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from packline import PackContext, PackError, excerpt

from .._search import Found, search
from ._passages import Match, best_match, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._claims import Claim

HITS_PER_SEARCH = 6
#: After this long no further search is begun; what was found until then is used.
SEARCH_SECONDS = 150.0

_TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)


async def look_up(
    ctx: PackContext, claims: Sequence[Claim], topic: str
) -> tuple[Found | None, list[tuple[Claim, Match]]]:
    """The last provider's answer and the matches; searches end early, with a warning, when one cannot be made."""
    answer: Found | None = None
    matches: list[tuple[Claim, Match]] = []
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SEARCH_SECONDS
    for number, claim in enumerate(claims):
        ctx.progress(number / len(claims), f"Looking up statement {number + 1} of {len(claims)}")
        if loop.time() > deadline:
            ctx.warn(f"Searching took too long; only the first {number} of {len(claims)} statements were looked up.")
            break
        try:
            for query in queries(claim, topic):
                answer = await search(ctx, query, HITS_PER_SEARCH)
                if match := best_match(claim, answer.hits):
                    matches.append((claim, match))
                    break
        except PackError as error:
            ctx.warn(_unreachable(error, len(matches)))
            break
    return answer, matches


def _unreachable(error: PackError, matches: int) -> str:
    failure = error.failure
    result = f"only {matches} sources were added" if matches else "the text is unchanged and has no citations"
    return f"Searching failed, so {result}: {failure.message}{f' {failure.hint}' if failure.hint else ''}"


def queries(claim: Claim, topic: str) -> list[str]:
    """What to search for, most exact first.

    Engines of encyclopedias want all words at once, so a query holds a few telling words and never the sentence.
    """
    names = list(claim.names[:3])
    known = {term for name in names for term in terms(name)}
    words = re.findall(r"[^\W\d_]{4,}", claim.text)
    telling = [word for word in dict.fromkeys(words) if terms(word) and not set(terms(word)) & known]
    telling = sorted(telling, key=len, reverse=True)
    subject = names or [topic] if topic else names
    exact = " ".join([*subject, *claim.years[:1], *telling[: max(0, 4 - len(names))]])
    loose = " ".join([*names[:2], *([topic] if topic and len(names) < 2 else [])]) or " ".join(telling[:3])
    return [excerpt(query, 200, ending="") for query in dict.fromkeys((exact, loose)) if query.strip()]


def topic_of(text: str) -> str:
    """The first words of the text's title."""
    match = _TITLE.search(text)
    return " ".join(re.findall(r"\w+", match.group(1))[:4]) if match else ""
