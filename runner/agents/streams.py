"""Reads the output of agent programs: JSON lines of known formats (`runner.agents.formats`), or plain text.

Vendors change their formats, so an unexpected line becomes plain output, never an error.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any

import orjson

from runner.agents.formats import FORMATS
from runner.agents.parsed_output import ANSWER_CHARACTERS, ParsedOutput

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
#: The head of an overlong line, which has its type, and types that are not part of an answer.
_HEAD_BYTES, _NO_ANSWER = 300, (b'"user"', b'"tool_use"', b'"tool_result"', b'"command_execution"', b'"mcp_tool_call"')


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
