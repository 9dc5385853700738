"""The tables of `store.models` as SQLAlchemy Core sees them, for reads that build no ORM objects.

Made from `store.columns`, not from the models: importing SQLModel and the ORM and declaring the classes took a sixth of
the time of a start.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Boolean, ColumnClause, Float, Integer, String, TableClause, Text, column, table

from store.columns import COLUMNS
from store.dialects import Instant

if TYPE_CHECKING:
    from sqlalchemy.types import TypeEngine

_TYPES: dict[str, TypeEngine[Any]] = {
    "AutoString": String(),
    "BigInteger": BigInteger(),
    "Boolean": Boolean(),
    "Float": Float(),
    "Integer": Integer(),
    "Text": Text(),
    "UTCDateTime": Instant(),
}
_tables: dict[str, TableClause] = {
    name: table(name, *(column(key, _TYPES[kind]) for key, kind in columns.items()))
    for name, columns in COLUMNS.items()
}

ARTIFACT = _tables["artifact"]
ATTEMPT = _tables["attempt"]
AUDIT = _tables["audit"]
BLOB = _tables["blob"]
CACHE_ENTRY = _tables["cache_entry"]
CACHED_FILE = _tables["cached_file"]
CACHED_RESULT = _tables["cached_result"]
CALLER = _tables["caller"]
CREDENTIAL = _tables["credential"]
CREDENTIAL_GRANT = _tables["credential_grant"]
DEFAULT_OVERRIDE = _tables["default_override"]
GAP_PROPOSAL = _tables["gap_proposal"]
JOINED_KEY = _tables["joined_key"]
LOG_LINE = _tables["log_line"]
MCP_TOOL = _tables["mcp_tool"]
MEMORY_ENTRY = _tables["memory_entry"]
MEMORY_STATE = _tables["memory_state"]
PIPELINE = _tables["pipeline"]
PIPELINE_VERSION = _tables["pipeline_version"]
PREVIEW = _tables["preview"]
RUN = _tables["run"]
RUN_EVENT = _tables["run_event"]
RUN_STEP = _tables["run_step"]
SESSION = _tables["session"]
TOKEN = _tables["token"]
TRANSCRIPT = _tables["transcript"]
VAULT = _tables["vault"]


def columns_of(source: TableClause, record: type) -> list[ColumnClause[Any]]:
    """The columns a record is made of, in the order of its fields, so that `Record(*row)` fits.

    Raises:
        KeyError: the record has a field without a column of that name.
    """
    return [source.c[field.name] for field in dataclasses.fields(record)]
