"""Reads of pipelines and their versions. Lists never fetch documents."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql
from store.database.lookups import Lookup
from store.database.paging import COUNT_CAP, PageWindow, SortKey, capped_count, fetch_page, oldest_id, words_in
from store.models.declaring import columns_of
from store.models.pipelines import PIPELINE, PIPELINE_VERSION
from store.models.runs import RUN
from store.pipelines.aliases import Alias, load_aliases

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import RowMapping

    from store.database.dialects import Row
    from store.database.engine import Store


class PipelineRecord(NamedTuple):
    """A stored pipeline.

    Attributes:
        aliases: Earlier keys that still find it, with the present names of their inputs.
        metadata_json: JSON text.
        owner_id: None for a starter.
        deleted_at: Once set, only reads by id find it.
    """

    id: str
    key: str
    name: str
    description: str
    builtin: bool
    aliases: tuple[Alias, ...]
    owner_id: str | None
    current_number: int
    metadata_json: str
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None

    def alias(self, ref: str) -> Alias | None:
        """Return the alias that a reference names, with or without `builtin.`; None when it is the id or key."""
        if ref in (self.id, self.key):
            return None
        name = ref.removeprefix(STARTER_PREFIX)
        return next((alias for alias in self.aliases if alias.name == name), None)


class VersionRecord(NamedTuple):
    """A version of a pipeline, without its texts."""

    id: str
    pipeline_id: str
    number: int
    digest: str
    note: str | None
    created_by: str | None
    created_at: datetime


class VersionBody(NamedTuple):
    """The texts of a version: JSON, YAML and the JSON Schema of the inputs; keys in their author's order."""

    id: str
    document: str
    yaml: str
    input_schema: str


@dataclass(frozen=True, slots=True)
class PipelineFilter:
    """Which pipelines; fields are joined by and. `uses_pack` names a pack that the current version calls."""

    text: str | None = None
    builtin: bool | None = None
    owner_id: str | None = None
    uses_pack: str | None = None


class PipelineOrder(StrEnum):
    """Order of a list of pipelines; the comment is its sort key."""

    RECENTLY_CHANGED = "recently_changed"  # (updated_at, id)
    RECENTLY_RUN = "recently_run"  # (id of the newest run or "", id)
    MOST_USED = "most_used"  # (runs of the last 30 days, id)
    NAME = "name"  # (lower-case name, id)


@dataclass(frozen=True, slots=True)
class ListedPipeline:
    """A pipeline of a list with its sort key, for cursors."""

    pipeline: PipelineRecord
    key: tuple[Any, ...]


#: Prefix of starters' ids, before their keys and earlier names.
STARTER_PREFIX = "builtin."
_COLUMNS = columns_of(PIPELINE, PipelineRecord)
#: Pipelines whose names are compared with a mistyped one; a comparison takes some microseconds.
NAMES_MAX = 2_000
_VERSION_COLUMNS = columns_of(PIPELINE_VERSION, VersionRecord)
_BY_ID = Lookup(PIPELINE, PipelineRecord, "pipeline.id", decode={"aliases": load_aliases})
_VERSIONS = Lookup(PIPELINE_VERSION, VersionRecord, "pipeline_version.id")
_BODIES = Lookup(PIPELINE_VERSION, VersionBody, "pipeline_version.id")
_CURRENT = Lookup(
    PIPELINE_VERSION,
    VersionRecord,
    "pipeline.id",
    source="pipeline JOIN pipeline_version ON pipeline_version.pipeline_id = pipeline.id "
    "AND pipeline_version.number = pipeline.current_number",
)


_STARTER_METADATA = Sql("SELECT id, metadata_json FROM pipeline WHERE builtin AND deleted_at IS NULL")
# Prepared, since every start of a run looks its pipeline up.
_FIELDS = ", ".join(PipelineRecord._fields)
_BY_NAME = Sql(f"SELECT {_FIELDS} FROM pipeline WHERE (id = :ref OR key = :ref) AND deleted_at IS NULL")
_NAMES = Sql("SELECT key, aliases FROM pipeline WHERE deleted_at IS NULL ORDER BY updated_at DESC, id LIMIT :limit")
_LIVE = Sql(f"SELECT {_FIELDS} FROM pipeline WHERE deleted_at IS NULL ORDER BY id LIMIT :limit")
#: No id, key or alias is longer.
_NAME_CHARACTERS = 200
_BY_ALIAS = Sql(f"SELECT {_FIELDS} FROM pipeline WHERE aliases LIKE :alias ESCAPE '/' AND deleted_at IS NULL")
_LIKE_NAMES = Sql(
    """
    SELECT key, aliases FROM pipeline
    WHERE (key LIKE :start ESCAPE '/' OR aliases LIKE :alias ESCAPE '/') AND deleted_at IS NULL
    """
)


async def find_pipelines(store: Store, ids: Sequence[str]) -> dict[str, PipelineRecord]:
    """Read pipelines by id, deleted ones too."""
    return {pipeline.id: pipeline for pipeline in await _BY_ID.read(store, ids)}


async def find_pipeline(store: Store, ref: str) -> PipelineRecord | None:
    """Find a pipeline that is not deleted, by id, key or alias.

    An id wins over a user's key, that over a starter's key, that over an alias. A starter is found by its key and
    aliases with and without the prefix `builtin.`.
    """
    if len(ref) > _NAME_CHARACTERS:  # long LIKE patterns are slow, and fail beyond 50,000 characters
        return None
    found = [_cached_record(row) for row in await store.rows(_BY_NAME, {"ref": ref}, few=True)]
    if not found:
        name = ref.removeprefix(STARTER_PREFIX)
        rows = await store.rows(_BY_ALIAS, {"alias": f"%{_escaped(json.dumps(name))}%"})
        # The pattern also matches names of inputs, which are in the same text.
        found = [record for row in rows if (record := _BY_ID.make(row)).alias(ref)]
    return min(found, key=lambda pipeline: _precedence(pipeline, ref), default=None)


async def names_that_begin(store: Store, start: str) -> set[str]:
    """List keys and aliases, of pipelines that are not deleted, that begin with `start`."""
    escaped = _escaped(start)
    rows = await store.rows(_LIKE_NAMES, {"start": f"{escaped}%", "alias": f'%"{escaped}%'})
    names = {name for row in rows for name in (row.key, *(alias.name for alias in load_aliases(row.aliases)))}
    return {name for name in names if name.startswith(start)}


def _escaped(text: str) -> str:
    """Escape a text for a LIKE pattern whose escape character is `/`."""
    return text.replace("/", "//").replace("%", "/%").replace("_", "/_")


async def list_pipeline_names(store: Store) -> list[str]:
    """List keys and aliases of pipelines that are not deleted, last changed first; to suggest one for a typo."""
    rows = await store.rows(_NAMES, {"limit": NAMES_MAX})
    keys = [row.key for row in rows]
    return [*keys, *(alias.name for row in rows for alias in load_aliases(row.aliases))]


async def list_live_pipelines(store: Store) -> list[PipelineRecord]:
    """List pipelines that are not deleted, by id, at most `paging.COUNT_CAP`; unchanged rows are the same objects."""
    return [_cached_record(row) for row in await store.rows(_LIVE, {"limit": COUNT_CAP})]


@lru_cache(maxsize=4_096)
def _cached_record(row: Row) -> PipelineRecord:
    """Make the record of a row. Cached: every search reads all of them and every start one, and they seldom change."""
    return _BY_ID.make(row)


async def starter_metadata(store: Store) -> dict[str, str]:
    """Read the metadata of every starter that is not hidden, as JSON text, by pipeline id."""
    return {row.id: row.metadata_json for row in await store.rows(_STARTER_METADATA)}


async def list_pipelines(
    store: Store,
    wanted: PipelineFilter,
    order: PipelineOrder,
    window: PageWindow,
    *,
    used_since: datetime,
    visible_to: str | None = None,
) -> list[ListedPipeline]:
    """List pipelines that are not deleted; `PipelineOrder` names the sort keys.

    For `MOST_USED` the runs since `used_since` are counted. For `MOST_USED` and `RECENTLY_RUN`, `visible_to` limits the
    runs to those of one caller; None does not.
    """
    statement = sa.select(*_COLUMNS).where(*_conditions(wanted))
    keys: list[SortKey]
    if order is PipelineOrder.RECENTLY_CHANGED:
        keys = [(PIPELINE.c.updated_at, True), (PIPELINE.c.id, True)]
    elif order is PipelineOrder.NAME:
        keys = [(sa.func.lower(PIPELINE.c.name), False), (PIPELINE.c.id, False)]
    elif order is PipelineOrder.RECENTLY_RUN:
        # The index on (pipeline_id, id) begins with the newest run.
        newest = sa.select(RUN.c.id).where(RUN.c.pipeline_id == PIPELINE.c.id).order_by(RUN.c.id.desc()).limit(1)
        if visible_to is not None:
            newest = newest.where(RUN.c.caller_id == visible_to)
        keys = [(sa.func.coalesce(newest.scalar_subquery(), ""), True), (PIPELINE.c.id, True)]
    else:
        # Ids sort by creation, so the index on (pipeline_id, id) counts the runs since an instant.
        runs = sa.select(sa.func.count()).select_from(RUN)
        runs = runs.where(RUN.c.pipeline_id == PIPELINE.c.id, RUN.c.id >= oldest_id("run", used_since))
        if visible_to is not None:
            runs = runs.where(RUN.c.caller_id == visible_to)
        keys = [(runs.scalar_subquery(), True), (PIPELINE.c.id, True)]
    statement = statement.add_columns(keys[0][0].label("sort_key"))
    rows = await fetch_page(store, statement, keys, window)
    return [ListedPipeline(_record(row), (row["sort_key"], row["id"])) for row in rows]


async def count_pipelines(store: Store, wanted: PipelineFilter) -> int:
    """Count the pipelines that match, up to `store.database.paging.COUNT_CAP`."""
    return await capped_count(store, sa.select(PIPELINE.c.id).where(*_conditions(wanted)))


async def find_versions(store: Store, ids: Sequence[str]) -> dict[str, VersionRecord]:
    return {version.id: version for version in await _VERSIONS.read(store, ids)}


async def find_bodies(store: Store, version_ids: Sequence[str]) -> dict[str, VersionBody]:
    """Read the texts of versions, by version id."""
    return {body.id: body for body in await _BODIES.read(store, version_ids)}


async def current_versions(store: Store, pipeline_ids: Sequence[str]) -> dict[str, VersionRecord]:
    """Read the current versions, which new runs use, by pipeline id."""
    return {version.pipeline_id: version for version in await _CURRENT.read(store, pipeline_ids)}


async def find_version(store: Store, pipeline_id: str, number: int) -> VersionRecord | None:
    wanted = sa.select(*_VERSION_COLUMNS).where(
        PIPELINE_VERSION.c.pipeline_id == pipeline_id, PIPELINE_VERSION.c.number == number
    )
    row = (await store.read(wanted)).mappings().first()
    return None if row is None else VersionRecord(**row)


async def list_versions(store: Store, pipeline_id: str, window: PageWindow) -> list[VersionRecord]:
    """List the versions of a pipeline, newest first; the sort key is `(number,)`."""
    wanted = sa.select(*_VERSION_COLUMNS).where(PIPELINE_VERSION.c.pipeline_id == pipeline_id)
    rows = await fetch_page(store, wanted, [(PIPELINE_VERSION.c.number, True)], window)
    return [VersionRecord(**row) for row in rows]


async def count_versions(store: Store, pipeline_id: str) -> int:
    wanted = sa.select(PIPELINE_VERSION.c.id).where(PIPELINE_VERSION.c.pipeline_id == pipeline_id)
    return await capped_count(store, wanted)


def _conditions(wanted: PipelineFilter) -> list[Any]:
    conditions: list[Any] = [PIPELINE.c.deleted_at.is_(None)]
    if wanted.text:
        conditions.extend(words_in(PIPELINE.c.search_text, wanted.text))
    if wanted.builtin is not None:
        conditions.append(PIPELINE.c.builtin.is_(wanted.builtin))
    if wanted.owner_id is not None:
        conditions.append(PIPELINE.c.owner_id == wanted.owner_id)
    if wanted.uses_pack is not None:
        # Documents are JSON without spaces, and within their strings quotes are escaped.
        calls = PIPELINE_VERSION.c.document.contains(f'"pack":{json.dumps(wanted.uses_pack)}', autoescape=True)
        current = sa.and_(
            PIPELINE_VERSION.c.pipeline_id == PIPELINE.c.id, PIPELINE_VERSION.c.number == PIPELINE.c.current_number
        )
        conditions.append(sa.select(PIPELINE_VERSION.c.id).where(current, calls).exists())
    return conditions


def _precedence(pipeline: PipelineRecord, ref: str) -> tuple[int, str]:
    if pipeline.id == ref:
        return 0, pipeline.id
    if pipeline.key == ref:
        return (2 if pipeline.builtin else 1), pipeline.id
    return (4 if pipeline.builtin else 3), pipeline.id


def _record(row: RowMapping) -> PipelineRecord:
    values = {name: row[name] for name in PipelineRecord._fields}
    return PipelineRecord(**{**values, "aliases": load_aliases(row["aliases"])})
