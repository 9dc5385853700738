"""The embedded database: one writer thread with group commit, and read-only connections beside it.

Waiting units share one transaction, and one that fails takes no other along; callers are answered after COMMIT. With a
full fsync per commit this does about three times the runs of one transaction each (`make bench`, row "throughput").
"""

from __future__ import annotations

import asyncio
import fcntl
import queue
import socket
import sqlite3
import threading
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar

import aiosqlite
import structlog

from store.dialects import NOTHING, sqlite_instant
from store.engine import Listeners, StoreBusyError, StoreClosedError, StoreError, StoreFullError
from store.schema import ensure_sqlite_schema

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from io import TextIOWrapper
    from pathlib import Path

    from sqlalchemy.engine.interfaces import DBAPIConnection
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from store.dialects import Connection, Dialect, Parameters, Row, Sql

P = ParamSpec("P")
T = TypeVar("T")

log = structlog.get_logger(__name__)

#: Units that may share one transaction. Larger batches make the slowest caller wait without saving more commits.
BATCH = 64
#: Units that may wait; beyond it `write` refuses instead of growing without bound.
QUEUE_LIMIT = 20_000
#: Idle read connections kept open; opening one costs a thread and about a millisecond.
READERS = 8
#: So long after `warm` the pool of `read` is made, when nobody has asked for it before.
WARM_SECONDS = 1.0
#: How long `close` waits for reads under way: a connection closed under a read would never answer it.
LAST_READS_SECONDS = 10.0

#: What connections that only read are told.
_READ_PRAGMAS = ("query_only=ON", "busy_timeout=5000", "cache_size=-8000")
#: 16 MB of pages, filled as needed: a thousand runs at once touch more than the 2 MB that SQLite keeps by itself.
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "busy_timeout=5000",
    "foreign_keys=ON",
    "temp_store=MEMORY",
    "cache_size=-16000",
)


class SQLiteConnection:
    """A unit's view of the writer's connection."""

    dialect: Dialect = "sqlite"

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._execute = raw.execute
        self._executemany = raw.executemany
        self._now: datetime | None = None
        self._stamp = ""
        self._later: dict[float, str] = {}
        self.woken: set[str] = set()

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
        row: Row | None = cursor.fetchone()
        cursor.close()
        return row

    def all(self, statement: Sql, parameters: Parameters = NOTHING) -> list[Row]:
        """Runs a statement; all its rows."""
        return self._execute(statement.sqlite, statement.bound(parameters)).fetchall()

    def run(self, statement: Sql, parameters: Parameters = NOTHING) -> int:
        """Runs a statement; the number of rows it changed."""
        return self._execute(statement.sqlite, statement.bound(parameters)).rowcount

    def many(self, statement: Sql, parameters: Sequence[Mapping[str, object]]) -> None:
        """Runs a statement once for each set of parameters."""
        self._executemany(statement.sqlite, map(statement.bound, parameters))

    def wake(self, key: str) -> None:
        """Tells watchers of `key` that something changed, once the transaction has committed."""
        self.woken.add(key)


class _Job(NamedTuple):
    unit: Callable[[Connection], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class _Answer(NamedTuple):
    job: _Job
    result: Any
    error: BaseException | None


#: Answers of a batch, and the keys it woke.
_Outcome: TypeAlias = "tuple[list[_Answer], frozenset[str]]"


class SQLiteWriter:
    """The only thread that writes; started by `start`, drained by `stop`."""

    def __init__(self, path: Path, wake: Callable[[frozenset[str]], None]) -> None:
        self._path = path
        self._wake = wake
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="packline-writer", daemon=True)

    def start(self) -> None:
        """Opens the connection and starts the thread."""
        self._raw = connect(self._path)
        self._thread.start()

    def submit(self, unit: Callable[[Connection], T]) -> asyncio.Future[T]:
        """Queues a unit; the future is done after COMMIT or failure."""
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        if self._jobs.qsize() >= QUEUE_LIMIT:
            raise StoreError(f"More than {QUEUE_LIMIT} writes are waiting: the disk does not keep up. Try again later.")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(unit, loop, future))
        return future

    async def stop(self) -> None:
        """Finishes what is queued and ends the thread."""
        if self._closed:
            return
        self._closed = True
        self._jobs.put(None)
        while self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, 0.5)
        self._raw.close()

    def _serve(self) -> None:
        stopping = False
        while not stopping:
            batch: list[_Job] = []
            first = self._jobs.get()
            if first is None:
                return
            batch.append(first)
            while len(batch) < BATCH:
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if job is None:
                    stopping = True
                    break
                batch.append(job)
            self._answer(*self._transact(batch))

    def _transact(self, batch: list[_Job]) -> _Outcome:
        """Runs a batch in one transaction; the answers hold only once it has committed.

        At first without savepoints, whose two statements are a tenth of what a settle costs. Should a unit of several
        fail, nothing stands and all run again, each in a savepoint of its own: a unit may run twice on PostgreSQL, too.
        """
        outcome = self._run(batch, guarded=False) or self._run(batch, guarded=True)
        assert outcome is not None, "a guarded batch always comes to an end"
        return outcome

    def _run(self, batch: list[_Job], *, guarded: bool) -> _Outcome | None:
        """One try of a batch; None when nothing of it stands and it has to run guarded."""
        raw = self._raw
        conn = SQLiteConnection(raw)
        answers: list[_Answer] = []
        try:
            raw.execute("BEGIN IMMEDIATE")
            for job in batch:
                answer = self._attempt(raw, conn, job, guarded=guarded)
                answers.append(answer)
                if answer.error is None:
                    continue
                if not raw.in_transaction:
                    # A full disk or an I/O error made SQLite roll everything back: nothing of the batch stands, and
                    # nothing may run after it outside a transaction.
                    return self._refuse(batch, answer.error), frozenset()
                if not guarded:
                    raw.execute("ROLLBACK")
                    return (answers, frozenset()) if len(batch) == 1 else None
            raw.execute("COMMIT")
        except Exception as error:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            return self._refuse(batch, _classified(error)), frozenset()
        return answers, frozenset(conn.woken)

    @staticmethod
    def _attempt(raw: sqlite3.Connection, conn: SQLiteConnection, job: _Job, *, guarded: bool) -> _Answer:
        """Runs one unit; guarded, its failure leaves nothing of it and everything of the others."""
        woken = set(conn.woken) if guarded else None
        try:
            if guarded:
                raw.execute("SAVEPOINT unit")
            result = job.unit(conn)
            if guarded:
                raw.execute("RELEASE unit")
        except Exception as error:
            if woken is not None:
                conn.woken = woken
                if raw.in_transaction:
                    raw.execute("ROLLBACK TO unit")
                    raw.execute("RELEASE unit")
            return _Answer(job, None, _classified(error))
        return _Answer(job, result, None)

    @staticmethod
    def _refuse(batch: list[_Job], error: BaseException) -> list[_Answer]:
        return [_Answer(job, None, error) for job in batch]

    def _answer(self, answers: list[_Answer], woken: frozenset[str]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[_Answer]] = {}
        for answer in answers:
            by_loop.setdefault(answer.job.loop, []).append(answer)
        for loop, mine in by_loop.items():
            try:
                loop.call_soon_threadsafe(self._deliver, mine, woken)
            except RuntimeError:  # that loop is gone, and its callers with it
                log.debug("answers for a closed event loop were dropped", count=len(mine))

    def _deliver(self, answers: list[_Answer], woken: frozenset[str]) -> None:
        for job, result, error in answers:
            if job.future.cancelled():
                continue
            if error is not None:
                job.future.set_exception(error)
            else:
                job.future.set_result(result)
        if woken:
            self._wake(woken)


class SQLiteStore:
    """The embedded database, opened; see `store.engine.Store`."""

    dialect: Dialect = "sqlite"

    def __init__(self, path: Path, lock: TextIOWrapper) -> None:
        self.machine = f"{socket.gethostname()}:{path.parent.resolve()}"
        self._lock = lock
        self._listeners = Listeners()
        self._writer = SQLiteWriter(path, self._listeners.tell)
        self._readers: AsyncEngine | None = None
        self._opening = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None
        self._path = path
        self._near: sqlite3.Connection | None = None
        self._prepared: aiosqlite.Connection | None = None
        self._preparing = asyncio.Lock()
        self._reading = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._closed = False

    def start(self) -> None:
        """Starts the writer."""
        self._writer.start()

    def warm(self) -> None:
        """Soon makes what `read` needs; see `store.engine.Store.warm`."""
        self._warming = asyncio.create_task(self._open_later(), name="packline-readers")

    async def write(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit in a transaction; see `store.engine.Store.write`."""
        # No shield: a caller that is cancelled takes nothing back, since the writer has the unit already.
        return await self._writer.submit(lambda conn: unit(conn, *args, **kwargs))

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Lends a read-only connection; see `store.engine.Store.read`."""
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        self._reading += 1
        self._quiet.clear()
        try:
            async with (self._readers or await self._open_readers()).connect() as connection:
                yield connection
        finally:
            self._reading -= 1
            if self._reading == 0:
                self._quiet.set()

    async def rows(self, statement: Sql, parameters: Mapping[str, object] = NOTHING, *, few: bool = False) -> list[Row]:
        """Rows of one short read; see `store.engine.Store.rows`.

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
                return near.execute(statement.sqlite, statement.bound(parameters)).fetchall()
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                    raise _classified(error) from error
        self._reading += 1
        self._quiet.clear()
        try:
            raw = self._prepared or await self._prepare()
            rows: list[Row] = await raw.execute_fetchall(statement.sqlite, statement.bound(parameters))  # type: ignore[assignment] # rows are tuples
        except sqlite3.Error as error:
            raise _classified(error) from error
        else:
            return rows
        finally:
            self._reading -= 1
            if self._reading == 0:
                self._quiet.set()

    def _connect_near(self) -> sqlite3.Connection:
        """The connection of reads of a few rows, opened when first needed."""
        self._near = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=0
        )
        for pragma in ("query_only=ON", "cache_size=-8000"):
            self._near.execute(f"PRAGMA {pragma}")
        return self._near

    async def _prepare(self) -> aiosqlite.Connection:
        """The connection of `rows`, opened when first needed."""
        async with self._preparing:
            if self._prepared is None:
                raw = await aiosqlite.connect(self._path, isolation_level=None, cached_statements=256)
                for pragma in _READ_PRAGMAS:
                    await raw.execute(f"PRAGMA {pragma}")
                self._prepared = raw
        return self._prepared

    async def _open_later(self) -> None:
        await asyncio.sleep(WARM_SECONDS)
        await self._open_readers()

    async def _open_readers(self) -> AsyncEngine:
        """The pool of `read`, made when first needed; in a thread, since it imports SQLAlchemy."""
        async with self._opening:
            if self._readers is None:
                self._readers = await asyncio.to_thread(_readers, self._path)
        return self._readers

    def on_wake(self, listener: Callable[[frozenset[str]], None]) -> None:
        """Calls `listener(keys)` on the event loop after commits that woke somebody."""
        self._listeners.add(listener)

    async def close(self) -> None:
        """Drains the writer and closes every connection."""
        if self._closed:
            return
        self._closed = True
        if self._warming is not None:
            self._warming.cancel()
        await self._writer.stop()
        try:
            async with asyncio.timeout(LAST_READS_SECONDS):
                await self._quiet.wait()
        except TimeoutError:
            log.warning("reads were cut off by the end of the store", count=self._reading)
        if self._near is not None:
            self._near.close()
        if self._prepared is not None:
            await self._prepared.close()
        if self._readers is not None:
            await self._readers.dispose()
        self._lock.close()


async def open_sqlite(data_dir: Path, *, migrate: bool) -> SQLiteStore:
    """Opens `data_dir/packline.db`, alone.

    Raises:
        StoreBusyError: another process owns the file.
        StoreSchemaError: its schema does not fit this release.
    """
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # noqa: ASYNC240 - once, before anything is served
    lock = acquire_lock(data_dir)
    path = data_dir / "packline.db"
    try:
        ensure_sqlite_schema(path, migrate=migrate)
        store = SQLiteStore(path, lock)
        store.start()
    except BaseException:
        lock.close()
        raise
    return store


def acquire_lock(data_dir: Path) -> TextIOWrapper:
    """Locks the data folder for this process; the lock goes with the returned file.

    Raises:
        StoreBusyError: another process holds it.
    """
    lock = (data_dir / "packline.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise StoreBusyError(
            f"Another Packline server uses the data folder {data_dir}. Stop it, or give this one another "
            "`--data-dir` (PACKLINE_DATA_DIR)."
        ) from error
    return lock


def connect(path: Path) -> sqlite3.Connection:
    """A read-write connection with the settings every writer uses; transactions are begun by hand."""
    raw = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    for pragma in _PRAGMAS:
        raw.execute(f"PRAGMA {pragma}")
    return raw


def _readers(path: Path) -> AsyncEngine:
    # A fifth of the time of a start, which reads by prepared statements alone.
    from sqlalchemy import event
    from sqlalchemy.ext.asyncio import create_async_engine

    import store.core_tables  # noqa: F401 - what statements are made of, here in a thread

    # Nothing to roll back on return, since no transaction is begun: each read saves a turn of its thread.
    engine = create_async_engine(
        f"sqlite+aiosqlite:///{path}",
        pool_size=READERS,
        max_overflow=12,
        pool_use_lifo=True,  # the one used last has its statements prepared and its pages at hand
        pool_reset_on_return=None,
        isolation_level="AUTOCOMMIT",
    )

    @event.listens_for(engine.sync_engine, "connect")
    def configure(raw: DBAPIConnection, _record: object) -> None:
        # No transaction of its own: each statement sees the newest commit and none outlives a batch.
        raw.isolation_level = None
        cursor = raw.cursor()
        for pragma in _READ_PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def _classified(error: BaseException) -> BaseException:
    """The store's own name for what SQLite raised; anything else stays what it is."""
    if isinstance(error, sqlite3.Error):
        # Errors of the module itself, such as a parameter that was not given, carry no code.
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL or "disk I/O error" in str(error):
            full = StoreFullError("The disk is full: the change was not recorded. Free space and try again.")
            full.__cause__ = error
            return full
        broken = StoreError(f"The database refused the change: {error}.")
        broken.__cause__ = error
        return broken
    return error
