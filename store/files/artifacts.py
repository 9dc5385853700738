"""Artifacts: named files of attempts and uploads. Their content is a blob, found by its digest.

An artifact of a succeeded run expires some days after it unless pinned; those of failed or cancelled runs, and those
that another run reuses, stay as long as the run. Erasing keeps the row, so that the history of a run stays complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql, instant
from store.database.ids import new_id
from store.database.lookups import Lookup
from store.database.paging import capped_count, created_within, fetch_page, words_in
from store.files.blob_rows import record_blob
from store.models.artifacts import ARTIFACT
from store.models.declaring import columns_of
from store.models.runs import ATTEMPT, RUN
from store.states import ArtifactStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import RowMapping

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow


class ArtifactOrder(StrEnum):
    """Order of a list of artifacts; the comment is its sort key."""

    NEWEST = "newest"  # (id,)
    LARGEST = "largest"  # (size_bytes, id)


class ArtifactRecord(NamedTuple):
    """A file with a name.

    Attributes:
        run_id: None for an upload; may dangle once the run is pruned.
        expires_at: When it is erased unless pinned; None unless its run succeeded or it is an upload.
        erased_at: When its content was erased; the row stays as a record.
        verified_by: The step that verified what an agent proposed.
    """

    id: str
    caller_id: str
    run_id: str | None
    step_id: str | None
    attempt_id: str | None
    name: str
    media_type: str
    size_bytes: int
    digest: str
    status: ArtifactStatus
    pinned: bool
    created_at: datetime
    expires_at: datetime | None
    erased_at: datetime | None
    verified_by: str | None


@dataclass(frozen=True, slots=True)
class ArtifactFilter:
    """Filter of artifacts; fields are joined by and, values within a field by or.

    Attributes:
        text: Words that must all occur in the name.
        media_types: Such as `text/plain`, or `image/*` for all of a kind.
        created_from: Created at or after.
        created_before: Created before.
        erased: Include erased ones.
        reused: Include artifacts of outputs that `run_id` reuses from other runs.
    """

    text: str | None = None
    media_types: tuple[str, ...] | None = None
    statuses: tuple[ArtifactStatus, ...] | None = None
    pipeline_ids: tuple[str, ...] | None = None
    run_id: str | None = None
    pinned: bool | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None
    erased: bool = False
    reused: bool = False


_INSERT = Sql(
    """INSERT INTO artifact (id, caller_id, name, media_type, size_bytes, digest, status, pinned, created_at,
        expires_at)
    VALUES (:id, :caller_id, :name, :media_type, :size_bytes, :digest, :status, :pinned, :now, :expires_at)"""
)
_PIN = Sql(
    """UPDATE artifact SET pinned = :pinned, expires_at = NULL
    WHERE id = :id AND NOT pinned AND erased_at IS NULL AND status <> 'quarantined'"""
)
_PINNED = Sql(
    """SELECT run.state, run.ended_at FROM artifact LEFT JOIN run ON run.id = artifact.run_id
    WHERE artifact.id = :id AND artifact.pinned"""
)
_UNPIN = Sql("UPDATE artifact SET pinned = :pinned, expires_at = :expires_at WHERE id = :id")
# Lets a run or a re-run days later find its uploads; writing only once an hour saves most writes.
_USED = Sql(
    """UPDATE artifact SET expires_at = :until
    WHERE id = :id AND run_id IS NULL AND NOT pinned AND erased_at IS NULL AND expires_at < :nearly"""
)
_STATUS = Sql("UPDATE artifact SET status = :after WHERE id = :id AND status = :before AND erased_at IS NULL")
_ERASE = Sql("UPDATE artifact SET erased_at = :now, pinned = :pinned WHERE id = :id AND erased_at IS NULL")
# What another run reuses stays as long as that run, even when the artifact's own run is gone.
_EXPIRED = Sql(
    """SELECT id FROM artifact WHERE expires_at <= :now AND erased_at IS NULL AND NOT pinned
        AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.reused_from = artifact.attempt_id)
    ORDER BY expires_at LIMIT :limit"""
)
_COLUMNS = columns_of(ARTIFACT, ArtifactRecord)
_DECODE = {"status": {status.value: status for status in ArtifactStatus}.__getitem__}
_BOUNDS = {"caller_id": "caller_id = :caller_id", "after": "id < :after", "before": "id > :before"}
#: A caller's own artifacts, and those of outputs that a run of theirs reuses.
_VISIBLE = """artifact.caller_id = :visible_to OR EXISTS (
        SELECT 1 FROM attempt JOIN run ON run.id = attempt.run_id
        WHERE attempt.reused_from = artifact.attempt_id AND run.caller_id = :visible_to)"""
_BY_ID = Lookup(ARTIFACT, ArtifactRecord, "artifact.id", visible=_VISIBLE, decode=_DECODE)
_OF_STEPS = Lookup(
    ARTIFACT,
    ArtifactRecord,
    "attempt.step_id",
    source="artifact JOIN attempt ON attempt.id = artifact.attempt_id",
    order="artifact.id",
    visible=_VISIBLE,
    decode=_DECODE,
)
_OF_ATTEMPTS = Lookup(
    ARTIFACT, ArtifactRecord, "artifact.attempt_id", order="artifact.id", visible=_VISIBLE, decode=_DECODE
)


# ------------------------------------------------------------------------------------------------ units


def add_upload(
    conn: Connection,
    *,
    caller_id: str,
    name: str,
    media_type: str,
    size_bytes: int,
    digest: str,
    keep_days: float,
    status: ArtifactStatus = ArtifactStatus.STORED,
) -> str:
    """Record an uploaded file whose blob is stored already; return its id.

    It expires `keep_days` after its last use, see `use_upload`.
    """
    artifact_id = new_id("art")
    now = conn.now()
    record_blob(conn, digest, size_bytes, now)
    conn.run(
        _INSERT,
        {
            "id": artifact_id,
            "caller_id": caller_id,
            "name": name,
            "media_type": media_type,
            "size_bytes": size_bytes,
            "digest": digest,
            "status": status.value,
            "pinned": False,
            "now": now,
            "expires_at": now + timedelta(days=keep_days),
        },
    )
    return artifact_id


def use_upload(conn: Connection, artifact_id: str, *, keep_days: float) -> bool:
    """Keep an upload for `keep_days` from now because a run uses it; return whether its expiry changed.

    Does nothing to artifacts of runs, which expire with their run.
    """
    until = conn.now() + timedelta(days=keep_days)
    nearly = until - timedelta(hours=1)
    return conn.run(_USED, {"id": artifact_id, "until": until, "nearly": nearly}) > 0


def pin_artifact(conn: Connection, artifact_id: str) -> bool:
    """Pin an artifact, which keeps it forever; return false if it is pinned, erased, quarantined or missing."""
    return conn.run(_PIN, {"id": artifact_id, "pinned": True}) > 0


def unpin_artifact(conn: Connection, artifact_id: str, *, keep_days: float) -> bool:
    """Unpin an artifact; return false if it is not pinned.

    It expires `keep_days` after its run succeeded, or from now if its run is gone or it is an upload; artifacts of runs
    in any other state stay with the run.
    """
    row = conn.one(_PINNED, {"id": artifact_id})
    if row is None:
        return False
    expires_at: datetime | None = None
    if row.state is None:
        expires_at = conn.now() + timedelta(days=keep_days)
    elif row.state == "succeeded" and (ended_at := instant(row.ended_at)) is not None:
        expires_at = ended_at + timedelta(days=keep_days)
    conn.run(_UNPIN, {"id": artifact_id, "pinned": False, "expires_at": expires_at})
    return True


def change_status(conn: Connection, artifact_id: str, before: ArtifactStatus, after: ArtifactStatus) -> bool:
    """Change the status of an artifact; return false if it is no longer `before`."""
    return conn.run(_STATUS, {"id": artifact_id, "before": before.value, "after": after.value}) > 0


def erase_artifacts(conn: Connection, ids: Sequence[str]) -> int:
    """Erase artifacts, even pinned ones; return how many were not erased yet. `prune_blobs` deletes the bytes."""
    now = conn.now()
    return sum(conn.run(_ERASE, {"id": artifact_id, "now": now, "pinned": False}) for artifact_id in ids)


def expire_artifacts(conn: Connection, *, limit: int = 500) -> int:
    """Erase expired artifacts, oldest first; return how many."""
    return erase_artifacts(conn, [row.id for row in conn.all(_EXPIRED, {"now": conn.now(), "limit": limit})])


# ------------------------------------------------------------------------------------------------ reads


async def find_artifacts(
    store: Store, ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, ArtifactRecord]:
    """Find artifacts by id, including erased ones.

    `visible_to` limits them to those of one caller and of outputs that the caller's runs reuse; None does not.
    """
    return {artifact.id: artifact for artifact in await _BY_ID.read(store, ids, visible_to=visible_to)}


async def find_artifact(store: Store, artifact_id: str, *, visible_to: str | None = None) -> ArtifactRecord | None:
    """Find one artifact, even an erased one; see `find_artifacts`."""
    return (await find_artifacts(store, [artifact_id], visible_to=visible_to)).get(artifact_id)


async def list_artifacts(
    store: Store,
    wanted: ArtifactFilter,
    window: PageWindow,
    *,
    order: ArtifactOrder = ArtifactOrder.NEWEST,
    visible_to: str | None = None,
) -> list[ArtifactRecord]:
    """List artifacts; `ArtifactOrder` names the sort keys.

    `visible_to` limits them to those of one caller, and of reused outputs if the filter asks for them; None does not.
    """
    statement = sa.select(*_COLUMNS).where(*_conditions(wanted, visible_to))
    keys = [(ARTIFACT.c.id, True)]
    if order is ArtifactOrder.LARGEST:
        keys.insert(0, (ARTIFACT.c.size_bytes, True))
    return [_record(row) for row in await fetch_page(store, statement, keys, window)]


async def list_of_run(
    store: Store, run_id: str, window: PageWindow, *, visible_to: str | None = None
) -> list[ArtifactRecord]:
    """List the artifacts of one run like `list_artifacts`; a prepared statement, since every view of a run asks."""
    given = {
        "caller_id": visible_to,
        "after": None if window.after is None else window.after[0],
        "before": None if window.before is None else window.before[0],
    }
    bounds = {name: value for name, value in given.items() if value is not None}
    statement = _page_of_run(frozenset(bounds), window.reverse)
    rows = await store.rows(statement, {**bounds, "run_id": run_id, "limit": window.limit + 1})
    found = [_BY_ID.make(row) for row in rows]
    return found[::-1] if window.reverse else found


async def count_artifacts(store: Store, wanted: ArtifactFilter, *, visible_to: str | None = None) -> int:
    """Count matching artifacts, up to `store.database.paging.COUNT_CAP`."""
    return await capped_count(store, sa.select(ARTIFACT.c.id).where(*_conditions(wanted, visible_to)))


async def artifacts_of_steps(
    store: Store, step_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, list[ArtifactRecord]]:
    """List artifacts of all attempts of each step, oldest first, by step id; every id asked for has an entry."""
    artifacts: dict[str, list[ArtifactRecord]] = {step_id: [] for step_id in step_ids}
    for artifact in await _OF_STEPS.read(store, step_ids, visible_to=visible_to):
        assert artifact.step_id is not None, "it is its attempt's"
        artifacts[artifact.step_id].append(artifact)
    return artifacts


async def artifacts_of_attempts(
    store: Store, attempt_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, list[ArtifactRecord]]:
    """List the artifacts of each attempt, oldest first, by attempt id; every id asked for has an entry."""
    artifacts: dict[str, list[ArtifactRecord]] = {attempt_id: [] for attempt_id in attempt_ids}
    for artifact in await _OF_ATTEMPTS.read(store, attempt_ids, visible_to=visible_to):
        assert artifact.attempt_id is not None, "it was looked up by it"
        artifacts[artifact.attempt_id].append(artifact)
    return artifacts


@lru_cache(maxsize=16)
def _page_of_run(bounds: frozenset[str], reverse: bool) -> Sql:
    conditions = ["run_id = :run_id", "erased_at IS NULL", *(text for name, text in _BOUNDS.items() if name in bounds)]
    names = ", ".join(column.name for column in _COLUMNS)
    order = "ASC" if reverse else "DESC"
    return Sql(f"SELECT {names} FROM artifact WHERE {' AND '.join(conditions)} ORDER BY id {order} LIMIT :limit")


def _conditions(wanted: ArtifactFilter, visible_to: str | None) -> list[Any]:
    conditions: list[Any] = []
    if visible_to is not None and wanted.run_id is not None and wanted.reused:
        # Reused artifacts may be another caller's, so the run decides visibility.
        own_run = sa.select(RUN.c.id).where(RUN.c.id == wanted.run_id, RUN.c.caller_id == visible_to)
        conditions.append(own_run.exists())
    elif visible_to is not None:
        conditions.append(ARTIFACT.c.caller_id == visible_to)
    if not wanted.erased:
        conditions.append(ARTIFACT.c.erased_at.is_(None))
    if wanted.text:
        conditions.extend(words_in(sa.func.lower(ARTIFACT.c.name), wanted.text))
    if wanted.media_types is not None:
        kinds = [media_type[:-1] for media_type in wanted.media_types if media_type.endswith("/*")]
        plain = [media_type for media_type in wanted.media_types if not media_type.endswith("/*")]
        by_kind = (ARTIFACT.c.media_type.startswith(kind, autoescape=True) for kind in kinds)
        conditions.append(sa.or_(ARTIFACT.c.media_type.in_(plain), *by_kind))
    if wanted.statuses is not None:
        conditions.append(ARTIFACT.c.status.in_([status.value for status in wanted.statuses]))
    if wanted.pipeline_ids is not None:
        runs = sa.select(RUN.c.id).where(RUN.c.pipeline_id.in_(wanted.pipeline_ids))
        conditions.append(ARTIFACT.c.run_id.in_(runs))
    if wanted.run_id is not None and wanted.reused:
        # Two reads, because each uses its own index.
        ids = sa.select(ARTIFACT.c.id).correlate(None)
        own = ids.where(ARTIFACT.c.run_id == wanted.run_id)
        reuses = (ATTEMPT.c.run_id == wanted.run_id, ATTEMPT.c.reused_from.is_not(None))
        came_along = ids.where(ARTIFACT.c.attempt_id.in_(sa.select(ATTEMPT.c.reused_from).where(*reuses)))
        conditions.append(ARTIFACT.c.id.in_(sa.union_all(own, came_along)))
    elif wanted.run_id is not None:
        conditions.append(ARTIFACT.c.run_id == wanted.run_id)
    if wanted.pinned is not None:
        conditions.append(ARTIFACT.c.pinned.is_(wanted.pinned))
    conditions += created_within(ARTIFACT, "art", wanted.created_from, wanted.created_before)
    return conditions


def _record(row: RowMapping) -> ArtifactRecord:
    return ArtifactRecord(**{**row, "status": ArtifactStatus(row["status"])})
