"""MCP servers mounted as packs."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.server.mounts import accept_mcp_tool_change, list_mcp_servers
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.problems import ConflictProblem, ForbiddenProblem, NotFoundProblem, refusable
from schema.base.scalars import Key
from schema.packs.packs import Pack
from store.states import Scope

if TYPE_CHECKING:
    from runner.mounts.mounts import MountStatus


@strawberry.enum(description="How an MCP server is reached.")
class McpTransport(Enum):
    STDIO = strawberry.enum_value("stdio", description="A child process.")
    HTTP = strawberry.enum_value("http", description="Streamable HTTP.")


@strawberry.enum(description="Whether an MCP server can be reached.")
class McpServerState(Enum):
    CONNECTING = strawberry.enum_value("connecting", description="Starting, or waiting to try again.")
    CONNECTED = strawberry.enum_value("connected", description="Connected.")
    STOPPED = strawberry.enum_value("stopped", description="Switched off or misconfigured.")


@strawberry.type(description="An MCP server mounted as packs, supervised and reconnected.")
class McpServer:
    key: Key = strawberry.field(description="Handle from the settings, part of its packs' names.")
    transport: McpTransport = strawberry.field(description="How it is reached.")
    state: McpServerState = strawberry.field(description="Whether it can be reached now.")
    last_error: str | None = strawberry.field(description="What last went wrong.")
    connected_at: datetime | None = strawberry.field(description="When the present connection was made.")

    @classmethod
    def of(cls, mounted: "MountStatus") -> "McpServer":
        return cls(
            key=Key(mounted.spec.key),
            transport=McpTransport(mounted.spec.transport),
            state=McpServerState(mounted.state),
            last_error=mounted.last_error,
            connected_at=mounted.connected_at,
        )

    @strawberry.field(description="Packs made of its tools.")
    def packs(self, info: Info) -> list[Pack]:
        registry = info.context.context.services.registry
        beginning = f"mcp.{self.key}."
        found = (registry.find(name) for name in registry.names() if name.startswith(beginning))
        return [Pack.of(pack) for pack in found if pack is not None]


@strawberry.type(description="A pack was accepted.")
class PackSuccess:
    pack: Pack = strawberry.field(description="The pack as it is now.")


AcceptMcpToolChangeResult = Annotated[
    PackSuccess | NotFoundProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("AcceptMcpToolChangeResult", description="What came of acceptMcpToolChange."),
]


@strawberry.type
class McpServerQueries:
    @strawberry.field(
        description="MCP servers whose tools are mounted as packs.", directives=[Requires(scope=Scope.READ)]
    )
    async def mcp_servers(self, info: Info) -> list[McpServer]:
        return [McpServer.of(mounted) for mounted in await list_mcp_servers(info.context.context)]


@strawberry.type
class McpServerMutations:
    @strawberry.mutation(
        description="Accepts a tool of an MCP server as it is now.", directives=[Requires(scope=Scope.MANAGE)]
    )
    @refusable
    async def accept_mcp_tool_change(
        self,
        info: Info,
        pack: Annotated[strawberry.ID, strawberry.argument(description="The pack made of the tool.")],
        digest: Annotated[
            str,
            strawberry.argument(
                description="McpToolChange.digest as it was reviewed; refused when the tool has changed since."
            ),
        ],
    ) -> AcceptMcpToolChangeResult:
        accepted = await accept_mcp_tool_change(info.context.context, pack=pack, digest=digest)
        return PackSuccess(pack=Pack.of(accepted))
