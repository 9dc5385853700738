"""The embedded database: one connection that writes (`store.database.sqlite_writer`) and read-only ones next to it."""

from __future__ import annotations

import asyncio
import fcntl
import socket
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import aiosqlite
import structlog
from sqlalchemy import create_engine, event

from store.database.dialects import NO_PARAMETERS
from store.database.errors import DataFolderInUseError, StoreClosedError
from store.database.reads import Reads
from store.database.schema import ensure_sqlite_schema
from store.database.sqlite_connection import SQLiteConnection, named_rows, result_code, store_error
from store.database.sqlite_writer import SQLiteWriter
from store.database.wakes import Wakes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from io import TextIOWrapper
    from pathlib import Path

    from sqlalchemy import Engine, Executable, Result
    from sqlalchemy.engine.interfaces import DBAPIConnection

    from store.database.dialects import Connection, Dialect, Parameters, Row, Sql
    from store.database.postgres_queue import RunQueue

P = ParamSpec("P")
T = TypeVar("T")

log = structlog.get_logger(__name__)

#: Threads that read, each with its own connection; more reads wait their turn.
READERS = 8

#: PRAGMAs of read-only connections.
_READ_PRAGMAS = ("query_only=ON", "busy_timeout=5000", "cache_size=-8000")


class SQLiteStore:
    """The open embedded database; see `store.database.engine.Store`."""

    dialect: Dialect = "sqlite"
    shared = False
    queue: RunQueue | None = None

    def __init__(self, path: Path, lock: TextIOWrapper, observe_commit: Callable[[float], None]) -> None:
        self.machine = f"{socket.gethostname()}:{path.parent.resolve()}"
        self._lock = lock
        self.wakes = Wakes()
        self._writer = SQLiteWriter(path, self.wakes.committed, observe_commit)
        self._readers = _reading_engine(path)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="packline-read")
        self._path = path
        self._loop_connection: sqlite3.Connection | None = None
        self._thread_connection: aiosqlite.Connection | None = None
        self._opening: asyncio.Task[aiosqlite.Connection] | None = None
        self._reads = Reads()
        self._closed = False

    @property
    def reading(self) -> int:
        """Reads under way; see `store.database.engine.Store`."""
        return self._reads.count

    async def start(self) -> None:
        self._writer.start()
        await self.wakes.start()

    async def write(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit in a transaction; see `store.database.engine.Store.write`."""
        # No shield: cancelling the caller undoes nothing, since the writer already has the unit.
        return await self._writer.submit(lambda conn: unit(conn, *args, **kwargs), few=False)

    async def write_few(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit that touches few rows; see `store.database.engine.Store.write_few`."""
        return await self._writer.submit(lambda conn: unit(conn, *args, **kwargs), few=True)

    async def snapshot(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit that only reads, in a thread; see `store.database.engine.Store.snapshot`."""

        def look() -> T:
            with closing(sqlite3.connect(self._path, isolation_level=None)) as raw:
                raw.row_factory = sqlite3.Row
                for pragma in _READ_PRAGMAS:
                    raw.execute(f"PRAGMA {pragma}")
                raw.execute("BEGIN")
                return unit(SQLiteConnection(raw), *args, **kwargs)

        with self._reads.one():
            try:
                return await asyncio.get_running_loop().run_in_executor(self._threads, look)
            except sqlite3.Error as error:
                raise store_error(error) from error

    async def read(
        self, statement: Executable, parameters: Mapping[str, object] | None = None
    ) -> Result[*tuple[Any, ...]]:
        """Read all rows of a statement in a thread; see `store.database.engine.Store.read`."""

        def look() -> Result[*tuple[Any, ...]]:
            with self._readers.connect() as connection:
                return connection.execute(statement, parameters).freeze()()

        with self._reads.one():
            return await asyncio.get_running_loop().run_in_executor(self._threads, look)

    async def rows(self, statement: Sql, parameters: Parameters = NO_PARAMETERS, *, few: bool = False) -> list[Row]:
        """Run one short read; see `store.database.engine.Store.rows`.

        With `few`, the read runs on the event loop's thread: it needs a few pages, mostly in memory, and takes SQLite
        9 µs, while a hop to another thread takes 30 to 50, and more while this one is busy, because both need the GIL.
        It never waits for a lock: with a write-ahead log readers are not blocked, and should the database be busy, the
        read runs as one without `few`.

        Reads without `few` share one connection, whose thread runs them one after the other: they are short, and
        parallel threads would only wait for the GIL.
        """
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        if few:
            try:
                connection = self._loop_connection or self._open_loop_connection()
                return named_rows(connection.execute(statement.sqlite, statement.bound(parameters)).fetchall())
            except sqlite3.Error as error:
                if result_code(error) != sqlite3.SQLITE_BUSY:
                    raise store_error(error) from error
        with self._reads.one():
            try:
                raw = self._thread_connection or await self._open_thread_connection()
                rows = await raw.execute_fetchall(statement.sqlite, statement.bound(parameters))
            except sqlite3.Error as error:
                raise store_error(error) from error
            return named_rows([*rows])

    def _open_loop_connection(self) -> sqlite3.Connection:
        """Open the connection of reads with `few`."""
        self._loop_connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=0
        )
        self._loop_connection.row_factory = sqlite3.Row
        for pragma in ("query_only=ON", "cache_size=-8000"):
            self._loop_connection.execute(f"PRAGMA {pragma}")
        return self._loop_connection

    async def _open_thread_connection(self) -> aiosqlite.Connection:
        """Open the connection of reads without `few`, once for all reads that wait for it.

        A cancelled read leaves the opening running: a connection dropped halfway would never be closed.
        """
        if self._opening is None:
            self._opening = asyncio.create_task(self._configured_connection())
            self._opening.add_done_callback(self._opened)
        return await asyncio.shield(self._opening)

    async def _configured_connection(self) -> aiosqlite.Connection:
        raw = await aiosqlite.connect(self._path, isolation_level=None, cached_statements=256)
        try:
            raw.row_factory = sqlite3.Row
            for pragma in _READ_PRAGMAS:
                await raw.execute(f"PRAGMA {pragma}")
        except BaseException:
            await raw.close()
            raise
        return raw

    def _opened(self, opening: asyncio.Task[aiosqlite.Connection]) -> None:
        if opening.cancelled() or opening.exception() is not None:
            self._opening = None  # the next read tries again
        else:
            self._thread_connection = opening.result()

    async def close(self) -> None:
        """Finish accepted writes and close every connection; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        await self._writer.stop()
        await self.wakes.stop()
        await self._reads.end()
        self._threads.shutdown(wait=False)
        if self._loop_connection is not None:
            self._loop_connection.close()
        if self._opening is not None:
            await asyncio.wait([self._opening])
        if self._thread_connection is not None:
            await self._thread_connection.close()
        self._readers.dispose()
        self._lock.close()


async def open_sqlite(data_dir: Path, *, migrate: bool, observe_commit: Callable[[float], None]) -> SQLiteStore:
    """Open `data_dir/packline.db` for this process alone.

    Raises:
        DataFolderInUseError: another process owns the file.
        StoreSchemaError: its schema does not fit this release.
    """
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # noqa: ASYNC240 - once, before anything is served
    lock = acquire_lock(data_dir)
    path = data_dir / "packline.db"
    try:
        ensure_sqlite_schema(path, migrate=migrate)
        store = SQLiteStore(path, lock, observe_commit)
        await store.start()
    except BaseException:
        lock.close()
        raise
    return store


def acquire_lock(data_dir: Path) -> TextIOWrapper:
    """Lock the data folder for this process; closing the returned file releases the lock.

    Raises:
        DataFolderInUseError: another process holds it.
    """
    lock = (data_dir / "packline.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise DataFolderInUseError(f"A Packline server uses the data folder {data_dir}.") from error
    return lock


def _reading_engine(path: Path) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}",
        pool_size=READERS,
        pool_use_lifo=True,  # the connection used last has its statements prepared and its pages in memory
        pool_reset_on_return=None,  # nothing to roll back, since no transaction is begun
        isolation_level="AUTOCOMMIT",
    )

    @event.listens_for(engine, "connect")
    def configure(raw: DBAPIConnection, _record: object) -> None:
        # No explicit transaction: each statement sees the newest commit.
        raw.isolation_level = None
        cursor = raw.cursor()
        for pragma in _READ_PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine
