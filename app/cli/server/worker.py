"""`packline worker`: a process that executes runs, and the commands about such processes."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from app.cli.server.machine import Concurrency, DataDir, LogLevel, Offers, settings_of

worker = typer.Typer(
    invoke_without_command=True,
    help="Execute the runs of servers that share a PostgreSQL database. Ctrl-C stops it; other workers continue its "
    "runs.",
)


@worker.callback()
def start(
    context: typer.Context,
    offers: Offers = None,
    concurrency: Concurrency = None,
    port: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Port of the health check (PACKLINE_WORKER_PORT); default: a free one.",
            show_default=False,
        ),
    ] = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Start a worker, unless a command follows."""
    if context.invoked_subcommand is not None:
        return
    gc.disable()  # as in `packline up`
    from app.server import work

    settings = settings_of(
        worker=True, offers=offers, lanes=concurrency, worker_port=port, data_dir=data_dir, log_level=log_level
    )
    raise typer.Exit(work(settings))
