"""The command `packline`.

Only typer is imported to print help; everything else when a command runs.
"""

from __future__ import annotations


def main() -> None:
    """Runs the command line and ends the process.

    Exit status: 0 done, or the run succeeded; 1 the run failed; 2 wrong usage, or the command was refused; 3 the run
    was cancelled; 4 the server cannot be reached; 130 interrupted.
    """
    import sys

    from app.cli.commands import cli

    try:
        cli(prog_name="packline")
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from app.cli.base.exits import CliError

        if not isinstance(error, CliError):
            raise
        print(f"packline: {error}", file=sys.stderr)
        sys.exit(error.status)
