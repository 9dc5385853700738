"""The tables of `store.models` that statements are built over, for reads that build no ORM objects.

They are made from `store.columns`, not from the models, and when a statement first names one: with SQLAlchemy, SQLModel
and the classes it took a quarter of the time of a start, which reads by prepared statements alone.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnClause
    from sqlalchemy.sql.base import ReadOnlyColumnCollection


class LateTable:
    """A table that SQLAlchemy Core takes for its own.

    Attributes:
        name: Its name in the database.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def c(self) -> ReadOnlyColumnCollection[str, ColumnClause[Any]]:
        """Its columns."""
        columns: ReadOnlyColumnCollection[str, ColumnClause[Any]] = self.__clause_element__().c
        return columns

    def __clause_element__(self) -> Any:  # noqa: ANN401 - the table; SQLAlchemy's type of it is no public one
        """What SQLAlchemy asks for where it is given something else."""
        from store.core_tables import TABLES

        return TABLES[self.name]


class Columns:
    """The columns a record is made of, in the order of its fields, so that `Record(*row)` fits."""

    def __init__(self, source: LateTable, record: type) -> None:
        self._source = source
        self._names: Sequence[str] = getattr(record, "_fields", ())  # of a named tuple
        if dataclasses.is_dataclass(record):
            self._names = [field.name for field in dataclasses.fields(record)]

    def __iter__(self) -> Iterator[ColumnClause[Any]]:
        return (self._source.c[name] for name in self._names)


def columns_of(source: LateTable, record: type) -> Columns:
    """The columns that are named like the fields of a record."""
    return Columns(source, record)


ARTIFACT = LateTable("artifact")
ATTEMPT = LateTable("attempt")
AUDIT = LateTable("audit")
BLOB = LateTable("blob")
CACHE_ENTRY = LateTable("cache_entry")
CALLER = LateTable("caller")
CREDENTIAL = LateTable("credential")
CREDENTIAL_GRANT = LateTable("credential_grant")
GAP_PROPOSAL = LateTable("gap_proposal")
JOINED_KEY = LateTable("joined_key")
LOG_LINE = LateTable("log_line")
MCP_TOOL = LateTable("mcp_tool")
MEMORY_ENTRY = LateTable("memory_entry")
PIPELINE = LateTable("pipeline")
PIPELINE_VERSION = LateTable("pipeline_version")
PREVIEW = LateTable("preview")
RUN = LateTable("run")
RUN_EVENT = LateTable("run_event")
RUN_STEP = LateTable("run_step")
SESSION = LateTable("session")
SPENT_KEY = LateTable("spent_key")
TOKEN = LateTable("token")
TRANSCRIPT = LateTable("transcript")
