"""Files of definitions: their text, and where in them an issue is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.cli.base.output import JSON
    from runner.yaml_documents import Positions

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


class Place(NamedTuple):
    """A definition in a file."""

    file: str
    document: JSON
    positions: Positions


def places_in(file: str, text: str) -> list[Place]:
    """Return the places of the definitions in a file.

    Raises:
        CliError: The text cannot be read; the message has the line.
    """
    from app.cli.base.exits import CliError
    from runner.json_values import DocumentError
    from runner.yaml_documents import load_written, positions

    name = "stdin" if file == "-" else file
    try:
        written = load_written(text)
    except DocumentError as error:
        where = "" if error.line is None else f":{error.line}:{error.column}"
        raise CliError(f"{name}{where}: {error.message}") from error
    return [Place(name, one.document, found) for one, found in zip(written, positions(text), strict=True)]


def issues_in_files(issues: Iterable[JSON], places: Sequence[Place]) -> list[str]:
    """Return issues as lines with file, line and column; none if one of them is not in a definition.

    Args:
        issues: Issues whose paths begin with the number of a definition.
        places: The places of the definitions.
    """
    from app.cli.base.output import hint_words
    from runner.issues import place

    lines = []
    for issue in issues:
        number, *path = issue["path"] or [""]
        if issue["argument"] is not None or not number.isdecimal() or int(number) >= len(places):
            return []
        found = places[int(number)]
        line, column = found.positions.of(tuple(path))
        said = ": ".join(filter(None, (place(path, found.document), issue["message"])))
        where = f"{found.file}:{line}:{column}: {issue['severity'].lower()}"
        lines.append(f"{where}: {said} {hint_words(issue)}".rstrip())
    return lines
