"""Commands that list and show runs: runs, show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.base.options import Json, Limit, Long, RunId, Server, whole_ids

if TYPE_CHECKING:
    from app.cli.base.output import JSON


def runs(
    state: Annotated[
        list[str] | None,
        typer.Option(metavar="STATE", help="Only runs in this state; repeatable.", show_default=False),
    ] = None,
    pipeline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PIPELINE",
            help="Only runs of this pipeline; repeatable.",
            show_default=False,
            callback=whole_ids("pipe"),
        ),
    ] = None,
    search: Annotated[str | None, typer.Option(help="Search title, inputs and failure.", show_default=False)] = None,
    attention: Annotated[bool, typer.Option("--attention", help="Only failed runs nobody has looked at.")] = False,
    limit: Limit = 20,
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List runs, newest first."""
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import STATES, Output, ago
    from app.cli.base.target import Target
    from app.cli.runs import documents

    output = Output(as_json)
    states = [word.upper() for word in state or ()]
    for word in states:
        if word not in STATES or word in ("PENDING", "LOST"):
            known = ", ".join(name.lower() for name in STATES if name not in ("PENDING", "LOST"))
            raise CliError(f"`{word.lower()}` is not a state of a run. The states are {known}.")
    wanted: dict[str, Any] = {}
    if states:
        wanted["states"] = states
    if pipeline:
        wanted["pipelines"] = pipeline
    if search:
        wanted["text"] = search
    if attention:
        wanted["needsAttention"] = True
    with Client(Target.find(server)) as client:
        found = client.pages(documents.RUNS, "runs", {"filter": wanted}, limit=limit)
        if output.is_json:
            for one in found:
                output.emit(one)
            return
        print_list(
            output,
            [
                Column("run"),
                Column("state"),
                Column("what", "cut"),
                Column("started"),
                Column("took", "wide"),
                Column("why", "long"),
                Column("pipeline or pack", "long"),
                Column("started by", "long"),
            ],
            (
                [
                    one["id"],
                    output.state(one["state"]),
                    one["title"] if long else _what(one),
                    ago(one["createdAt"]),
                    _time_of(one),
                    _cause(one),
                    one["pipeline"]["key"] if one["pipeline"] else one["pack"]["id"] if one["pack"] else "",
                    one["caller"]["name"],
                ]
                for one in found
            ),
            empty="No runs. `packline run sample` starts one.",
            long=long,
        )


def show(
    run_id: RunId,
    step: Annotated[
        str | None, typer.Option(help="Show this step's input, output and log.", show_default=False)
    ] = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Show a run, or one of its steps."""
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.runs import documents
    from app.cli.runs.show import show_run, show_step

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        whole = {"outputBytes": 1 << 20} if output.is_json else {}
        found = client.execute(documents.RUN_DETAIL, {"id": run_id, **whole})["run"]
        if found is None:
            raise client.unknown("run", run_id)
    if step is not None:
        chosen = next((one for one in found["steps"] if one["key"] == step), None)
        if chosen is None:
            names = ", ".join(one["key"] for one in found["steps"])
            raise CliError(f"The run {run_id} has no step `{step}`. It has {names}.")
        if output.is_json:
            output.emit(chosen)
        else:
            show_step(output, chosen)
            if chosen.get("agent") and chosen["attempts"]:
                output.say(f"\n`packline transcript {run_id} {step}` shows what its agent said and did.", "dim")
    elif output.is_json:
        output.emit(found)
    else:
        show_run(output, found)


def _what(run: JSON) -> Any:  # noqa: ANN401 - rich's Text, not imported at start
    """A run's title and, after it, why it failed or what it waits for."""
    from rich.text import Text

    cause = _cause(run)
    return Text.assemble(run["title"], (f"  {cause}", "dim")) if cause else Text(run["title"])


def _cause(run: JSON) -> str:
    failure = run["failure"]
    if failure:
        return f"{failure['stepKey']}: {failure['message']}" if failure["stepKey"] else str(failure["message"])
    return str(run["wait"]["message"]) if run["wait"] else ""


def _time_of(run: JSON) -> str:
    """How long a run took; for a resumed one, its attempts without the pauses between them."""
    from app.cli.base.output import duration, took

    if run["startedAt"] is None:
        return ""
    if run["endedAt"] is None and run["resumeCount"] == 0:
        return took(run["startedAt"], None)
    return duration(run["workSeconds"])
