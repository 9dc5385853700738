"""Mounted MCP servers and the acceptance of their changed tools."""

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
    """Every server as it is now, in the order of the settings."""
    return context.services.mounts.servers()


def change_of(context: Context, pack: str) -> ToolChange | None:
    """What is different about a pack's tool since it was accepted; None when nothing is, or it is no tool."""
    return context.services.mounts.change_of(pack)


@operation("accept_mcp_tool_change", scope=Scope.MANAGE, kind="command", target="pack")
async def accept_mcp_tool_change(context: Context, *, pack: str, digest: str) -> Pack:
    """Accepts a tool of an MCP server as it was reviewed; the pack made of it."""
    mounts = context.services.mounts
    tool = mounts.tool_of(pack)
    if tool is None:
        raise NotFound("pack of a mounted MCP server", pack, hint=Hint(operation="mcp_servers"))
    try:
        await context.commit(
            lambda conn: accept_tool(conn, tool.server, tool.tool, digest, caller_id=context.caller.id)
        )
    except ToolChangedError as changed:
        raise Conflict(
            f"{pack} is not what was reviewed"
            + (
                ": its server no longer has the tool."
                if changed.digest is None
                else f"; its digest is {changed.digest} now."
            ),
            current_id=pack,
            hint="Review the change again.",
        ) from changed
    await mounts.refresh(tool.server)
    accepted = context.services.registry.find(pack)
    if accepted is None:
        raise NotFound("pack", pack, hint=Hint("The load errors of the server say why.", operation="server"))
    return accepted
