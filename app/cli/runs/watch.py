"""Watch a run until it ends: a live table on a terminal, else a line for each change, or JSON lines for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from app.cli.base.exits import EXIT_INTERRUPTED, CliError
from app.cli.base.output import duration, instant, size
from app.cli.base.saving import free_name
from app.cli.runs import documents
from app.cli.runs.view import RunView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rich.console import RenderableType

    from app.cli.base.client import Client
    from app.cli.base.output import JSON, Output


#: Most characters printed of a pack's output.
RESULT_CHARACTERS = 4000


def get_run(client: Client, run_id: str) -> JSON:
    """A run with the fields of `RunView`.

    Raises:
        CliError: there is no such run, or the caller may not see it.
    """
    run: JSON | None = client.execute(documents.RUN, {"id": run_id})["run"]
    if run is None:
        raise client.unknown("run", run_id)
    return run


def follow_run(client: Client, output: Output, run: JSON, *, after: str | None, save: Path | None = None) -> int:
    """Show a run until it has ended, and return the exit status.

    Args:
        client: The client of the run's server.
        output: The output.
        run: The run as it is now.
        after: The cursor to begin after; None shows all events.
        save: Folder to save its artifacts in once it has ended.
    """
    view = RunView.of(run)
    try:
        end = _follow(client, output, view, after)
    except KeyboardInterrupt:
        output.note(
            f"\nThe run continues. `packline watch {view.id}` shows it again, `packline cancel {view.id}` cancels it."
        )
        return EXIT_INTERRUPTED
    final = RunView.of(end)
    if output.is_json:
        output.emit({"type": "run", "run": end})
    else:
        print_end(output, final)
        if end["output"] is not None:
            _print_result(output, final.id, end["output"])
    if save is not None and final.artifacts:
        _save(client, output, final, save)
    return final.status


def _follow(client: Client, output: Output, view: RunView, after: str | None) -> JSON:
    messages = client.follow(
        documents.RUN_EVENTS,
        "runEvents",
        {"id": view.id},
        after=after,
        on_lost=lambda why: output.note(f"The connection was lost: {why}. Trying again."),
    )
    if output.is_json:
        return _follow_json(output, view, messages)
    if output.console.is_terminal:
        return _follow_live(output, view, messages)
    return _follow_lines(output, view, messages)


def _follow_json(output: Output, view: RunView, messages: Iterator[JSON]) -> JSON:
    for message in messages:
        match message["__typename"]:
            case "RunEventBatch":
                for event in message["events"]:
                    output.emit({"type": "event", "runId": view.id, **event})
            case "RunEventGap":
                output.emit({"type": "gap", "runId": view.id, "missed": message["missed"]})
            case _:
                return _end(message)
    raise _unfinished(view)


def _follow_lines(output: Output, view: RunView, messages: Iterator[JSON]) -> JSON:
    if view.wait is not None:
        output.say(f"{view.state.lower()}: {view.wait['message']}")
    for message in messages:
        match message["__typename"]:
            case "RunEventBatch":
                for event in message["events"]:
                    line = view.apply(event)
                    if line:
                        output.say(f"{_clock(event['at'])}  {line}")
            case "RunEventGap":
                _replace(view, message["run"])
                output.say("(some events are no longer stored)")
            case _:
                return _end(message)
    raise _unfinished(view)


def _follow_live(output: Output, view: RunView, messages: Iterator[JSON]) -> JSON:
    from rich.live import Live

    # A callable is drawn at each refresh, so that durations advance between events.
    with Live(console=output.console, refresh_per_second=8, transient=True, get_renderable=lambda: table(output, view)):
        for message in messages:
            match message["__typename"]:
                case "RunEventBatch":
                    for event in message["events"]:
                        view.apply(event)
                case "RunEventGap":
                    _replace(view, message["run"])
                case _:
                    return _end(message)
    raise _unfinished(view)


def table(output: Output, view: RunView) -> RenderableType:
    """The run and its steps as a table for a terminal."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    heading = Text.assemble((view.title, "bold"), "  ", output.state(view.state), "  ", (view.time, "dim"))
    steps = Table.grid(padding=(0, 2, 0, 0))
    for step in view.steps.values():
        note: Any = Text(step.message, style="dim", overflow="ellipsis", no_wrap=True)
        if step.state == "RUNNING" and step.fraction is not None:
            note = Table.grid(padding=(0, 1, 0, 0))
            note.add_row(ProgressBar(total=1.0, completed=step.fraction, width=20), Text(step.message, style="dim"))
        elif step.state == "WAITING":
            note = Text(f"retries {_until(step.wait)}", style="yellow")
        elif step.state == "FAILED" and step.failure:
            note = Text(step.failure["code"].lower(), style="red")
        elif step.reused_from is not None:
            note = Text(f"Reused from {step.reused_from}", style="dim")
        time = "" if step.reused_from is not None else step.time
        again = f"attempt {step.attempts}" if step.attempts > 1 else ""
        steps.add_row(output.state(step.state), Text(step.key), Text(time, "dim"), again, note)
    if view.wait is not None and view.state in ("QUEUED", "WAITING"):
        return Group(heading, Text(view.wait["message"], style="yellow"), steps)
    return Group(heading, steps)


def print_end(output: Output, view: RunView) -> None:
    """Print the end of a run: steps, artifacts, warnings and, after a failure, its cause and the next commands."""
    from rich.text import Text

    output.console.print(table(output, view))
    for step in view.steps.values():
        for warning in step.warnings:
            output.say(f"warning: {step.key}: {warning}", "yellow")
    if view.artifacts:
        output.say()
        print_artifacts(output, view.artifacts.values())
    if view.failure is not None:
        failure = view.failure
        where = f"{failure['stepKey']}: " if failure["stepKey"] else ""
        output.say()
        output.console.print(Text.assemble((f"{where}{failure['message']}", "red"), f"  [{failure['code'].lower()}]"))
        print_remedy(output, failure)
        if not failure["safeToRepeat"]:
            output.say("The step may already have changed an external system; repeating it may do so again.", "yellow")
    if view.is_final and view.advice():
        output.say()
        for command, meaning in view.advice():
            output.say(command, "bold")
            output.say(f"    {meaning}", "dim")


def print_remedy(output: Output, failure: JSON) -> None:
    """Print why a run or step failed and what to do, in the words of the page; nothing if it was cancelled."""
    if failure["class"] == "CANCELLED":
        return
    for name, text in (("Likely cause", "cause"), ("What to do", "hint"), ("Who can fix it", "fixableBy")):
        output.say(f"{name}: {failure[text]}")


def print_artifacts(output: Output, artifacts: Iterable[JSON]) -> None:
    output.table(
        ["artifact", "kind", "size", "id"],
        ([one["name"], one["mediaType"], size(one["sizeBytes"]), one["id"]] for one in artifacts),
        empty="",
    )


def _print_result(output: Output, run_id: str, found: JSON) -> None:
    """Print the output of a run."""
    text = found["text"]
    if text is None:
        text = json.dumps(found["json"], ensure_ascii=False, indent=2)
    output.say()
    output.say(text if len(text) <= RESULT_CHARACTERS else f"{text[:RESULT_CHARACTERS]}\u2026")
    if found["nextOffset"] is not None or len(text) > RESULT_CHARACTERS:
        output.say(f"`packline show {run_id} --json` shows all {found['sizeBytes']} bytes.", "dim")


def _save(client: Client, output: Output, view: RunView, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CliError(f"The folder {folder} cannot be created: {error.strerror}.") from error
    for artifact in view.artifacts.values():
        if artifact["status"] == "QUARANTINED":
            output.note(f"{artifact['name']} is quarantined and was not saved.")
            continue
        target = free_name(folder, artifact["name"])
        client.download(f"/artifacts/{artifact['id']}", target)
        output.note(f"saved {target}")


def _end(message: JSON) -> JSON:
    run: JSON = message["run"]
    return run


def _replace(view: RunView, run: JSON) -> None:
    fresh = RunView.of(run)
    view.state, view.steps, view.artifacts, view.failure = fresh.state, fresh.steps, fresh.artifacts, fresh.failure
    view.wait = fresh.wait


def _unfinished(view: RunView) -> CliError:
    return CliError(
        f"The server ended the watch before the run {view.id} had ended. Try again with `packline watch {view.id}`."
    )


def _until(wait: JSON | None) -> str:
    from datetime import UTC, datetime

    if not wait or not wait["until"]:
        return "soon"
    return f"in {duration(max(0.0, (instant(wait['until']) - datetime.now(UTC)).total_seconds()))}"


def _clock(text: str) -> str:
    return instant(text).astimezone().strftime("%H:%M:%S.%f")[:-4]
