"""Commands that start, watch and stop runs: run, watch, resume, rerun, cancel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.base.options import (
    Agent,
    Detach,
    Force,
    FromMemory,
    IdempotencyKey,
    Inputs,
    InputsFile,
    Json,
    RunId,
    Server,
    StartAt,
    Uploads,
    number,
    whole_ids,
)

if TYPE_CHECKING:
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import JSON, Output
    from store.states import RunState

Save = Annotated[
    Path | None, typer.Option("--save", metavar="FOLDER", help="Save the artifacts in this folder.", show_default=False)
]
Preview = Annotated[bool, typer.Option("--preview", help="Only show what would happen.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, even if external changes may repeat.")]


def run(
    target: Annotated[
        str,
        typer.Argument(
            metavar="PIPELINE",
            help="Pipeline key or id, or a pack such as web.scrape.",
            callback=whole_ids("pipe"),
        ),
    ],
    inputs: Inputs = None,
    inputs_file: InputsFile = None,
    uploads: Uploads = None,
    from_memory: FromMemory = None,
    title: Annotated[str | None, typer.Option(help="Title of the run; for pipelines.", show_default=False)] = None,
    version: Annotated[
        str | None, typer.Option(help="Version of the pipeline or pack; default: the current one.")
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(
            parser=number(0.001, 86_400, whole=False),
            metavar="SECONDS",
            help="Longest time the run may take, at most 86,400; for pipelines.",
        ),
    ] = None,
    start_at: StartAt = None,
    idempotency_key: IdempotencyKey = None,
    force: Force = False,
    agent: Agent = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything without starting a run.")] = False,
    detach: Detach = False,
    save: Save = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Run a pipeline, or a single pack, and watch it."""
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, accept, issue_line
    from app.cli.base.target import Target
    from app.cli.runs import start_documents as documents
    from app.cli.runs.inputs import read_inputs
    from app.cli.runs.uploads import uploaded

    output = Output(as_json)
    if uploads and dry_run:
        raise CliError("--dry-run uploads nothing. Pass the id of an artifact with --input instead of --upload.")
    with Client(Target.find(server)) as client:
        is_pack = "." in target and not target.startswith("builtin.")
        if is_pack and (title or deadline or agent):
            raise CliError(f"`{target}` is a pack: --title, --deadline and --agent are for pipelines.")
        schema = _input_schema(client, target, is_pack=is_pack, version=None if is_pack else _number(version))
        files = uploaded(client, output, uploads or (), schema)
        given = read_inputs([*(inputs or ()), *files], inputs_file, schema)
        taken: list[str] = []
        if from_memory:
            from app.cli.runs.remembered import take_remembered

            given, taken = take_remembered(client, output, target, from_memory, given, schema)
        if is_pack:
            result = client.execute(
                documents.RUN_PACK,
                {
                    "pack": target,
                    "input": given,
                    "fromMemory": taken,
                    "version": version,
                    "force": force,
                    "startAt": start_at,
                    "idempotencyKey": idempotency_key,
                    "dryRun": dry_run,
                },
            )["result"]
        else:
            result = client.execute(
                documents.RUN_PIPELINE,
                {
                    "pipeline": target,
                    "inputs": given,
                    "fromMemory": taken,
                    "version": _number(version),
                    "title": title,
                    "deadlineSeconds": deadline,
                    "startAt": start_at,
                    "force": force,
                    "agent": agent,
                    "idempotencyKey": idempotency_key,
                    "dryRun": dry_run,
                },
            )["result"]
        started = accept(result)
        for issue in started["warnings"]:
            output.note(issue_line(issue))
        if dry_run:
            _say_or_emit(output, "The run would start; nothing was started.", {"type": "dry_run", **started})
            return
        if started["coalesced"]:
            output.note("The same run is already active; watching that one.")
        elif started["replayed"]:
            output.note("The idempotency key was used before; this is its run.")
        _watch_started(client, output, started["run"], detach=detach, save=save)


def watch(run_id: RunId, save: Save = None, server: Server = None, as_json: Json = None) -> None:
    """Watch a run until it has ended."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.runs.watch import follow_run, get_run

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = get_run(client, run_id)
        # A live table needs only new events; lines and JSON show all events.
        live = not output.is_json and output.console.is_terminal
        raise typer.Exit(follow_run(client, output, found, after=found["eventCursor"] if live else None, save=save))


def resume(
    run_id: RunId,
    inputs: Inputs = None,
    inputs_file: InputsFile = None,
    step_input: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="Input for the failed step instead of its definition's; @FILE reads a file. Later resumes keep it; "
            "null drops earlier ones.",
        ),
    ] = None,
    current: Annotated[bool, typer.Option("--current", help="Use the current version of the pipeline.")] = False,
    preview: Preview = False,
    yes: Yes = False,
    detach: Detach = False,
    save: Save = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Resume a failed or cancelled run where it stopped.

    Results of succeeded steps are kept; the first other step runs again, then the rest.
    """
    from app.cli.base.client import Client
    from app.cli.base.exits import EXIT_OK, EXIT_REFUSED, CliError
    from app.cli.base.output import Output, issue_line
    from app.cli.base.target import Target
    from app.cli.runs import start_documents as documents
    from app.cli.runs.inputs import read_inputs, read_json_object
    from store.states import RunState

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        change: dict[str, Any] = {
            "id": run_id,
            "inputs": None,
            "definition": "CURRENT" if current else "OF_RUN",
        }
        if step_input is not None:
            is_null = step_input.strip() == "null"
            change["stepInput"] = None if is_null else read_json_object(step_input, "--step-input")
        if inputs or inputs_file:
            _, schema = _schema_of_run(client, run_id, current=current)
            change["inputs"] = read_inputs(inputs or (), inputs_file, schema)
        found = client.execute(documents.RESUME_PREVIEW, change)["run"]
        if found is None:
            raise client.unknown("run", run_id)
        plan = found["resumePreview"]
        if plan is None:
            raise _not_resumable(run_id, RunState(found["state"].lower()))
        if preview:
            _show_preview(output, plan)
            raise typer.Exit(EXIT_OK if plan["allowed"] else EXIT_REFUSED)
        if not plan["allowed"]:
            lines = [issue_line(issue) for issue in plan["issues"]]
            raise CliError("\n".join([f"The run {run_id} cannot be resumed.", *lines]))
        if not yes:
            _confirm_repeats(output, plan)
        resumed = client.accept(client.execute(documents.RESUME_RUN, change)["result"], "run", [run_id])["run"]
        _watch_started(client, output, resumed, detach=detach, save=save, after=resumed["eventCursor"])


def rerun(
    run_id: RunId,
    inputs: Inputs = None,
    inputs_file: InputsFile = None,
    from_memory: FromMemory = None,
    current: Annotated[bool, typer.Option("--current", help="Use the current version of the pipeline.")] = False,
    from_step: Annotated[
        str | None, typer.Option(metavar="STEP", help="Reuse the outputs of the steps before it.", show_default=False)
    ] = None,
    preview: Preview = False,
    yes: Yes = False,
    idempotency_key: IdempotencyKey = None,
    force: Force = False,
    agent: Agent = None,
    detach: Detach = False,
    save: Save = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Start a new run with the inputs of an earlier one.

    Pass only changed inputs. The new run uses the same version, even if the pipeline was deleted.
    """
    from app.cli.base.client import Client
    from app.cli.base.exits import EXIT_OK, EXIT_REFUSED
    from app.cli.base.output import Output, issue_line
    from app.cli.base.target import Target
    from app.cli.runs import start_documents as documents
    from app.cli.runs.inputs import read_inputs

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        changed: dict[str, Any] = {}
        taken: list[str] = []
        if inputs or inputs_file or from_memory:
            target, schema = _schema_of_run(client, run_id, current=current)
            changed = read_inputs(inputs or (), inputs_file, schema)
            if from_memory:
                from app.cli.runs.remembered import take_remembered

                changed, taken = take_remembered(client, output, target, from_memory, changed, schema)
        change: dict[str, Any] = {
            "id": run_id,
            "inputs": changed,
            "definition": "CURRENT" if current else "OF_RUN",
            "fromStep": from_step,
        }
        if preview or not yes:
            found = client.execute(documents.RERUN_PREVIEW, change)["run"]
            if found is None:
                raise client.unknown("run", run_id)
            plan = found["rerunPreview"]
            if preview:
                _show_preview(output, plan)
                raise typer.Exit(EXIT_OK if plan["allowed"] else EXIT_REFUSED)
            # The server refuses a plan that is not allowed, with all reasons; the plan does not know `--agent`.
            if plan["allowed"] or agent is not None:
                _confirm_repeats(output, plan)
        change |= {"fromMemory": taken, "force": force, "agent": agent, "idempotencyKey": idempotency_key}
        started = client.accept(client.execute(documents.RERUN_RUN, change)["result"], "run", [run_id])
        for issue in started["warnings"]:
            output.note(issue_line(issue))
        _watch_started(client, output, started["run"], detach=detach, save=save)


def cancel(
    run_id: RunId,
    reason: Annotated[str | None, typer.Option(help="Reason; stored with the run.", show_default=False)] = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Cancel a queued or running run."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.runs import start_documents as documents

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        result = client.execute(documents.CANCEL_RUN, {"id": run_id, "reason": reason})["result"]
        stopped = client.accept(result, "run", [run_id])["run"]
        word = "is cancelled" if stopped["state"] == "CANCELLED" else "is being cancelled"
        _say_or_emit(output, f"{run_id} {word}.", {"type": "run", "run": stopped})


def _watch_started(
    client: Client, output: Output, run: JSON, *, detach: bool, save: Path | None, after: str | None = None
) -> None:
    from app.cli.runs.watch import follow_run

    if detach:
        _say_or_emit(output, f"{run['id']}\nWatch it with `packline watch {run['id']}`.", {"type": "run", "run": run})
        return
    if output.is_json:
        output.emit({"type": "started", "run": run})
    else:
        output.say(f"{run['id']}  {run['title']}", "dim")
    raise typer.Exit(follow_run(client, output, run, after=after, save=save))


def _input_schema(client: Client, target: str, *, is_pack: bool, version: int | None = None) -> dict[str, Any]:
    from app.cli.base.exits import CliError
    from app.cli.runs import start_documents as documents

    if is_pack:
        found = client.execute(documents.PACK_INPUTS, {"id": target})["pack"]
    else:
        numbered = {} if version is None else {"version": version, "ofVersion": True}
        found = client.execute(documents.PIPELINE_INPUTS, {"id": target, **numbered})["pipeline"]
    if found is None:
        if target.endswith((".yaml", ".yml", ".json")):
            raise CliError(
                f"`{target}` is the name of a file. Save its pipeline with `packline apply -f {target}`, then run that "
                "by its key."
            )
        kind, listing = ("pack", "packs") if is_pack else ("pipeline", "pipelines")
        raise CliError(f"{client.missed(kind, target)} `packline {listing}` lists them.")
    # The server refuses an unknown version.
    schema: dict[str, Any] = (found.get("versionByNumber") or found)["inputSchema"]
    for earlier in found.get("earlierNames", ()):
        # The server accepts the former inputs and says what they are named now.
        if earlier["name"] == target.removeprefix("builtin."):
            properties = schema.setdefault("properties", {})
            schema["properties"] = {
                **{then: properties.get(now, True) for then, now in earlier["inputs"].items()},
                **properties,
            }
    return schema


def _schema_of_run(client: Client, run_id: str, *, current: bool) -> tuple[str, dict[str, Any]]:
    """The id of a run's pipeline or pack, and the input schema of the run's version or of the current one.

    It does not look up names, because the pipeline may have been deleted since.
    """
    from app.cli.runs import start_documents as documents

    found = client.execute(documents.RUN_INPUTS, {"id": run_id})["run"]
    if found is None:
        raise client.unknown("run", run_id)
    whole = found["pipeline"] or found["pack"]
    version = None if current else found["version"]
    return (whole["id"], (version or whole)["inputSchema"]) if whole else ("", {})


#: Limits of a step's input in a preview: its characters, those of each text, and the items of each list.
_INPUT_CHARACTERS, _TEXT_CHARACTERS, _LIST_ITEMS = 400, 80, 3
_INPUT_SOURCES = {
    "DEFINITION": "of its definition",
    "STEP_INPUT": "given here",
    "EARLIER_STEP_INPUT": "given in an earlier resume",
}


def _not_resumable(run_id: str, state: RunState) -> CliError:
    from app.cli.base.exits import CliError
    from store.states import RunState, predicate

    hint = (
        f"Try `packline rerun {run_id}`." if state is RunState.SUCCEEDED else "Wait until it ends, or cancel it first."
    )
    return CliError(f"The run {run_id} {predicate(state)}; only failed and cancelled runs can be resumed.\n  {hint}")


def _confirm_repeats(output: Output, plan: JSON) -> None:
    """Ask before external changes are repeated."""
    from app.cli.base.output import confirm

    repeats = [step["key"] for step in plan["steps"] if step["mayRepeatEffects"]]
    if repeats:
        _show_preview(output, plan)
        output.note("")
        confirm(f"External changes of {', '.join(repeats)} may happen a second time. Continue?", "Nothing was done.")


def _show_preview(output: Output, plan: JSON) -> None:
    import json

    from app.cli.base.output import issue_line

    if output.is_json:
        output.emit({"type": "preview", "preview": plan})
        return
    output.table(
        ["step", "what happens", "external changes", "why"],
        (
            [
                step["key"],
                {"REUSE": "kept", "RUN_AGAIN": "runs again", "RUN": "runs"}[step["action"]],
                "may repeat" if step["mayRepeatEffects"] else step["effects"].lower(),
                step["reason"],
            ]
            for step in plan["steps"]
        ),
        empty="There is nothing to resume.",
    )
    for step in plan["steps"]:
        if step["input"] is not None:
            whole = step["input"]["text"] or json.dumps(step["input"]["json"], ensure_ascii=False)
            shown = step["input"]["text"] or json.dumps(_shortened(step["input"]["json"]), ensure_ascii=False)
            shown = shown if len(shown) <= _INPUT_CHARACTERS else f"{shown[:_INPUT_CHARACTERS]}…"
            output.say(f"{step['key']} gets the input {_INPUT_SOURCES[step['inputSource']]}: {shown}")
            if shown != whole:
                output.say("  Shortened; `--json` shows more.", "dim")
    for issue in plan["issues"]:
        output.say(issue_line(issue), "yellow")


def _shortened(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A JSON value with its texts and lists cut, so that all of its fields are visible."""
    if isinstance(value, str):
        return value if len(value) <= _TEXT_CHARACTERS else f"{value[:_TEXT_CHARACTERS]}…"
    if isinstance(value, dict):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [*map(_shortened, value[:_LIST_ITEMS]), *(["…"] if len(value) > _LIST_ITEMS else [])]
    return value


def _say_or_emit(output: Output, text: str, value: object) -> None:
    if output.is_json:
        output.emit(value)
    else:
        output.say(text)


def _number(version: str | None) -> int | None:
    from app.cli.base.exits import CliError

    if version is None:
        return None
    if not version.isascii() or not version.isdigit():
        raise CliError(f"`{version}` is not a version of a pipeline. Versions are numbered 1, 2, 3 and so on.")
    return int(version)
