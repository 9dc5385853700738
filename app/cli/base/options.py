"""Options that several commands share."""

from __future__ import annotations

from datetime import datetime
from math import inf, nan
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable


def with_zone(given: str | None) -> str | None:
    """Return a time in the form of the API."""
    if given is None:
        return None
    try:
        then = datetime.fromisoformat(given)
    except ValueError as error:
        raise typer.BadParameter(f"`{given}` is not a time such as 2030-01-31T06:00+01:00.") from error
    if then.tzinfo is None:
        raise typer.BadParameter(f"`{given}` has no time zone: append Z for UTC, or an offset such as +01:00.")
    return then.isoformat(timespec="milliseconds")


def number(least: float, most: float | None = None, *, whole: bool = True) -> Callable[[str | float], float]:
    """A parser for an option with a number; it refuses other values and says which are allowed."""

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


def whole_ids(*kinds: str) -> Callable[[typer.Context, str | list[str] | None], str | list[str] | None]:
    """A callback for an argument or option with ids; it replaces a prefix of an id, or `@last`, by the id.

    Args:
        kinds: Prefixes of the ids it takes, such as `run`; keys and other names pass through.
    """

    def complete(context: typer.Context, given: str | list[str] | None) -> str | list[str] | None:
        from app.cli.base.ids import is_short, whole_id

        texts = [given] if isinstance(given, str) else given or []
        if context.resilient_parsing or not any(is_short(text, kinds) for text in texts):
            return given
        from app.cli.base.client import Client
        from app.cli.base.target import Target

        with Client(Target.find(context.params.get("server"))) as client:
            whole = [whole_id(client, text, kinds) for text in texts]
        return whole[0] if isinstance(given, str) else whole

    return complete


Server = Annotated[
    str | None,
    # Eager, because the callbacks of `whole_ids` read it.
    typer.Option(
        "--server", metavar="URL", help="Server to talk to (PACKLINE_SERVER).", show_default=False, is_eager=True
    ),
]
Json = Annotated[
    bool | None,
    typer.Option("--json/--text", help="JSON lines or text; text on a terminal, else JSON.", show_default=False),
]
Limit = Annotated[
    int, typer.Option(parser=number(1, 10_000), metavar="NUMBER", help="Maximum number of entries, up to 10,000.")
]
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
        help="Upload a file, and pass its artifact as an input. Repeatable.",
        show_default=False,
    ),
]
InputsFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Inputs as a YAML or JSON file; `-` reads standard input.", show_default=False),
]
RunId = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The run's id, run_…, or a unique prefix of it; `@last` is your newest run.",
        show_default=False,
        callback=whole_ids("run"),
    ),
]
StartAt = Annotated[
    str | None,
    typer.Option(
        "--start-at",
        metavar="TIME",
        help="Start later: a time with its zone, such as 2030-01-31T06:00+01:00. Use --detach not to wait for it.",
        show_default=False,
        callback=with_zone,
    ),
]
IdempotencyKey = Annotated[
    str | None, typer.Option(help="A repeated command with the same key returns the same run.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Ignore cached results of packs.")]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="PROFILE", help="Agent profile for the agent steps.", show_default=False),
]
FromMemory = Annotated[
    list[str] | None,
    typer.Option(
        "--from-memory",
        metavar="NAME",
        help="Use your usual value for this input, as in `packline memory defaults`; `all` does so for every input. "
        "The run records it. Repeatable.",
        show_default=False,
    ),
]
Detach = Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for the run to end.")]
Long = Annotated[bool, typer.Option("--long", help="Show everything about each, on several lines.")]
