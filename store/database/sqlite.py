"""The embedded database: one connection that writes (`store.database.sqlite_writer`) and read-only ones next to it."""

from __future__ import annotations

import asyncio
import fcntl
import socket
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import aiosqlite
import structlog
from sqlalchemy import create_engine, event

from store.database.dialects import NOTHING
from store.database.engine import DataFolderInUseError, StoreClosedError
from store.database.schema import ensure_sqlite_schema
from store.database.sqlite_connection import SQLiteConnection, classified, named, result_code
from store.database.sqlite_writer import SQLiteWriter
from store.database.wakes import Wakes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from io import TextIOWrapper
    from pathlib import Path

    from sqlalchemy import Engine, Executable, Result
    from sqlalchemy.engine.interfaces import DBAPIConnection

    from store.database.dialects import Connection, Dialect, Parameters, Row, Sql

P = ParamSpec("P")
T = TypeVar("T")

log = structlog.get_logger(__name__)

#: Threads that read, each with a connection; more reads wait their turn.
READERS = 8
#: How long `close` waits for reads under way: a connection closed under a read would never answer it.
LAST_READS_SECONDS = 10.0

#: PRAGMAs of read-only connections.
_READ_PRAGMAS = ("query_only=ON", "busy_timeout=5000", "cache_size=-8000")


class SQLiteStore:
    """The embedded database, opened; see `store.database.engine.Store`."""

    dialect: Dialect = "sqlite"
    shared = False

    def __init__(self, path: Path, lock: TextIOWrapper) -> None:
        self.machine = f"{socket.gethostname()}:{path.parent.resolve()}"
        self._lock = lock
        self.wakes = Wakes()
        self._writer = SQLiteWriter(path, self.wakes.committed)
        self._readers = _reading_engine(path)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="packline-read")
        self._path = path
        self._near: sqlite3.Connection | None = None
        self._prepared: aiosqlite.Connection | None = None
        self._preparing = asyncio.Lock()
        self._reading = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._closed = False

    async def start(self) -> None:
        """Starts the writer and wake-ups."""
        self._writer.start()
        await self.wakes.start()

    async def write(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit in a transaction; see `store.database.engine.Store.write`."""
        # No shield: a caller that is cancelled takes nothing back, since the writer has the unit already.
        return await self._writer.submit(lambda conn: unit(conn, *args, **kwargs), few=False)

    async def write_few(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of a few rows in a transaction; see `store.database.engine.Store.write_few`."""
        return await self._writer.submit(lambda conn: unit(conn, *args, **kwargs), few=True)

    async def snapshot(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit that only reads, in a thread; see `store.database.engine.Store.snapshot`."""

        def look() -> T:
            with closing(sqlite3.connect(self._path, isolation_level=None)) as raw:
                raw.row_factory = sqlite3.Row
                for pragma in _READ_PRAGMAS:
                    raw.execute(f"PRAGMA {pragma}")
                raw.execute("BEGIN")
                return unit(SQLiteConnection(raw), *args, **kwargs)

        with self._under_way():
            try:
                return await asyncio.get_running_loop().run_in_executor(self._threads, look)
            except sqlite3.Error as error:
                raise classified(error) from error

    async def read(
        self, statement: Executable, parameters: Mapping[str, object] | None = None
    ) -> Result[*tuple[Any, ...]]:
        """The rows of a statement, read to their end in a thread; see `store.database.engine.Store.read`."""

        def look() -> Result[*tuple[Any, ...]]:
            with self._readers.connect() as connection:
                return connection.execute(statement, parameters).freeze()()

        with self._under_way():
            return await asyncio.get_running_loop().run_in_executor(self._threads, look)

    async def rows(self, statement: Sql, parameters: Parameters = NOTHING, *, few: bool = False) -> list[Row]:
        """Rows of one short read; see `store.database.engine.Store.rows`.

        A few rows are read right here: they are a few pages, mostly in memory, and take SQLite 9 µs where a turn of
        another thread takes 30 to 50, and more while this one is busy, for both want the GIL. Nothing waits for a lock
        here: a write-ahead log keeps nobody from reading, and what is busy all the same is left to the others.

        The others all use one connection, whose thread runs them one after the other: they are short, and threads that
        run at once would only wait for each other's GIL.
        """
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        if few:
            try:
                near = self._near or self._connect_near()
                return named(near.execute(statement.sqlite, statement.bound(parameters)).fetchall())
            except sqlite3.Error as error:
                if result_code(error) != sqlite3.SQLITE_BUSY:
                    raise classified(error) from error
        with self._under_way():
            try:
                raw = self._prepared or await self._prepare()
                rows = await raw.execute_fetchall(statement.sqlite, statement.bound(parameters))
            except sqlite3.Error as error:
                raise classified(error) from error
            return named([*rows])

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        """While something is read; `close` waits for it."""
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        self._reading += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._reading -= 1
            if self._reading == 0:
                self._quiet.set()

    def _connect_near(self) -> sqlite3.Connection:
        """The connection of reads of a few rows, opened when first needed."""
        self._near = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=0
        )
        self._near.row_factory = sqlite3.Row
        for pragma in ("query_only=ON", "cache_size=-8000"):
            self._near.execute(f"PRAGMA {pragma}")
        return self._near

    async def _prepare(self) -> aiosqlite.Connection:
        """The connection of `rows`, opened when first needed."""
        async with self._preparing:
            if self._prepared is None:
                raw = await aiosqlite.connect(self._path, isolation_level=None, cached_statements=256)
                raw.row_factory = sqlite3.Row
                for pragma in _READ_PRAGMAS:
                    await raw.execute(f"PRAGMA {pragma}")
                self._prepared = raw
        return self._prepared

    async def close(self) -> None:
        """Drains the writer and closes every connection."""
        if self._closed:
            return
        self._closed = True
        await self._writer.stop()
        await self.wakes.stop()
        try:
            async with asyncio.timeout(LAST_READS_SECONDS):
                await self._quiet.wait()
        except TimeoutError:
            log.warning("reads were cut off by the end of the store", count=self._reading)
        self._threads.shutdown(wait=False)
        if self._near is not None:
            self._near.close()
        if self._prepared is not None:
            await self._prepared.close()
        self._readers.dispose()
        self._lock.close()


async def open_sqlite(data_dir: Path, *, migrate: bool) -> SQLiteStore:
    """Opens `data_dir/packline.db`, alone.

    Raises:
        DataFolderInUseError: another process owns the file.
        StoreSchemaError: its schema does not fit this release.
    """
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # noqa: ASYNC240 - once, before anything is served
    lock = acquire_lock(data_dir)
    path = data_dir / "packline.db"
    try:
        ensure_sqlite_schema(path, migrate=migrate)
        store = SQLiteStore(path, lock)
        await store.start()
    except BaseException:
        lock.close()
        raise
    return store


def acquire_lock(data_dir: Path) -> TextIOWrapper:
    """Locks the data folder for this process; the lock goes with the returned file.

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
        pool_use_lifo=True,  # the one used last has its statements prepared and its pages in memory
        pool_reset_on_return=None,  # nothing to roll back, since no transaction is begun
        isolation_level="AUTOCOMMIT",
    )

    @event.listens_for(engine, "connect")
    def configure(raw: DBAPIConnection, _record: object) -> None:
        # No explicit transaction: each statement sees the newest commit and none outlives a batch.
        raw.isolation_level = None
        cursor = raw.cursor()
        for pragma in _READ_PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine
