"""The command tree, in the order of the help."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.main import get_command

from app.cli.access.callers import callers
from app.cli.access.spending import spending
from app.cli.access.tokens import tokens
from app.cli.artifacts.artifacts import artifacts
from app.cli.base.exits import EXIT_STATUSES
from app.cli.credentials.files import credentials
from app.cli.memory.memory import memory
from app.cli.pipelines import pipelines, versions
from app.cli.pipelines.check import check, schema
from app.cli.pipelines.check_pack import check_pack
from app.cli.runs import commands, listing
from app.cli.runs.promote import promote
from app.cli.runs.route import route
from app.cli.runs.transcript import transcript
from app.cli.server import admission, connect, machine, mcp
from app.cli.server.worker import worker
from app.cli.server.workers import workers
from app.cli.triggers.webhooks import triggers

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog=f"Exit status: {' · '.join(EXIT_STATUSES)}",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"packline {version('packline')}")
        raise typer.Exit


@cli.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Packline: run pipelines of packs, durably, and watch every step.

    Start a server with `packline up`, then, in another terminal, `packline run sample`.
    """


cli.command()(machine.up)
cli.add_typer(worker, name="worker")
cli.command()(commands.run)
cli.command()(commands.watch)
cli.command()(commands.resume)
cli.command()(commands.rerun)
cli.command()(commands.cancel)
cli.command()(listing.runs)
cli.command()(listing.show)
cli.command()(transcript)
cli.command()(check)
cli.command()(schema)
cli.command()(check_pack)
cli.command()(pipelines.apply)
cli.command()(pipelines.export)
cli.command()(pipelines.pipelines)
cli.command()(pipelines.packs)
cli.add_typer(versions.pipeline, name="pipeline")
cli.command()(route)
cli.add_typer(memory, name="memory")
cli.command()(promote)
cli.add_typer(triggers, name="trigger")
cli.add_typer(artifacts, name="artifact")
cli.add_typer(tokens, name="token")
cli.add_typer(callers, name="callers")
cli.command()(spending)
cli.add_typer(credentials, name="credential")
cli.command()(connect.connect)
cli.command()(mcp.mcp)
cli.command()(admission.pause)
cli.command()(admission.unpause)
cli.command()(workers)
cli.command()(machine.doctor)
cli.command()(machine.migrate)
cli.command()(machine.backup)
cli.command()(machine.restore)

#: The tree as Typer builds it, once for each process: building it takes longer than most commands.
tree = get_command(cli)
