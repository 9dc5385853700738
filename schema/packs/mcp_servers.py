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


@strawberry.enum(description="Transport of an MCP server.")
class McpTransport(Enum):
    STDIO = strawberry.enum_value("stdio", description="Standard input and output of a child process.")
    HTTP = strawberry.enum_value("http", description="Streamable HTTP.")


@strawberry.enum(description="Connection state of an MCP server.")
class McpServerState(Enum):
    CONNECTING = strawberry.enum_value("connecting", description="Connecting, or waiting to reconnect.")
    CONNECTED = strawberry.enum_value("connected", description="Connected.")
    STOPPED = strawberry.enum_value("stopped", description="Disabled or misconfigured.")


@strawberry.type(description="An MCP server whose tools are mounted as packs.")
class McpServer:
    key: Key = strawberry.field(description="Key of the server in the settings. Part of its packs' names.")
    transport: McpTransport = strawberry.field(description="How Packline connects to it.")
    state: McpServerState = strawberry.field(description="The state of the connection.")
    last_error: str | None = strawberry.field(description="The last error. Null if there was none.")
    connected_at: datetime | None = strawberry.field(
        description="When the current connection was established. Null if not connected."
    )

    @classmethod
    def of(cls, mounted: "MountStatus") -> "McpServer":
        return cls(
            key=Key(mounted.spec.key),
            transport=McpTransport(mounted.spec.transport),
            state=McpServerState(mounted.state),
            last_error=mounted.last_error,
            connected_at=mounted.connected_at,
        )

    @strawberry.field(description="Packs created from its tools, by name.")
    def packs(self, info: Info) -> list[Pack]:
        registry = info.context.context.services.registry
        beginning = f"mcp.{self.key}."
        found = (registry.find(name) for name in registry.names() if name.startswith(beginning))
        return [Pack.of(pack) for pack in found if pack is not None]


@strawberry.type(description="The tool was accepted.")
class PackSuccess:
    pack: Pack = strawberry.field(description="The pack in its current state.")


AcceptMcpToolChangeResult = Annotated[
    PackSuccess | NotFoundProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("AcceptMcpToolChangeResult", description="The result of acceptMcpToolChange."),
]


@strawberry.type
class McpServerQueries:
    @strawberry.field(
        description="MCP servers whose tools are mounted as packs, in the order of the settings.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def mcp_servers(self, info: Info) -> list[McpServer]:
        return [McpServer.of(mounted) for mounted in await list_mcp_servers(info.context.context)]


@strawberry.type
class McpServerMutations:
    @strawberry.mutation(
        description="Accepts the current version of an MCP server's tool.", directives=[Requires(scope=Scope.MANAGE)]
    )
    @refusable
    async def accept_mcp_tool_change(
        self,
        info: Info,
        pack: Annotated[strawberry.ID, strawberry.argument(description="Id of the pack created from the tool.")],
        digest: Annotated[
            str,
            strawberry.argument(
                description="`digest` of the reviewed McpToolChange. The call is refused if the tool has changed since."
            ),
        ],
    ) -> AcceptMcpToolChangeResult | None:
        accepted = await accept_mcp_tool_change(info.context.context, pack=pack, digest=digest)
        return PackSuccess(pack=Pack.of(accepted))
