"""What every command line of Packline has, and the one that starts a server."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli import machine

_EPILOG = (
    "Exit status: 0 done, or the run succeeded · 1 the run failed · 2 wrong usage or refused · 3 the run was cancelled "
    "· 4 the server cannot be reached · 130 interrupted"
)


def command_line() -> typer.Typer:
    """A command line without commands."""
    made = typer.Typer(
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        epilog=_EPILOG,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    made.callback()(root)
    return made


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"packline {version('packline')}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Packline: run pipelines of packs, durably, and watch every step.

    Start a server with `packline up`, then, in another terminal, `packline run sample`.
    """


#: `up` alone, for the start of a server: importing and making all commands takes a twentieth of its time.
cli_up = command_line()
cli_up.command()(machine.up)
