"""Every difference between SQLite and PostgreSQL that a unit of work or a read can meet.

A unit is a plain synchronous function `unit(conn, …)` that runs inside one transaction (see `store.database.engine`).
It speaks SQL text in `Sql` constants, written once with `:name` parameters, and reads named tuples.
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
        """A row: a tuple whose values are attributes, too, under the names of their columns."""

        def __getattr__(self, name: str) -> Any: ...  # noqa: ANN401 - any value of a column

else:
    Row = tuple

#: What a statement without parameters is given.
NOTHING: Mapping[str, object] = {}
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_OCTETS = re.compile(r"\boctet_length\((\w+)\)")  # which SQLite has since 3.43
_SQLITE_CLOCK = "(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')"  # as `sqlite_instant` writes


class Sql:
    """A statement prepared for both drivers.

    Parameters are written `:name`. `FOR UPDATE` is left out on SQLite, whose writer is alone anyway.
    `octet_length` takes the name of a column of text. `clock_timestamp()` is the clock of `Connection.now` for
    statements that are read without a unit; to the millisecond on SQLite. Literal percent signs are doubled for
    psycopg.
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
        """The parameters in the order of `sqlite`.

        SQLite's driver also takes them by name, but builds and looks up each name on each execution: a third of the
        cost of inserting events.

        Raises:
            sqlite3.ProgrammingError: one was not given.
        """
        try:
            return self._pick(parameters)
        except KeyError as missing:
            raise sqlite3.ProgrammingError(f"The parameter {missing} was not given.") from missing


def _picker(names: tuple[str, ...]) -> Callable[[Mapping[str, object]], tuple[object, ...]]:
    if len(names) > 1:
        return itemgetter(*names)
    if not names:
        return lambda _: ()
    (name,) = names
    return lambda parameters: (parameters[name],)


@lru_cache(maxsize=1024)
def row_maker(columns: tuple[str, ...]) -> Callable[[Iterable[object]], Row]:
    """Makes rows of columns with these names; a column such as `count(*)`, no name in Python, has only its place."""
    make: Callable[[Iterable[object]], Row] = cast("Any", namedtuple("Row", columns, rename=True))._make
    return make


def by_name(row: Row) -> dict[str, Any]:
    """The values of a row by the names of their columns."""
    values: dict[str, Any] = row._asdict()
    return values


class Connection(Protocol):
    """What a unit of work is given. Nothing of it may be kept once the unit has returned."""

    #: Whether other units may be writing at the same time.
    shared: bool

    def now(self) -> datetime:
        """The clock that leases and events go by, aware UTC, read once per transaction.

        PostgreSQL's own; the machine's on SQLite, where one process owns the file.
        """

    def bindable(self, value: datetime) -> datetime | str:
        """An instant as the driver binds it cheapest; an adapter call for each took a third of the writer's time."""

    def later(self, seconds: float) -> datetime | str:
        """The instant some seconds from now, as the driver binds it cheapest."""

    def one(self, statement: Sql, parameters: Parameters = ...) -> Row | None:
        """Runs a statement; its first row, or None."""

    def all(self, statement: Sql, parameters: Parameters = ...) -> list[Row]:
        """Runs a statement; all its rows."""

    def run(self, statement: Sql, parameters: Parameters = ...) -> int:
        """Runs a statement; the number of rows it changed."""

    def many(self, statement: Sql, parameters: Sequence[Mapping[str, object]]) -> None:
        """Runs a statement once for each set of parameters."""

    def wake(self, topic: Topic, id: str = ...) -> None:
        """Wake the listeners of a topic after the transaction commits."""


def instant(value: datetime | str | None) -> datetime | None:
    """An instant as a driver hands it out, in UTC: SQLite's gives text, PostgreSQL's what its session speaks."""
    if isinstance(value, str):
        return datetime.fromisoformat(value + "+00:00")  # two thirds of the cost of replacing its zone
    return value if value is None or value.tzinfo is UTC else value.astimezone(UTC)


def some_instant(value: datetime | str) -> datetime:
    """As `instant`, of a column that is never NULL."""
    found = instant(value)
    assert found is not None, "only None comes to nothing"
    return found


def sqlite_instant(value: datetime) -> str:
    """How SQLite keeps an instant; the same text SQLAlchemy's DateTime writes, so both paths compare equal.

    Raises:
        ValueError: the value is naive.
    """
    if value.tzinfo is None:
        raise ValueError(f"The instant {value!r} carries no time zone.")
    if value.tzinfo is not UTC:
        value = value.astimezone(UTC)
    # Three quarters of the cost of `isoformat`, which writes the zone as well.
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
    """Seconds from one instant column to another, for reads."""

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
