"""Previews of blobs: one row for all artifacts that share a blob."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import orjson
import sqlalchemy as sa

from store.database.dialects import Sql
from store.files.blob_rows import record_blob
from store.models.artifacts import PREVIEW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import RowMapping

    from store.database.dialects import Connection
    from store.database.engine import Store


class PreviewKind(StrEnum):
    """Kinds of preview."""

    PAGE = "page"
    PICTURE = "picture"
    FRAME = "frame"
    WAVEFORM = "waveform"
    TEXT = "text"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class PreviewRecord:
    """The preview of a blob.

    Attributes:
        digest: The blob that is shown.
        image_digest: The blob of its image; None where there is none.
        pages: Pages of a document, slides of a presentation.
        width: Displayed width of an image or video, in pixels.
        duration_seconds: Of sound and video.
        peaks: Loudest sample of each of equally long intervals, 0 to 1, in order.
        text: Beginning of the text of a document that is not plain text.
        reason: Why there is no preview, for people.
    """

    digest: str
    kind: PreviewKind
    image_digest: str | None = None
    image_type: str | None = None
    pages: int | None = None
    width: int | None = None
    height: int | None = None
    duration_seconds: float | None = None
    peaks: tuple[float, ...] | None = field(default=None, repr=False)
    text: str | None = field(default=None, repr=False)
    reason: str | None = None


_FACTS = ("pages", "width", "height", "duration_seconds", "peaks", "text", "reason")
# Inserts nothing when the blob was pruned meanwhile.
_INSERT = Sql(
    """INSERT INTO preview (digest, kind, image_digest, image_type, facts, created_at)
    SELECT digest, :kind, :image_digest, :image_type, :facts, :now FROM blob WHERE digest = :digest
    ON CONFLICT DO NOTHING"""
)


def save_preview(conn: Connection, preview: PreviewRecord, *, image_bytes: int = 0) -> None:
    """Store a preview, unless there is one or the blob is gone.

    The image is in the blob store already; `image_bytes` is its size.
    """
    now = conn.now()
    if preview.image_digest is not None:
        record_blob(conn, preview.image_digest, image_bytes, now)
    facts = {name: value for name in _FACTS if (value := getattr(preview, name)) is not None}
    conn.run(
        _INSERT,
        {
            "digest": preview.digest,
            "kind": preview.kind.value,
            "image_digest": preview.image_digest,
            "image_type": preview.image_type,
            "facts": orjson.dumps(facts).decode(),
            "now": now,
        },
    )


async def find_previews(store: Store, digests: Sequence[str]) -> dict[str, PreviewRecord]:
    """Find previews by digest; blobs without one are left out."""
    rows = await store.read(sa.select(PREVIEW).where(PREVIEW.c.digest.in_(digests)))
    return {row["digest"]: _record(row) for row in rows.mappings()}


def _record(row: RowMapping) -> PreviewRecord:
    facts = orjson.loads(row["facts"])
    peaks = facts.get("peaks")
    known = {name: facts[name] for name in _FACTS if name in facts and name != "peaks"}
    return PreviewRecord(
        row["digest"],
        PreviewKind(row["kind"]),
        row["image_digest"],
        row["image_type"],
        peaks=tuple(peaks) if isinstance(peaks, list) else None,
        **known,
    )
