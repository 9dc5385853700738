"""A secret that an agent spreads over several messages: of none more than the first half is ever to be seen."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from runner.agents.streams import JsonReader, reader_for
from runner.agents.transcript import Transcript
from runner.secrets.forms import forms_of
from runner.secrets.redaction import Redactor
from tests.runner.agents.test_masking import SECRETS, Kept

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

ROUNDS = 1_500
FORMS = sorted({form for value in SECRETS.values() for form in forms_of(value)})
#: Signs that are in no form and in no mask.
AROUND = "§±€¿"
_MASK = re.compile(r"\[redacted:[^]]*\]")


def _claude(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def _claude_thinks(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": text}]}}


def _claude_hears(text: str) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": "1", "content": text}]
    return {"type": "user", "message": {"content": content}}


def _codex(text: str) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"type": "agent_message", "text": text}}


def _opencode(text: str) -> dict[str, Any]:
    return {"type": "text", "part": {"text": text}}


def _gemini(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text}


def _gemini_part(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


#: Format, how a text is told in it, and what may stand between two texts.
WAYS: dict[str, tuple[str, Callable[[str], dict[str, Any]], dict[str, Any]]] = {
    "claude": ("claude", _claude, _claude_hears("fine")),
    "claude_thinks": ("claude", _claude_thinks, _claude_hears("fine")),
    "claude_hears": ("claude", _claude_hears, _claude_thinks("so")),
    "codex": ("codex", _codex, {"type": "turn.started"}),
    "opencode": ("opencode", _opencode, {"type": "step_start", "part": {}}),
    "gemini": ("gemini", _gemini, {"type": "tool_result", "tool_id": "1", "output": "fine"}),
    "gemini_parts": ("gemini", _gemini_part, {"type": "tool_result", "tool_id": "1", "output": "fine"}),
}


def longest_seen(form: str, shown: str) -> int:
    """How much of a form is to be seen at a stretch."""
    for length in range(len(form), 0, -1):
        if any(form[start : start + length] in shown for start in range(len(form) - length + 1)):
            return length
    return 0


async def heard(way: str, texts: list[str], redactor: Redactor, *, between: bool) -> tuple[str, str]:
    """What the transcript tells of texts in turn, and what the answer is."""
    stream, told, other = WAYS[way]
    kept = Kept()
    transcript = Transcript(kept, redactor, "att_1")  # type: ignore[arg-type]
    reader = reader_for(stream, transcript, redactor)  # type: ignore[arg-type]
    assert isinstance(reader, JsonReader)
    for text in texts:
        reader.feed(orjson.dumps(told(text), option=orjson.OPT_APPEND_NEWLINE))
        if between:
            reader.feed(orjson.dumps(other, option=orjson.OPT_APPEND_NEWLINE))
    reader.close()
    await transcript.close()
    return "".join(line.get("text", "") for line in kept.lines if line.get("text") != "fine"), reader.parsed.text()


@pytest.mark.parametrize("way", WAYS)
async def test_of_a_secret_in_pieces_less_than_half_is_seen(way: str) -> None:
    redactor, chance = Redactor(SECRETS), random.Random(way)
    for _ in range(ROUNDS // len(WAYS)):
        form = chance.choice(FORMS)
        cuts = sorted(chance.sample(range(1, len(form)), k=chance.randint(1, 4)))
        texts = [form[start:end] for start, end in zip([0, *cuts], [*cuts, len(form)], strict=True)]
        texts[0], texts[-1] = chance.choice(["", AROUND]) + texts[0], texts[-1] + chance.choice(["", AROUND])
        for shown in await heard(way, texts, redactor, between=chance.random() < 0.5):
            # White space between two messages stays; without it, nothing of the other half may be found either.
            seen = re.sub(r"\s*\n\n\s*", "", _MASK.sub("§", shown))
            assert longest_seen(form, seen) < (len(form) + 1) // 2, (texts, shown)


@pytest.mark.parametrize("way", ["claude", "codex", "opencode", "gemini"])
async def test_one_sign_a_message_hides_it_too(way: str) -> None:
    secret = SECRETS["shop.longer"]
    shown, answer = await heard(way, [*f"{AROUND}{secret}{AROUND}"], Redactor(SECRETS), between=False)
    assert secret[len(secret) // 2 :] not in shown
    assert longest_seen(secret, _MASK.sub("§", shown)) < len("correct-horse-battery") // 2 + 1
    assert longest_seen(secret, _MASK.sub("§", answer)) < len("correct-horse-battery") // 2 + 1


async def test_the_answer_is_masked_as_its_last_message_was() -> None:
    secret, redactor = SECRETS["github.token"], Redactor(SECRETS)
    texts = [secret[:8], f"{secret[8:]} is the rest"]
    _, answer = await heard("codex", texts, redactor, between=False)
    assert answer == "[redacted:github.token] is the rest"

    kept = Kept()
    transcript = Transcript(kept, redactor, "att_1")  # type: ignore[arg-type]
    reader = reader_for("claude", transcript, redactor)
    assert isinstance(reader, JsonReader)
    for event in (_claude(texts[0]), _claude(texts[1]), {"type": "result", "result": texts[1]}):
        reader.feed(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))
    reader.close()
    await transcript.close()
    assert reader.parsed.text() == "[redacted:github.token] is the rest"


def test_ordinary_texts_stay_as_they_are() -> None:
    texts = Redactor(SECRETS).texts()
    for text in (
        "It is correct.",
        "",
        "Correct",
        "correct",
        " horses graze",
        "first line",
        " of it\n",
        "in qu",
        "otes",
    ):
        assert texts.text(text) == text


def test_a_secret_or_token_at_the_beginning_is_masked_whatever_came_before() -> None:
    texts = Redactor(SECRETS).texts()
    token = "ghp_" + "a1B2" * 9
    for before in ("correct", "correct-h", "c", "first line"):
        assert texts.text(f"x {before}") == f"x {before}"
        assert token not in texts.text(token)
        texts.text(" ")
        texts.text(before)
        assert SECRETS["github.token"] not in texts.text(SECRETS["github.token"])
        texts.text(" ")
