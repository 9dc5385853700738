"""The script a model writes: a conversation about a source, and nothing that is not in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from packline import PackContext, PackError, excerpt

from .._audio.spoken import WORDS_PER_MINUTE, plain_lines
from .._writing import MATERIAL_RULE, WRITER, asked, count_words, listed, material, one_line, shortened, unsourced
from ._script import Script, Theme, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A script this much shorter than asked for is no longer what was asked for.
_LEAST_SHARE = 0.4
_STAGE = re.compile(
    r"\s*(?:\[[^\]\n]{1,60}\]|\*[^*\n]{1,60}\*|\((?:[^()\n]{0,30}\b(?:laugh|music|pause|sigh|chuckl)[^()\n]{0,30})\))"
)
_THEMES: dict[Theme, str] = {
    "interview": "The first speaker asks short, curious questions; the other answers as someone who knows the source.",
    "debate": "The speakers weigh the source's points from two sides, fairly, and end with what they agree on.",
    "explainer": "The speakers explain the source step by step to people who are new to it, with plain words.",
    "deep-dive": "The speakers go into the details of the source, why things are as they are and what follows.",
    "news-roundup": "The speakers report the source's points as short items, the most important one first.",
    "solo-essay": "One speaker tells the source as an essay written for the ear.",
}
_INSTRUCTIONS = (
    "You write scripts for podcasts, to be read aloud word for word. Write as people speak: short sentences, no "
    "headings, lists, markup, sound effects or stage directions. Say only what the source says; invent no facts, "
    "figures, names, quotations or experiences, and do not pretend that a speaker is a real person. Write in the "
    "language of the source. Open by saying what the episode is about and close with one sentence.\n\n" + MATERIAL_RULE
)


class WrittenTurn(BaseModel):
    """What one speaker says."""

    speaker: str = Field(description="Name of the speaker, exactly as given.")
    text: str = Field(min_length=1, max_length=3000, description="What is said.")
    chapter: str = Field(default="", max_length=80, description="Title of a new part that begins here, else empty.")


class WrittenScript(BaseModel):
    """What a model is asked for."""

    title: str = Field(min_length=3, max_length=120, description="Title of the episode.")
    turns: list[WrittenTurn] = Field(min_length=1, max_length=300, description="In order.")


async def have_written(
    ctx: PackContext,
    source: str,
    title: str | None,
    theme: Theme,
    speakers: Sequence[str],
    minutes: float,
    audience: str | None,
    model: str | None,
) -> tuple[Script, str]:
    """A script by a model, and which model.

    Raises:
        PackError: what the gateway raised; `invalid_output` for a script by unknown speakers, or one much too short.
    """
    given = shortened(ctx, source, "The source")
    words = round(minutes * WORDS_PER_MINUTE)
    wanted = min(words, max(120, round(count_words(given) * 1.6)))
    if wanted < words * 0.8:
        ctx.warn(
            f"The source is short, so about {wanted / WORDS_PER_MINUTE:.1f} minutes were asked for, not {minutes:g}."
        )
    prompt = "\n\n".join(
        (
            _THEMES[theme],
            asked(speakers=", ".join(speakers), title=title, listeners=audience, length=f"about {wanted} words in all"),
            material("source", given),
        )
    )
    answer = await ctx.models.structured(WRITER, WrittenScript, prompt, instructions=_INSTRUCTIONS, model=model)
    known = {name.casefold(): name for name in speakers}
    turns: list[Turn] = []
    for turn in answer.value.turns:
        name = known.get(one_line(turn.speaker).casefold())
        if name is None:
            raise PackError(
                "invalid_output",
                f"The model gave words to `{excerpt(one_line(turn.speaker), 60)}`, who is none of "
                f"{listed(list(speakers))}.",
                hint="Run it again, or name another `model`.",
            )
        text = " ".join(plain_lines(_STAGE.sub("", turn.text)))
        if text:
            turns.append(Turn(name, text, one_line(turn.chapter)))
    said = sum(count_words(turn.text) for turn in turns)
    if said < wanted * _LEAST_SHARE:
        raise PackError(
            "invalid_output",
            f"The model wrote a script of {said} words; about {wanted} were asked for.",
            hint="Run it again, name another `model`, or ask for fewer minutes.",
        )
    new = unsourced("\n".join(turn.text for turn in turns), (source, title or "", audience or ""))
    remarks = (
        [f"The source does not hold {listed(new)}, which the script says; check it before publishing."] if new else []
    )
    silent = [name for name in speakers if all(turn.speaker != name for turn in turns)]
    if silent:
        remarks.append(f"The model gave no words to {listed(silent)}.")
    heard = tuple(turn.text for turn in turns)
    return Script(title or one_line(answer.value.title), tuple(turns), heard, tuple(remarks)), answer.model
