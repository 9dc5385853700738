"""`packline worker`: a process that executes runs, and the commands about such processes."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from app.cli.base.fragments import PROBLEM_PARTS
from app.cli.base.options import Json, Server  # noqa: TC001 - typer reads the annotations
from app.cli.server.machine import Concurrency, DataDir, Host, LogLevel, Offers, settings_of

DRAIN_WORKER = (
    PROBLEM_PARTS
    + """
mutation CliDrainWorker($name: String!, $draining: Boolean!) {
  result: drainWorker(name: $name, draining: $draining) {
    __typename
    ... on DrainWorkerSuccess { worker { name draining running } }
    ...ProblemParts
  }
}
"""
)

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
    host: Host = None,
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
        worker=True,
        offers=offers,
        lanes=concurrency,
        host=host,
        worker_port=port,
        data_dir=data_dir,
        log_level=log_level,
    )
    raise typer.Exit(work(settings))


@worker.command()
def drain(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name, as `packline workers` lists it.")],
    undo: Annotated[bool, typer.Option("--undo", help="Have it take runs again.")] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Have a worker take no further runs and finish those it holds, so that it can be stopped."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        answer = accept(client.execute(DRAIN_WORKER, {"name": name, "draining": not undo})["result"])["worker"]
    if output.is_json:
        output.emit({"type": "worker", **answer})
    elif undo:
        output.say(f"{name} takes runs again.")
    elif running := answer["running"]:
        runs = "1 run" if running == 1 else f"{running} runs"
        output.say(f"{name} takes no further runs. It still holds {runs}; `packline workers` says when it is drained.")
    else:
        output.say(f"{name} is drained: it holds no runs and takes none. It can be stopped.")
