"""Read-only connections of the embedded database for SQLAlchemy's pool: a statement is read to its end in one turn.

aiosqlite has a turn of its thread for each of: the cursor, the statement, its rows, the close. Whoever is cancelled in
between, such as for a client that went away, leaves a statement that has begun to read: it keeps its view of the
database although the connection is closed, for as long as anything refers to the cursor, which what was raised does in
a ring until garbage is collected. Meanwhile the write-ahead log cannot be copied into the file and grows.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, TypeAlias

import aiosqlite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

#: What a statement's columns are called, as the driver has it, and its rows.
_Whole: TypeAlias = "tuple[Any, list[Any]]"


class ReadCursor:
    """A cursor as SQLAlchemy's adapter of aiosqlite uses one; has all rows when `execute` returns."""

    arraysize = 1
    rowcount = -1
    lastrowid: int | None = None

    def __init__(self, connection: ReadConnection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None

    async def __aenter__(self) -> ReadCursor:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def execute(self, sql: str, parameters: Sequence[object] = ()) -> ReadCursor:
        """Runs a statement and takes all its rows; nothing of it stays begun, even when the caller is cancelled."""
        self.description, self._rows = await self._connection.read_whole(sql, parameters)
        return self

    async def fetchall(self) -> list[Any]:
        """The rows, once."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Nothing is open."""


class ReadConnection(aiosqlite.Connection):
    """A connection whose cursors are read to their end."""

    def cursor(self) -> ReadCursor:  # type: ignore[override] # what SQLAlchemy's adapter needs of one
        """A cursor; the thread is not asked before there is something to read."""
        return ReadCursor(self)

    async def read_whole(self, sql: str, parameters: Sequence[object]) -> _Whole:
        """What the columns of a statement are called, None without any, and its rows."""
        whole: _Whole = await self._execute(self._read_whole, sql, parameters)  # type: ignore[no-untyped-call]
        return whole

    def _read_whole(self, sql: str, parameters: Sequence[object]) -> _Whole:
        cursor = self._conn.execute(sql, parameters)
        try:
            return cursor.description, cursor.fetchall()
        finally:
            cursor.close()


async def connect(path: Path) -> ReadConnection:
    """Opens a connection for reads."""

    def open_file() -> sqlite3.Connection:
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)

    connection = ReadConnection(open_file, iter_chunk_size=64)
    connection._thread.daemon = True  # as SQLAlchemy has it: it holds nothing a process would have to wait for
    return await connection  # type: ignore[return-value] # itself
