"""Options that several commands share."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable


def number(least: float, most: float | None = None, *, whole: bool = True) -> Callable[[str | float], float]:
    """A parser for an option that takes a number: it refuses others in words that say what is allowed."""

    def parse(given: str | float) -> float:
        try:
            found = int(given) if whole else float(given)
        except ValueError:
            found = nan
        if least <= found <= (inf if most is None else most):
            return found
        allowed = f"from {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise typer.BadParameter(f"`{given}` is not {'a whole number' if whole else 'a number'} {allowed}.")

    return parse


Server = Annotated[
    str | None, typer.Option("--server", metavar="URL", help="Server to talk to (PACKLINE_SERVER).", show_default=False)
]
Json = Annotated[
    bool | None,
    typer.Option("--json/--text", help="JSON lines or text; text on a terminal, else JSON.", show_default=False),
]
Limit = Annotated[int, typer.Option(parser=number(1, 10_000), metavar="NUMBER", help="How many, at most 10,000.")]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        "-i",
        metavar="NAME=VALUE",
        help="An input; NAME:=JSON for any value, NAME=@FILE for a file's text. Repeatable.",
        show_default=False,
    ),
]
Uploads = Annotated[
    list[str] | None,
    typer.Option(
        "--upload",
        "-u",
        metavar="NAME=FILE",
        help="Send a file and give the artifact it becomes as an input. Repeatable.",
        show_default=False,
    ),
]
InputsFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Inputs as a YAML or JSON file; `-` reads them.", show_default=False)
]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id, run_….", show_default=False)]
IdempotencyKey = Annotated[
    str | None, typer.Option(help="Repeating the command with the same key gives the same run.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Take nothing from the caches of packs.")]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="PROFILE", help="Agent profile for its agent steps.", show_default=False),
]
FromMemory = Annotated[
    list[str] | None,
    typer.Option(
        "--from-memory",
        metavar="NAME",
        help="Take this input from what you usually choose, as `packline memory defaults` lists it; `all` takes each. "
        "The run says so. Repeatable.",
        show_default=False,
    ),
]
Detach = Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for the end.")]
