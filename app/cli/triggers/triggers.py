"""Commands about triggers, which start runs of pipelines by themselves."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Inputs, InputsFile, Json, Limit, Long, Server, number, whole_ids

if TYPE_CHECKING:
    from app.cli.base.client import Client
    from app.cli.base.output import JSON, Output

triggers = typer.Typer(
    no_args_is_help=True,
    help="Start runs of pipelines by schedule, by webhook or when runs end, and see what each firing led to.",
)


class _Overlap(StrEnum):
    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


class _Preset(StrEnum):
    GITHUB = "github"
    STANDARD_WEBHOOKS = "standard_webhooks"
    TIMESTAMPED = "timestamped"
    BEARER = "bearer"


class _Ended(StrEnum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


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


Cron = Annotated[
    str | None,
    typer.Option(help="When it fires: a cron expression, such as '30 6 * * MON-FRI'.", show_default=False),
]
Every = Annotated[
    int | None,
    typer.Option(parser=number(1), metavar="SECONDS", help="Or an interval in seconds.", show_default=False),
]
CatchUpLimit = Annotated[
    int | None,
    typer.Option(
        parser=number(1, 100),
        metavar="NUMBER",
        help="Most missed firings that `--catch-up all` starts runs for; 100 by default.",
        show_default=False,
    ),
]
Version = Annotated[
    int | None,
    typer.Option(parser=number(1), metavar="NUMBER", help="Pin a version of the pipeline.", show_default=False),
]
Events = Annotated[
    list[str] | None,
    typer.Option(
        "--event", metavar="NAME", help="An event the webhook fires for; default: all. Repeatable.", show_default=False
    ),
]
FromStdin = Annotated[bool, typer.Option("--from-stdin", help="Read the webhook's secret from standard input.")]


@triggers.command()
def create(
    pipeline: Annotated[
        str,
        typer.Argument(metavar="PIPELINE", help="Pipeline key or id.", show_default=False, callback=whole_ids("pipe")),
    ],
    name: Annotated[str, typer.Argument(help="Name of the trigger, for people.", show_default=False)],
    cron: Cron = None,
    every: Every = None,
    webhook: Annotated[
        _Preset | None,
        typer.Option(help="Or a webhook: how deliveries prove where they come from.", show_default=False),
    ] = None,
    zone: Annotated[str | None, typer.Option(help="Time zone of the cron expression; UTC by default.")] = None,
    overlap: Annotated[_Overlap | None, typer.Option(help="If the last run has not ended; skip by default.")] = None,
    catch_up: Annotated[
        _CatchUp | None, typer.Option(help="Which firings a downtime leaves; latest by default.")
    ] = None,
    catch_up_limit: CatchUpLimit = None,
    event: Events = None,
    from_stdin: FromStdin = False,
    after: Annotated[
        list[_Ended] | None,
        typer.Option(help="Or fire when runs of other pipelines end in this state. Repeatable.", show_default=False),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PIPELINE",
            help="With --after: only runs of this pipeline; may be repeated.",
            show_default=False,
            callback=whole_ids("pipe"),
        ),
    ] = None,
    all_callers: Annotated[
        bool, typer.Option("--all-callers", help="With --after: also runs of other callers; needs `observe`.")
    ] = False,
    inputs: Inputs = None,
    inputs_file: InputsFile = None,
    version: Version = None,
    paused: Annotated[bool, typer.Option("--paused", help="Create it paused.")] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Create a trigger that starts runs of a pipeline: by schedule, by webhook, or with --after when other runs end.

    Inputs may contain `${{ trigger.scheduled_at }}`; those of a webhook `${{ trigger.payload.… }}`, and those of a
    trigger for ended runs `${{ trigger.run.failure.message }}`.
    """
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target
    from app.cli.runs.inputs import read_inputs
    from app.cli.triggers import documents

    output = Output(as_json)
    schedule = _given_schedule(cron, every, zone, overlap, catch_up, catch_up_limit)
    if (of or all_callers) and not after:
        raise CliError("`--of` and `--all-callers` belong to `--after`. Give it, too.")
    kinds = [webhook is not None, bool(after), bool(schedule)]
    if kinds.count(True) > 1:
        raise CliError("Give either the options of a schedule, `--webhook` or `--after`.")
    if webhook is None and (event or from_stdin):
        raise CliError("`--event` and `--from-stdin` belong to a webhook. Give `--webhook PRESET`, too.")
    if webhook is None and not after and not schedule.keys() & {"cron", "intervalSeconds"}:
        raise CliError("Say what it fires by: `--cron`, `--every`, `--webhook` or `--after`.")
    change: dict[str, object] = {
        "pipeline": pipeline,
        "name": name,
        "inputs": read_inputs(inputs or (), inputs_file, {}),
        "version": version,
        "enabled": not paused,
    }
    with Client(Target.find(server)) as client:
        if webhook is None:
            ended = {
                "states": [state.name for state in after or ()],
                "pipelines": of,
                "runsOf": "ALL" if all_callers else "OWNER",
            }
            fires_by: dict[str, object] = {"runEnded": ended} if after else {"schedule": schedule}
            answer = client.execute(documents.CREATE_TRIGGER, {**change, **fires_by})
            made = accept(answer["result"])["trigger"]
            _print(output, client, made, f"Created {made['name']} ({made['id']}).")
            return
        secret = read_secret() if from_stdin else None
        change |= {"preset": webhook.name, "events": event, "secret": secret}
        shown = accept(client.execute(documents.CREATE_WEBHOOK, change)["result"])
    made = shown["trigger"]
    print_secret(output, client, shown, f"Created {made['name']} ({made['id']}).", was_made=secret is None)


@triggers.command()
def update(
    trigger: TriggerId,
    name: Annotated[str | None, typer.Option(help="The new name.", show_default=False)] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            help="Start this pipeline from now on: key or id.", show_default=False, callback=whole_ids("pipe")
        ),
    ] = None,
    cron: Cron = None,
    every: Every = None,
    zone: Annotated[str | None, typer.Option(help="Time zone of the cron expression.", show_default=False)] = None,
    overlap: Annotated[_Overlap | None, typer.Option(help="If the last run has not ended.", show_default=False)] = None,
    catch_up: Annotated[
        _CatchUp | None, typer.Option(help="Which firings a downtime leaves.", show_default=False)
    ] = None,
    catch_up_limit: CatchUpLimit = None,
    after: Annotated[
        list[_Ended] | None,
        typer.Option(
            help="Fire when runs of other pipelines end in this state, in place of those so far. Repeatable.",
            show_default=False,
        ),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PIPELINE",
            help="Fire only for runs of this pipeline, in place of those so far. Repeatable.",
            show_default=False,
            callback=whole_ids("pipe"),
        ),
    ] = None,
    any_pipeline: Annotated[bool, typer.Option("--any-pipeline", help="Fire for runs of all other pipelines.")] = False,
    all_callers: Annotated[
        bool | None,
        typer.Option(
            "--all-callers/--own-runs",
            help="Fire for runs of all callers, which needs `observe`, or only for the owner's.",
            show_default=False,
        ),
    ] = None,
    event: Events = None,
    all_events: Annotated[bool, typer.Option("--all-events", help="Let the webhook fire for all events.")] = False,
    inputs: Inputs = None,
    inputs_file: InputsFile = None,
    version: Version = None,
    current: Annotated[bool, typer.Option("--current", help="Unpin the version and use the current one.")] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Change a trigger; what you do not give stays as it is.

    Given inputs replace all inputs. Instants before the change no longer fire.
    """
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target
    from app.cli.runs.inputs import read_inputs
    from app.cli.triggers import documents

    output = Output(as_json)
    if version is not None and current:
        raise CliError("Give either `--version` or `--current`.")
    if event and all_events:
        raise CliError("Give either `--event` or `--all-events`.")
    if of and any_pipeline:
        raise CliError("Give either `--of` or `--any-pipeline`.")
    change: dict[str, object] = {}
    if name is not None:
        change["name"] = name
    if pipeline is not None:
        change["pipeline"] = pipeline
    if inputs or inputs_file:
        change["inputs"] = read_inputs(inputs or (), inputs_file, {})
    if version is not None or current:
        change["version"] = version
    schedule = _given_schedule(cron, every, zone, overlap, catch_up, catch_up_limit)
    changes_events = bool(event) or all_events
    ended = _given_ended(after, of, any_pipeline, all_callers)
    if not change and not schedule and not changes_events and not ended:
        raise CliError("There is nothing to change. Give an option, such as `--name` or `--cron`.")
    with Client(Target.find(server)) as client:
        found = client.execute(documents.TRIGGER, {"id": trigger})["trigger"]
        if found is None:
            raise missing_trigger(client, trigger)
        if schedule:
            if found["schedule"] is None:
                raise CliError(f"The trigger {found['name']} has no schedule.")
            # A cron expression replaces an interval, and the other way round.
            kind = {"cron": None, "intervalSeconds": None} if schedule.keys() & {"cron", "intervalSeconds"} else {}
            change["schedule"] = {**found["schedule"], **kind, **schedule}
        if ended:
            now = found["runEnded"]
            if now is None:
                raise CliError(f"The trigger {found['name']} does not fire when runs end.")
            keys = None if now["pipelines"] is None else [each["key"] for each in now["pipelines"]]
            change["runEnded"] = {**now, "pipelines": keys, **ended}
        if changes_events and found["webhook"] is None:
            raise CliError(f"The trigger {found['name']} is not a webhook and has no events.")
        if change:
            found = accept(client.execute(documents.UPDATE_TRIGGER, {"id": trigger, **change})["result"])["trigger"]
        if changes_events:
            events = {"id": trigger, "events": event or []}
            found = accept(client.execute(documents.UPDATE_WEBHOOK, events)["result"])["trigger"]
    _print(output, client, found, f"Changed {found['name']} ({found['id']}).")


@triggers.command()
def preview(
    cron: Cron = None,
    every: Every = None,
    zone: Annotated[str | None, typer.Option(help="Time zone of the cron expression; UTC by default.")] = None,
    count: Annotated[
        int, typer.Option(parser=number(1, 20), metavar="NUMBER", help="How many instants to list, at most 20.")
    ] = 5,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Show when a schedule would fire, in its time zone and in yours; saves nothing."""
    from zoneinfo import ZoneInfo

    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output, instant, issue_line, when
    from app.cli.base.target import Target
    from app.cli.triggers import documents

    output = Output(as_json)
    schedule = _given_schedule(cron, every, zone, None, None, None)
    if not schedule.keys() & {"cron", "intervalSeconds"}:
        raise CliError("Say when it fires: `--cron` or `--every`.")
    with Client(Target.find(server)) as client:
        found = client.execute(documents.PREVIEW_SCHEDULE, {"schedule": schedule, "count": count})["previewSchedule"]
    if found["issues"]:
        raise CliError("\n".join(issue_line(issue) for issue in found["issues"]))
    if output.is_json:
        output.emit({"type": "preview", "nextFirings": found["nextFirings"]})
        return
    theirs = ZoneInfo(zone or "UTC")
    print_list(
        output,
        [Column(f"in {theirs.key}"), Column("here")],
        (
            [f"{instant(at).astimezone(theirs):%a %Y-%m-%d %H:%M:%S %Z}", when(at, seconds=True)]
            for at in found["nextFirings"]
        ),
        empty="It never fires.",
        long=False,
    )


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
        found = [located(client, each) for each in client.pages(documents.TRIGGERS, "triggers", given, limit=limit)]
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
            raise missing_trigger(client, trigger)
    _print(output, client, found, f"{found['name']} ({found['id']})")


@triggers.command()
def pause(trigger: TriggerId, server: Server = None, as_json: Json = None) -> None:
    """Stop a trigger from firing until you resume it; its runs go on."""
    from app.cli.triggers import documents

    _change(documents.PAUSE_TRIGGER, trigger, server, as_json, "is paused")


@triggers.command()
def resume(trigger: TriggerId, server: Server = None, as_json: Json = None) -> None:
    """Let a paused trigger fire again; instants that passed meanwhile do not fire.

    If its pipeline was deleted, it starts your pipeline that has the key now.
    """
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
    print_fired(output, run)


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
    from app.cli.base.output import Output, when
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
                raise missing_trigger(client, trigger)
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
        [Column("due"), Column("outcome"), Column("run"), Column("reason", "cut"), Column("firing", "wide")],
        (
            [
                when(each["scheduledAt"] or each["createdAt"], seconds=True),
                each["outcome"].lower(),
                "" if each["run"] is None else each["run"]["id"],
                each["reason"] or _origin(each),
                each["id"],
            ]
            for each in found
        ),
        empty="It has not fired yet.",
        long=long,
    )


_LIST = "`packline trigger list` lists triggers."


def missing_trigger(client: Client, trigger: str) -> Exception:
    """Return the error for a trigger that was not found, in the server's words if it gave some."""
    from app.cli.base.exits import CliError

    client.refuse_missed("trigger", [trigger], _LIST)
    return CliError(f"There is no trigger `{trigger}`. {_LIST}")


def located(client: Client, trigger: JSON) -> JSON:
    """Return a trigger with the whole URL of its webhook; without a public address the server knows only the path."""
    from runner.egress.web_address import read_web_address

    webhook = trigger["webhook"]
    if webhook is None or not webhook["url"].startswith("/"):
        return trigger
    return {**trigger, "webhook": {**webhook, "url": f"{read_web_address(client.target.url).origin}{webhook['url']}"}}


def read_secret() -> str:
    """Read a secret from standard input."""
    import sys

    from app.cli.base.exits import CliError

    # Secrets are at most 200 characters; the server says so of a longer one.
    secret = sys.stdin.read(1_000).removesuffix("\n").removesuffix("\r")
    if not secret:
        raise CliError("Standard input is empty.")
    return secret


def print_secret(output: Output, client: Client, made: JSON, sentence: str, *, was_made: bool) -> None:
    """Print a webhook, and its secret if the server made it."""
    secret = made["secret"] if was_made else None
    if output.is_json:
        output.emit({"type": "trigger", **located(client, made["trigger"]), "secret": secret})
        return
    _print(output, client, made["trigger"], sentence)
    if secret is not None:
        output.say(f"Secret: {secret}")
        output.say("The secret is not shown again. Give it to the sender now.")


def print_fired(output: Output, run: JSON | None) -> None:
    """Print the run that a firing started."""
    if output.is_json:
        output.emit({"type": "run", "run": run})
    elif run is None:
        output.say("Started a run. It belongs to the trigger's owner.")
    else:
        output.say(f"The run {run['id']} is started. `packline watch {run['id']}` shows its steps.")


def _given_schedule(
    cron: str | None,
    every: int | None,
    zone: str | None,
    overlap: _Overlap | None,
    catch_up: _CatchUp | None,
    catch_up_limit: int | None,
) -> JSON:
    """The parts of a schedule that were given, as the API names them."""
    parts = {
        "cron": cron,
        "intervalSeconds": every,
        "timeZone": zone,
        "overlap": None if overlap is None else overlap.name,
        "catchUp": None if catch_up is None else catch_up.name,
        "catchUpLimit": catch_up_limit,
    }
    return {name: value for name, value in parts.items() if value is not None}


def _given_ended(
    after: list[_Ended] | None, of: list[str] | None, any_pipeline: bool, all_callers: bool | None
) -> JSON:
    """The parts of which runs a trigger fires for that were given, as the API names them."""
    parts: dict[str, object] = {}
    if after:
        parts["states"] = [state.name for state in after]
    if of or any_pipeline:
        parts["pipelines"] = of or None
    if all_callers is not None:
        parts["runsOf"] = "ALL" if all_callers else "OWNER"
    return parts


def _change(document: str, trigger: str, server: str | None, as_json: bool | None, what: str) -> None:
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = accept(client.execute(document, {"id": trigger})["result"])["trigger"]
    _print(output, client, found, f"{found['name']} ({found['id']}) {what}.")


def _print(output: Output, client: Client, trigger: JSON, sentence: str) -> None:
    from app.cli.base.output import when

    trigger = located(client, trigger)
    if output.is_json:
        output.emit({"type": "trigger", **trigger})
        return
    output.say(sentence, "bold")
    output.say(f"Fires by: {_schedule(trigger)}. Next: {_state(trigger)}.")
    if trigger["webhook"] is not None:
        output.say(f"URL: {trigger['webhook']['url']}")
        output.say(f"Events: {', '.join(trigger['webhook']['events']) or 'all'}")
    if trigger["enabled"]:
        for instant in trigger.get("nextFirings", ())[1:]:
            output.say(f"  then {when(instant, seconds=True)}")
    if trigger["inputs"]:
        output.say("Inputs:")
    for name, value in trigger["inputs"].items():
        output.say(f"  {name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")


def _schedule(trigger: JSON) -> str:
    if (webhook := trigger["webhook"]) is not None:
        return f"webhook {webhook['preset'].lower()}"
    if (ended := trigger["runEnded"]) is not None:
        of = "" if ended["pipelines"] is None else f" of {', '.join(each['key'] for each in ended['pipelines'])}"
        return f"{', '.join(state.lower() for state in ended['states'])} runs{of}"
    schedule = trigger["schedule"]
    if schedule["intervalSeconds"] is not None:
        return f"every {schedule['intervalSeconds']} s"
    return f"{schedule['cron']} {schedule['timeZone']}"


def _origin(firing: JSON) -> str:
    """What fired it, if it was not its schedule."""
    if firing["endedRun"] is not None:
        return f"end of {firing['endedRun']['id']}"
    if firing["delivery"] is not None:
        return f"delivery {firing['delivery']['deliveryId'] or ''}".strip()
    return "" if firing["scheduledAt"] else "by hand"


def _state(trigger: JSON) -> str:
    from app.cli.base.output import when

    if not trigger["enabled"]:
        return f"paused: {trigger['attention'].rstrip('.')}" if trigger["attention"] else "paused"
    if trigger["webhook"] is not None:
        return "at a delivery"
    if trigger["runEnded"] is not None:
        return "when one ends"
    return when(trigger["nextAt"], seconds=True) if trigger["nextAt"] else "never"
