"""MCP on stdin and stdout from a server in this process. Imports `mcp`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

from app.main import create_app
from app.mcp.session import Selection, Session
from app.mcp.tools.toolbox import Toolbox
from app.mcp.transport.finishing import DrainingReceiver, TrackingSender
from app.mcp.transport.server import build_server
from resolvers.context import Context
from store.states import RunCause

if TYPE_CHECKING:
    from app.settings.server import Settings


async def serve_embedded(settings: Settings, selection: Selection) -> None:
    """Open the data folder, serve its administrator until stdin ends, and close it.

    Raises:
        StoreError: the database cannot be used, for example because a server uses it.
        SelectionError: the selection names packs that do not exist.
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

        def session_of(_ctx: Any) -> Session:  # noqa: ANN401 - all requests have one caller
            return replace(session, context=replace(context, misses=[]))

        server = build_server(Toolbox(surfaces.schema), session_of)
        # `stdio_server` redirects all other writes to stdout to stderr.
        try:
            async with stdio_server() as (incoming, outgoing):
                sender = TrackingSender(outgoing)
                receiver = DrainingReceiver(incoming, sender, ending)
                await server.run(receiver, sender, server.create_initialization_options())
        except* BrokenPipeError:
            pass  # the client has closed stdout, which ends the session as the end of stdin does
    finally:
        await application.stop()
