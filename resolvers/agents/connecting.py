"""Connects agent clients: returns what to configure in each."""

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

#: Longest URL and longest token to write into a configuration, in characters.
URL_CHARACTERS = 500
TOKEN_CHARACTERS = 200


@operation("agent_clients", scope=Scope.READ, kind="query")
async def list_agent_clients(
    _context: Context, *, server_url: str, token: str | None, author: bool = False
) -> list[tuple[AgentClient, list[Setup]]]:
    """List the supported clients, each with its configuration for HTTP and for stdio.

    Args:
        server_url: This server's URL for the client; only the caller knows which address reaches it.
        token: The token to write; None makes the client read it from a variable.
        author: Whether to add the tools that write pipelines.
    """
    address = _address(server_url)
    if address is None:
        issue = argument_error(
            "server_url", "url", "The address is not the URL of a server.", "Write it as http://127.0.0.1:8420."
        )
        raise Invalid([issue])
    if token is not None and (not 0 < len(token) <= TOKEN_CHARACTERS or not token.isascii() or not token.isprintable()):
        issue = argument_error(
            "token",
            "token",
            "The token has characters that no token has, or is too long.",
            f"A token has 1 to {TOKEN_CHARACTERS} printable ASCII characters.",
        )
        raise Invalid([issue])
    reach = Reach(
        f"{address.origin}{address.path.rstrip('/')}/mcp{'?toolsets=author' if author else ''}",
        token,
    )
    return [(client, [client.setup("http", reach), client.setup("stdio", reach)]) for client in CLIENTS]


def _address(text: str) -> WebAddress | None:
    """Parse a server's URL; None if the text is not one."""
    if len(text) > URL_CHARACTERS:
        return None
    try:
        address = read_web_address(text)
    except WebAddressError:
        return None
    return address if address.account is None else None
