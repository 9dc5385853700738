"""Grounding with a model: statements it picks, pages it compares them with, corrections where they are wanted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packline import PackContext, PackError

from .._writing import WRITER, listed, shortened
from ._statements import INSTRUCTIONS, Statements, locate, prompt_for
from ._verdicts import Checker, Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._search import Found
    from ._statements import Statement

CHECKED_AT_ONCE = 3
#: After this long no further statement is looked up; what was found until then is used.
CHECK_SECONDS = 420.0
#: Longest text a model is asked to pick statements from at once.
TEXT_CHARS = 80_000


@dataclass(slots=True)
class Grounding:
    """What a model found.

    Attributes:
        statements: Those found in the text, in order.
        dropped: How many it gave that are not in the text as they were given.
        evidence: What was found on each statement, by its place; absent where nothing was clear.
        unchecked: Places of statements that could not be looked up.
        found: The last search that was answered.
        model: The model that answered last.
    """

    statements: Sequence[Statement] = ()
    dropped: int = 0
    evidence: dict[int, Evidence] = field(default_factory=dict)
    unchecked: set[int] = field(default_factory=set)
    found: Found | None = None
    model: str | None = None


async def ground_with_model(ctx: PackContext, text: str, *, most: int, correct: bool, model: str | None) -> Grounding:
    """Picks at most `most` statements and checks each; what is not looked up is a warning.

    Raises:
        PackError: the first failure when no statement at all could be checked; the model's when it picks none.
    """
    ctx.progress(0.02, "Picking statements to look up")
    given = shortened(ctx, text, "The text", TEXT_CHARS)
    picked = await ctx.models.structured(
        WRITER, Statements, prompt_for(given, most), instructions=INSTRUCTIONS, model=model
    )
    statements, dropped = await asyncio.to_thread(locate, text, picked.value.statements, most)
    result = Grounding(statements, dropped, model=picked.model)
    if dropped:
        ctx.warn(
            f"{dropped} of the {len(picked.value.statements)} statements the model picked are not in the text in these "
            "words, or already have a source; they were dropped."
        )
    if not statements:
        return result
    checker = Checker(ctx, correct=correct, model=model)
    try:
        await _check_all(ctx, checker, result)
    finally:
        await checker.stop()
    result.found, result.model = checker.found, checker.model or picked.model
    return result


async def _check_all(ctx: PackContext, checker: Checker, result: Grounding) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + CHECK_SECONDS
    waiting = list(enumerate(result.statements))
    count = len(waiting)
    failures: dict[int, PackError] = {}
    done = 0

    async def check_some() -> None:
        nonlocal done
        while waiting and loop.time() < deadline:
            place, statement = waiting.pop(0)
            try:
                if evidence := await checker.check(statement):
                    result.evidence[place] = evidence
            except PackError as error:
                failures[place] = error
            done += 1
            ctx.progress(0.05 + 0.9 * done / count, f"{done} of {count} statements looked up")

    async with asyncio.TaskGroup() as group:
        for _ in range(min(CHECKED_AT_ONCE, count)):
            group.create_task(check_some())
    result.unchecked = {*failures, *(place for place, _ in waiting)}
    if len(failures) == count:
        raise failures[min(failures)]
    if failures:
        first = failures[min(failures)].failure
        ctx.warn(f"{len(failures)} of {count} statements could not be looked up: {first.message}")
    if waiting:
        ctx.warn(f"Looking up took too long; {len(waiting)} of {count} statements were not looked up.")
    wrong = [evidence for evidence in result.evidence.values() if evidence.verdict == "contradicted"]
    if wrong:
        places = [place for place, evidence in result.evidence.items() if evidence.verdict == "contradicted"]
        ctx.warn(
            f"{len(wrong)} of {count} statements are contradicted by a source: "
            f"{listed([result.statements[place].text for place in sorted(places)], 3)}."
        )
