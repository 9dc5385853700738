"""Tools of mounted MCP servers: the accepted definition, and the offered one where it differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from store.database.dialects import Sql
from store.database.wakes import Topic
from store.models.credentials import MCP_TOOL
from store.models.declaring import columns_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store


@dataclass(frozen=True, slots=True)
class ToolRecord:
    """A tool of a server.

    Attributes:
        revision: Counts acceptances; 0 before the first.
        accepted: JSON text of the tool that may run; None before the first acceptance.
        offered: JSON text of the tool as its server has it now; None when it no longer has it.
        changed_at: When the two began to differ; None while they agree.
    """

    server: str
    tool: str
    revision: int
    accepted_digest: str | None
    accepted: str | None
    offered_digest: str | None
    offered: str | None
    changed_at: datetime | None


class ToolChangedError(Exception):
    """The tool is no longer as reviewed; `digest` is that of its current definition, None when it is gone."""

    def __init__(self, tool: str, digest: str | None) -> None:
        super().__init__(f"The tool {tool} has changed again.")
        self.digest = digest


_FIND = Sql("SELECT revision, accepted_digest, offered_digest FROM mcp_tool WHERE server = :server AND tool = :tool")
_ALL = Sql("SELECT tool, accepted_digest, offered_digest FROM mcp_tool WHERE server = :server")
_ADD = Sql(
    """INSERT INTO mcp_tool (server, tool, revision, accepted_digest, accepted, accepted_at, offered_digest, offered,
        changed_at)
    VALUES (:server, :tool, :revision, :accepted_digest, :accepted, :accepted_at, :offered_digest, :offered,
        :changed_at)
    ON CONFLICT DO NOTHING"""
)
_OFFER = Sql(
    """UPDATE mcp_tool SET offered_digest = :digest, offered = :offered, changed_at = :changed_at
    WHERE server = :server AND tool = :tool"""
)
_ACCEPT = Sql(
    """UPDATE mcp_tool SET revision = revision + 1, accepted_digest = offered_digest, accepted = offered,
        accepted_at = :now, accepted_by = :caller_id, changed_at = NULL
    WHERE server = :server AND tool = :tool AND offered_digest = :digest"""
)


async def list_tools(store: Store, server: str) -> list[ToolRecord]:
    """Find all tools that a server has or had, by name."""
    rows = await store.read(
        sa.select(*columns_of(MCP_TOOL, ToolRecord)).where(MCP_TOOL.c.server == server).order_by(MCP_TOOL.c.tool)
    )
    return [ToolRecord(**row) for row in rows.mappings()]


def record_offer(conn: Connection, server: str, offered: Mapping[str, tuple[str, str]]) -> None:
    """Record the tools that a server offers now.

    Those of its first connection are accepted: its operator has just mounted it. Later, new and changed tools wait for
    acceptance, and missing ones are recorded as gone.

    Args:
        conn: The unit of work.
        server: Key of the server.
        offered: Digest and JSON text by the tool's name.
    """
    now = conn.now()
    known = {row.tool: row for row in conn.all(_ALL, {"server": server})}
    is_first = not known
    for tool, (digest, text) in offered.items():
        if tool not in known:
            conn.run(
                _ADD,
                {
                    "server": server,
                    "tool": tool,
                    "revision": int(is_first),
                    "accepted_digest": digest if is_first else None,
                    "accepted": text if is_first else None,
                    "accepted_at": now if is_first else None,
                    "offered_digest": digest,
                    "offered": text,
                    "changed_at": None if is_first else now,
                },
            )
        elif known[tool].offered_digest != digest:
            same = known[tool].accepted_digest == digest
            values = {"server": server, "tool": tool, "digest": digest, "offered": text}
            conn.run(_OFFER, {**values, "changed_at": None if same else now})
    for tool in known.keys() - offered.keys():
        if known[tool].offered_digest is not None:
            conn.run(_OFFER, {"server": server, "tool": tool, "digest": None, "offered": None, "changed_at": now})
    conn.wake(Topic.MCP_TOOLS)


def accept_tool(conn: Connection, server: str, tool: str, digest: str, *, caller_id: str) -> None:
    """Accept a tool as it is offered now.

    Raises:
        ToolChangedError: it is not what was reviewed.
    """
    accepted = conn.run(
        _ACCEPT, {"server": server, "tool": tool, "digest": digest, "caller_id": caller_id, "now": conn.now()}
    )
    if accepted == 0:
        row = conn.one(_FIND, {"server": server, "tool": tool})
        raise ToolChangedError(tool, row.offered_digest if row is not None else None)
    conn.wake(Topic.MCP_TOOLS)
