"""Agent clients and the configuration that connects them."""

# mypy: disallow-untyped-decorators=False
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.agents.connecting import list_agent_clients
from schema.base.context import Info
from schema.base.directives import Requires
from schema.packs.mcp_servers import McpTransport
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.agents.agent_clients import AgentClient as Client
    from resolvers.agents.agent_clients import Setup


@strawberry.enum(description="Format of a configuration file.")
class ConfigLanguage(Enum):
    JSON = strawberry.enum_value("json", description="JSON.")
    TOML = strawberry.enum_value("toml", description="TOML.")


@strawberry.type(description="Configuration that connects an agent client to the server.")
class AgentClientSetup:
    transport: McpTransport = strawberry.field(description="How the client connects to the server.")
    path: str = strawberry.field(description="Path of the client's configuration file, relative to the home directory.")
    language: ConfigLanguage = strawberry.field(description="Format of the file.")
    text: str = strawberry.field(
        description="Content of the file if it has no other entries. Merge it into an existing file."
    )
    command: str | None = strawberry.field(
        description="A shell command with the same effect. Null if the client has none."
    )

    @classmethod
    def of(cls, setup: "Setup") -> "AgentClientSetup":
        return cls(
            transport=McpTransport(setup.transport),
            path=setup.path,
            language=ConfigLanguage(setup.language),
            text=setup.text,
            command=setup.command,
        )


@strawberry.type(description="A program that runs agents and can connect to this server over MCP.")
class AgentClient:
    key: str = strawberry.field(description="Name to pass to `packline connect`.")
    name: str = strawberry.field(description="Display name.")
    check: str = strawberry.field(description="A command that shows whether the client is connected.")
    setups: list[AgentClientSetup] = strawberry.field(description="Configurations by transport, HTTP first.")

    @classmethod
    def of(cls, client: "Client", setups: "list[Setup]") -> "AgentClient":
        return cls(key=client.key, name=client.name, check=client.check, setups=[*map(AgentClientSetup.of, setups)])


@strawberry.type
class AgentClientQueries:
    @strawberry.field(
        description="How to connect agent clients to this server.", directives=[Requires(scope=Scope.READ)]
    )
    async def agent_clients(
        self,
        info: Info,
        server_url: Annotated[
            str,
            strawberry.argument(description="URL at which clients reach this server, such as http://127.0.0.1:8420."),
        ],
        token: Annotated[
            str | None,
            strawberry.argument(
                description="Text to write in place of the token, preferably a placeholder. Null makes the "
                "client read the environment variable PACKLINE_TOKEN."
            ),
        ] = None,
        author: Annotated[
            bool, strawberry.argument(description="Whether to include the tools that write pipelines.")
        ] = False,
    ) -> list[AgentClient]:
        found = await list_agent_clients(info.context.context, server_url=server_url, token=token, author=author)
        return [AgentClient.of(client, setups) for client, setups in found]
