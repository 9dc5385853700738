"""Writes an agent's transcript while it works: numbered, redacted before anything is cut, bounded (CONTRACT 6.5)."""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

import orjson
import structlog

from runner.bus import wait_flag
from runner.executor import plain_text
from store.engine import StoreError
from store.transcripts import Chunk, append_transcript

if TYPE_CHECKING:
    from runner.failures import JSONValue
    from runner.redaction import Redactor
    from store.engine import Store

log = structlog.get_logger(__name__)

EntryKind: TypeAlias = Literal[
    "prompt", "message", "output", "error_output", "tool_call", "tool_result", "denial", "usage"
]
#: What is kept of the beginning and of the end, in bytes of JSON (CONTRACT 6.5: 8 MiB per stream, of which two).
HEAD_BYTES = TAIL_BYTES = 8 << 20
#: Longest entry: what is longer is split, so that no reader has to take megabytes at once.
ENTRY_CHARACTERS = 16_000
#: Entries are gathered for this long, or this much, before they are stored.
FLUSH_SECONDS = 0.3
#: Once only the end is still of interest, it is stored less often: what is stored now may be dropped for what comes.
TAIL_FLUSH_SECONDS = 2.0
FLUSH_BYTES = 256 << 10


class Transcript:
    """The transcript of one attempt.

    What an entry says is masked when it is added; text that comes in parts goes through `Redactor.stream` before.
    """

    def __init__(self, store: Store, redactor: Redactor, attempt_id: str) -> None:
        self._store = store
        self._redactor = redactor
        self._attempt_id = attempt_id
        self._sequence = 0
        self._lines: deque[bytes] = deque()
        self._first = 1
        self._size = self._written = 0
        self._tail: deque[tuple[int, int]] = deque()  # first sequence and bytes of each tail chunk
        self._tail_size = 0
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._is_closing = False

    def add(self, kind: EntryKind, text: str | None = None, data: JSONValue = None, *, is_masked: bool = False) -> None:
        """Adds an entry, or several when its text is long.

        Args:
            kind: What it is.
            text: As text.
            data: The rest.
            is_masked: Whether the text went through `Redactor.stream`; masked twice, more of it would be gone.
        """
        masked = None if text is None else plain_text(text)
        if masked is not None and not is_masked:
            masked = self._redactor.text(masked)
        shown = None if data is None else self._redactor.value(data)
        parts = [masked] if masked is None or len(masked) <= ENTRY_CHARACTERS else _split(masked)
        for index, part in enumerate(parts):
            self._put(kind, part, shown if index == 0 else None)

    def _put(self, kind: EntryKind, text: str | None, data: JSONValue) -> None:
        self._sequence += 1
        entry: dict[str, JSONValue] = {
            "sequence": self._sequence,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "kind": kind,
        }
        if text is not None:
            entry["text"] = text
        if data is not None:
            entry["data"] = data
        line = orjson.dumps(entry)
        if len(line) > FLUSH_BYTES:
            entry["data"] = {"left_out": f"{len(line)} bytes"}
            line = orjson.dumps(entry)
        self._lines.append(line)
        self._size += len(line) + 1
        if self._size >= FLUSH_BYTES and self._written < HEAD_BYTES:
            self._hurry.set()
        while self._size > TAIL_BYTES:  # faster than it can be stored: the middle goes without having been there
            self._size -= len(self._lines.popleft()) + 1
            self._first += 1
        if self._task is None:
            self._task = asyncio.create_task(self._write())

    async def close(self) -> None:
        """Stores what is gathered; nothing may be added afterwards."""
        self._is_closing = True
        self._hurry.set()
        if self._task is not None:
            await self._task

    async def _write(self) -> None:
        while self._lines:
            await wait_flag(self._hurry, TAIL_FLUSH_SECONDS if self._written >= HEAD_BYTES else FLUSH_SECONDS)
            if not self._is_closing:
                self._hurry.clear()
            await self._flush()
        self._task = None

    async def _flush(self) -> None:
        lines, first = self._lines, self._first
        self._lines, self._first, self._size = deque(), self._sequence + 1, 0
        # In small chunks: joined as a whole, what is gathered would take its size twice more.
        while lines:
            taken: list[bytes] = []
            size = 0
            while lines and (not taken or size + len(lines[0]) < FLUSH_BYTES):
                taken.append(lines.popleft())
                size += len(taken[-1]) + 1
            await self._store_chunk(Chunk(first, first + len(taken) - 1, b"\n".join(taken).decode()), size)
            first += len(taken)

    async def _store_chunk(self, chunk: Chunk, size: int) -> None:
        is_tail = self._written + size > HEAD_BYTES
        dropped: list[int] = []
        if is_tail:
            self._written = HEAD_BYTES  # once the head is full, everything is tail
            self._tail.append((chunk.first, size))
            self._tail_size += size
            while self._tail_size > TAIL_BYTES and len(self._tail) > 1:
                given_up, its_size = self._tail.popleft()
                self._tail_size -= its_size
                dropped.append(given_up)
        else:
            self._written += size
        try:
            await self._store.write(append_transcript, self._attempt_id, chunk, is_tail=is_tail, dropped=tuple(dropped))
        except StoreError as error:
            log.warning("a part of a transcript could not be kept", attempt=self._attempt_id, error=str(error))


def _split(text: str) -> list[str]:
    return [text[start : start + ENTRY_CHARACTERS] for start in range(0, len(text), ENTRY_CHARACTERS)]
