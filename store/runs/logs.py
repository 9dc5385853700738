"""Log lines of attempts, capped so that a chatty pack fills neither the disk nor the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sqlalchemy as sa

from store.database.dialects import Sql
from store.database.paging import capped_count, fetch_page
from store.database.wakes import Topic
from store.models.attempt_records import LOG_LINE
from store.models.declaring import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow

#: Maximum lines of one attempt, and of their text together.
MAX_LINES = 10_000
MAX_BYTES = 1 << 20
#: The last line of a log that exceeded either limit.
CUT = "The log was cut here: it reached 10,000 lines or 1 MiB."


#: Levels by the words that packs use; any other word means `info`.
_LEVELS = {
    "debug": "debug",
    "info": "info",
    "warning": "warning",
    "warn": "warning",
    "error": "error",
    "critical": "error",
    "fatal": "error",
}


@dataclass(frozen=True, slots=True)
class LogLineRecord:
    """A logged line; `sequence` counts from 1 within the attempt.

    Attributes:
        level: `debug`, `info`, `warning` or `error`.
    """

    attempt_id: str
    sequence: int
    at: datetime
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which lines of a log to list.

    Attributes:
        text: Only lines that contain it, in any case; SQLite compares other letters than ASCII as they are.
        levels: Only lines of these levels.
    """

    text: str | None = None
    levels: tuple[str, ...] | None = None


_ALL = LogQuery()
_LAST = Sql("SELECT max(sequence) AS sequence FROM log_line WHERE attempt_id = :id")
_SIZE = Sql("SELECT coalesce(sum(octet_length(text)), 0) AS bytes FROM log_line WHERE attempt_id = :id")
_IS_CUT = Sql("SELECT 1 FROM log_line WHERE attempt_id = :id AND sequence = :sequence AND text = :text")
_INSERT = Sql(
    """INSERT INTO log_line (attempt_id, sequence, at, level, text)
    VALUES (:attempt_id, :sequence, :at, :level, :text)"""
)
_COLUMNS = columns_of(LOG_LINE, LogLineRecord)


def append_log_lines(conn: Connection, attempt_id: str, lines: Sequence[tuple[datetime, str, str]]) -> int:
    """Append lines `(at, level, text)`; return how many were stored.

    At the cap it adds one last line, `CUT`, and drops the rest. One attempt is written by one worker, so its lines need
    no lock.
    """
    if not lines:
        return 0
    (newest,) = conn.all(_LAST, {"id": attempt_id})
    last = newest.sequence or 0
    if last > 0 and conn.one(_IS_CUT, {"id": attempt_id, "sequence": last, "text": CUT}) is not None:
        return 0
    (size,) = conn.all(_SIZE, {"id": attempt_id})
    used = int(size.bytes)
    rows: list[dict[str, object]] = []
    kept = 0
    for at, level, line in lines:
        # PostgreSQL accepts neither U+0000 nor lone surrogates; the output of a process may contain both.
        text = line.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        used += len(text.encode())
        full = last + len(rows) >= MAX_LINES or used > MAX_BYTES
        rows.append(
            {
                "attempt_id": attempt_id,
                "sequence": last + len(rows) + 1,
                "at": at,
                "level": "warning" if full else _level(level),
                "text": CUT if full else text,
            }
        )
        if full:
            break
        kept += 1
    conn.many(_INSERT, rows)
    conn.wake(Topic.OUTPUT, attempt_id)
    return kept


async def list_log(store: Store, attempt_id: str, window: PageWindow, wanted: LogQuery = _ALL) -> list[LogLineRecord]:
    """List an attempt's lines, oldest first; the sort key is `(sequence,)`."""
    lines = sa.select(*_COLUMNS).where(*_conditions(attempt_id, wanted))
    rows = await fetch_page(store, lines, [(LOG_LINE.c.sequence, False)], window)
    # Older rows hold the packs' own words.
    return [replace(line, level=_level(line.level)) for line in (LogLineRecord(**row) for row in rows)]


async def count_log(store: Store, attempt_id: str, wanted: LogQuery = _ALL) -> int:
    return await capped_count(store, sa.select(LOG_LINE.c.sequence).where(*_conditions(attempt_id, wanted)))


def _conditions(attempt_id: str, wanted: LogQuery) -> Iterator[sa.ColumnElement[bool]]:
    # The primary key narrows to one attempt, of at most 10,000 lines and 1 MiB: the rest needs no index.
    yield LOG_LINE.c.attempt_id == attempt_id
    if wanted.levels is not None:
        # Older rows hold the packs' own words, and an unknown one means `info`.
        others = [word for word, level in _LEVELS.items() if level not in wanted.levels]
        known = sa.func.lower(LOG_LINE.c.level).not_in(others)
        yield known if "info" in wanted.levels else known & sa.func.lower(LOG_LINE.c.level).in_([*_LEVELS])
    if wanted.text:
        # SQLite lowers ASCII alone: what is typed as it was logged is found there, too.
        text = LOG_LINE.c.text
        as_typed = text.contains(wanted.text, autoescape=True)
        yield as_typed | sa.func.lower(text).contains(wanted.text.lower(), autoescape=True)


def _level(word: str) -> str:
    return _LEVELS.get(str(word).lower(), "info")
