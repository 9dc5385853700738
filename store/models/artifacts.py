"""Contents, artifacts and previews."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text
from sqlmodel import Field, SQLModel

from store.models.declaring import table_of


class BlobRow(SQLModel, table=True):
    """A stored content; its bytes are in the blob store under the digest."""

    __tablename__ = "blob"

    digest: str = Field(primary_key=True)
    size_bytes: int = Field(sa_type=BigInteger)
    created_at: datetime


class BlobMarkerRow(SQLModel, table=True):
    """The content by which processes that share the database recognise their blob store; one row."""

    __tablename__ = "blob_marker"

    id: int = Field(primary_key=True)  # 1
    digest: str


class PreviewRow(SQLModel, table=True):
    """The preview of a content, shared by all artifacts with that content."""

    __tablename__ = "preview"

    digest: str = Field(primary_key=True, foreign_key="blob.digest", ondelete="CASCADE")  # of the content shown
    kind: str  # page | picture | frame | waveform | text | none
    image_digest: str | None = Field(default=None, index=True)  # blob of the picture to show
    image_type: str | None = None
    facts: str = Field(default="{}", sa_type=Text)  # JSON: pages, width, height, seconds, peaks
    created_at: datetime


class ArtifactRow(SQLModel, table=True):
    """A named file that an attempt produced."""

    __tablename__ = "artifact"
    __table_args__ = (
        Index("ix_artifact_caller", "caller_id", "id"),
        Index("ix_artifact_digest", "digest"),
        Index("ix_artifact_size", "size_bytes", "id"),
        Index("ix_artifact_expires_at", "expires_at"),
    )

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id")
    run_id: str | None = Field(default=None, index=True)  # no foreign key: a pinned artifact outlives its run
    step_id: str | None = None
    attempt_id: str | None = Field(default=None, index=True)
    name: str
    media_type: str
    size_bytes: int = Field(sa_type=BigInteger)
    digest: str
    status: str
    pinned: bool = False
    created_at: datetime
    expires_at: datetime | None = None
    erased_at: datetime | None = None
    verified_by: str | None = None  # the step that read a proposed artifact and succeeded


PREVIEW = table_of(PreviewRow)
ARTIFACT = table_of(ArtifactRow)
