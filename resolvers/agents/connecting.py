"""Connecting agents: what to configure in their programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.agents.agent_clients import CLIENTS, Reach
from resolvers.operations import operation
from resolvers.problems import Invalid
from runner.egress.web_address import WebAddress, WebAddressError, read_web_address
from runner.issues import argument_error
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.agents.agent_clients import AgentClient, Setup
    from resolvers.context import Context

#: Longest address and longest token that are written into a configuration, in characters.
URL_CHARACTERS = 500
TOKEN_CHARACTERS = 200


@operation("agent_clients", scope=Scope.READ, kind="query")
async def list_agent_clients(
    _context: Context, *, server_url: str, token: str | None, author: bool = False
) -> list[tuple[AgentClient, list[Setup]]]:
    """The programs this server can be connected to, each with what to configure over HTTP and over stdio.

    Args:
        server_url: Where the program will find this server; only the caller knows by which address it got here.
        token: What to write where the token belongs; None has the program read it from a variable.
        author: Whether the agent is also shown the tools that write pipelines.
    """
    address = _address(server_url)
    if address is None:
        issue = argument_error(
            "server_url", "url", "The address given is not that of a server.", "Write it as http://127.0.0.1:8420."
        )
        raise Invalid([issue])
    if token is not None and (not 0 < len(token) <= TOKEN_CHARACTERS or not token.isascii() or not token.isprintable()):
        issue = argument_error(
            "token",
            "token",
            "The token given is not a token.",
            f"A token is up to {TOKEN_CHARACTERS} plain characters.",
        )
        raise Invalid([issue])
    reach = Reach(
        f"{address.origin}{address.path.rstrip('/')}/mcp{'?toolsets=author' if author else ''}",
        token,
    )
    return [(client, [client.setup("http", reach), client.setup("stdio", reach)]) for client in CLIENTS]


def _address(text: str) -> WebAddress | None:
    """The address of a server, read; None when the text is none."""
    if len(text) > URL_CHARACTERS:
        return None
    try:
        address = read_web_address(text)
    except WebAddressError:
        return None
    return address if address.account is None else None
