"""Parts of the MCP server, such as resources and extensions: how they register and what their handlers get.

Imports `mcp`.

A part registers handlers (resources, an extension) with a function `add_to(server, session_of, toolbox)`, named in
`app.mcp.transport.server.PARTS`: `server.add_request_handler(method, ParamsModel, handler)` for each, and an extension
announces itself in `server.extensions[id] = {}`; capabilities follow from the handlers registered. A handler is `async
(ctx, params) -> result` and starts with `session = session_of(ctx)`: `session.context` is the context of use cases,
`session.execute(document, variables)` runs GraphQL as the caller. A part may also replace `tools/call`:
`server.get_request_handler("tools/call")` is the handler to wrap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp.server import ServerRequestContext

if TYPE_CHECKING:
    from mcp.server import Server

    from app.mcp.session import Session
    from app.mcp.tools.toolbox import Toolbox

RequestContext = ServerRequestContext[Any, Any]
#: Gives the session of a request: its caller, and the selection of tools.
SessionOf = Callable[[RequestContext], "Session"]
#: Registers more handlers; see the module's docstring.
Part = Callable[["Server[Any]", SessionOf, "Toolbox"], None]
