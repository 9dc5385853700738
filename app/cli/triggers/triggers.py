"""Commands about triggers, which start runs of pipelines by themselves."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Inputs, InputsFile, Json, Limit, Long, Server, number, whole_ids

if TYPE_CHECKING:
    from app.cli.base.output import JSON, Output

triggers = typer.Typer(
    no_args_is_help=True, help="Start runs of pipelines by schedule, and see what each firing led to."
)


class _Overlap(StrEnum):
    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


class _CatchUp(StrEnum):
    NONE = "none"
    LATEST = "latest"
    ALL = "all"


TriggerId = Annotated[
    str,
    typer.Argument(
        metavar="TRIGGER",
        help="The trigger's id, trig_…, or a unique prefix of it.",
        show_default=False,
        callback=whole_ids("trig"),
    ),
]


@triggers.command()
def create(
    pipeline: Annotated[
        str,
        typer.Argument(metavar="PIPELINE", help="Pipeline key or id.", show_default=False, callback=whole_ids("pipe")),
    ],
    name: Annotated[str, typer.Argument(help="Name of the trigger, for people.", show_default=False)],
    cron: Annotated[
        str | None,
        typer.Option(help="When it fires: a cron expression, such as '30 6 * * MON-FRI'.", show_default=False),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(parser=number(1), metavar="SECONDS", help="Or an interval in seconds.", show_default=False),
    ] = None,
    zone: Annotated[str, typer.Option(help="Time zone of the cron expression.")] = "UTC",
    overlap: Annotated[_Overlap, typer.Option(help="If the last run has not ended.")] = _Overlap.SKIP,
    catch_up: Annotated[_CatchUp, typer.Option(help="Which firings a downtime leaves.")] = _CatchUp.LATEST,
    inputs: Inputs = None,
    inputs_file: InputsFile = None,
    version: Annotated[
        int | None,
        typer.Option(parser=number(1), metavar="NUMBER", help="Pin a version of the pipeline.", show_default=False),
    ] = None,
    paused: Annotated[bool, typer.Option("--paused", help="Create it paused.")] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Create a trigger that starts runs of a pipeline by schedule.

    Inputs may contain `${{ trigger.scheduled_at }}`.
    """
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target
    from app.cli.runs.inputs import read_inputs
    from app.cli.triggers import documents

    output = Output(as_json)
    change = {
        "pipeline": pipeline,
        "name": name,
        "schedule": {
            "cron": cron,
            "intervalSeconds": every,
            "timeZone": zone,
            "overlap": overlap.name,
            "catchUp": catch_up.name,
        },
        "inputs": read_inputs(inputs or (), inputs_file, {}),
        "version": version,
        "enabled": not paused,
    }
    with Client(Target.find(server)) as client:
        made = accept(client.execute(documents.CREATE_TRIGGER, change)["result"])["trigger"]
    _print(output, made, f"{made['name']} ({made['id']}) is created.")


@triggers.command("list")
def list_(
    pipeline: Annotated[
        str | None,
        typer.Option(help="Only triggers of this pipeline: key or id.", show_default=False, callback=whole_ids("pipe")),
    ] = None,
    attention: Annotated[bool, typer.Option("--attention", help="Only triggers that Packline paused.")] = False,
    limit: Limit = 50,
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List triggers, newest first."""
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output, ago
    from app.cli.base.target import Target
    from app.cli.triggers import documents

    output = Output(as_json)
    given = {"pipeline": pipeline, "attention": True if attention else None}
    with Client(Target.find(server)) as client:
        found = list(client.pages(documents.TRIGGERS, "triggers", given, limit=limit))
    if output.is_json:
        for each in found:
            output.emit({"type": "trigger", **each})
        return
    print_list(
        output,
        [
            Column("trigger"),
            Column("name", "cut"),
            Column("pipeline"),
            Column("fires by", "cut"),
            Column("last", "wide"),
            Column("next"),
        ],
        (
            [
                each["id"],
                each["name"],
                "deleted" if each["pipeline"] is None else each["pipeline"]["key"],
                _schedule(each),
                ago(each["lastAt"]),
                _state(each),
            ]
            for each in found
        ),
        empty="No triggers. `packline trigger create PIPELINE NAME --cron '@daily'` creates one.",
        long=long,
    )


@triggers.command()
def show(trigger: TriggerId, server: Server = None, as_json: Json = None) -> None:
    """Show a trigger and its next firings."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.triggers import documents

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = client.execute(documents.TRIGGER, {"id": trigger})["trigger"]
        if found is None:
            client.refuse_missed("trigger", [trigger], _LIST)
            raise _missing(trigger)
    _print(output, found, f"{found['name']} ({found['id']})")


@triggers.command()
def pause(trigger: TriggerId, server: Server = None, as_json: Json = None) -> None:
    """Stop a trigger from firing until you resume it; its runs go on."""
    from app.cli.triggers import documents

    _change(documents.PAUSE_TRIGGER, trigger, server, as_json, "is paused")


@triggers.command()
def resume(trigger: TriggerId, server: Server = None, as_json: Json = None) -> None:
    """Let a paused trigger fire again; instants that passed meanwhile do not fire."""
    from app.cli.triggers import documents

    _change(documents.RESUME_TRIGGER, trigger, server, as_json, "fires again")


@triggers.command()
def fire(trigger: TriggerId, server: Server = None, as_json: Json = None) -> None:
    """Start a run of a trigger now, also when it is paused."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target
    from app.cli.triggers import documents

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        run = accept(client.execute(documents.FIRE_TRIGGER, {"id": trigger})["result"])["run"]
    if output.is_json:
        output.emit({"type": "run", "run": run})
    elif run is None:
        output.say("The run is started. It belongs to the trigger's owner.")
    else:
        output.say(f"The run {run['id']} is started. `packline watch {run['id']}` shows its steps.")


@triggers.command()
def delete(
    trigger: TriggerId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Delete a trigger with its firings; the runs it started are kept."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept, confirm
    from app.cli.base.target import Target
    from app.cli.triggers import documents

    output = Output(as_json)
    if not yes:
        confirm(f"Delete the trigger {trigger} with its firings?")
    with Client(Target.find(server)) as client:
        gone = accept(client.execute(documents.DELETE_TRIGGER, {"id": trigger})["result"])["deletedId"]
    if output.is_json:
        output.emit({"type": "deleted", "id": gone})
    else:
        output.say(f"The trigger {gone} is deleted.")


@triggers.command()
def firings(
    trigger: TriggerId, limit: Limit = 20, long: Long = False, server: Server = None, as_json: Json = None
) -> None:
    """List what the firings of a trigger led to, newest first."""
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.triggers import documents

    output = Output(as_json)
    found: list[JSON] = []
    after: str | None = None
    with Client(Target.find(server)) as client:
        while len(found) < limit:
            given = {"id": trigger, "first": min(50, limit - len(found)), "after": after}
            page = client.execute(documents.FIRINGS, given)["trigger"]
            if page is None:
                client.refuse_missed("trigger", [trigger], _LIST)
                raise _missing(trigger)
            found += page["firings"]["nodes"]
            after = page["firings"]["pageInfo"]["endCursor"]
            if not page["firings"]["pageInfo"]["hasNextPage"]:
                break
    if output.is_json:
        for each in found:
            output.emit({"type": "firing", **each})
        return
    print_list(
        output,
        [Column("due"), Column("outcome"), Column("run"), Column("reason", "cut")],
        (
            [
                _time(each["scheduledAt"] or each["createdAt"]),
                each["outcome"].lower(),
                "" if each["run"] is None else each["run"]["id"],
                each["reason"] or _origin(each),
            ]
            for each in found
        ),
        empty="It has not fired yet.",
        long=long,
    )


_LIST = "`packline trigger list` lists triggers."


def _missing(trigger: str) -> Exception:
    from app.cli.base.exits import CliError

    return CliError(f"There is no trigger `{trigger}`. {_LIST}")


def _change(document: str, trigger: str, server: str | None, as_json: bool | None, what: str) -> None:
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = accept(client.execute(document, {"id": trigger})["result"])["trigger"]
    _print(output, found, f"{found['name']} ({found['id']}) {what}.")


def _print(output: Output, trigger: JSON, sentence: str) -> None:
    if output.is_json:
        output.emit({"type": "trigger", **trigger})
        return
    output.say(sentence, "bold")
    output.say(f"Fires by: {_schedule(trigger)}. Next: {_state(trigger)}.")
    if trigger["webhook"] is not None:
        output.say(f"URL: {trigger['webhook']['url']}")
    for instant in trigger.get("nextFirings", ())[1:]:
        output.say(f"  then {_time(instant)}")


def _schedule(trigger: JSON) -> str:
    if (webhook := trigger["webhook"]) is not None:
        return f"webhook {webhook['preset'].lower()}"
    schedule = trigger["schedule"]
    if schedule["intervalSeconds"] is not None:
        return f"every {schedule['intervalSeconds']} s"
    return f"{schedule['cron']} {schedule['timeZone']}"


def _origin(firing: JSON) -> str:
    """What fired it, if it was not its schedule."""
    if firing["delivery"] is not None:
        return f"delivery {firing['delivery']['deliveryId'] or ''}".strip()
    return "" if firing["scheduledAt"] else "by hand"


def _state(trigger: JSON) -> str:
    if not trigger["enabled"]:
        return f"paused: {trigger['attention'].rstrip('.')}" if trigger["attention"] else "paused"
    if trigger["webhook"] is not None:
        return "at a delivery"
    return _time(trigger["nextAt"]) if trigger["nextAt"] else "never"


def _time(text: str) -> str:
    return text[:19].replace("T", " ")
