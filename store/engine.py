"""The one way in and out of the database.

`Store.write` and `Store.write_few` run a synchronous unit of work in a transaction and answer after COMMIT. Reads are
functions of this floor that are given the store; they alone call `Store.read` and `Store.rows`. `store.sqlite` and
`store.postgres` implement all four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Executable, Result

    from store.dialects import Connection, Dialect, Parameters, Row, Sql

P = ParamSpec("P")
T = TypeVar("T")

_Listener: TypeAlias = "Callable[[frozenset[str]], None]"

#: What is said where the driver of PostgreSQL cannot be imported.
NEEDS_PSYCOPG = (
    "PACKLINE_DATABASE_URL names a PostgreSQL database, whose driver is not installed: "
    "`pip install 'packline[postgres]'`."
)


#: The wake-up key that stands for every key: wake-ups may have been missed.
EVERYTHING = "*"


log = structlog.get_logger(__name__)


class StoreError(Exception):
    """The database could not do what was asked; nothing of the unit remains."""


class StoreClosedError(StoreError):
    """The store is closed or closing."""


class StoreFullError(StoreError):
    """The disk is full; nothing of the unit remains."""


class StoreAwayError(StoreError):
    """The database cannot be reached for now; nothing of the unit remains."""


class StoreUncertainError(StoreError):
    """The connection was lost during COMMIT: whether the unit was recorded is not known."""


class StoreBusyError(StoreError):
    """Another process owns the database file."""


class StoreSchemaError(StoreError):
    """The database was written by another release; the message says what to run."""


class Listeners:
    """Who is told of what commits woke.

    Most commits move a run from one step to the next, and of all who listen only the bus cares for those: the others
    name the kinds of keys they hear, or each step would call them all.
    """

    def __init__(self) -> None:
        self._everybody: list[_Listener] = []
        self._of_all: list[_Listener] = []
        self._of_kind: dict[str, list[_Listener]] = {}

    def add(self, listener: _Listener, kinds: Sequence[str]) -> None:
        """Tells `listener(keys)` from now on; see `Store.on_wake`."""
        self._everybody.append(listener)
        for kind in kinds:
            self._of_kind.setdefault(kind, []).append(listener)
        if not kinds:
            self._of_all.append(listener)

    def tell(self, keys: frozenset[str]) -> None:
        """Tells those who hear one of the keys; one that fails keeps nobody else from hearing: it is committed."""
        listeners = self._of_all
        for key in keys:
            if key == EVERYTHING:
                listeners = self._everybody
                break
            if (hear := self._of_kind.get(key.partition(":")[0])) is not None:
                listeners = [*listeners, *(listener for listener in hear if listener not in listeners)]
        for listener in listeners:
            try:
                listener(keys)
            except Exception:
                log.exception("a wake-up listener failed")


class Store(Protocol):
    """A database, opened.

    Attributes:
        dialect: Which database it is.
        machine: Identity of this machine and data folder; sessions belong to it.
    """

    dialect: Dialect
    machine: str

    async def write(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `unit(conn, *args)` in a transaction and returns its result after COMMIT.

        The unit must not block on anything but the database. When it raises, nothing of it remains and the exception
        comes back; other units that shared the transaction are not touched. Cancelling the caller does not undo the
        unit.

        Raises:
            StoreError: the transaction could not be committed.
        """

    async def write_few(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """As `write`, for a unit that finds its rows by an index and touches few, none larger than a step's output.

        SQLite runs it at once on the event loop's thread, which then does not wait for the disk: see
        `store.sqlite_writer`.
        """

    async def read(
        self, statement: Executable, parameters: Mapping[str, object] | None = None
    ) -> Result[*tuple[Any, ...]]:
        """The rows of a statement built over the models; they hold no connection, and are read once.

        The statement sees what was committed before it started.
        """

    async def rows(self, statement: Sql, parameters: Parameters = ..., *, few: bool = ...) -> list[Row]:
        """Rows of one short, prepared read, as the driver hands them out; see `store.dialects.instant`.

        For what is read on every start or event. On SQLite it costs 20 µs of CPU, and a statement through `read` 210,
        or 280 where twenty are under way: most of that is SQLAlchemy's pool and the hops to the connection's thread.

        Args:
            statement: What to read.
            parameters: Its parameters.
            few: Whether it finds its rows by an index, they are few, and none is large: SQLite then answers at once,
                on the event loop's thread.
        """

    def on_wake(self, listener: Callable[[frozenset[str]], None], *kinds: str) -> None:
        """Calls `listener(keys)` on the event loop after each commit of this process that called `conn.wake`.

        With `kinds` only after those that woke a key of one of these kinds, which is what stands before the colon, or
        the key `EVERYTHING`.
        """

    async def close(self) -> None:
        """Finishes what was accepted and closes every connection. A second call does nothing."""


async def open_store(url: str, data_dir: Path, *, migrate: bool) -> Store:
    """Opens the database of `url`; `sqlite` alone is the embedded file in `data_dir`.

    Args:
        url: `sqlite` or `postgresql://user@host/name`.
        data_dir: Folder of the embedded file and its lock, made when absent. With PostgreSQL, servers of one machine
            that share it can use each other's sessions.
        migrate: Whether to bring an older schema up to date; otherwise it is refused.

    Raises:
        StoreBusyError: another process owns the file.
        StoreSchemaError: the schema is newer than this release, or older and `migrate` is false.
        StoreError: the database cannot be reached, with what to do.
    """
    if url.startswith(("postgresql:", "postgresql+psycopg:", "postgres:")):
        try:
            from store.postgres import open_postgres
        except ImportError as error:
            raise StoreError(NEEDS_PSYCOPG) from error

        return await open_postgres(url, data_dir, migrate=migrate)
    if url != "sqlite":
        raise StoreError(
            f"PACKLINE_DATABASE_URL is `{url}`: use `sqlite` for the embedded database or `postgresql://user@host/name`."
        )
    from store.sqlite import open_sqlite

    return await open_sqlite(data_dir, migrate=migrate)
