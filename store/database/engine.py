"""Opens the database and runs every read and write.

`Store.write` and `Store.write_few` run a synchronous unit of work in a transaction and answer after COMMIT;
`Store.snapshot` runs one that only reads. Other reads are functions of `store/` that take the store; only they
call `Store.read` and `Store.rows`. `store.database.sqlite` and `store.database.postgres` implement them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from store.database.errors import NEEDS_POSTGRES_EXTRA, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sqlalchemy import Executable, Result

    from store.database.dialects import Connection, Dialect, Parameters, Row, Sql
    from store.database.postgres_queue import RunQueue
    from store.database.wakes import Wakes

P = ParamSpec("P")
T = TypeVar("T")


class Store(Protocol):
    """An open database.

    Attributes:
        dialect: Which database it is, for people.
        shared: Whether other processes may write to it at the same time.
        machine: Identity of this machine and data folder; sessions belong to it.
        wakes: Wake-ups after commits of this process and others.
        queue: Delivers due runs to the processes that share the database; None where there is only one.
        reading: Reads that are under way in this process.
    """

    dialect: Dialect
    shared: bool
    machine: str
    wakes: Wakes
    queue: RunQueue | None

    @property
    def reading(self) -> int: ...

    async def write(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `unit(conn, *args)` in a transaction; return its result after COMMIT.

        The unit must not block on anything but the database. When it raises, it is rolled back and the exception is
        re-raised; other units that share the transaction are not affected. Cancelling the caller does not undo it.

        Raises:
            StoreError: the transaction could not be committed.
        """

    async def write_few(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run as `write` does a unit that finds few rows by an index, none larger than a step's output.

        SQLite runs it at once on the event loop's thread, which then does not wait for the disk: see
        `store.database.sqlite_writer`.
        """

    async def snapshot(self, unit: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a read-only unit, such as a preview; all its statements see the database at one instant.

        Raises:
            StoreError: the unit tried to write, or a statement failed.
        """

    async def read(
        self, statement: Executable, parameters: Mapping[str, object] | None = None
    ) -> Result[*tuple[Any, ...]]:
        """Run a statement built over the models; its rows hold no connection and can be iterated once.

        It sees what was committed before it started.
        """

    async def rows(self, statement: Sql, parameters: Parameters = ..., *, few: bool = ...) -> list[Row]:
        """Run one short, prepared read; its rows are as the driver returns them, see `store.database.dialects.instant`.

        For what is read on every start or event. On SQLite it costs 20 µs of CPU, and a statement through `read` 210,
        or 280 where twenty are under way: most of that is SQLAlchemy's pool and the hops to the connection's thread.

        Args:
            statement: What to read.
            parameters: Its parameters.
            few: Whether it finds its rows by an index, they are few, and none is large: SQLite then answers at once,
                on the event loop's thread.
        """

    async def close(self) -> None:
        """Finish accepted work and close every connection; a second call does nothing."""


@dataclass(frozen=True, slots=True)
class Connections:
    """How many connections a process opens to PostgreSQL, besides those for wake-ups and the queue.

    Attributes:
        write: Units of work that run at the same time; more wait their turn.
        read: Reads that run at the same time.
    """

    write: int = 10
    read: int = 17


def _ignore(_seconds: float) -> None:
    """Observe nothing."""


async def open_store(
    url: str,
    data_dir: Path,
    *,
    migrate: bool,
    connections: Connections = Connections(),
    watches: bool = True,
    observe_commit: Callable[[float], None] = _ignore,
) -> Store:
    """Open the database of `url`; `sqlite` alone is the embedded file in `data_dir`.

    Args:
        url: `sqlite` or `postgresql://user@host/name`.
        data_dir: Folder of the embedded file and its lock, made when absent. With PostgreSQL, servers of one machine
            that share it can use each other's sessions.
        migrate: Whether to bring an older schema up to date; otherwise it is refused.
        connections: For PostgreSQL.
        watches: Whether anyone watches runs in this process; a worker of PostgreSQL only executes them.
        observe_commit: Called after each COMMIT with its duration in seconds, from any thread.

    Raises:
        StoreBusyError: another process owns the file.
        StoreSchemaError: the schema is newer than this release, or older and `migrate` is false.
        StoreError: the database cannot be reached; the message says what to do.
    """
    if url.startswith(("postgresql:", "postgresql+psycopg:", "postgres:")):
        try:
            from store.database.postgres import open_postgres
        except ImportError as error:
            raise StoreError(NEEDS_POSTGRES_EXTRA) from error

        return await open_postgres(
            url,
            data_dir,
            migrate=migrate,
            connections=connections,
            watches=watches,
            observe_commit=observe_commit,
        )
    if url != "sqlite":
        raise StoreError(
            f"PACKLINE_DATABASE_URL is `{url}`: use `sqlite` for the embedded database or `postgresql://user@host/name`."
        )
    from store.database.sqlite import open_sqlite

    return await open_sqlite(data_dir, migrate=migrate, observe_commit=observe_commit)
