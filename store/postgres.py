"""PostgreSQL: the same units of work as on SQLite, each in a transaction of its own.

A unit runs through SQLAlchemy's `run_sync` on a pooled psycopg connection. What surely was not committed (a deadlock, a
connection lost before COMMIT was sent) is run again; a connection lost during COMMIT is reported, never repeated.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import select
import socket
import uuid
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import structlog
from psycopg.types.datetime import DatetimeDumper
from psycopg.types.string import StrDumper
from sqlalchemy import event, exc
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from store.dialects import Connection, Dialect, Row, Sql
from store.engine import (
    Listeners,
    StoreAwayError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StoreUncertainError,
)
from store.schema import ensure_postgres_schema, libpq_url
from store.wake import CHANNEL, WakeListener

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from psycopg.adapt import Dumper, PyFormat
    from sqlalchemy import Connection as CoreConnection
    from sqlalchemy import CursorResult
    from sqlalchemy.pool import ConnectionPoolEntry

P = ParamSpec("P")
T = TypeVar("T")

log = structlog.get_logger(__name__)

#: Connections kept for writing, and as many for reading.
POOL = 10
#: How often a unit that surely was not committed is tried; the waits add up to about three seconds.
TRIES = 7
#: Below the lease of 30 s: what a frozen process has locked is freed before others may take its runs over.
IDLE_IN_TRANSACTION_SECONDS = 5.0

#: SQLSTATE of serialization failure, deadlock, lock not available: the transaction was rolled back, try it again.
_CLASHES = frozenset({"40001", "40P01", "55P03"})
_DISK_FULL = "53100"
#: What connecting raises while the server is away, or when each connection the pool offers turns out dead.
_UNREACHABLE = (exc.OperationalError, exc.InterfaceError, exc.InvalidRequestError, OSError)
_NOTHING: Mapping[str, object] = {}
_NOW = Sql("SELECT clock_timestamp()")
_NOTIFY = Sql(f"SELECT pg_notify('{CHANNEL}', payload) FROM unnest(CAST(:payloads AS text[])) AS payload")


class PostgresConnection:
    """A unit's view of its transaction."""

    dialect: Dialect = "postgresql"

    def __init__(self, connection: CoreConnection) -> None:
        self._execute = connection.exec_driver_sql
        self._now: datetime | None = None
        self.woken: set[str] = set()

    def now(self) -> datetime:
        """The database's clock, read once per transaction."""
        if self._now is None:
            self._now = self._execute(_NOW.postgresql).scalar_one().astimezone(UTC)
        return self._now

    def one(self, statement: Sql, parameters: Mapping[str, object] = _NOTHING) -> Row | None:
        """Runs a statement; its first row, or None."""
        row = self._execute(statement.postgresql, dict(parameters)).first()
        return None if row is None else tuple(row)

    def all(self, statement: Sql, parameters: Mapping[str, object] = _NOTHING) -> list[Row]:
        """Runs a statement; all its rows."""
        return [tuple(row) for row in self._execute(statement.postgresql, dict(parameters))]

    def run(self, statement: Sql, parameters: Mapping[str, object] = _NOTHING) -> int:
        """Runs a statement; the number of rows it changed."""
        return self._execute(statement.postgresql, dict(parameters)).rowcount

    def many(self, statement: Sql, parameters: Sequence[Mapping[str, object]]) -> None:
        """Runs a statement once for each set of parameters."""
        if parameters:
            self._execute(statement.postgresql, [dict(each) for each in parameters])

    def wake(self, key: str) -> None:
        """Tells watchers of `key` in every process that something changed, once the transaction has committed."""
        self.woken.add(key)

    def notify(self, origin: str) -> None:
        """Hands what was woken to the other processes; the server sends it at COMMIT."""
        if self.woken:
            payloads = [f"{origin}:{key}" for key in sorted(self.woken)]
            self._execute(_NOTIFY.postgresql, {"payloads": payloads})


class _AwareDumper(DatetimeDumper):
    """Hands instants to the server and refuses those without a zone, as SQLite's adapter does."""

    def upgrade(self, obj: datetime, format: PyFormat) -> Dumper:
        """Chooses the dumper for a value.

        Raises:
            ValueError: the value is naive.
        """
        if obj.tzinfo is None:
            raise ValueError(f"The instant {obj!r} carries no time zone.")
        return self


class _PatientConnection(AsyncConnection):
    """A reading connection that outlives its connection to the server.

    Each statement is a transaction of its own and changes nothing, so one that was cut off runs again on another
    connection; who reads need not know. `begin` and `stream` know nothing of this and are not for it.
    """

    async def start(self, is_ctxmanager: bool = False) -> _PatientConnection:
        """Connects, while the server is away again and again for about three seconds."""
        async for last in _tries():
            try:
                await super().start(is_ctxmanager)
                break
            except _UNREACHABLE:
                if last:
                    raise
        return self

    async def execute(self, statement: Any, parameters: Any = None, **options: Any) -> CursorResult[Any]:  # noqa: ANN401 - SQLAlchemy's
        """Runs a statement; see `AsyncConnection.execute`."""
        async for last in _tries():
            try:
                result: CursorResult[Any] = await super().execute(statement, parameters, **options)
            except (exc.DBAPIError, exc.InvalidRequestError) as error:
                if last or not self.invalidated:
                    raise
                log.debug("statement runs again", error=str(error).strip())
                await self.rollback()
            else:
                return result
        raise AssertionError("unreachable")


async def _tries() -> AsyncIterator[bool]:
    """Goes round `TRIES` times, with growing waits that add up to about three seconds; whether it is the last time."""
    delay = 0.02
    for left in reversed(range(TRIES)):
        yield left == 0
        await asyncio.sleep(delay * random.uniform(0.5, 1.5))
        delay *= 2


class _NotCommittedError(Exception):
    """The transaction surely left nothing; the cause says why. It may be tried again."""


class PostgresStore:
    """A PostgreSQL database, opened; see `store.engine.Store`."""

    dialect: Dialect = "postgresql"

    def __init__(self, url: str, data_dir: Path) -> None:
        self.machine = f"{machine_identity()}:{data_dir.resolve()}"
        self._origin = uuid.uuid4().hex[:12]
        self._listeners = Listeners()
        self._writes = _engine(url)
        self._reads = _engine(url, reading=True)
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False
        self.wakes = WakeListener(libpq_url(url), self._origin, self._listeners.tell)

    async def write(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit in a transaction; see `store.engine.Store.write`."""
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        # A task of its own, so that a caller who is cancelled does not leave a transaction half said.
        task = asyncio.get_running_loop().create_task(self._write(lambda conn: unit(conn, *args, **kwargs)))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Lends a connection without a transaction; see `store.engine.Store.read`."""
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        try:
            async with _PatientConnection(self._reads) as connection:
                yield connection
        except (exc.TimeoutError, *_UNREACHABLE) as error:
            raise _named(error) from error

    def on_wake(self, listener: Callable[[frozenset[str]], None]) -> None:
        """Calls `listener(keys)` on the event loop after commits of any process that woke somebody.

        The key `store.engine.EVERYTHING` says that wake-ups may have been missed.
        """
        self._listeners.add(listener)

    async def close(self) -> None:
        """Finishes what was accepted and closes every connection. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._running:
            await asyncio.wait(self._running)
        await self.wakes.stop()
        await self._writes.dispose()
        await self._reads.dispose()

    async def _write(self, unit: Callable[[Connection], T]) -> T:
        async for last in _tries():
            try:
                return await self._transact(unit)
            except _NotCommittedError as failed:
                cause = failed.__cause__
                assert cause is not None
                if last:
                    raise _named(cause) from cause
                log.debug("transaction runs again", error=str(cause).strip())
        raise AssertionError("unreachable")

    async def _transact(self, unit: Callable[[Connection], T]) -> T:
        try:
            connection = await self._writes.connect()
        except _UNREACHABLE as error:
            raise _NotCommittedError from error
        except exc.TimeoutError as error:
            raise _named(error) from error
        async with aclosing(connection):
            try:
                result, woken = await connection.run_sync(self._run, unit)
            except exc.DBAPIError as error:
                # The unit failed before COMMIT was sent: nothing of it stands.
                if error.connection_invalidated or _state(error) in _CLASHES:
                    raise _NotCommittedError from error
                raise _named(error) from error
            try:
                await connection.commit()
            except exc.DBAPIError as error:
                if _state(error) in _CLASHES:
                    raise _NotCommittedError from error
                if error.connection_invalidated:
                    raise StoreUncertainError(
                        "The connection to PostgreSQL was lost during COMMIT: whether the change was recorded is not "
                        "known. Look it up before you repeat it."
                    ) from error
                raise _named(error) from error
        if woken:
            self._listeners.tell(woken)
        return result

    def _run(self, connection: CoreConnection, unit: Callable[[Connection], T]) -> tuple[T, frozenset[str]]:
        view = PostgresConnection(connection)
        result = unit(view)
        view.notify(self._origin)
        return result, frozenset(view.woken)


async def open_postgres(url: str, data_dir: Path, *, migrate: bool) -> PostgresStore:
    """Opens a PostgreSQL database and begins to listen for other processes; nothing is written to the data folder.

    Raises:
        StoreSchemaError: its schema does not fit this release.
        StoreError: it cannot be reached.
    """
    await asyncio.to_thread(ensure_postgres_schema, url, migrate=migrate)
    store = PostgresStore(url, data_dir)
    store.wakes.start()
    return store


def machine_identity() -> str:
    """The same for every process of this machine and another elsewhere: host name and a digest of the machine id."""
    try:
        seed = Path("/etc/machine-id").read_text().strip()
    except OSError:
        seed = ""
    if not seed:
        seed = f"{uuid.getnode():012x}"
    return f"{socket.gethostname()}:{hashlib.sha256(seed.encode()).hexdigest()[:12]}"


def _engine(url: str, *, reading: bool = False) -> AsyncEngine:
    settings = {"timezone": "UTC", "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_SECONDS * 1000:.0f}"}
    options: dict[str, Any] = {}
    if reading:
        settings["default_transaction_read_only"] = "on"
        options["isolation_level"] = "AUTOCOMMIT"
    engine = create_async_engine(
        libpq_url(url).replace("postgresql:", "postgresql+psycopg:", 1),
        pool_size=POOL,
        max_overflow=POOL,
        pool_timeout=30,
        hide_parameters=True,  # payloads have no business in error messages and logs
        connect_args={
            "connect_timeout": 5,
            "application_name": "packline-read" if reading else "packline",
            # A dead peer is found within half a minute instead of two hours.
            "keepalives": 1,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 20_000,
            "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
        },
        **options,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def adapt(_raw: object, record: ConnectionPoolEntry) -> None:
        if record.driver_connection is not None:
            adapters = record.driver_connection.adapters
            adapters.register_dumper(datetime, _AwareDumper)
            # Text says that it is text; left open, one parameter used as varchar here and text there is refused.
            adapters.register_dumper(str, StrDumper)

    @event.listens_for(engine.sync_engine, "checkout")
    def refuse_dead(_raw: object, record: ConnectionPoolEntry, _proxy: object) -> None:
        # An idle connection has nothing to say; if its socket can be read, the server has closed it. This costs
        # microseconds, where a ping would cost a round trip.
        poll = select.poll()
        driver = record.driver_connection
        if driver is None or driver.closed:
            raise exc.InvalidatePoolError
        poll.register(driver.fileno(), select.POLLIN)
        if poll.poll(0):
            # Where one is dead the others mostly are: the pool would give up at the third.
            raise exc.InvalidatePoolError

    return engine


def _state(error: BaseException) -> str | None:
    state: str | None = getattr(getattr(error, "orig", None), "sqlstate", None)
    return state


def _named(error: BaseException) -> StoreError:
    """The store's own name for what psycopg or the pool raised."""
    if isinstance(error, exc.TimeoutError):
        return StoreError(f"All {2 * POOL} connections to PostgreSQL have been busy for 30 s. Try again later.")
    if _state(error) == _DISK_FULL:
        return StoreFullError("The disk of PostgreSQL is full: the change was not recorded. Free space and try again.")
    original = getattr(error, "orig", None) or error
    lines = str(original).strip().splitlines() or [type(original).__name__]
    if isinstance(error, _UNREACHABLE) and (_state(error) is None or getattr(error, "connection_invalidated", False)):
        # Where the server is and why it is away is for the log alone: callers read this error's text.
        log.warning("PostgreSQL cannot be reached", error=lines[0])
        return StoreAwayError("PostgreSQL cannot be reached right now. Try again in a moment.")
    return StoreError(f"PostgreSQL did not do what was asked: {lines[0].rstrip('.')}.")
