"""Writes an agent's transcript while it works: numbered, redacted before anything is cut, bounded."""

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
#: Longest entry: what is longer is split, so that no reader has to take megabytes at once.
ENTRY_CHARACTERS = 16_000
#: Entries are gathered for this long, or this much, before they are stored.
FLUSH_SECONDS = 0.3
#: Once only the end is still of interest, it is stored less often: what is stored now may be dropped for what comes.
TAIL_FLUSH_SECONDS = 2.0
FLUSH_BYTES = 256 << 10
#: So much of the end is gathered at most before it is stored, however much of it is kept.
GATHERED_BYTES = 8 << 20
#: While the database is full or away, it is asked again after this long, and this often once the attempt has ended.
RETRY_SECONDS, LAST_TRIES = 0.5, 6
#: Most that the rest of an entry beside its text may take, in bytes of JSON.
DATA_BYTES = 200 << 10


@dataclass(slots=True, eq=False)
class _Part:
    """Entries that are stored together.

    Attributes:
        first: Sequence of its first entry.
        is_tail: Whether it may be given up for later ones.
        last: Sequence of its last entry.
        lines: The entries as JSON lines, at most `FLUSH_BYTES`.
    """

    first: int
    is_tail: bool
    last: int = 0
    lines: bytearray = field(default_factory=bytearray)


class Transcript:
    """The transcript of one attempt.

    What an entry says is masked when it is added; text that comes in parts goes through `Redactor.stream` before.

    Args:
        store: Where it goes.
        redactor: What masks it.
        attempt_id: Whose it is.
        keep_bytes: How much is kept of the beginning, and how much of the end, in bytes of JSON.
    """

    def __init__(self, store: Store, redactor: Redactor, attempt_id: str, *, keep_bytes: int = 8 << 20) -> None:
        self._keep_bytes = keep_bytes
        self._store = store
        self._redactor = redactor
        self._attempt_id = attempt_id
        self._texts: dict[EntryKind, TextsRedactor] = {}
        self._sequence = 0
        self._made = 0  # bytes of all entries so far
        self._parts: deque[_Part] = deque()  # gathered, oldest first; what belongs to the head comes before the tail
        self._gathered = self._gathered_tail = 0
        self._stored_tail: deque[tuple[int, int]] = deque()  # first sequence and bytes of each tail chunk
        self._stored_tail_size = 0
        self._is_stored_tail_old = False
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._is_closing = False

    def add(self, kind: EntryKind, text: str | None = None, data: JSONValue = None, *, is_masked: bool = False) -> None:
        """Add an entry, or several when its text is long.

        Args:
            kind: What it is.
            text: As text.
            data: The rest.
            is_masked: Whether the text is masked already, by `texts` or `Redactor.stream`.
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
        """What masks the texts of a kind, one after the other."""
        if (found := self._texts.get(kind)) is None:
            found = self._texts[kind] = self._redactor.texts()
        return found

    def _shown(self, data: JSONValue) -> JSONValue:
        """The rest of an entry, masked; what is too large to be kept is not even looked at."""
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
        self._gather(orjson.dumps(entry))
        if self._task is None:
            self._task = asyncio.create_task(self._write())

    def _gather(self, line: bytes) -> None:
        """Copy a line to what is yet to be stored.

        A buffer of orjson is made for the worst case and shrunk in place, and the next one does not fit into what that
        leaves free: kept as they came, 8 MB of lines took 80 MB of the heap (measured).
        """
        is_tail = self._made >= self._keep_bytes
        size = len(line) + 1
        last = self._parts[-1] if self._parts else None
        if last is None or last.is_tail != is_tail or len(last.lines) + size > FLUSH_BYTES:
            last = _Part(self._sequence, is_tail)
            self._parts.append(last)
        else:
            last.lines += b"\n"
        last.lines += line
        last.last = self._sequence
        self._made += size
        self._gathered += size
        if is_tail:
            self._gathered_tail += size
            if self._gathered_tail > self._keep_bytes:
                self._give_up_oldest()
            elif self._gathered_tail >= GATHERED_BYTES:
                self._hurry.set()  # where much is kept, it waits in the database and not in memory
        elif self._gathered >= FLUSH_BYTES:
            self._hurry.set()

    def _give_up_oldest(self) -> None:
        """Forget the oldest of the tail: it came faster than it can be stored, and goes without having been there."""
        index = next(index for index, part in enumerate(self._parts) if part.is_tail)
        self._count(self._parts[index], -1)
        del self._parts[index]
        self._is_stored_tail_old = True  # what was stored before it is older still

    def _count(self, part: _Part, sign: int) -> None:
        size = sign * (len(part.lines) + 1)
        self._gathered += size
        if part.is_tail:
            self._gathered_tail += size

    async def close(self) -> None:
        """Store what is gathered; nothing may be added afterwards."""
        self._is_closing = True
        self._hurry.set()
        if self._task is not None:
            await self._task

    async def _write(self) -> None:
        last_tries = LAST_TRIES
        while self._parts:
            await wait_flag(self._hurry, TAIL_FLUSH_SECONDS if self._parts[0].is_tail else FLUSH_SECONDS)
            if not self._is_closing:
                self._hurry.clear()
            if await self._flush():
                continue
            if self._is_closing:
                last_tries -= 1
            if last_tries == 0:
                left = len(self._parts)
                log.warning("the end of a transcript could not be kept", attempt=self._attempt_id, parts=left)
                break
            await asyncio.sleep(RETRY_SECONDS)
        self._task = None

    async def _flush(self) -> bool:
        """Store what is gathered by now; whether the database took it. What it did not take waits."""
        # What comes meanwhile waits for the next turn: a fast writer would be stored without a pause otherwise.
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
        """Store a part; false when the database is full or away, so that it may be tried again."""
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
            log.warning("a part of a transcript has to wait", attempt=self._attempt_id, error=str(error))
            self._is_stored_tail_old |= was_old
            return False
        except StoreError as error:
            log.warning("a part of a transcript could not be kept", attempt=self._attempt_id, error=str(error))
            return True
        if part.is_tail:
            for _ in dropped:
                self._stored_tail.popleft()
            self._stored_tail.append((part.first, len(part.lines)))
            self._stored_tail_size = left
        return True
