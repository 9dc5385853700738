"""The file argument of commands about definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[str, typer.Argument(metavar="FILE", help="Pipelines as YAML or JSON; `-` reads standard input.")]


def read_file(file: str) -> str:
    """Return a file's text; `-` is standard input."""
    import sys

    from app.cli.base.exits import CliError

    try:
        # Some editors write a byte order mark, which must not end up inside the joined files.
        return (sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")).removeprefix("\ufeff")
    except OSError as error:
        raise CliError(f"The file {file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CliError(f"The file {file} is not UTF-8 text.") from error
