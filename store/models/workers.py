"""The processes that execute runs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Text, false, text
from sqlmodel import Field, SQLModel

from store.models.declaring import table_of


class WorkerRow(SQLModel, table=True):
    """A process that executes runs; removed when it stops, or a while after its last sign of life."""

    __tablename__ = "worker"

    id: str = Field(primary_key=True)  # as in `run.owner`
    machine: str  # see `store.database.engine.Store.machine`
    release: str
    lanes: int
    started_at: datetime
    seen_at: datetime  # by the database's clock, renewed with the leases
    # What the steps it executes may need: see `store.runs.needs`.
    offers: str = Field(default="", sa_type=Text, sa_column_kwargs={"server_default": text("''")})

    draining: bool = Field(default=False, sa_column_kwargs={"server_default": false()})  # takes no further runs


WORKER = table_of(WorkerRow)
