"""Reads rows by the value of a column with prepared statements, for GraphQL's loaders and reads by id.

Through SQLAlchemy Core such a read costs 0.5 to 0.8 ms of CPU, most of it making the statement again and six hops to
the connection's thread; here it costs what SQLite takes and a part of one hop (`make bench`, row "mcp").
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy import Boolean
from sqlmodel.sql.sqltypes import UTCDateTime

from store.database.dialects import Sql, instant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Table
    from sqlalchemy.types import TypeEngine

    from store.database.engine import Store

R = TypeVar("R", bound=NamedTuple)

#: Most values of one statement; both databases take more, but callers ask for a few pages at most.
_VALUES_MAX = 512


class Lookup(Generic[R]):
    """Records of a table's rows.

    Args:
        table: Whose columns the record's fields are named after.
        record: The type a row becomes; a named tuple costs a tenth of a frozen dataclass.
        by: The column to look up, as SQL, such as `run_step.run_id`.
        source: The FROM clause, if it is more than the table.
        also: A condition that always holds.
        order: Columns that order the rows.
        visible: The condition that a caller may see a row, as SQL over `:visible_to`; see `of_run`.
        decode: Functions that convert a column's value to a field's; instants and booleans need none.

    Attributes:
        head: The prepared statements up to the condition.
        select: The same for statements built with the models; `make` takes their rows, too. Columns that SQLAlchemy
            converts one by one double the cost of a page of 20 runs (`make bench`, row "mcp").
    """

    def __init__(
        self,
        table: Table,
        record: type[R],
        by: str,
        *,
        source: str | None = None,
        also: str | None = None,
        order: str | None = None,
        visible: str | None = None,
        decode: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> None:
        names = record._fields
        self._record = record._make
        columns = ", ".join(f"{table.name}.{name}" for name in names)
        self.head = f"SELECT {columns} FROM {source or table.name}"
        self.select = sa.select(sa.text(columns)).select_from(sa.text(source) if source else table)
        self._by = by
        self._also = f" AND {also}" if also else ""
        self._visible = f" AND ({visible})" if visible else None
        self._order = f" ORDER BY {order}" if order else ""
        self._decoders = [
            (index, decoder)
            for index, name in enumerate(names)
            if (decoder := (decode or {}).get(name) or _decoder(table.c[name].type)) is not None
        ]
        self._statement = lru_cache(maxsize=32)(self._make)
        self._alone = self._make(1, is_bound=False)

    async def read(self, store: Store, values: Sequence[str], *, visible_to: str | None = None) -> list[R]:
        """Read the records whose column has one of these values; ordered, if the lookup is, up to 512 values.

        Only those that the caller `visible_to` may see; all of them when it is None.
        """
        if len(values) == 1 and visible_to is None:  # as it mostly is
            return [*map(self.make, await store.rows(self._alone, {"v0": values[0]}))]
        found: list[R] = []
        for start in range(0, len(values), _VALUES_MAX):
            part = values[start : start + _VALUES_MAX]
            # Few sizes, so few statements: the last value is repeated to fill up.
            size = 1 << (len(part) - 1).bit_length()
            filled = (*part, *[part[-1]] * (size - len(part)))
            given = {f"v{index}": value for index, value in enumerate(filled)} | {"visible_to": visible_to}
            statement = self._statement(size, is_bound=visible_to is not None)
            found += map(self.make, await store.rows(statement, given))
        return found

    def make(self, row: Sequence[Any]) -> R:
        """Make the record of a row from a driver."""
        values = list(row)
        for index, decode in self._decoders:
            values[index] = decode(values[index])
        return self._record(values)

    def _make(self, size: int, *, is_bound: bool) -> Sql:
        marks = ", ".join(f":v{index}" for index in range(size))
        bound = ""
        if is_bound:
            assert self._visible is not None, "a lookup without `visible` is not read for a caller"
            bound = self._visible
        return Sql(f"{self.head} WHERE {self._by} IN ({marks}){self._also}{bound}{self._order}")


def of_run(column: str) -> str:
    """Return the condition for `Lookup(visible=…)` that the run whose id is in `column` is the caller's."""
    return f"EXISTS (SELECT 1 FROM run WHERE run.id = {column} AND run.caller_id = :visible_to)"


def _decoder(kind: TypeEngine[Any]) -> Callable[[Any], Any] | None:
    if isinstance(kind, UTCDateTime):
        return instant
    return bool if isinstance(kind, Boolean) else None
