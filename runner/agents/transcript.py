"""Writes an agent's transcript while it works: numbered, masked before anything is cut, and bounded."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

import orjson
import structlog

from runner.excerpts import plain_text
from runner.watching.bus import wait_flag
from store.database.errors import StoreError, StoreFullError, StoreUnavailableError
from store.runs.transcripts import Chunk, append_transcript

if TYPE_CHECKING:
    from runner.failures import JSONValue
    from runner.secrets.redaction import Redactor, TextsRedactor
    from store.database.engine import Store

log = structlog.get_logger(__name__)

EntryKind: TypeAlias = Literal[
    "prompt", "message", "output", "error_output", "tool_call", "tool_result", "denial", "usage"
]
#: Longest entry; longer texts are split, so that no client has to read megabytes at once.
ENTRY_CHARACTERS = 16_000
#: Entries are buffered for this long, or up to `FLUSH_BYTES`, before they are stored.
FLUSH_SECONDS = 0.3
#: The tail is stored less often, since later entries may replace it.
TAIL_FLUSH_SECONDS = 2.0
FLUSH_BYTES = 256 << 10
#: Most bytes of the tail that are buffered.
BUFFERED_TAIL_BYTES = 8 << 20
#: Interval of retries while the database is full or away, and their number after the attempt has ended.
RETRY_SECONDS, LAST_RETRIES = 0.5, 6
#: Largest data of an entry besides its text, in bytes of JSON.
DATA_BYTES = 200 << 10


@dataclass(slots=True, eq=False)
class _Part:
    """Entries that are stored together.

    Attributes:
        first: Sequence of its first entry.
        is_tail: Whether later entries may replace it.
        last: Sequence of its last entry.
        lines: The entries as JSON lines, at most `FLUSH_BYTES`.
    """

    first: int
    is_tail: bool
    last: int = 0
    lines: bytearray = field(default_factory=bytearray)


class Transcript:
    """The transcript of one attempt.

    An entry is masked when it is added; text in parts must go through `Redactor.stream` before.

    Args:
        store: The store.
        redactor: Masks the entries.
        attempt_id: The attempt.
        keep_bytes: Size of the stored beginning, and of the stored end, in bytes of JSON.
    """

    def __init__(self, store: Store, redactor: Redactor, attempt_id: str, *, keep_bytes: int = 8 << 20) -> None:
        self._keep_bytes = keep_bytes
        self._store = store
        self._redactor = redactor
        self._attempt_id = attempt_id
        self._texts: dict[EntryKind, TextsRedactor] = {}
        self._sequence = 0
        self._total_bytes = 0  # of all entries so far
        self._parts: deque[_Part] = deque()  # buffered, oldest first; the head comes before the tail
        self._buffered = self._buffered_tail = 0
        self._stored_tail: deque[tuple[int, int]] = deque()  # first sequence and bytes of each tail chunk
        self._stored_tail_size = 0
        self._is_stored_tail_old = False
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._is_closing = False

    def add(self, kind: EntryKind, text: str | None = None, data: JSONValue = None, *, is_masked: bool = False) -> None:
        """Add an entry, or several if its text is long.

        Args:
            kind: Its kind.
            text: Its text.
            data: Further data.
            is_masked: Whether the text is already masked, by `texts` or `Redactor.stream`.
        """
        masked = None if text is None else plain_text(text)
        if masked is not None and not is_masked:
            masked = self.texts(kind).text(masked)
        masked = None if masked is None else self._redactor.without_pieces(masked)
        shown = None if data is None else self._shown(data)
        if masked is None:
            self._put(kind, None, shown)
            return
        for start in range(0, len(masked) or 1, ENTRY_CHARACTERS):
            self._put(kind, masked[start : start + ENTRY_CHARACTERS], shown if start == 0 else None)

    def texts(self, kind: EntryKind) -> TextsRedactor:
        """Return the redactor for successive texts of a kind."""
        if (found := self._texts.get(kind)) is None:
            found = self._texts[kind] = self._redactor.texts()
        return found

    def _shown(self, data: JSONValue) -> JSONValue:
        """Mask the data of an entry; too large data is left out."""
        written = orjson.dumps(data)
        if len(written) > DATA_BYTES:
            return {"left_out": f"{len(written)} bytes"}
        return self._redactor.quoted(data)

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
        self._append(orjson.dumps(entry))
        if self._task is None:
            self._task = asyncio.create_task(self._write())

    def _append(self, line: bytes) -> None:
        """Copy a line to the buffer.

        orjson allocates a buffer for the worst case and shrinks it in place, and the next one does not fit into the
        freed part: without the copy, 8 MB of lines took 80 MB of the heap (measured).
        """
        is_tail = self._total_bytes >= self._keep_bytes
        size = len(line) + 1
        last = self._parts[-1] if self._parts else None
        if last is None or last.is_tail != is_tail or len(last.lines) + size > FLUSH_BYTES:
            last = _Part(self._sequence, is_tail)
            self._parts.append(last)
        else:
            last.lines += b"\n"
        last.lines += line
        last.last = self._sequence
        self._total_bytes += size
        self._buffered += size
        if is_tail:
            self._buffered_tail += size
            if self._buffered_tail > self._keep_bytes:
                self._drop_oldest()
            elif self._buffered_tail >= BUFFERED_TAIL_BYTES:
                self._hurry.set()  # a large tail waits in the database, not in memory
        elif self._buffered >= FLUSH_BYTES:
            self._hurry.set()

    def _drop_oldest(self) -> None:
        """Drop the oldest part of the tail, which came faster than it can be stored."""
        index = next(index for index, part in enumerate(self._parts) if part.is_tail)
        self._count(self._parts[index], -1)
        del self._parts[index]
        self._is_stored_tail_old = True  # the stored tail is older still

    def _count(self, part: _Part, sign: int) -> None:
        size = sign * (len(part.lines) + 1)
        self._buffered += size
        if part.is_tail:
            self._buffered_tail += size

    async def close(self) -> None:
        """Store the buffered entries; nothing may be added afterwards."""
        self._is_closing = True
        self._hurry.set()
        if self._task is not None:
            await self._task

    async def _write(self) -> None:
        retries_left = LAST_RETRIES
        while self._parts:
            await wait_flag(self._hurry, TAIL_FLUSH_SECONDS if self._parts[0].is_tail else FLUSH_SECONDS)
            if not self._is_closing:
                self._hurry.clear()
            if await self._flush():
                continue
            if self._is_closing:
                retries_left -= 1
            if retries_left == 0:
                left = len(self._parts)
                log.warning("the end of a transcript could not be stored", attempt=self._attempt_id, parts=left)
                break
            await asyncio.sleep(RETRY_SECONDS)
        self._task = None

    async def _flush(self) -> bool:
        """Store the buffered entries; false if the database refused one, which then waits."""
        # Entries that come meanwhile wait for the next flush, or a fast writer would be stored without a pause.
        for _ in range(len(self._parts)):
            if not self._parts:
                break
            part = self._parts.popleft()
            self._count(part, -1)
            if not await self._is_stored(part):
                self._parts.appendleft(part)
                self._count(part, 1)
                return False
        return True

    async def _is_stored(self, part: _Part) -> bool:
        """Store a part; false if the database is full or away, to retry later."""
        dropped: list[int] = []
        was_old, left = self._is_stored_tail_old, 0
        if part.is_tail:
            self._is_stored_tail_old = False
            least = 0 if was_old else self._keep_bytes
            left = self._stored_tail_size + len(part.lines)
            for first, size in self._stored_tail:
                if left <= least:
                    break
                dropped.append(first)
                left -= size
        chunk = Chunk(part.first, part.last, part.lines.decode())
        try:
            await self._store.write(
                append_transcript, self._attempt_id, chunk, is_tail=part.is_tail, dropped=tuple(dropped)
            )
        except (StoreFullError, StoreUnavailableError) as error:
            log.warning("a part of a transcript could not be stored yet", attempt=self._attempt_id, error=str(error))
            self._is_stored_tail_old |= was_old
            return False
        except StoreError as error:
            log.warning("a part of a transcript could not be stored", attempt=self._attempt_id, error=str(error))
            return True
        if part.is_tail:
            for _ in dropped:
                self._stored_tail.popleft()
            self._stored_tail.append((part.first, len(part.lines)))
            self._stored_tail_size = left
        return True
