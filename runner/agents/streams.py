"""Reads what agent programs print: JSON lines of the known ones (`runner.agents.formats`), other text as it is.

A program's format is its own and changes; a line that does not read as expected becomes plain output, never an error.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from runner.agents.formats import TAKERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.agents.profiles import StreamFormat
    from runner.agents.transcript import EntryKind, Transcript
    from runner.failures import JSONValue
    from runner.secrets.redaction import Redactor

#: Longest line taken as JSON; a longer one is plain output. A line takes about eight times its size of memory.
MAX_LINE = 1 << 20
#: So much of a line that is no JSON is looked at at a time.
RAW_BYTES = 64 << 10
#: Deepest JSON taken; what is deeper could not be kept as a part of an entry (orjson writes 254 levels).
MAX_DEPTH = 100
#: Text of the answer that is kept, in characters, where nothing says how much a step's output may hold.
ANSWER_CHARACTERS = 1 << 20
#: Where an overlong line says what it is, and what those say that are no part of an answer.
_HEAD_BYTES, _NO_ANSWER = 300, (b'"user"', b'"tool_use"', b'"tool_result"', b'"command_execution"', b'"mcp_tool_call"')


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


class ParsedOutput:
    """What has been understood of a program's output so far.

    Attributes:
        usage: What it says it used.
        failure: Why it says it failed, in its own words, not masked; None when it does not say so.
        length: Characters of its answer; what is kept of it may be less.
        is_partial: Whether a part of its answer stood in a line too long to be read.
        has_result: Whether the result has come that its stream ends with; None while none has to.
    """

    def __init__(self, transcript: Transcript, redactor: Redactor, *, keep: int = ANSWER_CHARACTERS) -> None:
        self.usage = Usage()
        self.failure: str | None = None
        self.length = 0
        self.is_partial = False
        self.has_result: bool | None = None
        self._answer: str | None = None
        self._last = ("", "")  # the last message, as it came and masked
        self._transcript = transcript
        self._redactor = redactor
        self._texts = transcript.texts("message")
        self._stream = redactor.stream()
        self._is_going_on = False
        self._said: list[str] = []
        self._keep_characters = self._left = keep

    def say(self, text: str) -> None:
        """Take a message."""
        self.finish()
        self._keep("\n\n" if self._said else "")
        self._last = (text, self._texts.text(text))
        self._put(self._last[1])

    def expect_result(self, text: str) -> None:
        """Note that a result has to come, now that something was said."""
        if self.has_result is None and text.strip():
            self.has_result = False

    def conclude(self, text: str) -> None:
        """Take what the program marks as its result, masked as it was when it is what was said last."""
        said, masked = self._last
        self._answer = masked if text.strip() == said.strip() else self._redactor.text(text)
        self.length = len(self._answer)
        self.is_partial = False

    def say_part(self, text: str) -> None:
        """Take a part of a message that may go on: a secret in two parts is one."""
        if not self._is_going_on:
            self._keep("\n\n" if self._said else "")
        is_begun, self._is_going_on = self._is_going_on, True
        if self._texts.is_open and not (is_begun and self._stream.rest):
            self._put(self._texts.text(text))  # it may go on with a secret of the message before
        else:
            self._put(self._stream.feed(text))

    def finish(self) -> None:
        """End the message that went on, if any."""
        if self._is_going_on:
            self._is_going_on = False
            # The next message may go on with what was held back.
            rest, masked = self._stream.rest, self._stream.close()
            shown = self._texts.text(rest) if rest else rest
            self._put(masked if shown == rest else shown)

    def text(self) -> str:
        """The answer, masked: the result the program marks, else the beginning of all it said."""
        if self._answer is not None:
            return self._answer[: self._keep_characters]
        return "".join(self._said)

    def _put(self, masked: str) -> None:
        if masked:
            self._transcript.add("message", masked, is_masked=True)
            self._keep(masked)

    def _keep(self, masked: str) -> None:
        if self._answer is None:
            self.length += len(masked)
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
        self.length = 0  # of all that came, in characters
        self.end = ""

    @property
    def text(self) -> str:
        """The beginning of what came, masked."""
        return "".join(self._kept)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self._put(self._stream.feed(self._decoder.decode(data)))

    def close(self) -> None:
        """Take what was held back while it might have become a secret."""
        self._put(self._stream.feed(self._decoder.decode(b"", final=True)))
        self._put(self._stream.close())

    def _put(self, text: str) -> None:
        if not text:
            return
        self._transcript.add(self._kind, text, is_masked=True)
        self.length += len(text)
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
        keep: How much of the answer is kept, in characters.
    """

    def __init__(
        self,
        transcript: Transcript,
        redactor: Redactor,
        take: Callable[[dict[str, Any], Transcript, ParsedOutput], bool],
        *,
        keep: int = ANSWER_CHARACTERS,
    ) -> None:
        self._transcript = transcript
        self._raw = RawReader(transcript, redactor, "output")
        self._take = take
        self._buffer = bytearray()
        self._is_overlong = False
        self.heard = ParsedOutput(transcript, redactor, keep=keep)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._is_overlong:
            end = data.find(b"\n") + 1
            self._raw.feed(data[:end] if end else data)
            if not end:
                return
            self._is_overlong = False
            data = data[end:]
        begun, searched = 0, len(self._buffer)
        self._buffer += data
        while (end := self._buffer.find(b"\n", searched)) >= 0:
            self._line(begun, end + 1)
            begun = searched = end + 1
        del self._buffer[:begun]
        if len(self._buffer) > MAX_LINE:
            self._is_overlong = True
            head = bytes(self._buffer[:_HEAD_BYTES])
            if head.lstrip()[:1] == b"{" and not any(mark in head for mark in _NO_ANSWER):
                self.heard.is_partial = True
            self._read_raw(0, len(self._buffer))
            self._buffer.clear()

    def close(self) -> None:
        """Take a last line without an end."""
        if self._buffer:
            self._line(0, len(self._buffer))
            self._buffer.clear()
        self.heard.finish()
        self._raw.close()

    def _line(self, begun: int, end: int) -> None:
        """Take the line between two places of the buffer, which is not copied."""
        try:
            with memoryview(self._buffer) as whole, whole[begun:end] as line:
                found = orjson.loads(line)
        except orjson.JSONDecodeError:
            found = None
        is_known = isinstance(found, dict) and not self._is_deep(found, begun, end)
        if not is_known or not self._take(found, self._transcript, self.heard):
            self._read_raw(begun, end)

    def _is_deep(self, found: JSONValue, begun: int, end: int) -> bool:
        holders = self._buffer.count(b"{", begun, end) + self._buffer.count(b"[", begun, end)
        return holders > MAX_DEPTH and _is_deep(found)

    def _read_raw(self, begun: int, end: int) -> None:
        for start in range(begun, end, RAW_BYTES):
            self._raw.feed(bytes(self._buffer[start : min(start + RAW_BYTES, end)]))


def _is_deep(value: JSONValue) -> bool:
    """Whether a value is nested deeper than `MAX_DEPTH`."""
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


def reader_for(
    stream: StreamFormat, transcript: Transcript, redactor: Redactor, *, keep: int = ANSWER_CHARACTERS
) -> RawReader | JsonReader:
    """What reads a profile's standard output, and keeps so many characters of the answer."""
    if stream == "raw":
        return RawReader(transcript, redactor, "output", keep=keep)
    return JsonReader(transcript, redactor, TAKERS[stream], keep=keep)
