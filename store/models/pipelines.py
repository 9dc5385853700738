"""Pipelines, their versions, and gap proposals."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Text
from sqlmodel import Field, SQLModel

from store.models.declaring import partial_index, table_of


class PipelineRow(SQLModel, table=True):
    """A stored pipeline; its definition is in the numbered versions."""

    __tablename__ = "pipeline"
    __table_args__ = (
        # A user's key is unique among pipelines that are not deleted; a starter with the same key is found by its id.
        partial_index(
            "uq_pipeline_user_key",
            "key",
            where="deleted_at IS NULL AND NOT builtin",
            unique=True,
        ),
        Index("ix_pipeline_updated", "updated_at", "id"),
    )

    id: str = Field(primary_key=True)
    key: str = Field(index=True)
    name: str
    description: str = Field(sa_type=Text)
    builtin: bool
    aliases: str = Field(default="[]", sa_type=Text)  # JSON list of keys
    owner_id: str | None = Field(default=None, foreign_key="caller.id", index=True)
    current_number: int
    metadata_json: str = Field(sa_type=Text)
    search_text: str = Field(sa_type=Text)  # lower-case words of key, name, description and metadata
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None


class PipelineVersionRow(SQLModel, table=True):
    """One saved definition of a pipeline; immutable."""

    __tablename__ = "pipeline_version"
    __table_args__ = (Index("uq_pipeline_version_number", "pipeline_id", "number", unique=True),)

    id: str = Field(primary_key=True)
    pipeline_id: str = Field(foreign_key="pipeline.id", ondelete="CASCADE")
    number: int
    digest: str  # SHA-256 of the canonical definition
    document: str = Field(sa_type=Text)  # JSON, keys in their author's order
    yaml: str = Field(sa_type=Text)
    input_schema: str = Field(sa_type=Text)  # JSON Schema, declared or derived
    note: str | None = Field(default=None, sa_type=Text)
    created_by: str | None = Field(default=None, foreign_key="caller.id")
    created_at: datetime


class GapProposalRow(SQLModel, table=True):
    """A missing capability that a caller kept, to be built."""

    __tablename__ = "gap_proposal"

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id", index=True)  # who kept it
    user_intent: str = Field(sa_type=Text)  # the request that nothing in the catalog serves
    gap: str = Field(sa_type=Text)  # JSON: missing_capability, why_missing, proposal
    created_at: datetime


PIPELINE = table_of(PipelineRow)
PIPELINE_VERSION = table_of(PipelineVersionRow)
GAP_PROPOSAL = table_of(GapProposalRow)
