"""Tables, types and functions for reads made with SQLAlchemy Core; imported by the first of them (see `store.core`)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    DateTime,
    Float,
    Integer,
    String,
    TableClause,
    Text,
    TypeDecorator,
    column,
    table,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from store.columns import COLUMNS

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect
    from sqlalchemy.sql.compiler import SQLCompiler
    from sqlalchemy.types import TypeEngine


class Instant(TypeDecorator[datetime]):
    """Aware instants, always UTC, as SQLModel's `UTCDateTime` keeps them; that one cannot be had without its ORM."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What is given to the driver.

        Raises:
            ValueError: the value is naive.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"The instant {value!r} carries no time zone.")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What the driver hands out; SQLite's are naive."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


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


_TYPES: dict[str, TypeEngine[Any]] = {
    "AutoString": String(),
    "BigInteger": BigInteger(),
    "Boolean": Boolean(),
    "Float": Float(),
    "Integer": Integer(),
    "Text": Text(),
    "UTCDateTime": Instant(),
}

#: Every table by name.
TABLES: dict[str, TableClause] = {
    name: table(name, *(column(key, _TYPES[kind]) for key, kind in columns.items()))
    for name, columns in COLUMNS.items()
}
