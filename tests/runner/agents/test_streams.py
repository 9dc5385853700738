"""What a program prints is not trusted: no line of JSON makes reading fail, and none gets a secret past the mask."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.agents.formats import MAX_COST_USD, MAX_TOKENS
from runner.agents.listening import MODEL_CHARACTERS, OutputListener
from runner.agents.streams import MAX_DEPTH, JsonReader, reader_for
from runner.agents.transcript import Transcript
from runner.secrets.redaction import Redactor
from tests.runner.agents.test_masking import Kept

pytestmark = pytest.mark.slow

SECRET = "correct-horse-battery"
REDACTOR = Redactor({"a.b": SECRET})
STREAMS = ("claude", "codex", "gemini", "opencode")
#: Words that mean something to a reader: where a program's format is known, odd values stand in its places.
KEYS = re.findall(
    r"\S+",
    "type part item message content text thinking id callID tool tool_id tool_name name input parameters "
    "arguments state status output error result results usage stats tokens input_tokens output_tokens cost "
    "total_cost_usd num_turns permission_denials model role delta subtype command aggregated_output exit_code "
    "changes item_type tool_use_id is_error event input_tokens reasoning cache",
)
TYPES = re.findall(
    r"\S+",
    "system assistant user result stream_event text thinking tool_use tool_result thread.started "
    "turn.completed turn.failed error item.started item.completed agent_message reasoning command_execution "
    "mcp_tool_call file_change init message step_start step_finish web_search todo_list",
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", SECRET, f"It is {SECRET}!", "\0", "assistant", *TYPES]),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*KEYS, SECRET]), inner, max_size=5)
    ),
    max_leaves=12,
)
events = st.builds(
    lambda kind, rest: {**rest, "type": kind},
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=6),
)


@pytest.mark.parametrize("stream", STREAMS)
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(lines=st.lists(events, min_size=1, max_size=4))
async def test_any_event_is_taken_and_none_gets_a_secret_past_the_mask(
    stream: str, lines: list[dict[str, Any]]
) -> None:
    redactor, kept = REDACTOR, Kept()
    transcript = Transcript(kept, redactor, "att_1")  # type: ignore[arg-type]
    reader = reader_for(stream, transcript, redactor)  # type: ignore[arg-type]
    assert isinstance(reader, JsonReader)
    for line in lines:
        reader.feed(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    reader.close()
    await transcript.close()
    assert SECRET.encode() not in orjson.dumps(kept.lines)
    assert SECRET not in reader.parsed.text()
    usage = reader.parsed.usage
    assert 0 <= (usage.input_tokens or 0) <= MAX_TOKENS
    assert 0 <= (usage.output_tokens or 0) <= MAX_TOKENS
    assert 0 <= (usage.cost_usd or 0) <= MAX_COST_USD


@pytest.mark.parametrize("depth", [MAX_DEPTH - 10, MAX_DEPTH + 1, 240, 900])
@pytest.mark.parametrize("stream", STREAMS)
async def test_deeply_nested_lines_are_kept_one_way_or_the_other(stream: str, depth: int) -> None:
    redactor, kept = REDACTOR, Kept()
    transcript = Transcript(kept, redactor, "att_1")  # type: ignore[arg-type]
    reader = reader_for(stream, transcript, redactor)  # type: ignore[arg-type]
    deep = '{"a":' * depth + f'"{SECRET}"' + "}" * depth
    block = '{"type": "tool_use", "name": "x", "input": ' + deep + "}"
    told = {
        "claude": '{"type": "assistant", "message": {"content": [' + block + "]}}",
        "codex": '{"type": "item.completed", "item": {"type": "mcp_tool_call", "tool": "x", "arguments": '
        + deep
        + "}}",
        "gemini": '{"type": "tool_use", "tool_name": "x", "parameters": ' + deep + "}",
        "opencode": '{"type": "tool_use", "part": {"tool": "x", "state": {"input": ' + deep + "}}}",
    }
    reader.feed(told[stream].encode() + b"\n")
    reader.close()
    await transcript.close()
    kinds = {line["kind"] for line in kept.lines}
    assert kinds <= ({"tool_call", "tool_result"} if depth < MAX_DEPTH else {"output"})
    assert kinds
    assert SECRET.encode() not in orjson.dumps(kept.lines)


class _Current:
    """As much of an attempt as a listener asks for."""

    def __init__(self, redactor: Redactor) -> None:
        self.ctx = self.resources = self.agents = self.limits = self.profile = self.step = self
        self.step_output_bytes, self.is_started = 1 << 20, True
        self.redactor, self.transcript = redactor, Transcript(Kept(), redactor, "att_1")  # type: ignore[arg-type]
        self.output_bytes, self.stream, self.key, self.model, self.stdout_to = 1 << 20, "claude", "real", "asked", None
        self.model_uses: list[Any] = []
        self.counted: list[Any] = []
        self.budget = self

    async def spend(self, use: Any) -> None:
        self.counted.append(use)


async def test_what_a_program_calls_its_model_is_masked_and_short() -> None:
    current = _Current(REDACTOR)
    listener = OutputListener(current)  # type: ignore[arg-type]
    model = f"m\0{SECRET}" + "x" * 5_000
    for event in (
        {"type": "system", "model": model},
        {
            "type": "result",
            "result": "",
            "usage": {"input_tokens": 2**64 - 1, "output_tokens": 7},
            "total_cost_usd": 1e308,
        },
    ):
        listener.take("stdout", orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))
    listener.close()
    await listener.note_use(current)  # type: ignore[arg-type]
    await current.transcript.close()
    (use,) = current.model_uses
    assert current.counted == [use]
    assert use.model.startswith("real:m\ufffd[redacted:a.b]xxx")
    assert len(use.model) == MODEL_CHARACTERS + len("real:")
    assert (use.input_tokens, use.output_tokens, use.cost_micros) == (None, 7, None)
