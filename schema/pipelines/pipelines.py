"""Pipelines and their versions."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry

from resolvers.applying import exported
from resolvers.pipelines.lookups import (
    PipelineAction,
    count_pipeline_versions,
    find_version_by_number,
    lacks_of_version,
    list_pipeline_versions,
    pipeline_actions,
    read_metadata,
)
from resolvers.records import PipelineRecord, VersionBody, VersionRecord
from schema.base.catalog_entry import CatalogEntry, Metadata, UsageStats
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.enums import described_enum
from schema.base.issues import Availability
from schema.base.node_interface import Node
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
from schema.base.scalars import JSON, JSONSchema, Key
from schema.pipelines.definitions import Step, steps_of_document
from schema.runs.lists import RunConnection, RunFilter, newest_runs_page, run_page
from schema.runs.runs import Run
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.pipelines.versions import Version
    from schema.access.callers import Caller
    from schema.triggers.triggers import Trigger

described_enum(
    PipelineAction,
    "What a caller can do with a pipeline.",
    {"RUN": "Start a run.", "UPDATE": "Save a new version.", "CLONE": "Copy it.", "DELETE": "Delete it."},
)

#: Each sort order has its own kind of cursor.
_VERSIONS = CursorKind("versions", (int,))


@strawberry.type(description="A saved definition of a pipeline. Versions never change.")
class PipelineVersion(Node):
    number: int = strawberry.field(description="Version number, starting at 1.")
    created_at: datetime = strawberry.field(description="When the version was saved.")
    note: str | None = strawberry.field(description="The author's note about the change. Null if there is none.")
    digest: str = strawberry.field(description="SHA-256 of the canonical definition.")
    record: strawberry.Private[VersionRecord]

    @classmethod
    def of(cls, record: VersionRecord) -> "PipelineVersion":
        return cls(
            id=strawberry.ID(record.id),
            number=record.number,
            created_at=record.created_at,
            note=record.note,
            digest=record.digest,
            record=record,
        )

    @strawberry.field(description="The pipeline this version belongs to.")
    async def pipeline(self, info: Info) -> "Pipeline":
        found = await info.context.loaders.pipeline.load(self.record.pipeline_id)
        if found is None:
            raise LookupError(f"version {self.id} belongs to a pipeline that is gone")
        return Pipeline.of(found)

    @strawberry.field(description="The caller that saved it. Null for a starter.")
    async def created_by(self, info: Info) -> 'Annotated[Caller, strawberry.lazy("schema.access.callers")] | None':
        return await _caller(info, self.record.created_by)

    @strawberry.field(description="The definition as JSON.")
    async def document(self, info: Info) -> JSON:
        return JSON(orjson.loads((await _body(info, self.record.id)).document))

    @strawberry.field(
        description="The definition as YAML with its comments, as shown in the editor and written by `packline export`."
    )
    async def yaml(self, info: Info) -> str:
        return (await _body(info, self.record.id)).yaml

    @strawberry.field(description="JSON Schema of the run inputs. Derived from the packs if the author declared none.")
    async def input_schema(self, info: Info) -> JSONSchema:
        return JSONSchema(orjson.loads((await _body(info, self.record.id)).input_schema))

    @strawberry.field(description="Deadline of runs, in seconds. Null for the server's default.")
    async def deadline_seconds(self, info: Info) -> float | None:
        seconds = orjson.loads((await _body(info, self.record.id)).document).get("deadline_seconds")
        return None if seconds is None else float(seconds)

    @strawberry.field(description="The steps, in the order they run.")
    async def steps(self, info: Info) -> list[Step]:
        return await steps_of_version(info, self.record.id)


@strawberry.type(description="A former name that still refers to a pipeline.")
class EarlierName:
    name: str = strawberry.field(description="The former name.")
    inputs: JSON = strawberry.field(description="The inputs under the former name, each mapped to its current name.")
    newly_required: list[str] = strawberry.field(
        description="Inputs that are required now but did not exist under the former name."
    )


@strawberry.type(description="A saved, named list of steps that run in order.")
class Pipeline(CatalogEntry):
    id: strawberry.ID = strawberry.field(description="The id; `builtin.<slug>` for a starter.")
    name: str = strawberry.field(description="The title.")
    key: Key = strawberry.field(description="Readable key, unique on the server.")
    builtin: bool = strawberry.field(
        description="Whether it is a starter that ships with Packline. Starters are read-only; clone them to "
        "make changes."
    )
    aliases: list[str] = strawberry.field(description="Former names that still refer to the pipeline.")
    created_at: datetime = strawberry.field(description="When the pipeline was created.")
    updated_at: datetime = strawberry.field(description="When the pipeline last changed.")
    deleted_at: datetime | None = strawberry.field(
        description="When the pipeline was deleted, or null. A deleted pipeline can be reached only through its runs."
    )
    record: strawberry.Private[PipelineRecord]

    @classmethod
    def of(cls, record: PipelineRecord) -> "Pipeline":
        return cls(
            id=strawberry.ID(record.id),
            key=Key(record.key),
            name=record.name,
            description=record.description,
            builtin=record.builtin,
            aliases=[alias.name for alias in record.aliases],
            created_at=record.created_at,
            updated_at=record.updated_at,
            deleted_at=record.deleted_at,
            record=record,
        )

    @strawberry.field(description="The former names with the current names of their inputs.")
    def earlier_names(self) -> list[EarlierName]:
        return [
            EarlierName(name=alias.name, inputs=JSON(dict(alias.inputs)), newly_required=list(alias.newly_required))
            for alias in self.record.aliases
        ]

    @strawberry.field(description="The caller that may change it, in addition to administrators. Null for a starter.")
    async def owner(self, info: Info) -> 'Annotated[Caller, strawberry.lazy("schema.access.callers")] | None':
        return await _caller(info, self.record.owner_id)

    @strawberry.field(description="What it is for; routing and search read this.")
    def metadata(self) -> Metadata:
        read = read_metadata(self.record.metadata_json)
        return Metadata.of(read.metadata, read.derived)

    @strawberry.field(
        description="JSON Schema of the run inputs. Forms, command-line flags and tool "
        "parameters are generated from it."
    )
    async def input_schema(self, info: Info) -> JSONSchema:
        return JSONSchema(orjson.loads((await _current(info, self.record)).body.input_schema))

    @strawberry.field(description="The version that new runs use.")
    async def current_version(self, info: Info) -> PipelineVersion:
        return PipelineVersion.of((await _current(info, self.record)).record)

    @strawberry.field(description="A version by its number. Null if it does not exist.")
    async def version_by_number(
        self, info: Info, number: Annotated[int, strawberry.argument(description="The version number.")]
    ) -> PipelineVersion | None:
        found = await find_version_by_number(info.context.context, self.record.id, number)
        return None if found is None else PipelineVersion.of(found)

    @strawberry.field(description="All versions, newest first.")
    async def versions(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> "PipelineVersionConnection":
        arguments = PageArguments.parse(_VERSIONS, first=first, after=after, last=last, before=before)
        context, pipeline_id = info.context.context, self.record.id
        rows = await list_pipeline_versions(context, pipeline_id, arguments.window)
        page = page_of(rows, arguments, lambda row: _VERSIONS.encode((row.number,)))
        return PipelineVersionConnection.of(
            page, PipelineVersion.of, lambda: count_pipeline_versions(context, pipeline_id)
        )

    @strawberry.field(description="The steps of the current version, in the order they run.")
    async def steps(self, info: Info) -> list[Step]:
        return await steps_of_document(info, (await _current(info, self.record)).body.document)

    @strawberry.field(description="Whether it can run on this server, and what is missing if it cannot.")
    async def availability(self, info: Info) -> Availability:
        context = info.context.context
        current = await _current(info, self.record)
        lacks = await lacks_of_version(context, current.record.id, current.body, self.record.id)
        return Availability.of(lacks, context.services.now())

    @strawberry.field(
        description="The most recent run the caller may see. Null if there is none.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def latest_run(self, info: Info) -> Run | None:
        found = await info.context.loaders.latest_run.load(self.record.id)
        return None if found is None else Run.of(found)

    @strawberry.field(description="Runs of the pipeline, newest first.", directives=[Requires(scope=Scope.READ)])
    async def runs(
        self,
        info: Info,
        filter: Annotated[RunFilter | None, strawberry.argument(description="Only runs that match the filter.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> RunConnection:
        if filter is None and after is None and last is None and before is None:
            return await newest_runs_page(info, self.record.id, first)
        wanted = filter or RunFilter()
        wanted.pipelines = [self.id]
        return await run_page(info, wanted.query(), first, after, last, before)

    @strawberry.field(
        description="Triggers of the pipeline that the caller may see, newest first.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def triggers(
        self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> 'Connection[Annotated[Trigger, strawberry.lazy("schema.triggers.triggers")]]':
        from schema.triggers.triggers import TRIGGERS, trigger_page

        arguments = PageArguments.parse(TRIGGERS, first=first, after=after, last=last, before=before)
        return await trigger_page(info, arguments, self.record.id)

    @strawberry.field(
        description="The pipeline as a document for `applyPipelines`: the YAML of its current version, and `triggers` "
        "with those of the caller, secrets masked, if the caller may change the pipeline.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def export_yaml(self, info: Info) -> str:
        version = await _current(info, self.record)
        triggers = await info.context.loaders.own_triggers.load(self.record.id)
        return await exported(info.context.context, self.record, version, triggers)

    @strawberry.field(description="Usage of the last 30 days, counting only runs the caller may see.")
    async def usage(self, info: Info) -> UsageStats:
        return UsageStats.of(await info.context.loaders.pipeline_usage.load(self.record.id))

    @strawberry.field(description="What the caller can do with the pipeline now.")
    def actions(self, info: Info) -> list[PipelineAction]:
        return list(pipeline_actions(info.context.context, self.record))


PipelineVersionConnection = Connection[PipelineVersion]


async def steps_of_version(info: Info, version_id: str) -> list[Step]:
    return await steps_of_document(info, (await _body(info, version_id)).document)


async def load_pipeline(info: Info, pipeline_id: str) -> Pipeline | None:
    """Load a pipeline that is not deleted."""
    found = await info.context.loaders.pipeline.load(pipeline_id)
    return None if found is None or found.deleted_at is not None else Pipeline.of(found)


async def get_pipeline_now(info: Info, pipeline_id: str) -> Pipeline:
    """Load a pipeline as a command left it.

    Raises:
        LookupError: It has been deleted since.
    """
    info.context.clear_loaders()
    found = await info.context.loaders.pipeline.load(pipeline_id)
    if found is None:
        raise LookupError(f"pipeline {pipeline_id} is gone")
    return Pipeline.of(found)


async def load_version(info: Info, version_id: str) -> PipelineVersion | None:
    found = await info.context.loaders.version.load(version_id)
    return None if found is None else PipelineVersion.of(found)


async def _current(info: Info, pipeline: PipelineRecord) -> "Version":
    found = await info.context.loaders.current_version.load((pipeline.id, pipeline.current_number))
    if found is None:
        raise LookupError(f"pipeline {pipeline.id} has no current version")
    return found


async def _body(info: Info, version_id: str) -> VersionBody:
    found = await info.context.loaders.version_body.load(version_id)
    if found is None:
        raise LookupError(f"version {version_id} has no texts")
    return found


async def _caller(info: Info, caller_id: str | None) -> "Caller | None":
    from schema.access.callers import Caller

    if caller_id is None:
        return None
    found = await info.context.loaders.caller.load(caller_id)
    return None if found is None else Caller.of(found)
