"""An agent: the SDK's client on a running product, over the wire of either era.

async with agent(product) as client:
    answer = content_of(await client.call_tool("search_catalog", {"text": "echo"}))
"""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from mcp import Client
    from mcp.types import CallToolResult

    from tests.support.product import Product

#: How the client connects: `auto` finds the newest version both know, `legacy` shakes hands as in 2025.
MODES = ("auto", "legacy")


class ToolRefused(Exception):
    """A call was answered with an error the agent is meant to read.

    Attributes:
        error: What stands under `error`.
    """

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.error = error


@asynccontextmanager
async def agent(
    product: Product, mode: str = "auto", *, token: str | None = None, query: str = "", **options: Any
) -> AsyncIterator[Client]:
    """A client of the product, signed in; `query` chooses tools, such as `?toolsets=author`."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"authorization": f"Bearer {token or product.token}"}
    # Nothing here speaks TLS, and reading the certificates of the system takes 43 ms of CPU a client.
    async with httpx2.AsyncClient(headers=headers, timeout=90, follow_redirects=True, verify=False) as http:
        transport = streamable_http_client(product.url(f"/mcp{query}"), http_client=http)
        async with Client(transport, mode=mode, **options) as client:
            yield client


def stdio_environment(folder: Path, **more: str) -> dict[str, str]:
    """What a command on stdin and stdout sees: nothing of this process's settings."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PACKLINE_")}
    return {**clean, "PACKLINE_DATA_DIR": str(folder / "elsewhere"), **more}


@asynccontextmanager
async def stdio_agent(command: Sequence[str], env: dict[str, str], mode: str = "auto") -> AsyncIterator[Client]:
    """A client of a command that it starts."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=env)
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


def content_of(result: CallToolResult) -> dict[str, Any]:
    """What a call answered; the text says the same as the structured content.

    Raises:
        ToolRefused: it answered with an error.
    """
    text = json.loads(result.content[0].text)
    if result.is_error:
        assert result.structured_content is None, "clients check it against the output schema, errors too"
        assert set(text) == {"error"}
        assert {"code", "message", "retryable", "request_id"} <= set(text["error"])
        raise ToolRefused(text["error"])
    assert text == result.structured_content
    return dict(text)


def fits(schema: dict[str, Any] | None, answer: dict[str, Any]) -> None:
    """Fails when an answer does not fit its tool's output schema."""
    assert schema is not None
    problems = [problem.message for problem in Draft202012Validator(schema).iter_errors(answer)]
    assert not problems, problems
