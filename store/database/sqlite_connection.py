"""The connection that writes to the embedded database, as the writer opens it and as units of work see it."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from store.database.dialects import NOTHING, row_maker, sqlite_instant
from store.database.engine import StoreError, StoreFullError
from store.database.wakes import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from store.database.dialects import Parameters, Row, Sql
    from store.database.wakes import Topic, Wake

#: 16 MB of pages, filled as needed: a thousand runs at once touch more than the 2 MB that SQLite keeps by itself. As
#: much may gather in the log before it is copied into the file: the same pages are written again and again.
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
        """The machine's clock, read once per transaction."""
        if self._now is None:
            self._now = datetime.now(UTC)
            self._stamp = sqlite_instant(self._now)
        return self._now

    def bindable(self, value: datetime) -> str:
        """The text that is stored."""
        return self._stamp if value is self._now else sqlite_instant(value)

    def later(self, seconds: float) -> str:
        """The text of an instant some seconds from now."""
        text = self._later.get(seconds)
        if text is None:
            text = self._later[seconds] = sqlite_instant(self.now() + timedelta(seconds=seconds))
        return text

    def one(self, statement: Sql, parameters: Parameters = NOTHING) -> Row | None:
        """Runs a statement; its first row, or None."""
        cursor = self._execute(statement.sqlite, statement.bound(parameters))
        row = cursor.fetchone()
        cursor.close()
        return None if row is None else row_maker(tuple(row.keys()))(row)

    def all(self, statement: Sql, parameters: Parameters = NOTHING) -> list[Row]:
        """Runs a statement; all its rows."""
        return named(self._execute(statement.sqlite, statement.bound(parameters)).fetchall())

    def run(self, statement: Sql, parameters: Parameters = NOTHING) -> int:
        """Runs a statement; the number of rows it changed."""
        return self._execute(statement.sqlite, statement.bound(parameters)).rowcount

    def many(self, statement: Sql, parameters: Sequence[Mapping[str, object]]) -> None:
        """Runs a statement once for each set of parameters."""
        self._executemany(statement.sqlite, map(statement.bound, parameters))

    def wake(self, topic: Topic, id: str = EVERYTHING) -> None:
        """Wake the listeners of a topic after the transaction commits."""
        self.woken.add((topic, id))


def named(rows: Sequence[sqlite3.Row]) -> list[Row]:
    """The rows of a statement as named tuples; not by a row factory, which would look at the names for every row."""
    return [*map(row_maker(tuple(rows[0].keys())), rows)] if rows else []


def connect(path: Path) -> sqlite3.Connection:
    """A read-write connection with the settings every writer uses; transactions are begun by hand."""
    raw = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    raw.row_factory = sqlite3.Row
    for pragma in _PRAGMAS:
        raw.execute(f"PRAGMA {pragma}")
    return raw


def result_code(error: sqlite3.Error) -> int | None:
    """The primary result code, such as `SQLITE_BUSY` (sqlite.org/rescode.html).

    Errors of the module itself, such as a parameter that was not given, carry none.
    """
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def classified(error: BaseException) -> BaseException:
    """The store's own name for what SQLite raised; anything else stays what it is."""
    if isinstance(error, sqlite3.Error):
        if result_code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            full = StoreFullError("The disk is full: the change was not recorded. Free space and try again.")
            full.__cause__ = error
            return full
        broken = StoreError(f"The database refused the change: {error}.")
        broken.__cause__ = error
        return broken
    if isinstance(error, StopIteration):  # which no future takes; coroutines make the same of it (PEP 479)
        stopped = RuntimeError("a unit of work raised StopIteration")
        stopped.__cause__ = error
        return stopped
    return error
