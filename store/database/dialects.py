"""Every difference between SQLite and PostgreSQL that units of work and reads see.

A unit is a plain synchronous function `unit(conn, …)` that runs inside one transaction (see `store.database.engine`).
It runs SQL text from `Sql` constants, written once with `:name` parameters, and gets named tuples.
"""

from __future__ import annotations

import re
import sqlite3
from collections import namedtuple
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

from sqlalchemy import Float
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy.sql.compiler import SQLCompiler

    from store.database.wakes import Topic

Dialect = Literal["sqlite", "postgresql"]
Parameters: TypeAlias = "Mapping[str, object]"

if TYPE_CHECKING:

    class Row(tuple[Any, ...]):
        """A named tuple, whose fields are the columns."""

        def __getattr__(self, name: str) -> Any: ...  # noqa: ANN401 - any value of a column

else:
    Row = tuple

#: The parameters of a statement that has none.
NO_PARAMETERS: Mapping[str, object] = {}
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_OCTETS = re.compile(r"\boctet_length\((\w+)\)")  # SQLite has it since 3.43
_SQLITE_CLOCK = "(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')"  # the format of `sqlite_instant`


class Sql:
    """A statement prepared for both drivers.

    Parameters are written `:name`. `FOR UPDATE` is left out on SQLite, which has a single writer. `octet_length` takes
    the name of a text column. `clock_timestamp()` is the clock of `Connection.now`, for reads outside a unit; SQLite's
    has milliseconds. Literal percent signs are doubled for psycopg.
    """

    __slots__ = ("_pick", "postgresql", "sqlite")

    def __init__(self, text: str) -> None:
        flat = " ".join(text.split())
        numbers = {name: number for number, name in enumerate(dict.fromkeys(_PARAMETER.findall(flat)), 1)}
        alone = flat.replace(" FOR UPDATE SKIP LOCKED", "").replace(" FOR UPDATE", "")
        numbered = _PARAMETER.sub(lambda found: f"?{numbers[found[1]]}", alone)
        self.sqlite = _OCTETS.sub(r"length(CAST(\1 AS BLOB))", numbered).replace("clock_timestamp()", _SQLITE_CLOCK)
        self.postgresql = _PARAMETER.sub(r"%(\1)s", flat.replace("%", "%%"))
        self._pick = _picker(tuple(numbers))

    def bound(self, parameters: Parameters) -> tuple[object, ...]:
        """Return the parameters in the order of `sqlite`.

        SQLite's driver also takes them by name, but builds and looks up each name on each execution: a third of the
        cost of inserting events.

        Raises:
            sqlite3.ProgrammingError: one is missing.
        """
        try:
            return self._pick(parameters)
        except KeyError as missing:
            raise sqlite3.ProgrammingError(f"The parameter {missing} is missing.") from missing


def _picker(names: tuple[str, ...]) -> Callable[[Mapping[str, object]], tuple[object, ...]]:
    if len(names) > 1:
        return itemgetter(*names)
    if not names:
        return lambda _: ()
    (name,) = names
    return lambda parameters: (parameters[name],)


@lru_cache(maxsize=1024)
def row_maker(columns: tuple[str, ...]) -> Callable[[Iterable[object]], Row]:
    """Return a function that makes rows with these columns; one such as `count(*)` is found only by its position."""
    make: Callable[[Iterable[object]], Row] = cast("Any", namedtuple("Row", columns, rename=True))._make
    return make


def by_name(row: Row) -> dict[str, Any]:
    """Return the values of a row by column name."""
    values: dict[str, Any] = row._asdict()
    return values


class Connection(Protocol):
    """The database as a unit of work sees it; not to be used once the unit has returned."""

    #: Whether other units may be writing at the same time.
    shared: bool

    def now(self) -> datetime:
        """Return the time that leases and events use, aware UTC, read once per transaction.

        On PostgreSQL it is the server's clock; on SQLite, whose file one process owns, the machine's.
        """

    def bindable(self, value: datetime) -> datetime | str:
        """Convert an instant to what the driver binds fastest; adapter calls took a third of the writer's time."""

    def later(self, seconds: float) -> datetime | str:
        """Return the instant some seconds from now, as `bindable`."""

    def one(self, statement: Sql, parameters: Parameters = ...) -> Row | None:
        """Run a statement; return its first row, or None."""

    def all(self, statement: Sql, parameters: Parameters = ...) -> list[Row]:
        """Run a statement; return all its rows."""

    def run(self, statement: Sql, parameters: Parameters = ...) -> int:
        """Run a statement; return the number of rows it changed."""

    def many(self, statement: Sql, parameters: Sequence[Mapping[str, object]]) -> None:
        """Run a statement once for each set of parameters."""

    def wake(self, topic: Topic, id: str = ...) -> None:
        """Wake the listeners of a topic after the transaction commits."""


def instant(value: datetime | str | None) -> datetime | None:
    """Convert an instant from a driver to UTC: SQLite's returns text, PostgreSQL's the session's time zone."""
    if isinstance(value, str):
        return datetime.fromisoformat(value + "+00:00")  # two thirds of the cost of replacing its zone
    return value if value is None or value.tzinfo is UTC else value.astimezone(UTC)


def some_instant(value: datetime | str) -> datetime:
    """Convert as `instant` does, for a column that is never NULL."""
    found = instant(value)
    assert found is not None, "only None becomes None"
    return found


def sqlite_instant(value: datetime) -> str:
    """Convert an instant to the text SQLite stores, which is also what SQLAlchemy's DateTime writes.

    Raises:
        ValueError: the value is naive.
    """
    if value.tzinfo is None:
        raise ValueError(f"The instant {value!r} carries no time zone.")
    if value.tzinfo is not UTC:
        value = value.astimezone(UTC)
    # Costs three quarters of `isoformat`, which writes the zone as well.
    return "%04d-%02d-%02d %02d:%02d:%02d.%06d" % (  # noqa: UP031 - an f-string costs twice as much
        value.year,
        value.month,
        value.day,
        value.hour,
        value.minute,
        value.second,
        value.microsecond,
    )


sqlite3.register_adapter(datetime, sqlite_instant)


class seconds_between(FunctionElement[float]):
    """SQL expression: seconds from one instant column to another."""

    type = Float()
    inherit_cache = True


@compiles(seconds_between, "sqlite")
def _sqlite_seconds(element: seconds_between, compiler: SQLCompiler, **options: object) -> str:
    start, end = (compiler.process(clause, **options) for clause in element.clauses)
    return f"((julianday({end}) - julianday({start})) * 86400.0)"


@compiles(seconds_between, "postgresql")
def _postgres_seconds(element: seconds_between, compiler: SQLCompiler, **options: object) -> str:
    start, end = (compiler.process(clause, **options) for clause in element.clauses)
    return f"CAST(EXTRACT(EPOCH FROM ({end} - {start})) AS double precision)"


def libpq_url(url: str) -> str:
    """Return the URL in libpq's spelling, without SQLAlchemy's driver name."""
    _, separator, rest = url.partition("://")
    return f"postgresql://{rest}" if separator else url
