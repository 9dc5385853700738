"""`packline mcp`: an MCP server on stdin and stdout."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.base.options import Server  # noqa: TC001 - typer reads the annotations
from app.cli.server.machine import DataDir  # noqa: TC001 - typer reads the annotations


def mcp(
    token: Annotated[
        str | None, typer.Option(help="Token for the server (PACKLINE_TOKEN).", show_default=False)
    ] = None,
    toolsets: Annotated[
        str | None, typer.Option(help="Tool sets, separated by commas: default, author.", show_default=False)
    ] = None,
    packs: Annotated[
        str | None, typer.Option(help="Packs to offer as separate tools, separated by commas.", show_default=False)
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only tools that change nothing.")] = False,
    embedded: Annotated[
        bool, typer.Option("--embedded", help="Serve the data folder in this process instead of calling a server.")
    ] = False,
    data_dir: DataDir = None,
    server: Server = None,
) -> None:
    """Serve MCP on stdin and stdout, for programs that start their own servers.

    Forwards everything to the running server, or with --embedded serves the data folder itself. Ends with its input.
    """
    import asyncio
    from urllib.parse import urlencode

    from app.cli.base.exits import CliError

    wanted = {"toolsets": toolsets, "packs": packs, "readonly": "1" if read_only else None}
    query = urlencode({name: value for name, value in wanted.items() if value})
    if embedded or data_dir is not None:
        if server is not None or token is not None:
            raise CliError("--embedded and --data-dir cannot be combined with --server and --token.")
        from app.cli.server.machine import settings_of
        from app.embedded import serve_embedded
        from app.logging import configure_logging
        from app.mcp.session import Selection, SelectionError
        from store.database.errors import DataFolderInUseError, StoreError

        settings = settings_of(data_dir=data_dir)
        configure_logging(settings.log_level, settings.log_format)
        try:
            with asyncio.Runner() as runner:
                try:
                    runner.run(serve_embedded(settings, Selection.parse(query, {})))
                except SystemExit as error:
                    from app.server import end_process

                    end_process(error)
        except DataFolderInUseError as error:
            raise CliError(
                f"{error} Leave out --embedded and --data-dir to call that server, or name another folder with "
                "--data-dir."
            ) from error
        except (SelectionError, StoreError) as error:
            raise CliError(str(error)) from error
        return
    from app.cli.base.target import Target
    from app.mcp.transport.bridge import bridge_stdio
    from app.settings.telemetry import surrounding_trace

    target = Target.find(server)
    address = f"{target.url}/mcp" + (f"?{query}" if query else "")
    asyncio.run(bridge_stdio(address, token or target.token, surrounding_trace()))
