"""Commands about memory: the learned defaults and their evidence; forgetting, pinning, pausing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Json, Limit, Long, Server, whole_ids

if TYPE_CHECKING:
    from app.cli.base.output import JSON, Output

memory = typer.Typer(no_args_is_help=True, help="See, pin and forget what Packline learned from your runs.")

FIELDS = ("persona", "audience", "angle", "model", "theme", "voice", "persona_used", "kind", "format", "author")

Caller = Annotated[
    str | None,
    typer.Option(help="Another caller, by id; needs the scope manage.", show_default=False, callback=whole_ids("call")),
]
Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET", help="Pipeline key or id, or a pack.", show_default=False, callback=whole_ids("pipe")
    ),
]
Field = Annotated[str, typer.Argument(metavar="FIELD", help=f"One of {', '.join(FIELDS)}.", show_default=False)]


@memory.command()
def defaults(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help="Only for this pipeline or pack.",
            show_default=False,
            callback=whole_ids("pipe"),
        ),
    ] = None,
    caller: Caller = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Show your usual values."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target as Place
    from app.cli.memory import documents

    output = Output(as_json)
    with Client(Place.find(server)) as client:
        found = client.execute(documents.DEFAULTS, {"caller": caller, "target": target})["myDefaults"]
    _print(output, found)


@memory.command()
def entries(
    scope: Annotated[str, typer.Option(help="all, packs, pipelines, pack:ID, pipeline:ID or entry:ID.")] = "all",
    limit: Limit = 20,
    caller: Caller = None,
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List the evidence for your defaults, newest first."""
    from app.cli.base.client import Client
    from app.cli.base.ids import whole_scope
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output, ago
    from app.cli.base.target import Target as Place
    from app.cli.memory import documents

    output = Output(as_json)
    with Client(Place.find(server)) as client:
        wanted = {"scope": whole_scope(client, scope, caller), "caller": caller}
        found = client.pages(documents.ENTRIES, "memoryEntries", wanted, limit=limit)
        if output.is_json:
            for one in found:
                output.emit(one)
            return
        print_list(
            output,
            [
                Column("id"),
                Column("outcome"),
                Column("what", "cut"),
                Column("when"),
                Column("learned", "wide"),
            ],
            ([one["id"], output.state(one["outcome"]), one["target"], ago(one["at"]), _learned(one)] for one in found),
            empty="Memory is empty.",
            long=long,
        )


@memory.command()
def forget(
    scope: Annotated[
        str, typer.Argument(help="all, packs, pipelines, pack:ID, pipeline:ID or entry:ID.", show_default=False)
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count the rows.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    caller: Caller = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Forget rows of memory; runs, caches, credentials and pinned values are kept."""
    from app.cli.base.client import Client
    from app.cli.base.ids import whole_scope
    from app.cli.base.output import Output, accept, confirm
    from app.cli.base.target import Target as Place
    from app.cli.memory import documents

    output = Output(as_json)
    asks = not (yes or dry_run or output.is_json) and sys.stdin.isatty()
    with Client(Place.find(server)) as client:
        given = {"scope": whole_scope(client, scope, caller), "caller": caller}
        done = accept(client.execute(documents.FORGET, {**given, "dryRun": dry_run or asks})["result"])
        if asks:
            confirm(f"Forget {_rows(done['rows'])}?", "Nothing was forgotten.")
            done = accept(client.execute(documents.FORGET, {**given, "dryRun": False})["result"])
    if output.is_json:
        output.emit({"scope": done["scope"], "rows": done["rows"], "dryRun": dry_run})
    else:
        output.say(f"{_rows(done['rows'])} {'would be' if dry_run else 'were'} forgotten.")


@memory.command()
def pin(
    target: Target,
    field: Field,
    value: Annotated[
        str | None, typer.Argument(metavar="VALUE", help="Value; default: the learned one.", show_default=False)
    ] = None,
    caller: Caller = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Pin a default; learning does not change it."""
    _set_default(target, field, "PINNED", value, caller, server, as_json)


@memory.command()
def exclude(target: Target, field: Field, caller: Caller = None, server: Server = None, as_json: Json = None) -> None:
    """Never learn or suggest a field of a pipeline or pack."""
    _set_default(target, field, "EXCLUDED", None, caller, server, as_json)


@memory.command()
def learn(target: Target, field: Field, caller: Caller = None, server: Server = None, as_json: Json = None) -> None:
    """Remove a pin or an exclusion, and learn the field again."""
    _set_default(target, field, "LEARNED", None, caller, server, as_json)


@memory.command()
def pause(caller: Caller = None, server: Server = None) -> None:
    """Pause learning; what was learned is kept."""
    _set_learning(caller, server, paused=True)


@memory.command()
def resume(caller: Caller = None, server: Server = None) -> None:
    """Resume learning."""
    _set_learning(caller, server, paused=False)


def _set_default(
    target: str, field: str, rule: str, value: str | None, caller: str | None, server: str | None, as_json: bool | None
) -> None:
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target as Place
    from app.cli.memory import documents

    output = Output(as_json)
    if field.lower() not in FIELDS:
        raise CliError(f"Memory does not learn `{field}`. It learns {', '.join(FIELDS)}.")
    given = {"target": target, "field": field.upper(), "rule": rule, "value": value, "caller": caller}
    with Client(Place.find(server)) as client:
        done = accept(client.execute(documents.SET_DEFAULT, given)["result"])
    _print(output, done["defaults"])


def _set_learning(caller: str | None, server: str | None, *, paused: bool) -> None:
    from app.cli.base.client import Client
    from app.cli.base.output import accept
    from app.cli.base.target import Target as Place
    from app.cli.memory import documents

    with Client(Place.find(server)) as client:
        accept(client.execute(documents.SET_LEARNING, {"paused": paused, "caller": caller})["result"])
    print("Learning is paused." if paused else "Learning is resumed.")


def _print(output: Output, found: JSON) -> None:
    """Print defaults: a row for each field of each pack and pipeline."""
    if output.is_json:
        output.emit(found)
        return
    if found["learningPaused"]:
        output.say("Learning is paused; `packline memory resume` resumes it.", "yellow")
    if found["locked"]:
        output.say(found["locked"], "yellow")
    rows = [
        [entry["target"], value["field"].lower(), _shown(value), _share(value)]
        for entry in (*found["pipelines"], *found["packs"])
        for value in entry["values"]
    ]
    output.table(["what", "field", "value", "why"], rows, empty="No defaults learned yet.")


def _shown(value: JSON) -> str:
    return "never learned" if value["excluded"] else str(value["value"])


def _share(value: JSON) -> str:
    if value["excluded"] or value["pinned"]:
        return str(value["source"])
    others = f"; also {', '.join(value['others'][:3])}" if value["others"] else ""
    return f"{value['count']} times, {value['share']:.0%}{others}"


def _learned(entry: JSON) -> str:
    if not entry["readable"]:
        return "cannot be read"
    return ", ".join(f"{one['field'].lower()}: {one['value']}" for one in entry["learned"])


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
