"""The connection that writes to the embedded database: how it is opened, and its view for units of work."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from store.database.dialects import NO_PARAMETERS, row_maker, sqlite_instant
from store.database.errors import StoreError, StoreFullError
from store.database.wakes import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from store.database.dialects import Parameters, Row, Sql
    from store.database.wakes import Topic, Wake

#: The cache takes up to 16 MB of pages: a thousand active runs touch more than SQLite's default of 2 MB. The log may
#: grow as large before it is copied into the file: the same pages are written again and again.
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "busy_timeout=5000",
    "foreign_keys=ON",
    "temp_store=MEMORY",
    "cache_size=-16000",
    "wal_autocheckpoint=4000",
)


class SQLiteConnection:
    """A unit's view of the writer's connection."""

    shared = False

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._execute = raw.execute
        self._executemany = raw.executemany
        self._now: datetime | None = None
        self._stamp = ""
        self._later: dict[float, str] = {}
        self.woken: set[Wake] = set()

    def now(self) -> datetime:
        """Return the machine's time, read once per transaction."""
        if self._now is None:
            self._now = datetime.now(UTC)
            self._stamp = sqlite_instant(self._now)
        return self._now

    def bindable(self, value: datetime) -> str:
        return self._stamp if value is self._now else sqlite_instant(value)

    def later(self, seconds: float) -> str:
        text = self._later.get(seconds)
        if text is None:
            text = self._later[seconds] = sqlite_instant(self.now() + timedelta(seconds=seconds))
        return text

    def one(self, statement: Sql, parameters: Parameters = NO_PARAMETERS) -> Row | None:
        cursor = self._execute(statement.sqlite, statement.bound(parameters))
        row = cursor.fetchone()
        cursor.close()
        return None if row is None else row_maker(tuple(row.keys()))(row)

    def all(self, statement: Sql, parameters: Parameters = NO_PARAMETERS) -> list[Row]:
        return named_rows(self._execute(statement.sqlite, statement.bound(parameters)).fetchall())

    def run(self, statement: Sql, parameters: Parameters = NO_PARAMETERS) -> int:
        return self._execute(statement.sqlite, statement.bound(parameters)).rowcount

    def many(self, statement: Sql, parameters: Sequence[Mapping[str, object]]) -> None:
        self._executemany(statement.sqlite, map(statement.bound, parameters))

    def wake(self, topic: Topic, id: str = EVERYTHING) -> None:
        """Wake the listeners of a topic after the transaction commits."""
        self.woken.add((topic, id))


def named_rows(rows: Sequence[sqlite3.Row]) -> list[Row]:
    """Make named tuples of a statement's rows. A row factory would read the names for every row."""
    return [*map(row_maker(tuple(rows[0].keys())), rows)] if rows else []


def connect(path: Path) -> sqlite3.Connection:
    """Open a read-write connection for a writer, which begins its transactions explicitly."""
    raw = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    raw.row_factory = sqlite3.Row
    for pragma in _PRAGMAS:
        raw.execute(f"PRAGMA {pragma}")
    return raw


def result_code(error: sqlite3.Error) -> int | None:
    """Return the primary result code, such as `SQLITE_BUSY` (sqlite.org/rescode.html).

    Errors of Python's module itself, such as a missing parameter, have none.
    """
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def store_error(error: BaseException) -> BaseException:
    """Convert an error of SQLite to one of the store's; return any other error unchanged."""
    if isinstance(error, sqlite3.Error):
        if result_code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            full = StoreFullError("The disk is full: the change was not recorded. Free space and try again.")
            full.__cause__ = error
            return full
        broken = StoreError(f"The database refused the change: {error}.")
        broken.__cause__ = error
        return broken
    if isinstance(error, StopIteration):  # futures refuse it; coroutines convert it the same way (PEP 479)
        stopped = RuntimeError("a unit of work raised StopIteration")
        stopped.__cause__ = error
        return stopped
    return error
