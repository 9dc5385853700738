"""The tables of `store.models` as SQLAlchemy Core sees them, for reads that build no ORM objects."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sqlmodel import SQLModel

import store.models  # noqa: F401 - fills SQLModel.metadata

if TYPE_CHECKING:
    from sqlalchemy import Column, Table

_tables = SQLModel.metadata.tables

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


def columns_of(table: Table, record: type) -> list[Column[Any]]:
    """The columns a record is made of, in the order of its fields, so that `Record(*row)` fits.

    Raises:
        KeyError: the record has a field without a column of that name.
    """
    return [table.c[field.name] for field in dataclasses.fields(record)]
