"""Programs that agents live in, and how they are connected."""

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


@strawberry.enum(description="How a configuration file is written.")
class ConfigLanguage(Enum):
    JSON = strawberry.enum_value("json", description="JSON.")
    TOML = strawberry.enum_value("toml", description="TOML.")


@strawberry.type(description="What to configure in a program to connect it one way.")
class AgentClientSetup:
    transport: McpTransport = strawberry.field(description="How the program reaches the server.")
    path: str = strawberry.field(description="The program's own configuration file, from the home folder.")
    language: ConfigLanguage = strawberry.field(description="How the file is written.")
    text: str = strawberry.field(description="The file, if it held nothing else; merge it with what is there.")
    command: str | None = strawberry.field(
        description="A shell command that does the same; null where the program has none."
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


@strawberry.type(description="A program that agents live in.")
class AgentClient:
    key: str = strawberry.field(description="Its name for `packline connect`.")
    name: str = strawberry.field(description="Its name for people.")
    check: str = strawberry.field(description="The command that shows whether it is connected.")
    setups: list[AgentClientSetup] = strawberry.field(description="What to configure, by transport; HTTP first.")

    @classmethod
    def of(cls, client: "Client", setups: "list[Setup]") -> "AgentClient":
        return cls(key=client.key, name=client.name, check=client.check, setups=[*map(AgentClientSetup.of, setups)])


@strawberry.type
class AgentClientQueries:
    @strawberry.field(
        description="What to configure in the programs that agents live in.", directives=[Requires(scope=Scope.READ)]
    )
    async def agent_clients(
        self,
        info: Info,
        server_url: Annotated[
            str, strawberry.argument(description="Where they will find this server, such as http://127.0.0.1:8420.")
        ],
        token: Annotated[
            str | None,
            strawberry.argument(
                description="What to write where the token belongs: better a placeholder, filled in where it is shown. "
                "Null has the program read it from the variable PACKLINE_TOKEN."
            ),
        ] = None,
        author: Annotated[
            bool, strawberry.argument(description="Whether agents are also shown the tools that write pipelines.")
        ] = False,
    ) -> list[AgentClient]:
        found = await list_agent_clients(info.context.context, server_url=server_url, token=token, author=author)
        return [AgentClient.of(client, setups) for client, setups in found]
