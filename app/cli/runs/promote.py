"""`packline promote`: propose a pipeline made from a run."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from app.cli.base.options import Json, RunId, Server, whole_ids


def promote(
    run_id: RunId,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN",
            help="Another pack call of the chain; repeatable. Default: find them by their outputs.",
            show_default=False,
            callback=whole_ids("run"),
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the pipeline.", show_default=False)] = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write the definition to this file.", show_default=False)
    ] = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Propose a pipeline made from a run and the pack calls that led to it, without saving it."""
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, issue_line
    from app.cli.base.target import Target
    from app.cli.memory import documents

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        given = {"id": run_id, "include": include, "name": name}
        made = client.accept(client.execute(documents.PROMOTE, given)["result"], "run", [run_id, *(include or ())])
    if to is not None:
        try:
            to.write_text(made["yaml"], "utf-8")
        except OSError as error:
            raise CliError(f"The definition cannot be written to {to}: {error.strerror}.") from error
    if as_json:
        output.emit({name: value for name, value in made.items() if name != "__typename"})
        return
    if to is None:
        print(made["yaml"], end="")
    for issue in made["check"]["issues"]:
        output.note(issue_line(issue))
    runs = ", ".join(run["id"] for run in made["madeFrom"])
    output.note(f"Made from {runs}. Review it, then save it with `packline apply -f {to or 'FILE'}`.")
