"""`practice.verify`: a check without a model, such as belongs behind every step that lets an agent work."""

from __future__ import annotations

import re

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, pack

_LARGEST_BYTES = 1_000_000
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


class Input(BaseModel):
    """A text, and the phrases it must contain."""

    artifact: str = Field(max_length=100, description="Id of the text to check, `art_…`.")
    must_mention: str = Field(
        max_length=100_000, description="Phrases the text must contain, one per line; bullets and case do not matter."
    )


class Output(BaseModel):
    """What was checked."""

    checked: int = Field(description="How many phrases were looked for; all were found.", ge=0)
    word_count: int = Field(description="How many words the text has.", ge=0)
    heading: str = Field(description="Its first heading.")


@pack(
    "practice.verify",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=30,
    metadata=Metadata(
        practice=True,
        accepts=["markdown", "text"],
        produces=["json"],
        intent_keywords=[
            "verify a draft",
            "check text for phrases",
            "verifier",
            "gate for agent output",
            "deterministic check",
            "nothing left out",
        ],
        example_intents=[
            "Check that the draft mentions every change",
            "Is anything missing from these release notes?",
            "Verify what the agent wrote before it goes out",
            "Fail the run when a required phrase is not in the text",
            "Make sure the summary covers all the points I gave",
            "Put a check without a model behind the agent step",
            "Does this document have a heading and all its items?",
            "Gate the proposal on a list of words that must occur",
        ],
        typical_use="Use this behind an agent step, to vouch for what it proposes or to stop the run.",
        limitations=[
            "Looks for the phrases word for word, apart from case, bullets and spaces; it does not understand them.",
            "Reads plain text and Markdown of at most 1 MB.",
        ],
    ),
)
async def verify(ctx: PackContext, input: Input) -> Output:
    """Checks that a text has a heading and holds every phrase of a list; fails and names the first it lacks."""
    opened = await ctx.open_artifact(input.artifact)
    if opened.ref.size_bytes > _LARGEST_BYTES:
        raise PackError(
            "invalid_input",
            f"{opened.ref.name} has {opened.ref.size_bytes} bytes; at most {_LARGEST_BYTES} are checked.",
            field="artifact",
        )
    try:
        text = opened.path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise PackError("invalid_input", f"{opened.ref.name} is not UTF-8 text.", field="artifact") from error
    heading = next((line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("#")), "")
    phrases = [phrase for line in input.must_mention.splitlines() if (phrase := _plain(_BULLET.sub("", line)))]
    held = _plain(text)
    missing = [phrase for phrase in phrases if phrase not in held]
    if not heading:
        missing.insert(0, "a heading")
    if missing:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise PackError(
            "invalid_input",
            f"{opened.ref.name} lacks “{missing[0]}”{more}.",
            field="artifact",
            hint="Run again from the step that wrote it, or give this step another text and resume.",
            detail={"missing": [*missing[:100]]},
        )
    ctx.progress(1.0, f"Found all {len(phrases)} phrases")
    return Output(checked=len(phrases), word_count=len(text.split()), heading=heading)


def _plain(text: str) -> str:
    """Lower case, single spaces."""
    return " ".join(text.lower().split())
