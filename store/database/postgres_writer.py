"""Writes to PostgreSQL: each unit of work runs in a thread, over a psycopg connection that only it uses meanwhile.

A unit is synchronous. In a thread the driver waits in C; with asyncio and SQLAlchemy each statement took a turn of the
event loop, and a step three times the CPU (docs/adr/0006).
"""

from __future__ import annotations

import asyncio
import re
import select
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
import structlog
from psycopg.types.datetime import DatetimeDumper
from psycopg.types.string import StrDumper

from store.database.dialects import Connection, Parameters, Row, Sql, row_maker
from store.database.errors import StoreError, StoreFullError, StoreUnavailableError, StoreUncertainError
from store.database.wakes import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psycopg.adapt import AdaptersMap, Dumper, PyFormat
    from psycopg.rows import RowMaker

    from store.database.wakes import Topic, Wake

T = TypeVar("T")

log = structlog.get_logger(__name__)

#: Below the lease of 30 s: the locks of a frozen process are released before others may take over its runs.
IDLE_IN_TRANSACTION_SECONDS = 5.0

#: SQLSTATE of serialization failure, deadlock, lock not available: the transaction was rolled back, try it again.
_CLASHES = frozenset({"40001", "40P01", "55P03"})
_DISK_FULL = "53100"
#: Rows of one INSERT; a statement takes 65,535 parameters at most.
ROWS_AT_ONCE = 500
_INSERT = re.compile(r"(?P<head>INSERT INTO \w+ \([^()]*\) VALUES )(?P<row>\([^()]*(?:%\(\w+\)s[^()]*)*\))(?P<tail>.*)")
_PARAMETER = re.compile(r"%\((\w+)\)s")
_NOTHING: Mapping[str, object] = {}
_NOW = Sql("SELECT clock_timestamp() AS now")


class PostgresConnection:
    """A unit's view of its transaction."""

    shared = True

    def __init__(self, cursor: psycopg.Cursor[Row]) -> None:
        self._cursor = cursor
        self._now: datetime | None = None
        self.woken: set[Wake] = set()

    def now(self) -> datetime:
        """Return the database server's time, read once per transaction."""
        if self._now is None:
            row = self.one(_NOW)
            assert row is not None, "the clock returns one row"
            self._now = row.now.astimezone(UTC)
        return self._now

    def bindable(self, value: datetime) -> datetime:
        return value

    def later(self, seconds: float) -> datetime:
        return self.now() + timedelta(seconds=seconds)

    def one(self, statement: Sql, parameters: Parameters = _NOTHING) -> Row | None:
        return self._cursor.execute(statement.postgresql.encode(), parameters).fetchone()

    def all(self, statement: Sql, parameters: Parameters = _NOTHING) -> list[Row]:
        return self._cursor.execute(statement.postgresql.encode(), parameters).fetchall()

    def run(self, statement: Sql, parameters: Parameters = _NOTHING) -> int:
        return self._cursor.execute(statement.postgresql.encode(), parameters).rowcount

    def many(self, statement: Sql, parameters: Sequence[Mapping[str, object]]) -> None:
        """Run a statement once for each set of parameters; an INSERT of values as one statement of many rows.

        Not by `executemany`: in its pipeline the server counts a silent client as active, so that
        `idle_in_transaction_session_timeout` never releases the locks of a process that froze there.
        """
        for start in range(0, len(parameters), ROWS_AT_ONCE):
            rows = parameters[start : start + ROWS_AT_ONCE]
            made = _many_rows(statement.postgresql, len(rows))
            if made is None:
                for row in rows:
                    self.run(statement, row)
            else:
                text, names = made
                self._cursor.execute(text, [row[name] for row in rows for name in names])

    def wake(self, topic: Topic, id: str = EVERYTHING) -> None:
        """Wake the listeners of a topic, in every process, after the transaction commits."""
        self.woken.add((topic, id))


@lru_cache(maxsize=256)
def _many_rows(statement: str, count: int) -> tuple[bytes, tuple[str, ...]] | None:
    """Return an INSERT of `count` rows and the parameters of each in order; None for other kinds of statements."""
    insert = _INSERT.fullmatch(statement)
    if insert is None:
        return None
    names = tuple(_PARAMETER.findall(insert["row"]))
    row = _PARAMETER.sub("%s", insert["row"])
    return f"{insert['head']}{', '.join([row] * count)}{insert['tail']}".encode(), names


class NotCommittedError(Exception):
    """The transaction certainly did not commit and may be retried; the cause says why."""


class PostgresWriter:
    """Runs units in threads, each in a transaction.

    Args:
        url: `postgresql://…`, as libpq spells it.
        connections: Units that run at the same time, each in a thread with its own connection; more wait their turn.
    """

    def __init__(self, url: str, connections: int, observe_commit: Callable[[float], None]) -> None:
        self._url = url
        self._observe_commit = observe_commit
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="packline-write")
        self._idle: deque[psycopg.Connection] = deque()

    async def transact(self, unit: Callable[[Connection], T]) -> tuple[T, frozenset[Wake]]:
        """Run a unit in a transaction; return its result and its wake-ups.

        Raises:
            NotCommittedError: a clash, or the connection was lost before COMMIT was sent.
            StoreUncertainError: the connection was lost during COMMIT.
            StoreError: a statement was refused.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._transact, unit)

    async def close(self) -> None:
        """Wait for the running units and close every connection; a second call does nothing."""
        await asyncio.to_thread(self._threads.shutdown)
        while self._idle:
            self._idle.pop().close()

    def _transact(self, unit: Callable[[Connection], T]) -> tuple[T, frozenset[Wake]]:
        connection = self._take()
        try:
            view = PostgresConnection(connection.cursor(row_factory=named_rows))
            try:
                result = unit(view)
            except psycopg.Error as error:
                if connection.closed or error.sqlstate in _CLASHES:
                    raise NotCommittedError from error
                raise store_error(error) from error
            began = time.monotonic()
            try:
                connection.commit()
            except psycopg.Error as error:
                if error.sqlstate in _CLASHES:
                    raise NotCommittedError from error
                if connection.closed:
                    raise StoreUncertainError(
                        "The connection to PostgreSQL was lost during COMMIT: whether the change was recorded is not "
                        "known. Look it up before you repeat it."
                    ) from error
                raise store_error(error) from error
            self._observe_commit(time.monotonic() - began)
            return result, frozenset(view.woken)
        finally:
            self._give_back(connection)

    def _take(self) -> psycopg.Connection:
        """Take the connection used last, which has most statements prepared, or open one."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            if not is_dead(connection):
                return connection
            connection.close()
        try:
            connection = psycopg.connect(self._url, **connect_options("packline"))
        except (psycopg.Error, OSError) as error:
            raise NotCommittedError from error
        adapt(connection.adapters)
        return connection

    def _give_back(self, connection: psycopg.Connection) -> None:
        try:
            connection.rollback()  # costs nothing after a commit
        except psycopg.Error as error:
            log.debug("a connection was discarded", error=str(error).strip())
            connection.close()
        if not connection.closed:
            self._idle.append(connection)


def connect_options(name: str, **settings: str) -> dict[str, Any]:
    """Return the options of every connection that reads or writes.

    Args:
        name: Its name in `pg_stat_activity`.
        settings: Further settings of its session.
    """
    settings |= {
        "timezone": "UTC",
        "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_SECONDS * 1000:.0f}",
    }
    return {
        "connect_timeout": 5,
        "application_name": name,
        # A dead peer is detected within half a minute instead of two hours.
        "keepalives": 1,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,
        "options": " ".join(f"-c {key}={value}" for key, value in settings.items()),
    }


def adapt(adapters: AdaptersMap) -> None:
    """Register how instants and text are sent to the server."""
    adapters.register_dumper(datetime, _AwareDumper)
    # Text is sent as `text`: with no type, a parameter used as varchar in one place and text in another is refused.
    adapters.register_dumper(str, StrDumper)


def named_rows(cursor: psycopg.Cursor[Any]) -> RowMaker[Row]:
    """Make named tuples of rows; the row factory of every connection that writes."""
    return row_maker(tuple(column.name for column in cursor.description or ()))


def is_dead(connection: psycopg.Connection | psycopg.AsyncConnection) -> bool:
    """Return whether the server has closed an idle connection.

    The server sends nothing on an idle connection: if its socket is readable, it was closed. This costs microseconds,
    where a ping would cost a round trip.
    """
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def store_error(error: BaseException) -> StoreError:
    """Convert an error of psycopg, also one wrapped by SQLAlchemy, to one of the store's."""
    original = getattr(error, "orig", None) or error
    state: str | None = getattr(original, "sqlstate", None)
    if state == _DISK_FULL:
        return StoreFullError("The disk of PostgreSQL is full: the change was not recorded. Free space and try again.")
    lines = str(original).strip().splitlines() or [type(original).__name__]
    if state is None or state.startswith(("08", "57P")):
        # The address and the reason belong in the log alone: callers read this error's text.
        log.warning("PostgreSQL cannot be reached", error=lines[0])
        return StoreUnavailableError("PostgreSQL cannot be reached right now. Try again in a moment.")
    return StoreError(f"PostgreSQL refused the statement: {lines[0].rstrip('.')}.")


class _AwareDumper(DatetimeDumper):
    """Dumps instants and refuses those without a zone, as SQLite's adapter does."""

    def upgrade(self, obj: datetime, format: PyFormat) -> Dumper:
        """Check a value, and keep this dumper for it.

        Raises:
            ValueError: the value is naive.
        """
        if obj.tzinfo is None:
            raise ValueError(f"The instant {obj!r} carries no time zone.")
        return self
