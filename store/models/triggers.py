"""What starts pipelines by itself, and what each firing led to."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Text, false
from sqlmodel import Field, SQLModel

from store.models.declaring import partial_index, table_of


class TriggerRow(SQLModel, table=True):
    """Starts runs of a pipeline as its owner."""

    __tablename__ = "trigger"
    __table_args__ = (
        # Finds what is due, and when the next one will be, however many triggers there are.
        partial_index("ix_trigger_due", "next_at", "id", where="enabled"),
        # Asked each time a run ends; empty where no trigger waits for that.
        partial_index("ix_trigger_run_ended", "pipeline_id", where="kind = 'run_ended' AND enabled"),
    )

    id: str = Field(primary_key=True)
    name: str
    kind: str  # schedule | webhook | run_ended
    pipeline_id: str = Field(foreign_key="pipeline.id", index=True)
    version: int | None = None  # number of the pinned version; None for the current one
    owner_id: str = Field(foreign_key="caller.id", index=True)
    scopes: str = Field(sa_type=Text)  # JSON list of the scopes of its runs
    inputs: str = Field(sa_type=Text)  # JSON object with templates over `trigger`
    settings: str = Field(sa_type=Text)  # JSON object, by kind
    enabled: bool
    attention: str | None = Field(default=None, sa_type=Text)  # why Packline paused it
    revision: int  # counts changes, so that a firing decided before a change is dropped
    next_at: datetime | None = None
    last_at: datetime | None = None  # of the last firing
    created_at: datetime
    updated_at: datetime
    # Whether it was paused because its owner was disabled: it fires again when the owner is enabled.
    paused_with_owner: bool = Field(default=False, sa_column_kwargs={"server_default": false()})


class FiringRow(SQLModel, table=True):
    """One firing of a trigger, written in the transaction that starts its run."""

    __tablename__ = "firing"
    __table_args__ = (
        Index("uq_firing_key", "trigger_id", "key", unique=True),
        # Lists a trigger's firings, newest first.
        Index("ix_firing_trigger", "trigger_id", "id"),
    )

    id: str = Field(primary_key=True)
    trigger_id: str = Field(foreign_key="trigger.id", ondelete="CASCADE")
    key: str  # what a trigger fires for at most once, such as an instant
    scheduled_at: datetime | None = None
    outcome: str  # fired | skipped | missed | refused | failed
    reason: str | None = Field(default=None, sa_type=Text)
    run_id: str | None = None  # may dangle: runs are pruned
    created_at: datetime


TRIGGER = table_of(TriggerRow)
FIRING = table_of(FiringRow)
