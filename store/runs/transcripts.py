"""Transcripts of agents: append-only chunks of JSON lines per attempt; a long one keeps its head and tail.

An entry is one JSON object on a line, with its `sequence` in it. Chunks never overlap; a gap in the sequence is what
was dropped from the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
import sqlalchemy as sa

from store.database.dialects import Sql
from store.database.paging import COUNT_CAP
from store.database.wakes import Topic
from store.models.attempt_records import TRANSCRIPT
from store.states import TranscriptKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow

#: Chunks read at a time, of at most 256 KiB each.
CHUNKS = 4

_APPEND = Sql(
    """INSERT INTO transcript (attempt_id, first, last, is_tail, size_bytes, lines)
    VALUES (:attempt_id, :first, :last, :is_tail, :size_bytes, :lines)"""
)
_DROP = Sql("DELETE FROM transcript WHERE attempt_id = :attempt_id AND is_tail = :yes AND first = :first")


_AFTER = (
    sa.select(TRANSCRIPT.c.first, TRANSCRIPT.c.last, TRANSCRIPT.c.lines)
    .where(TRANSCRIPT.c.attempt_id == sa.bindparam("attempt_id"), TRANSCRIPT.c.last > sa.bindparam("after"))
    .order_by(TRANSCRIPT.c.first)
    .limit(sa.bindparam("chunks"))
)


_BEFORE = (
    sa.select(TRANSCRIPT.c.first, TRANSCRIPT.c.last, TRANSCRIPT.c.lines)
    .where(TRANSCRIPT.c.attempt_id == sa.bindparam("attempt_id"), TRANSCRIPT.c.first < sa.bindparam("before"))
    .order_by(TRANSCRIPT.c.first.desc())
    .limit(sa.bindparam("chunks"))
)


_SPANS = (
    sa.select(TRANSCRIPT.c.first, TRANSCRIPT.c.last)
    .where(TRANSCRIPT.c.attempt_id == sa.bindparam("attempt_id"))
    .order_by(TRANSCRIPT.c.first)
)


_LAST = sa.select(sa.func.max(TRANSCRIPT.c.last)).where(TRANSCRIPT.c.attempt_id == sa.bindparam("attempt_id"))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Entries that were written together.

    Attributes:
        first: Sequence of its first entry.
        last: Of its last.
        lines: The entries as JSON lines, redacted.
    """

    first: int
    last: int
    lines: str


def append_transcript(
    conn: Connection, attempt_id: str, chunk: Chunk, *, is_tail: bool = False, dropped: tuple[int, ...] = ()
) -> None:
    """Append a chunk.

    Args:
        conn: The transaction.
        attempt_id: The attempt.
        chunk: The entries to append.
        is_tail: Whether later chunks may replace it.
        dropped: `first` of the tail chunks to delete for it.
    """
    for first in dropped:
        conn.run(_DROP, {"attempt_id": attempt_id, "first": first, "yes": True})
    conn.run(
        _APPEND,
        {
            "attempt_id": attempt_id,
            "first": chunk.first,
            "last": chunk.last,
            "is_tail": is_tail,
            "size_bytes": len(chunk.lines.encode()),
            "lines": chunk.lines,
        },
    )
    conn.wake(Topic.OUTPUT, attempt_id)  # those who follow an attempt follow both


async def entries_after(store: Store, attempt_id: str, after: int, *, limit: int) -> list[dict[str, object]]:
    """List entries after a sequence number, oldest first, at most `limit`; a gap is one entry of kind `cut`.

    `data` and `text` are absent where an entry has none. A `cut` replaces everything up to the next entry: its sequence
    is that of the last dropped entry, its `data` how many were dropped.
    """
    found: list[dict[str, object]] = []
    position = after
    while len(found) < limit:
        rows = await store.read(_AFTER, {"attempt_id": attempt_id, "after": position, "chunks": CHUNKS})
        chunks = rows.all()
        for chunk in chunks:
            if chunk.first > position + 1:
                found.append(_cut(position + 1, chunk.first - 1))
            kept = (orjson.loads(line) for line in chunk.lines.split("\n"))
            found += [entry for entry in kept if entry["sequence"] > position]
            position = chunk.last
        if len(chunks) < CHUNKS:
            break
    return found[:limit]


async def entries_before(store: Store, attempt_id: str, before: int | None, *, limit: int) -> list[dict[str, object]]:
    """List entries before a sequence number (None: the end), newest first, at most `limit`; see `entries_after`."""
    found: list[dict[str, object]] = []
    position = before if before is not None else await last_sequence(store, attempt_id) + 1
    while len(found) < limit and position > 1:
        rows = await store.read(_BEFORE, {"attempt_id": attempt_id, "before": position, "chunks": CHUNKS})
        chunks = rows.all()
        for chunk in chunks:
            if chunk.last + 1 < position:
                found.append(_cut(chunk.last + 1, position - 1))
            kept = [orjson.loads(line) for line in chunk.lines.split("\n")]
            found += [entry for entry in reversed(kept) if entry["sequence"] < position]
            position = chunk.first
        if len(chunks) < CHUNKS:
            break
    return found[:limit]


async def list_transcript(store: Store, attempt_id: str, window: PageWindow) -> list[dict[str, object]]:
    """An attempt's entries, oldest first or from the back; the sort key is `(sequence,)`. One more than the limit."""
    after = 0 if window.after is None else int(window.after[0])
    before = None if window.before is None else int(window.before[0])
    if window.reverse:
        found = await entries_before(store, attempt_id, before, limit=window.limit + 1)
        return [entry for entry in reversed(found) if int(str(entry["sequence"])) > after]
    found = await entries_after(store, attempt_id, after, limit=window.limit + 1)
    return [entry for entry in found if before is None or int(str(entry["sequence"])) < before]


async def count_transcript(store: Store, attempt_id: str) -> int:
    """Count the entries that `list_transcript` lists, where a gap is one."""
    chunks = await store.read(_SPANS, {"attempt_id": attempt_id})
    count = position = 0
    for first, last in chunks:
        count += last - first + 1 + (first > position + 1)
        position = last
    return min(count, COUNT_CAP)


async def transcript_parts(store: Store, attempt_id: str) -> AsyncIterator[bytes]:
    """Stream an attempt's transcript as JSON lines; a gap is a line of kind `cut`.

    Each part is a separate read, so that a slow reader holds no transaction open.
    """
    position = 0
    while True:
        rows = await store.read(_AFTER, {"attempt_id": attempt_id, "after": position, "chunks": CHUNKS})
        chunks = rows.all()
        for chunk in chunks:
            if chunk.first > position + 1:
                yield orjson.dumps(_cut(position + 1, chunk.first - 1), option=orjson.OPT_APPEND_NEWLINE)
            yield f"{chunk.lines}\n".encode()
            position = chunk.last
        if len(chunks) < CHUNKS:
            return


async def last_sequence(store: Store, attempt_id: str) -> int:
    """Return the sequence of the newest entry; 0 when there is none."""
    ((found,),) = await store.read(_LAST, {"attempt_id": attempt_id})
    return found or 0


def _cut(first: int, last: int) -> dict[str, object]:
    return {"sequence": last, "kind": TranscriptKind.CUT.value, "data": {"entries": last - first + 1}}
