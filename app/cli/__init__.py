"""The command `packline`.

Printing help imports only typer; commands import the rest when they run.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line and end the process with one of `app.cli.base.exits.EXIT_STATUSES`."""
    import sys

    from app.cli.commands import tree

    try:
        tree(prog_name="packline")
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from app.cli.base.exits import CliError

        if not isinstance(error, CliError):
            raise
        print(f"packline: {error}", file=sys.stderr)
        sys.exit(error.status)
