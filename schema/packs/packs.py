"""Packs and the sources they are loaded from."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.catalog.catalog import find_pack
from resolvers.pipelines.lookups import PipelineQuery
from resolvers.records import PipelineOrder
from resolvers.server.mounts import change_of
from runner.packs.availability import pack_requirements
from runner.packs.pack import Pack as InstalledPack
from runner.packs.registry import PackSource as InstalledSource
from schema.base.catalog_entry import CatalogEntry, Metadata, UsageStats
from schema.base.context import Info
from schema.base.directives import Requires, published
from schema.base.issues import Availability
from schema.base.pack_effects import PackEffects
from schema.base.pagination import After, Before, First, Last
from schema.base.scalars import JSON, JSONSchema
from schema.pipelines.lists import PipelineConnection, pipeline_page
from store.states import Scope

if TYPE_CHECKING:
    from runner.mounts.mounts import ToolChange
    from runner.packs.registry import LoadError, Registry
    from schema.packs.mcp_servers import McpServer


@strawberry.enum(description="Kinds of pack sources.")
class PackSourceKind(Enum):
    BUILTIN_FOLDER = strawberry.enum_value("builtin_folder", description="The packs that ship with Packline.")
    USER_FOLDER = strawberry.enum_value("user_folder", description="A folder named in the settings.")
    ENTRY_POINT = strawberry.enum_value(
        "entry_point", description="An installed distribution with the entry-point group `packline.packs`."
    )
    MCP_SERVER = strawberry.enum_value("mcp_server", description="A mounted MCP server.")


@strawberry.type(description="A pack file that could not be loaded.")
class PackLoadError:
    origin: str = strawberry.field(description="The file or entry point.")
    message: str = strawberry.field(description="What is wrong, for display.")

    @classmethod
    def of(cls, error: "LoadError") -> "PackLoadError":
        return cls(origin=error.origin, message=error.message)


@strawberry.type(description="A source that packs are loaded from.")
class PackSource:
    kind: PackSourceKind = strawberry.field(description="The kind of source.")
    load_errors: list[PackLoadError] = strawberry.field(
        description="Files that could not be loaded. The others were loaded."
    )
    source: strawberry.Private[InstalledSource]

    @classmethod
    def of(cls, source: InstalledSource) -> "PackSource":
        return cls(
            kind=PackSourceKind(source.kind),
            load_errors=[PackLoadError.of(error) for error in source.load_errors],
            source=source,
        )

    @strawberry.field(
        description="The folder, distribution or server. Without the scope MANAGE, the folder's name without its path."
    )
    def location(self, info: Info) -> str:
        is_folder = self.kind in (PackSourceKind.BUILTIN_FOLDER, PackSourceKind.USER_FOLDER)
        if is_folder and not info.context.context.caller.may(Scope.MANAGE):
            return Path(self.source.location).name
        return self.source.location

    @strawberry.field(description="The server, if the source is an MCP server.")
    def mcp_server(self, info: Info) -> 'Annotated[McpServer, strawberry.lazy("schema.packs.mcp_servers")] | None':
        from schema.packs.mcp_servers import McpServer

        if self.kind is not PackSourceKind.MCP_SERVER:
            return None
        servers = info.context.context.services.mounts.servers()
        return next((McpServer.of(server) for server in servers if server.spec.key == self.source.location), None)

    @strawberry.field(description="Number of packs loaded from it.")
    def pack_count(self, info: Info) -> int:
        registry = info.context.context.services.registry
        return len({pack.name for pack in registry.packs() if _came_from(registry, pack, self.source)})


def _came_from(registry: "Registry", pack: InstalledPack, source: InstalledSource) -> bool:
    found = registry.source_of(pack)
    return (found.kind, found.location) == (source.kind, source.location)


@strawberry.type(description="A tool of an MCP server that differs from the accepted version.")
class McpToolChange:
    detected_at: datetime = strawberry.field(description="When the change was detected.")
    digest: str = strawberry.field(
        description="SHA-256 of the tool's current name, description and schemas. Pass it to acceptMcpToolChange."
    )
    before: JSON | None = strawberry.field(description="The accepted tool. Null for a new tool.")
    after: JSON | None = strawberry.field(description="The tool as currently offered. Null if it was removed.")

    @classmethod
    def of(cls, change: "ToolChange") -> "McpToolChange":
        return cls(
            detected_at=change.detected_at,
            digest=change.digest,
            before=None if change.before is None else JSON(change.before),
            after=None if change.after is None else JSON(change.after),
        )


@strawberry.type(description="A function that steps can call, with a typed input and output.")
class Pack(CatalogEntry):
    id: strawberry.ID = strawberry.field(description="The pack's name.")
    name: str = strawberry.field(description="The name: `area.verb`.")
    version: str = strawberry.field(description="The version in use.")
    effects: PackEffects = strawberry.field(description="How the pack changes external systems.")
    at_most_once: bool = strawberry.field(
        description="Whether the pack must not run again if its outcome is unknown. The run then fails with "
        "OUTCOME_UNKNOWN."
    )
    takes_idempotency_key: bool = strawberry.field(
        description="Whether the pack takes an idempotency key, so that a retry changes external systems only once."
    )
    repeatable: bool = strawberry.field(
        description="Whether running it again gives an equivalent result, including its session."
    )
    preserves_session: bool = strawberry.field(description="Whether it leaves a session that later steps can use.")
    credentials: list[str] = strawberry.field(
        description="Keys of the credentials it can use. Some may be optional or replace one another; `availability` "
        "says which are missing."
    )
    services: list[str] = strawberry.field(description="External services and programs it requires.")
    model_roles: list[str] = strawberry.field(description="Model roles it uses.")
    cost_estimate: str | None = strawberry.field(
        description="Cost of one call in priceable units, such as tokens. Null if it costs nothing."
    )
    post_conditions: list[str] = strawberry.field(
        description="Checks that must pass before a call counts as succeeded, for display."
    )
    pack: strawberry.Private[InstalledPack]

    @classmethod
    def of(cls, pack: InstalledPack) -> "Pack":
        return cls(
            id=strawberry.ID(pack.name),
            name=pack.name,
            description=pack.description,
            version=pack.version,
            effects=PackEffects(pack.effects),
            at_most_once=pack.at_most_once,
            takes_idempotency_key=pack.takes_idempotency_key,
            repeatable=pack.repeatable,
            preserves_session=pack.preserves_session,
            credentials=[need.key for need in pack.credentials],
            services=[service.name for service in pack.services],
            model_roles=[need.role for need in pack.models],
            cost_estimate=pack.cost or None,
            post_conditions=[condition.description for condition in pack.post_conditions],
            pack=pack,
        )

    @strawberry.field(description="All versions that steps can request, newest first.")
    def installed_versions(self, info: Info) -> list[str]:
        return info.context.context.services.registry.versions(self.pack.name)

    @strawberry.field(description="What it is for; routing and search read this.")
    def metadata(self) -> Metadata:
        return Metadata.of(self.pack.metadata)

    @strawberry.field(description="JSON Schema of the input.")
    def input_schema(self) -> JSONSchema:
        return JSONSchema(self.pack.input_schema)

    @strawberry.field(description="JSON Schema of the output.")
    def output_schema(self) -> JSONSchema:
        return JSONSchema(self.pack.output_schema)

    @strawberry.field(description="Default timeout of one attempt, in seconds: the pack's, or else the server's.")
    def timeout_seconds(self, info: Info) -> float:
        return self.pack.timeout_seconds or info.context.context.services.limits.step_timeout_seconds

    @strawberry.field(description="Whether it can run on this server, and what is missing if it cannot.")
    def availability(self, info: Info) -> Availability:
        context = info.context.context
        return Availability.of(pack_requirements(self.pack, check=context.requirement_check()), context.services.now())

    @strawberry.field(description="Where the pack was loaded from.")
    def source(self, info: Info) -> PackSource:
        return PackSource.of(info.context.context.services.registry.source_of(self.pack))

    @strawberry.field(
        description="For a tool of an MCP server: a change that must be accepted before it can "
        "be called. Null if there is none."
    )
    def tool_change(self, info: Info) -> McpToolChange | None:
        change = change_of(info.context.context, self.pack.name)
        return None if change is None else McpToolChange.of(change)

    @strawberry.field(description="Pipelines that use the pack, by name.", directives=[Requires(scope=Scope.READ)])
    async def used_by(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> PipelineConnection:
        query = PipelineQuery(uses_pack=self.pack.name)
        return await pipeline_page(info, query, PipelineOrder.NAME, first, after, last, before)

    @strawberry.field(description="Usage of the last 30 days, counting only runs the caller may see.")
    async def usage(self, info: Info) -> UsageStats:
        return UsageStats.of(await info.context.loaders.pack_usage.load(self.pack.name))


@strawberry.type
class PackQueries:
    @strawberry.field(
        description="A pack with its schemas, external changes and availability.",
        directives=[
            Requires(scope=Scope.READ),
            published(find_pack),
        ],
    )
    async def pack(
        self,
        info: Info,
        id: Annotated[
            strawberry.ID, strawberry.argument(description="The pack's id, which is its name, such as `web.scrape`.")
        ],
    ) -> Pack | None:
        found = await find_pack(info.context.context, pack=id)
        return None if found is None else Pack.of(found)
