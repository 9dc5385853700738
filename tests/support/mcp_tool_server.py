"""An MCP server with tools that try its client, over stdio or Streamable HTTP, by the protocol's own library.

    python mcp_tool_server.py stdio FOLDER
    python mcp_tool_server.py http FOLDER PORT

What it offers follows the files in FOLDER: `description` replaces what `echo` says of itself, `more` adds a tool,
`words` is what `refuse` and `fault` say.
"""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

FOLDER = Path(sys.argv[2])
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
OBJECT: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def _takes(**properties: Any) -> dict[str, Any]:
    return {**OBJECT, "properties": properties, "required": list(properties)}


def tools() -> list[types.Tool]:
    said = FOLDER / "description"
    found = [
        types.Tool(
            name="echo",
            description=said.read_text() if said.exists() else "Says what it is told.",
            input_schema=_takes(text={"type": "string", "maxLength": 100}),
            annotations=types.ToolAnnotations(read_only_hint=True),
        ),
        types.Tool(
            name="addNumbers",
            description="Adds.",
            input_schema=_takes(a={"type": "integer"}, b={"type": "integer"}),
            output_schema=_takes(sum={"type": "integer"}),
        ),
        types.Tool(name="refuse", description="Refuses.", input_schema=OBJECT),
        types.Tool(name="fault", description="Fails.", input_schema=OBJECT),
        types.Tool(name="slow", description="Takes a minute.", input_schema=OBJECT),
        types.Tool(name="crash", description="Ends its process.", input_schema=OBJECT),
        types.Tool(name="environment", description="Tells its environment.", input_schema=OBJECT),
        types.Tool(name="picture", description="Gives a picture.", input_schema=OBJECT),
        types.Tool(name="children", description="Starts a child and tells both ids.", input_schema=OBJECT),
        types.Tool(name="grow", description="Adds a tool and says so.", input_schema=OBJECT),
        types.Tool(
            name="remote-schema",
            description="Refers outside.",
            input_schema={"type": "object", "$ref": "https://x.example/s"},
        ),
        types.Tool(
            name="liar",
            description="Gives another shape than it declares.",
            input_schema=OBJECT,
            output_schema=_takes(sum={"type": "integer"}),
        ),
    ]
    if (FOLDER / "more").exists():
        found.append(types.Tool(name="extra", description="Was not there at first.", input_schema=OBJECT))
    return found


async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=tools())


def _text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def words() -> str:
    said = FOLDER / "words"
    return said.read_text() if said.exists() else "I would rather not."


def start_child() -> int:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    return child.pid


async def call_tool(ctx: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
    arguments = params.arguments or {}
    match params.name:
        case "echo":
            await ctx.session.report_progress(0.5, 1.0, "half way") if hasattr(ctx.session, "report_progress") else None
            return _text(str(arguments["text"]))
        case "addNumbers":
            return types.CallToolResult(content=[], structured_content={"sum": arguments["a"] + arguments["b"]})
        case "refuse":
            return types.CallToolResult(content=[types.TextContent(type="text", text=words())], is_error=True)
        case "fault":
            raise MCPError(types.INTERNAL_ERROR, words())
        case "slow":
            (FOLDER / "slow").write_text("begun")
            await asyncio.sleep(60)
        case "crash":
            os._exit(3)
        case "environment":
            return _text("\n".join(f"{name}={value}" for name, value in sorted(os.environ.items())))
        case "picture":
            assert base64.b64decode(PIXEL)
            return types.CallToolResult(content=[types.ImageContent(type="image", data=PIXEL, mime_type="image/png")])
        case "children":
            return _text(f"{os.getpid()} {start_child()}")
        case "grow":
            (FOLDER / "more").write_text("")
            await BUS.publish(ToolsListChanged())
            await ctx.session.send_tool_list_changed()
            return _text("grown")
        case "liar":
            return types.CallToolResult(content=[], structured_content={"sum": "three"})
    return types.CallToolResult(content=[types.TextContent(type="text", text="unknown tool")], is_error=True)


BUS = InMemorySubscriptionBus()
server: Server[Any] = Server(
    "tools",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_subscriptions_listen=ListenHandler(BUS),
)


async def over_stdio() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def main() -> None:
    print("ready", time.time(), file=sys.stderr)
    if sys.argv[1] == "stdio":
        asyncio.run(over_stdio())
    else:
        import uvicorn

        app = server.streamable_http_app(stateless_http=True)
        uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[3]), log_level="warning")


main()
