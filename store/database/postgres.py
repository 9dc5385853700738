"""PostgreSQL: the same units of work as on SQLite, each in a separate transaction.

A unit that certainly did not commit (a deadlock, a connection lost before COMMIT was sent) is retried; a connection
lost during COMMIT is reported, never retried. Reads go through SQLAlchemy and outlive the loss of their connection.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import socket
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import structlog
from sqlalchemy import event, exc
from sqlalchemy.ext.asyncio import create_async_engine

from store.database.dialects import NO_PARAMETERS, Sql, libpq_url, row_maker
from store.database.errors import StoreClosedError, StoreError
from store.database.postgres_queue import RunQueue
from store.database.postgres_wakes import PostgresBackend
from store.database.postgres_writer import (
    NotCommittedError,
    PostgresWriter,
    adapt,
    connect_options,
    is_dead,
    store_error,
)
from store.database.reads import Reads
from store.database.schema import ensure_postgres_schema
from store.database.wakes import Wakes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from sqlalchemy import CursorResult, Executable, Result
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
    from sqlalchemy.pool import ConnectionPoolEntry

    from store.database.dialects import Connection, Dialect, Parameters, Row
    from store.database.engine import Connections

P = ParamSpec("P")
T = TypeVar("T")

log = structlog.get_logger(__name__)

#: Attempts at a unit that certainly did not commit; the waits add up to about three seconds.
TRIES = 7
_SNAPSHOT = Sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
#: Raised by connecting while the server is away, or when every connection of the pool is dead.
_UNREACHABLE = (exc.OperationalError, exc.InterfaceError, exc.InvalidRequestError, OSError)


async def _tries() -> AsyncIterator[bool]:
    """Iterate `TRIES` times, with growing waits that add up to about three seconds; yield whether it is the last."""
    delay = 0.02
    for left in reversed(range(TRIES)):
        yield left == 0
        await asyncio.sleep(delay * random.uniform(0.5, 1.5))
        delay *= 2


class PostgresStore:
    """An open PostgreSQL database; see `store.database.engine.Store`."""

    dialect: Dialect = "postgresql"
    shared = True

    def __init__(
        self,
        url: str,
        data_dir: Path,
        connections: Connections,
        *,
        watches: bool,
        observe_commit: Callable[[float], None],
    ) -> None:
        self.machine = f"{machine_identity()}:{data_dir.resolve()}"
        queue = RunQueue(libpq_url(url))
        self.queue: RunQueue | None = queue
        self.listening = PostgresBackend(libpq_url(url), queue, watches=watches)
        self.wakes = Wakes(self.listening)
        self._writer = PostgresWriter(libpq_url(url), connections.write, observe_commit)
        self._read_connections = connections.read
        self._readers = _reading_engine(url, connections.read)
        self._reads = Reads()
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False

    @property
    def reading(self) -> int:
        """Reads under way; see `store.database.engine.Store`."""
        return self._reads.count

    async def write(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit in a transaction; see `store.database.engine.Store.write`."""
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        # A separate task, so that cancelling the caller does not interrupt the transaction.
        task = asyncio.get_running_loop().create_task(self._write(lambda conn: unit(conn, *args, **kwargs)))
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved here, because a cancelled caller does not and asyncio would warn

    write_few = write

    async def snapshot(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a unit that only reads; see `store.database.engine.Store.snapshot`."""

        def read(conn: Connection) -> T:
            conn.run(_SNAPSHOT)
            return unit(conn, *args, **kwargs)

        return await self.write(read)

    async def read(
        self, statement: Executable, parameters: Mapping[str, object] | None = None
    ) -> Result[*tuple[Any, ...]]:
        """Read all rows of a statement; see `store.database.engine.Store.read`."""
        with self._reads.one():
            return await self._read(lambda connection: connection.execute(statement, parameters))

    async def rows(self, statement: Sql, parameters: Parameters = NO_PARAMETERS, *, few: bool = False) -> list[Row]:
        """Run one short read; see `store.database.engine.Store.rows`."""
        values = dict(parameters)
        with self._reads.one():
            found = await self._read(lambda connection: connection.exec_driver_sql(statement.postgresql, values))
        make = row_maker(tuple(found.keys()))
        return [*map(make, found)]

    async def _read(
        self, run: Callable[[AsyncConnection], Awaitable[CursorResult[*tuple[Any, ...]]]]
    ) -> Result[*tuple[Any, ...]]:
        """Run a read-only statement; if the connection is lost, run it again on another one."""
        async for last in _tries():
            is_connected = False
            try:
                async with self._readers.connect() as connection:
                    is_connected = True
                    return (await run(connection)).freeze()()
            except exc.TimeoutError as error:
                raise StoreError(
                    f"All {self._read_connections} connections for reading have been busy for 30 s. Try again later, "
                    "or raise PACKLINE_DATABASE_READ_CONNECTIONS."
                ) from error
            except _UNREACHABLE as error:
                is_lost = isinstance(error, exc.DBAPIError) and error.connection_invalidated
                if last or (is_connected and not is_lost):
                    raise store_error(error) from error
                log.debug("statement runs again", error=str(error).strip())
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """Finish accepted work and close every connection; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._running:
            await asyncio.wait(self._running)
        await self.wakes.stop()
        await self._writer.close()
        await self._reads.end()
        await self._readers.dispose()

    async def _write(self, unit: Callable[[Connection], T]) -> T:
        async for last in _tries():
            try:
                result, woken = await self._writer.transact(unit)
            except NotCommittedError as failed:
                cause = failed.__cause__
                assert cause is not None
                if last:
                    raise store_error(cause) from cause
                log.debug("transaction runs again", error=str(cause).strip())
            else:
                if woken:
                    self.wakes.committed(woken)
                return result
        raise AssertionError("unreachable")


async def open_postgres(
    url: str,
    data_dir: Path,
    *,
    migrate: bool,
    connections: Connections,
    watches: bool,
    observe_commit: Callable[[float], None],
) -> PostgresStore:
    """Open a PostgreSQL database and start to listen for wake-ups; nothing is written to the data folder.

    Raises:
        StoreSchemaError: its schema does not fit this release.
        StoreError: it cannot be reached.
    """
    await asyncio.to_thread(ensure_postgres_schema, url, migrate=migrate)
    store = PostgresStore(url, data_dir, connections, watches=watches, observe_commit=observe_commit)
    await store.wakes.start()
    return store


def machine_identity() -> str:
    """Return host name and a digest of the machine id: the same for every process of this machine only."""
    try:
        seed = Path("/etc/machine-id").read_text().strip()
    except OSError:
        seed = ""
    if not seed:
        seed = f"{uuid.getnode():012x}"
    return f"{socket.gethostname()}:{hashlib.sha256(seed.encode()).hexdigest()[:12]}"


def _reading_engine(url: str, connections: int) -> AsyncEngine:
    """Make an engine that keeps half of its connections open; under load it opens the others."""
    kept = (connections + 1) // 2
    engine = create_async_engine(
        libpq_url(url).replace("postgresql:", "postgresql+psycopg:", 1),
        pool_size=kept,
        max_overflow=connections - kept,
        pool_timeout=30,
        hide_parameters=True,  # keeps payloads out of error messages and logs
        connect_args=connect_options("packline-read", default_transaction_read_only="on"),
        isolation_level="AUTOCOMMIT",
    )

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(_raw: object, record: ConnectionPoolEntry) -> None:
        if record.driver_connection is not None:
            adapt(record.driver_connection.adapters)

    @event.listens_for(engine.sync_engine, "checkout")
    def refuse_dead(_raw: object, record: ConnectionPoolEntry, _proxy: object) -> None:
        if record.driver_connection is None or is_dead(record.driver_connection):
            # When one is dead most others are, too: the pool would give up at the third.
            raise exc.InvalidatePoolError

    return engine
