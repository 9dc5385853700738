"""MCP on stdin and stdout from a server of its own, in this process. Imports `mcp`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

from app.main import create_app
from app.mcp.session import Selection, Session
from app.mcp.tools.toolbox import Toolbox
from app.mcp.transport.finishing import Heard, Said
from app.mcp.transport.server import build_server
from resolvers.context import Context
from store.states import RunCause

if TYPE_CHECKING:
    from app.settings.server import Settings


async def serve_embedded(settings: Settings, selection: Selection) -> None:
    """Opens the data folder, serves its administrator until stdin ends, and closes it.

    Raises:
        StoreError: the database cannot be used, such as by a server that runs on it already.
        SelectionError: packs are asked for as tools that there are not.
    """
    application = create_app(settings)
    await application.start()
    try:
        services, authenticator, surfaces = application.services, application.authenticator, application.surfaces
        assert services is not None
        assert authenticator is not None
        assert surfaces is not None
        context = Context(
            services=services,
            caller=await authenticator.administrator(),
            client_name="packline mcp",
            cause=RunCause.AGENT,
        )
        ending = asyncio.Event()
        session = Session(surfaces.schema, context, selection, ending=ending)
        session.refuse_unknown_packs()

        def session_of(_ctx: Any) -> Session:  # noqa: ANN401 - whichever request it is, there is one caller
            return replace(session, context=replace(context, misses=[]))

        server = build_server(Toolbox(surfaces.schema), session_of)
        # Takes the real stdout for itself and points everybody else's at stderr.
        try:
            async with stdio_server() as (incoming, outgoing):
                said = Said(outgoing)
                await server.run(Heard(incoming, said, ending), said, server.create_initialization_options())
        except* BrokenPipeError:
            pass  # nobody listens any more: as good as the end of the input
    finally:
        await application.stop()
