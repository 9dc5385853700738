"""Addresses for agents: of the server's tools, and of what they read, the same in answers, links and resources."""

from __future__ import annotations

from typing import Final

#: Where the server speaks MCP.
MCP_PATH: Final = "/mcp"


def artifact_uri(artifact_id: str) -> str:
    """An artifact's."""
    return f"packline://artifact/{artifact_id}"
