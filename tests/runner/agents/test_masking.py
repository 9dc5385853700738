"""Whatever an agent prints, however it arrives: what is kept is what masking the whole at once would give."""

from __future__ import annotations

import asyncio
import base64
import random
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from runner.agents.parsed_output import ANSWER_CHARACTERS
from runner.agents.streams import JsonReader, RawReader, reader_for
from runner.agents.transcript import Transcript
from runner.secrets.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from store.runs.transcripts import Chunk

SECRETS = {
    "github.token": "correct-horse-battery",
    "deploy.key": "first line of the key\nsecond line of the key\nthird line",
    "shop.password": 'qu"ote\\d & spaced pässword',
    "shop.longer": "correct-horse-battery-staple",
}
ROUNDS = 10_000


class Kept:
    """Stands for the database: keeps what a transcript stores."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    async def write(self, _: Callable[..., None], __: str, chunk: Chunk, **___: Any) -> None:
        self.lines += [orjson.loads(line) for line in chunk.lines.split("\n")]

    def text(self, kind: str) -> str:
        return "".join(line.get("text", "") for line in self.lines if line["kind"] == kind)


def forms() -> list[str]:
    """Every way a secret may be written."""
    found = []
    for value in SECRETS.values():
        raw = value.encode()
        found += [
            value,
            quote(value, safe=""),
            orjson.dumps(value).decode()[1:-1],
            base64.b64encode(raw).decode(),
            raw.hex(),
        ]
    return found


def sample(chance: random.Random) -> str:
    """Text with secrets, tokens and halves of them in it."""
    words = [
        *forms(),
        "ghp_" + "a1B2" * 9,
        "plain",
        "wörds 🙂",
        "correct-horse",
        "\n",
        " ",
        "=",
        "https://u:pass@h/",
        "\r\n",
    ]
    return "".join(chance.choice(words) + chance.choice(["", " ", "\n", ": "]) for _ in range(chance.randint(1, 12)))


def parts(data: bytes, chance: random.Random) -> Iterator[bytes]:
    while data:
        size = chance.choice([1, 2, 3, 7, 40, 400])
        yield data[:size]
        data = data[size:]


async def test_ten_thousand_ways_to_arrive_leave_the_same() -> None:
    redactor, chance = Redactor(SECRETS), random.Random(7)
    for _ in range(ROUNDS):
        text, kept = sample(chance), Kept()
        transcript = Transcript(kept, redactor, "att_1")  # type: ignore[arg-type]
        reader = RawReader(transcript, redactor, "output", keep=ANSWER_CHARACTERS)
        for part in parts(text.encode(), chance):
            reader.feed(part)
        reader.close()
        await transcript.close()
        assert kept.text("output") == reader.text == redactor.text(text)


async def test_messages_in_parts_are_masked_across_their_parts() -> None:
    redactor, chance = Redactor(SECRETS), random.Random(8)
    for _ in range(ROUNDS // 5):
        text, kept = sample(chance), Kept()
        transcript = Transcript(kept, redactor, "att_1")  # type: ignore[arg-type]
        reader = reader_for("gemini", transcript, redactor)
        assert isinstance(reader, JsonReader)
        cuts = sorted(chance.sample(range(len(text) + 1), k=min(len(text), chance.randint(0, 9))))
        deltas = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        events: list[dict[str, Any]] = [
            {"type": "message", "role": "assistant", "content": delta, "delta": True} for delta in deltas
        ]
        stream = b"".join(
            orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE) for event in [*events, {"type": "result"}]
        )
        for part in parts(stream, chance):
            reader.feed(part)
        reader.close()
        await transcript.close()
        assert kept.text("message") == reader.parsed.text() == redactor.texts().text(text)
        assert kept.lines[-1]["kind"] == "usage"


async def test_no_stream_of_a_known_program_lets_a_secret_through() -> None:
    redactor = Redactor(SECRETS)
    for secret in forms():
        for stream, events in _streams(secret).items():
            kept = Kept()
            transcript = Transcript(kept, redactor, "att_1")  # type: ignore[arg-type]
            reader = reader_for(stream, transcript, redactor)  # type: ignore[arg-type]
            for event in events:
                reader.feed(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))
            reader.feed(f"no JSON: {secret}".encode())
            reader.close()
            await transcript.close()
            told = orjson.dumps(kept.lines).decode()
            assert len(kept.lines) > 1
            assert orjson.dumps(secret).decode()[1:-1] not in told, (stream, secret)
            assert isinstance(reader, JsonReader)
            assert secret not in reader.parsed.text()


def _streams(secret: str) -> dict[str, list[dict[str, Any]]]:
    return {
        "claude": [
            {"type": "assistant", "message": {"content": [{"type": "text", "text": f"It is {secret}."}]}},
            {"type": "stream_event", "event": {"delta": {"text": secret[:9]}}},
            {"type": "stream_event", "event": {"delta": {"text": secret[9:]}}},
            {
                "type": "assistant",
                "message": {"content": [{"type": "tool_use", "id": "1", "name": "B", "input": {"command": secret}}]},
            },
            {
                "type": "user",
                "message": {"content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"text": secret}]}]},
            },
            {"type": "result", "result": secret, "permission_denials": [{"tool_name": secret}]},
        ],
        "codex": [
            {"type": "item.completed", "item": {"type": "agent_message", "text": secret}},
            {"type": "item.completed", "item": {"type": "command_execution", "id": "1", "command": secret}},
            {"type": "error", "message": secret},
        ],
        "opencode": [
            {"type": "text", "part": {"text": secret}},
            {"type": "tool_use", "part": {"tool": "t", "callID": "1", "state": {"input": {secret: secret}}}},
        ],
    }


def test_what_is_cut_is_masked_before() -> None:
    """Half a secret at a border would not be known as one."""
    secret = SECRETS["github.token"]
    redactor = Redactor({"github.token": secret})
    for shift in range(len(secret) + 2):
        reader = RawReader(_Silent(), redactor, "error_output", keep=50, keep_end=50)  # type: ignore[arg-type]
        reader.feed(("x" * (50 - shift) + secret + "y" * (50 - shift)).encode())
        reader.close()
        for kept in (reader.text, reader.end):
            assert secret[:4] not in kept
            assert secret[-4:] not in kept


async def test_much_output_is_kept_at_both_ends_in_small_chunks() -> None:
    stored: dict[int, Chunk] = {}

    class Store:
        async def write(self, _: object, __: str, chunk: Chunk, *, is_tail: bool, dropped: tuple[int, ...]) -> None:
            for first in dropped:
                del stored[first]
            stored[chunk.first] = chunk

    redactor = Redactor()
    transcript = Transcript(Store(), redactor, "att_1")  # type: ignore[arg-type]
    reader = RawReader(transcript, redactor, "output")
    for number in range(40_000):
        reader.feed(f"{number} {'x' * 990}\n".encode())
        if number % 500 == 0:
            await asyncio.sleep(0)  # lets it store
    reader.close()
    await transcript.close()

    chunks = [stored[first] for first in sorted(stored)]
    assert all(len(chunk.lines) <= 256 << 10 for chunk in chunks)
    assert all(one.last < other.first for one, other in pairwise(chunks))
    assert chunks[0].first == 1
    assert "39999 x" in chunks[-1].lines
    assert sum(len(chunk.lines) for chunk in chunks) <= 17 << 20
    assert any(other.first > one.last + 1 for one, other in pairwise(chunks))


class _Silent:
    def add(self, *_: object, **__: object) -> None:
        """Keeps nothing."""
