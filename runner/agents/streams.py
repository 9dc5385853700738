"""Reads the output of agent programs: JSON lines of known formats (`runner.agents.formats`), or plain text.

Vendors change their formats, so an unexpected line becomes plain output, never an error.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from runner.agents.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.agents.profiles import StreamFormat
    from runner.agents.transcript import EntryKind, Transcript
    from runner.failures import JSONValue
    from runner.secrets.redaction import Redactor

#: Longest line parsed as JSON; a longer one is plain output. Parsing takes about eight times its size in memory.
MAX_LINE = 1 << 20
#: Size of the parts in which a line that is not JSON is read.
RAW_BYTES = 64 << 10
#: Deepest JSON accepted; a deeper one could not be stored in an entry (orjson writes 254 levels).
MAX_DEPTH = 100
#: Default length of the stored answer, in characters.
ANSWER_CHARACTERS = 1 << 20
#: The head of an overlong line, which has its type, and types that are not part of an answer.
_HEAD_BYTES, _NO_ANSWER = 300, (b'"user"', b'"tool_use"', b'"tool_result"', b'"command_execution"', b'"mcp_tool_call"')


@dataclass(slots=True)
class Usage:
    """Usage reported by a program; None for a value it does not report.

    Attributes:
        cost_usd: US dollars.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    model: str | None = None


class ParsedOutput:
    """The parsed part of a program's output so far.

    Attributes:
        usage: Its reported usage.
        failure: The failure it reported, not masked; None if it reported none.
        length: Characters of its answer; the stored answer may be shorter.
        is_partial: Whether a part of its answer was in a line too long to parse.
        has_result: Whether the result that ends its stream has come; None until one is expected.
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
        """Expect a result after a message."""
        if self.has_result is None and text.strip():
            self.has_result = False

    def conclude(self, text: str) -> None:
        """Take the program's result; if it equals the last message, masked in the same way."""
        said, masked = self._last
        self._answer = masked if text.strip() == said.strip() else self._redactor.text(text)
        self.length = len(self._answer)
        self.is_partial = False

    def say_part(self, text: str) -> None:
        """Take a part of a message, masking secrets across parts."""
        if not self._is_going_on:
            self._keep("\n\n" if self._said else "")
        is_begun, self._is_going_on = self._is_going_on, True
        if self._texts.is_open and not (is_begun and self._stream.rest):
            self._put(self._texts.text(text))  # it may continue a secret of the previous message
        else:
            self._put(self._stream.feed(text))

    def finish(self) -> None:
        """End a message in parts, if any."""
        if self._is_going_on:
            self._is_going_on = False
            # The next message may continue the held-back text.
            rest, masked = self._stream.rest, self._stream.close()
            shown = self._texts.text(rest) if rest else rest
            self._put(masked if shown == rest else shown)

    def text(self) -> str:
        """Return the answer, masked: the program's result, else the beginning of its messages."""
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
    """Writes text to the transcript, masking secrets across its parts.

    Args:
        transcript: The transcript.
        redactor: Masks the text.
        kind: Kind of its entries.
        keep: Length of the beginning to keep as `text`, in characters.
        keep_end: Length of the end to keep as `end`.
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
        self.length = 0  # of the whole text, in characters
        self.end = ""

    @property
    def text(self) -> str:
        """The beginning of the text, masked."""
        return "".join(self._kept)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self._put(self._stream.feed(self._decoder.decode(data)))

    def close(self) -> None:
        """Write the text that was held back as a possible secret."""
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
    """Reads the JSON lines of a known program.

    Args:
        transcript: The transcript.
        redactor: Masks lines that are not JSON.
        take: Reads one object; false if it is unknown.
        keep: Length of the answer to keep, in characters.
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
        self.parsed = ParsedOutput(transcript, redactor, keep=keep)

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
                self.parsed.is_partial = True
            self._read_raw(0, len(self._buffer))
            self._buffer.clear()

    def close(self) -> None:
        """Take a last line without an end."""
        if self._buffer:
            self._line(0, len(self._buffer))
            self._buffer.clear()
        self.parsed.finish()
        self._raw.close()

    def _line(self, begun: int, end: int) -> None:
        """Read the line between two positions of the buffer without a copy."""
        try:
            with memoryview(self._buffer) as whole, whole[begun:end] as line:
                found = orjson.loads(line)
        except orjson.JSONDecodeError:
            found = None
        is_known = isinstance(found, dict) and not self._is_deep(found, begun, end)
        if not is_known or not self._take(found, self._transcript, self.parsed):
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
    """Make the reader of a profile's standard output; it keeps `keep` characters of the answer."""
    if stream == "raw":
        return RawReader(transcript, redactor, "output", keep=keep)
    return JsonReader(transcript, redactor, FORMATS[stream], keep=keep)
