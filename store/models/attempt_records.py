"""What attempts leave besides outputs: log lines, transcripts, cached results, sessions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text
from sqlmodel import Field, SQLModel

from store.models.declaring import table_of


class LogLineRow(SQLModel, table=True):
    """A line a pack or a process logged; capped per attempt, never a run event."""

    __tablename__ = "log_line"

    attempt_id: str = Field(primary_key=True, foreign_key="attempt.id", ondelete="CASCADE")
    sequence: int = Field(primary_key=True)
    at: datetime
    level: str
    text: str = Field(sa_type=Text)


class TranscriptRow(SQLModel, table=True):
    """A chunk of an agent's transcript: redacted entries as JSON lines. A gap in the sequence marks omitted entries."""

    __tablename__ = "transcript"

    attempt_id: str = Field(primary_key=True, foreign_key="attempt.id", ondelete="CASCADE")
    first: int = Field(primary_key=True)  # sequence of its first entry, from 1 within the attempt
    last: int
    is_tail: bool  # may be dropped to make room for later entries
    size_bytes: int
    lines: str = Field(sa_type=Text)


class CachedResultRow(SQLModel, table=True):
    """A cached result of an agent step, to be replayed."""

    __tablename__ = "cached_result"
    __table_args__ = (Index("uq_cached_result_key", "caller_id", "key", unique=True),)

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id", ondelete="CASCADE")
    key: str  # SHA-256 over everything that determines the result
    attempt_id: str  # the attempt that made it; may dangle
    output: str = Field(sa_type=Text)
    made_at: datetime
    expires_at: datetime = Field(index=True)


class CachedFileRow(SQLModel, table=True):
    """An artifact of a cached result; keeps its content from being pruned."""

    __tablename__ = "cached_file"

    result_id: str = Field(primary_key=True, foreign_key="cached_result.id", ondelete="CASCADE")
    position: int = Field(primary_key=True)
    name: str
    media_type: str
    digest: str = Field(index=True)
    size_bytes: int = Field(sa_type=BigInteger)


class CacheEntryRow(SQLModel, table=True):
    """A value a pack cached for one caller."""

    __tablename__ = "cache_entry"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    pack: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    value: str = Field(sa_type=Text)
    created_at: datetime
    expires_at: datetime = Field(index=True)


class SessionRow(SQLModel, table=True):
    """A workspace that a step left for later steps; it exists on one machine."""

    __tablename__ = "session"

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="run.id", ondelete="CASCADE", index=True)
    step_id: str
    machine: str  # on another machine the session counts as missing
    created_at: datetime
    last_used_at: datetime
    ended_at: datetime | None = None


LOG_LINE = table_of(LogLineRow)
TRANSCRIPT = table_of(TranscriptRow)
SESSION = table_of(SessionRow)
