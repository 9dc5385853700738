"""Mounted MCP servers, and acceptance of changes to their tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.operations import operation
from resolvers.problems import Conflict, NotFound
from runner.issues import Hint
from store.access.mcp_tools import ToolChangedError, accept_tool
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context
    from runner.mounts.mounts import MountStatus, ToolChange
    from runner.packs.pack import Pack


@operation("mcp_servers", scope=Scope.READ, kind="query")
async def list_mcp_servers(context: Context) -> list[MountStatus]:
    """List every mounted server with its state, in the order of the settings."""
    return context.services.mounts.servers()


def change_of(context: Context, pack: str) -> ToolChange | None:
    """Return how a pack's tool differs from the accepted one; None if it does not or the pack is not a tool."""
    return context.services.mounts.change_of(pack)


@operation("accept_mcp_tool_change", scope=Scope.MANAGE, kind="command", target="pack")
async def accept_mcp_tool_change(context: Context, *, pack: str, digest: str) -> Pack:
    """Accept a tool of an MCP server as it was reviewed; returns its pack."""
    mounts = context.services.mounts
    tool = mounts.tool_of(pack)
    if tool is None:
        raise NotFound("pack of a mounted MCP server", pack, hint=Hint(operation="mcp_servers"))
    try:
        await context.commit(
            lambda conn: accept_tool(conn, tool.server, tool.tool, digest, caller_id=context.caller.id)
        )
    except ToolChangedError as changed:
        now = "its server no longer has it" if changed.digest is None else f"its digest is now {changed.digest}"
        raise Conflict(
            f"The tool of {pack} has changed since the review: {now}.",
            current_id=pack,
            hint="Review the change again.",
        ) from changed
    await mounts.refresh(tool.server)
    accepted = context.services.registry.find(pack)
    if accepted is None:
        raise NotFound("pack", pack, hint=Hint("The server's load errors say why.", operation="server"))
    return accepted
