"""Reads what agent programs print: JSON lines of the known ones as turns, tool calls, tokens; other text as it is.

A program's format is its own and changes; a line that does not read as expected becomes plain output, never an error.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.agents.profiles import StreamFormat
    from runner.agents.transcript import EntryKind, Transcript
    from runner.failures import JSONValue
    from runner.redaction import Redactor

#: Longest line taken as JSON; a longer one is plain output.
MAX_LINE = 4 << 20
#: Deepest JSON taken; what is deeper could not be kept as a part of an entry (orjson writes 254 levels).
MAX_DEPTH = 100
#: Text of the answer that is kept for the step's output, in characters.
ANSWER_CHARACTERS = 200_000
#: Largest count of tokens and of dollars taken for true; a program may print any number, which no database keeps.
MAX_TOKENS, MAX_COST_USD = 10**12, 1e6


@dataclass(slots=True)
class Usage:
    """What a program says it used; a part it does not tell is None.

    Attributes:
        cost_usd: US dollars.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    model: str | None = None


class Heard:
    """What has been understood of a program's output so far.

    Attributes:
        answer: What it last said as its result, as it came.
        usage: What it says it used.
    """

    def __init__(self, transcript: Transcript, redactor: Redactor) -> None:
        self.answer: str | None = None
        self.usage = Usage()
        self._transcript = transcript
        self._redactor = redactor
        self._stream = redactor.stream()
        self._is_going_on = False
        self._said: list[str] = []
        self._left = ANSWER_CHARACTERS

    def say(self, text: str) -> None:
        """Takes a message."""
        self.finish()
        self._keep("\n\n" if self._said else "")
        self._put(self._redactor.text(text))

    def say_part(self, text: str) -> None:
        """Takes a part of a message that may go on: a secret in two parts is one."""
        if not self._is_going_on:
            self._keep("\n\n" if self._said else "")
        self._is_going_on = True
        self._put(self._stream.feed(text))

    def finish(self) -> None:
        """Ends the message that went on, if any."""
        if self._is_going_on:
            self._is_going_on = False
            self._put(self._stream.close())

    def text(self) -> str:
        """The answer, masked: the result the program marks, else the beginning of all it said."""
        if self.answer is not None:
            return self._redactor.text(self.answer)[:ANSWER_CHARACTERS]
        return "".join(self._said)

    def _put(self, masked: str) -> None:
        if masked:
            self._transcript.add("message", masked, is_masked=True)
            self._keep(masked)

    def _keep(self, masked: str) -> None:
        if masked and self._left > 0:
            self._said.append(masked[: self._left])
            self._left -= len(masked)


class RawReader:
    """Any text: into the transcript, masked across the borders of its parts.

    Args:
        transcript: Where it goes.
        redactor: Masks it.
        kind: What its entries are.
        keep: How much of the beginning of the masked text is kept as `text`, in characters.
        keep_end: How much of its end is kept as `end`.
    """

    def __init__(
        self, transcript: Transcript, redactor: Redactor, kind: EntryKind, *, keep: int = 0, keep_end: int = 0
    ) -> None:
        self._transcript = transcript
        self._stream = redactor.stream()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kind = kind
        self._keep = keep
        self._keep_end = keep_end
        self._kept: list[str] = []
        self.end = ""

    @property
    def text(self) -> str:
        """The beginning of what came, masked."""
        return "".join(self._kept)

    def feed(self, data: bytes) -> None:
        """Takes the next bytes."""
        self._put(self._stream.feed(self._decoder.decode(data)))

    def close(self) -> None:
        """Takes what was held back while it might have become a secret."""
        self._put(self._stream.feed(self._decoder.decode(b"", final=True)))
        self._put(self._stream.close())

    def _put(self, text: str) -> None:
        if not text:
            return
        self._transcript.add(self._kind, text, is_masked=True)
        if self._keep > 0:
            self._kept.append(text[: self._keep])
            self._keep -= min(len(text), self._keep)
        if self._keep_end > 0:
            self.end = (self.end + text)[-self._keep_end :]


class JsonReader:
    """JSON lines of a known program.

    Args:
        transcript: Where entries go.
        redactor: Masks lines that are no JSON.
        take: Understands one object; false when it does not.
    """

    def __init__(
        self, transcript: Transcript, redactor: Redactor, take: Callable[[dict[str, Any], Transcript, Heard], bool]
    ) -> None:
        self._transcript = transcript
        self._raw = RawReader(transcript, redactor, "output")
        self._take = take
        self._buffer = bytearray()
        self._is_overlong = False
        self.heard = Heard(transcript, redactor)

    def feed(self, data: bytes) -> None:
        """Takes the next bytes."""
        self._buffer += data
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[: end + 1])
            del self._buffer[: end + 1]
            if self._is_overlong:
                self._is_overlong = False
                self._raw.feed(line)
            else:
                self._line(line)
        if len(self._buffer) > MAX_LINE:
            self._is_overlong = True
            self._raw.feed(bytes(self._buffer))
            self._buffer.clear()

    def close(self) -> None:
        """Takes a last line without an end."""
        if self._buffer:
            self._line(bytes(self._buffer))
            self._buffer.clear()
        self.heard.finish()
        self._raw.close()

    def _line(self, line: bytes) -> None:
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError:
            found = None
        is_known = isinstance(found, dict) and not _is_deep(found, line)
        if not is_known or not self._take(found, self._transcript, self.heard):
            self._raw.feed(line)


def _is_deep(value: JSONValue, line: bytes) -> bool:
    """Whether a value read from a line is nested deeper than `MAX_DEPTH`."""
    if line.count(b"{") + line.count(b"[") <= MAX_DEPTH:
        return False
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for holder in level
            if isinstance(holder, dict | list)
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
        if not level:
            return False
    return True


def reader_for(stream: StreamFormat, transcript: Transcript, redactor: Redactor) -> RawReader | JsonReader:
    """What reads a profile's standard output."""
    if stream == "raw":
        return RawReader(transcript, redactor, "output", keep=ANSWER_CHARACTERS)
    return JsonReader(transcript, redactor, _TAKERS[stream])


def _claude(event: dict[str, Any], transcript: Transcript, heard: Heard) -> bool:
    """`claude -p --output-format stream-json`: Messages API content blocks, then one `result`."""
    match event.get("type"):
        case "system":
            heard.usage.model = _text(event.get("model")) or heard.usage.model
            return True
        case "stream_event":
            return True  # parts of a message that comes whole
        case "assistant" | "user":
            message = event.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if not isinstance(blocks, list):
                return False
            for block in blocks:
                if isinstance(block, dict):
                    _claude_block(block, transcript, heard)
            return True
        case "result":
            heard.answer = _text(event.get("result")) or heard.answer
            usage = event.get("usage")
            counted = usage if isinstance(usage, dict) else {}
            _count(heard, counted.get("input_tokens"), counted.get("output_tokens"), event.get("total_cost_usd"))
            transcript.add("usage", None, _usage(heard, turns=event.get("num_turns")))
            denials = event.get("permission_denials")
            for denial in denials if isinstance(denials, list) else ():
                transcript.add("denial", None, denial)
            return True
    return False


def _claude_block(block: dict[str, Any], transcript: Transcript, heard: Heard) -> None:
    match block.get("type"):
        case "text":
            text = _text(block.get("text")) or ""
            heard.say(text)
        case "thinking":
            transcript.add("message", _text(block.get("thinking")), {"thinking": True})
        case "tool_use":
            data = {"id": block.get("id"), "tool": block.get("name"), "arguments": block.get("input")}
            transcript.add("tool_call", _text(block.get("name")), data)
        case "tool_result":
            data = {"id": block.get("tool_use_id"), "is_error": bool(block.get("is_error"))}
            transcript.add("tool_result", _content_text(block.get("content")), data)


def _codex(event: dict[str, Any], transcript: Transcript, heard: Heard) -> bool:
    """`codex exec --json`: items that start and complete, and the tokens of each turn."""
    match event.get("type"):
        case "thread.started" | "turn.started" | "item.started" | "item.updated":
            return True
        case "item.completed":
            item = event.get("item")
            return isinstance(item, dict) and _codex_item(item, transcript, heard)
        case "turn.completed":
            usage = event.get("usage")
            counted = usage if isinstance(usage, dict) else {}
            _count(heard, counted.get("input_tokens"), counted.get("output_tokens"), None)
            transcript.add("usage", None, _usage(heard))
            return True
        case "turn.failed" | "error":
            problem = event.get("error")
            text = problem.get("message") if isinstance(problem, dict) else event.get("message")
            transcript.add("error_output", _text(text) or "The turn failed.")
            return True
    return False


def _codex_item(item: dict[str, Any], transcript: Transcript, heard: Heard) -> bool:
    match item.get("type") or item.get("item_type"):
        case "agent_message" | "assistant_message":
            text = _text(item.get("text")) or ""
            heard.answer = text
            heard.say(text)
        case "reasoning":
            transcript.add("message", _text(item.get("text")), {"thinking": True})
        case "command_execution":
            transcript.add("tool_call", _text(item.get("command")), {"id": item.get("id"), "tool": "shell"})
            data = {"id": item.get("id"), "exit_code": item.get("exit_code"), "status": item.get("status")}
            transcript.add("tool_result", _text(item.get("aggregated_output")), data)
        case "mcp_tool_call":
            data = {"id": item.get("id"), "tool": item.get("tool"), "arguments": item.get("arguments")}
            transcript.add("tool_call", _text(item.get("tool")), data)
            transcript.add("tool_result", _content_text(item.get("result")), {"id": item.get("id")})
        case "file_change":
            transcript.add("tool_call", "file_change", {"id": item.get("id"), "changes": item.get("changes")})
        case "error":
            transcript.add("error_output", _text(item.get("message")))
        case _:
            return False
    return True


def _gemini(event: dict[str, Any], transcript: Transcript, heard: Heard) -> bool:
    """`gemini --output-format stream-json`: messages in parts, tool uses and results, statistics at the end."""
    is_part = event.get("type") == "message" and event.get("role") == "assistant" and event.get("delta") is True
    if not is_part:
        heard.finish()
    match event.get("type"):
        case "init":
            heard.usage.model = _text(event.get("model")) or heard.usage.model
        case "message":
            text = _text(event.get("content")) or ""
            if is_part:
                heard.say_part(text)
            elif event.get("role") == "assistant":
                heard.say(text)
        case "tool_use":
            data = {"id": event.get("tool_id"), "tool": event.get("tool_name"), "arguments": event.get("parameters")}
            transcript.add("tool_call", _text(event.get("tool_name")), data)
        case "tool_result":
            data = {"id": event.get("tool_id"), "is_error": event.get("status") == "error"}
            transcript.add("tool_result", _content_text(event.get("output")), data)
        case "error":
            transcript.add("error_output", _text(event.get("message")))
        case "result":
            stats = event.get("stats")
            counted = stats if isinstance(stats, dict) else {}
            _count(heard, counted.get("input_tokens"), counted.get("output_tokens"), None)
            transcript.add("usage", None, _usage(heard))
        case _:
            return False
    return True


def _opencode(event: dict[str, Any], transcript: Transcript, heard: Heard) -> bool:
    """`opencode run --format json`: parts of messages, tool parts with their state, a finish per step."""
    part = event.get("part")
    if not isinstance(part, dict):
        if event.get("type") == "error":
            transcript.add("error_output", _content_text(event.get("error")))
            return True
        return False
    match event.get("type"):
        case "text":
            text = _text(part.get("text")) or ""
            heard.answer = text
            heard.say(text)
        case "tool_use":
            state = part.get("state")
            told = state if isinstance(state, dict) else {}
            data = {"id": part.get("callID"), "tool": part.get("tool"), "arguments": told.get("input")}
            transcript.add("tool_call", _text(part.get("tool")), data)
            is_error = told.get("status") == "error"
            result = _content_text(told.get("error") if is_error else told.get("output"))
            transcript.add("tool_result", result, {"id": part.get("callID"), "is_error": is_error})
        case "step_start":
            return True
        case "step_finish":
            tokens = part.get("tokens")
            counted = tokens if isinstance(tokens, dict) else {}
            _count(heard, counted.get("input"), counted.get("output"), part.get("cost"))
            transcript.add("usage", None, _usage(heard))
        case _:
            return False
    return True


_TAKERS: dict[str, Callable[[dict[str, Any], Transcript, Heard], bool]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}


def _count(heard: Heard, input_tokens: object, output_tokens: object, cost: object) -> None:
    """Adds what one turn or the whole used."""
    usage = heard.usage
    if (counted := _within(input_tokens, MAX_TOKENS)) is not None:
        usage.input_tokens = min((usage.input_tokens or 0) + int(counted), MAX_TOKENS)
    if (counted := _within(output_tokens, MAX_TOKENS)) is not None:
        usage.output_tokens = min((usage.output_tokens or 0) + int(counted), MAX_TOKENS)
    if (counted := _within(cost, MAX_COST_USD)) is not None:
        usage.cost_usd = min((usage.cost_usd or 0.0) + counted, MAX_COST_USD)


def _within(value: object, most: float) -> float | None:
    """A number from nothing up to a limit; None for what is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= most else None  # type: ignore[operator,return-value]


def _usage(heard: Heard, *, turns: object = None) -> dict[str, JSONValue]:
    found: dict[str, JSONValue] = {
        "input_tokens": heard.usage.input_tokens,
        "output_tokens": heard.usage.output_tokens,
        "cost_usd": heard.usage.cost_usd,
        "model": heard.usage.model,
        "turns": turns if isinstance(turns, int) else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _content_text(value: object) -> str | None:
    """Text of a tool's result: itself, its text blocks, or its JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [block.get("text") for block in value if isinstance(block, dict)]
        if texts and all(isinstance(text, str) for text in texts):
            return "\n".join(str(text) for text in texts)
    return orjson.dumps(value, default=str).decode()
