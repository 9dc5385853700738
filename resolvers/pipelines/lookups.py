"""Finds and lists pipelines, and tells whether they can run on this server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

import orjson

from resolvers.not_found import no_pipeline
from resolvers.operations import operation
from resolvers.permissions import may_change, visible_to
from resolvers.pipelines.versions import compiled
from resolvers.query_limits import check_query_size
from resolvers.tools import Parameter, Tool
from resolvers.usage import USAGE_DAYS
from runner.definitions.preflight import preflight
from runner.packs.availability import Requirement
from runner.packs.metadata import Metadata
from store.database.paging import COUNT_CAP, PageWindow
from store.pipelines.reads import (
    ListedPipeline,
    PipelineFilter,
    PipelineOrder,
    PipelineRecord,
    VersionBody,
    VersionRecord,
    count_pipelines,
    count_versions,
    current_versions,
    find_bodies,
    find_pipeline,
    find_version,
    list_pipelines,
    list_versions,
)
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from resolvers.context import Context
    from runner.issues import Issue

#: Pipelines per read while a filter is applied in Python.
_BATCH = 100


class PipelineAction(StrEnum):
    RUN = "run"
    UPDATE = "update"
    CLONE = "clone"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class PipelineQuery:
    """Filter of pipelines; fields are joined by and.

    Attributes:
        text: Words in key, name, description or metadata.
        usable: Only those that can run on this server, or only those that cannot.
        uses_pack: Name of a pack that a step of the current version calls.
        accepts: Accepts one of these kinds.
        produces: Produces one of these kinds.
    """

    text: str | None = None
    builtin: bool | None = None
    owner: str | None = None
    usable: bool | None = None
    uses_pack: str | None = None
    accepts: tuple[str, ...] | None = None
    produces: tuple[str, ...] | None = None

    @property
    def filters_in_python(self) -> bool:
        """Whether the store cannot apply the whole filter."""
        return any(asked is not None for asked in (self.usable, self.accepts, self.produces))

    def fits_kinds(self, pipeline: PipelineRecord) -> bool:
        """Whether a pipeline accepts and produces the wanted kinds."""
        if self.accepts is None and self.produces is None:
            return True
        metadata = read_metadata(pipeline.metadata_json).metadata
        return (self.accepts is None or not set(self.accepts).isdisjoint(metadata.accepts)) and (
            self.produces is None or not set(self.produces).isdisjoint(metadata.produces)
        )

    def stored(self) -> PipelineFilter:
        """Return the part of the filter that the store applies."""
        return PipelineFilter(text=self.text, builtin=self.builtin, owner_id=self.owner, uses_pack=self.uses_pack)


@dataclass(frozen=True, slots=True)
class ReadMetadata:
    """A pipeline's stored metadata; `derived` names the fields its author left out."""

    metadata: Metadata
    derived: tuple[str, ...]


@operation(
    "pipeline",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Get a pipeline",
        description="Returns a pipeline: what it is for, its inputs and steps, and whether it can run on this "
        "server. Use detail `full` for the whole definition.",
        name="get_pipeline",
        parameters={"id": Parameter(name="pipeline", description="The pipeline's key, id or alias.")},
    ),
)
async def find_one_pipeline(context: Context, *, pipeline: str) -> PipelineRecord | None:
    """Find a pipeline by id, key or alias, or note that it does not exist."""
    found = await find_pipeline(context.services.store, pipeline)
    if found is None:
        context.note_miss(await no_pipeline(context, pipeline))
    return found


async def find_listed_pipeline(context: Context, ref: str) -> PipelineRecord | None:
    """Find a pipeline that a list of the caller's names, without noting a missing one."""
    return await find_pipeline(context.services.store, ref)


@operation("pipelines", scope=Scope.READ, kind="query")
async def list_some_pipelines(
    context: Context, *, query: PipelineQuery, order: PipelineOrder, window: PageWindow
) -> list[ListedPipeline]:
    """List pipelines in order, and one more than the window asks for if there are more."""
    check_query_size(query)
    if not query.filters_in_python:
        return await _stored(context, query, order, window)
    # Whether a pipeline can run here is not stored, since packs and programs come and go; its kinds are stored as JSON
    # text. So read batches until the page is full.
    found: list[ListedPipeline] = []
    step = PageWindow(window.after, window.before, _BATCH, window.reverse)
    while True:
        rows = await _stored(context, query, order, step)
        more = len(rows) > _BATCH
        if more:
            rows = rows[1:] if window.reverse else rows[:-1]
        fitting = [row for row in rows if query.fits_kinds(row.pipeline)]
        if query.usable is not None:
            lacks = await lacks_of(context, [row.pipeline for row in fitting])
            fitting = [row for row in fitting if (not lacks[row.pipeline.id]) is query.usable]
        found = fitting + found if window.reverse else found + fitting
        if not more or len(found) > window.limit:
            break
        step = (
            PageWindow(window.after, rows[0].key, _BATCH, reverse=True)
            if window.reverse
            else PageWindow(rows[-1].key, window.before, _BATCH)
        )
    return found[-window.limit - 1 :] if window.reverse else found[: window.limit + 1]


async def count_some_pipelines(context: Context, query: PipelineQuery) -> int:
    """Count matching pipelines, up to 10,000."""
    check_query_size(query)
    if not query.filters_in_python:
        return await count_pipelines(context.services.store, query.stored())
    window = PageWindow(limit=COUNT_CAP)
    return len((await list_some_pipelines(context, query=query, order=PipelineOrder.NAME, window=window))[:COUNT_CAP])


async def _stored(
    context: Context, query: PipelineQuery, order: PipelineOrder, window: PageWindow
) -> list[ListedPipeline]:
    since = context.services.now() - timedelta(days=USAGE_DAYS)
    only = visible_to(context.caller)
    return await list_pipelines(
        context.services.store, query.stored(), order, window, used_since=since, visible_to=only
    )


async def list_pipeline_versions(context: Context, pipeline_id: str, window: PageWindow) -> list[VersionRecord]:
    """List the versions of a pipeline, newest first; the surface has checked the scope."""
    return await list_versions(context.services.store, pipeline_id, window)


async def count_pipeline_versions(context: Context, pipeline_id: str) -> int:
    return await count_versions(context.services.store, pipeline_id)


async def find_version_by_number(context: Context, pipeline_id: str, number: int) -> VersionRecord | None:
    """Find a version of a pipeline by number; the surface has checked the scope."""
    return await find_version(context.services.store, pipeline_id, number)


async def lacks_of(context: Context, pipelines: Sequence[PipelineRecord]) -> dict[str, list[Requirement]]:
    """Return what the current versions of pipelines need and lack on this server, by pipeline id."""
    versions = await current_versions(context.services.store, [pipeline.id for pipeline in pipelines])
    bodies = await find_bodies(context.services.store, [version.id for version in versions.values()])
    return {
        pipeline_id: await lacks_of_version(context, version.id, bodies[version.id], pipeline_id)
        for pipeline_id, version in versions.items()
    }


async def lacks_of_version(context: Context, version_id: str, body: VersionBody, pipeline_id: str) -> list[Requirement]:
    """Return what a version needs and lacks on this server for this caller; empty if it can run.

    An installed pack whose schemas do not fit the version counts as missing.
    """
    steps = (await compiled(context, body.document, body.input_schema)).steps
    missing = preflight(steps, context.services.registry, check=context.requirement_check(pipeline_id))
    if unfit := await context.services.versions.misfits(context, version_id, body.document, body.input_schema):
        missing += _unfit_packs(unfit, {step.key: step.pack for step in steps})
    return missing


def _unfit_packs(issues: Iterable[Issue], packs: Mapping[str, str]) -> list[Requirement]:
    """Return packs that no longer fit, each with its steps and its first issue; a start lists all issues.

    Args:
        issues: The misfits, with paths that begin with the step.
        packs: Names of packs, by step key.
    """
    found: dict[str, Requirement] = {}
    for issue in issues:
        key = issue.path[1]
        first = found.get(packs[key])
        if first is None:
            found[packs[key]] = Requirement("pack", packs[key], (key,), issue.message, issue.hint)
        elif key not in first.steps:
            found[packs[key]] = replace(first, steps=(*first.steps, key))
    return list(found.values())


@lru_cache(maxsize=4_096)
def read_metadata(text: str) -> ReadMetadata:
    """Parse what `runner.definitions.stored` wrote; cached, since every search reads every pipeline's."""
    stored = orjson.loads(text)
    known = {name: stored[name] for name in Metadata.model_fields if name in stored}
    return ReadMetadata(Metadata.model_validate(known), tuple(stored.get("derived", ())))


def pipeline_actions(context: Context, pipeline: PipelineRecord) -> tuple[PipelineAction, ...]:
    """List what the caller may do with a pipeline now, most frequent first."""
    if pipeline.deleted_at is not None:
        return ()
    caller = context.caller
    writes = caller.may(Scope.WRITE)
    owns = may_change(context, pipeline)
    allowed = {
        PipelineAction.RUN: caller.may(Scope.RUN),
        PipelineAction.UPDATE: writes and owns,
        PipelineAction.CLONE: writes,
        PipelineAction.DELETE: writes and owns,
    }
    return tuple(action for action, may in allowed.items() if may)
