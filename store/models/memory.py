"""Callers' memory: entries, its revision, and overrides of defaults."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text
from sqlmodel import Field, SQLModel

from store.models.declaring import table_of


class MemoryEntryRow(SQLModel, table=True):
    """The outcome of a pack call, step or run; the values learned from it are sealed with the vault key.

    Caller, target, time and outcome are not sealed, as in the history of runs: rows can be deleted without the key.
    """

    __tablename__ = "memory_entry"
    __table_args__ = (
        # A resume replaces the rows of what it runs again.
        Index("uq_memory_entry_outcome", "run_id", "step_id", unique=True),
        Index("ix_memory_entry_caller", "caller_id", "at", "id"),
        Index("ix_memory_entry_revision", "caller_id", "revision"),
    )

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id", ondelete="CASCADE")
    kind: str  # pack | pipeline
    target: str  # the pack's name or the pipeline's id
    run_id: str  # may dangle
    step_id: str  # empty for a run, and for a pack that was called directly
    at: datetime
    outcome: str
    failure_code: str | None = None
    duration_seconds: float
    sealed: str | None = Field(default=None, sa_type=Text)  # learned values; NULL when none
    revision: int = Field(sa_type=BigInteger)  # revision of its caller's memory when it was written
    expires_at: datetime = Field(index=True)


class MemoryStateRow(SQLModel, table=True):
    """The revision of a caller's memory, by which counts and caches made from it are brought up to date."""

    __tablename__ = "memory_state"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    revision: int = Field(sa_type=BigInteger)  # counts changes
    removed: int = Field(sa_type=BigInteger)  # the last revision that deleted rows
    paused_at: datetime | None = None  # since when nothing is learned
    # Counts up to the revision `counted`, sealed; both NULL when nothing was counted, or rows were deleted since.
    counted: int | None = Field(default=None, sa_type=BigInteger)
    counts: str | None = Field(default=None, sa_type=Text)


class DefaultOverrideRow(SQLModel, table=True):
    """A default that its caller pinned or excluded."""

    __tablename__ = "default_override"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    kind: str = Field(primary_key=True)  # pack | pipeline
    target: str = Field(primary_key=True)
    field: str = Field(primary_key=True)
    rule: str  # pinned | excluded
    sealed: str | None = Field(default=None, sa_type=Text)  # the value; NULL when excluded
    updated_at: datetime


MEMORY_ENTRY = table_of(MemoryEntryRow)
