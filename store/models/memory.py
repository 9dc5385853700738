"""What is remembered of callers."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text
from sqlmodel import Field, SQLModel

from store.models.declaring import table_of


class MemoryEntryRow(SQLModel, table=True):
    """One pack call, step or run as it ended; what was learned from it is sealed with the vault key.

    Who, what, when and how it ended lie open, as they do in the history of runs, so that forgetting needs no key.
    """

    __tablename__ = "memory_entry"
    __table_args__ = (
        # A resume replaces the row of what it does again.
        Index("uq_memory_entry_outcome", "run_id", "step_id", unique=True),
        Index("ix_memory_entry_caller", "caller_id", "at", "id"),
        Index("ix_memory_entry_revision", "caller_id", "revision"),
    )

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id", ondelete="CASCADE")
    kind: str  # pack | pipeline
    target: str  # the pack's name or the pipeline's id
    run_id: str  # may dangle
    step_id: str  # empty for a run, and for a pack called by itself
    at: datetime
    outcome: str
    failure_code: str | None = None
    duration_seconds: float
    sealed: str | None = Field(default=None, sa_type=Text)  # learned values; NULL when none
    revision: int = Field(sa_type=BigInteger)  # of its caller's memory when it was written
    expires_at: datetime = Field(index=True)


class MemoryStateRow(SQLModel, table=True):
    """How far a caller's memory has come, so that what is made from it can be kept and brought up to date."""

    __tablename__ = "memory_state"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    revision: int = Field(sa_type=BigInteger)  # counts changes
    removed: int = Field(sa_type=BigInteger)  # the last one that took rows away
    paused_at: datetime | None = None  # since when nothing is learned
    # What was counted up to the revision `counted`, sealed; both NULL when nothing was, or rows went away since.
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
