"""`packline transcript`: the prompts, messages and tool calls of a step's agent; live with --follow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.base.options import Json, RunId, Server, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.cli.base.client import Client
    from app.cli.base.output import JSON, Output

#: Entries read at a time.
PAGE = 200
#: Most lines printed of a prompt or a tool's result, and most characters of a call's arguments.
SHOWN_LINES, SHOWN_CHARACTERS = 30, 400
#: A text of this length continues in the next entry of its kind (`runner.agents.transcript.ENTRY_CHARACTERS`).
SPLIT_AT = 16_000


def transcript(
    run_id: RunId,
    step: Annotated[
        str | None,
        typer.Argument(metavar="STEP", help="Key of the step; default: the last agent step that has started."),
    ] = None,
    attempt: Annotated[
        int | None, typer.Option(parser=number(1), metavar="NUMBER", help="Attempt of the step; default: the last.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow until the attempt has ended.")] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Show the prompts of a step's agent, its messages and its tool calls."""
    from app.cli.base.client import Client
    from app.cli.base.exits import EXIT_INTERRUPTED
    from app.cli.base.output import Output
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        chosen, number, attempt_id = _chosen(client, run_id, step, attempt)
        printer = _Printer(output, {"runId": run_id, "step": chosen, "attempt": number})
        try:
            for entry in _followed(client, output, attempt_id) if follow else _stored(client, attempt_id):
                printer.entry(entry)
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None
        finally:
            printer.end_line()
        if not printer.count:
            output.note(f"Attempt {number} of {chosen} has no transcript{_why(client, attempt_id)}.")


def _chosen(client: Client, run_id: str, step: str | None, attempt: int | None) -> tuple[str, int, str]:
    """Step, number and id of the chosen attempt."""
    from app.cli.base.exits import CliError
    from app.cli.runs import transcript_documents as documents

    found = client.execute(documents.RUN_ATTEMPTS, {"id": run_id})["run"]
    if found is None:
        raise client.unknown("run", run_id)
    steps = found["steps"]
    if step is None:
        begun = [one for one in steps if one["agent"] and one["attempts"]]
        if not begun:
            agents = ", ".join(one["key"] for one in steps if one["agent"])
            why = f"Its agent steps have not started: {agents}." if agents else "It has no agent step that has started."
            raise CliError(f"The run {run_id} has no transcript yet. {why}")
        chosen = begun[-1]
    else:
        named = [one for one in steps if one["key"] == step]
        if not named:
            names = ", ".join(one["key"] for one in steps)
            raise CliError(f"The run {run_id} has no step `{step}`. It has {names}.")
        chosen = named[0]
    attempts = {one["number"]: one["id"] for one in chosen["attempts"]}
    if not attempts:
        raise CliError(f"The step {chosen['key']} of {run_id} has not started.")
    number = max(attempts) if attempt is None else attempt
    if number not in attempts:
        known = ", ".join(map(str, sorted(attempts)))
        raise CliError(f"The step {chosen['key']} of {run_id} has no attempt {number}. It has {known}.")
    return chosen["key"], number, attempts[number]


def _stored(client: Client, attempt_id: str) -> Iterator[JSON]:
    from app.cli.runs import transcript_documents as documents

    after = None
    while True:
        found = client.execute(documents.TRANSCRIPT, {"id": attempt_id, "first": PAGE, "after": after})["node"]
        if found is None:
            return
        page = found["transcript"]
        yield from page["nodes"]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            return


def _followed(client: Client, output: Output, attempt_id: str) -> Iterator[JSON]:
    from app.cli.runs import transcript_documents as documents

    messages = client.follow(
        documents.ATTEMPT_OUTPUT,
        "attemptOutput",
        {"id": attempt_id},
        after=None,
        on_lost=lambda why: output.note(f"The connection was lost ({why}); trying again."),
    )
    for message in messages:
        match message["__typename"]:
            case "AttemptOutputBatch":
                yield from message["entries"]
            case "AttemptOutputGap":
                output.note("(some of it is no longer stored)")
            case _:
                return


def _why(client: Client, attempt_id: str) -> str:
    """Why an attempt has no transcript, if that is known."""
    from app.cli.runs import transcript_documents as documents

    receipt = (client.execute(documents.RECEIPT, {"id": attempt_id})["node"] or {}).get("cacheReceipt")
    if receipt is None:
        return ""
    made_by = receipt["madeBy"]
    if made_by is None:
        return ": its result was replayed"
    return f": its result is that of {made_by['runStep']['key']} in {made_by['runStep']['run']['id']}"


class _Printer:
    """Print entries as JSON lines, or as text in which split texts are joined."""

    def __init__(self, output: Output, where: dict[str, object]) -> None:
        self.count = 0
        self._output = output
        self._where = where
        self._kind = ""
        self._was_split = False
        self._is_in_line = False

    def entry(self, entry: JSON) -> None:
        self.count += 1
        if self._output.is_json:
            self._output.emit({"type": "entry", **self._where, **entry})
            return
        kind, text, data = entry["kind"], entry["text"] or "", entry["data"] or {}
        is_output = kind in ("OUTPUT", "ERROR_OUTPUT")
        goes_on = kind == self._kind and (is_output or self._was_split)
        self._kind, self._was_split = kind, len(text) == SPLIT_AT
        if not goes_on:
            self.end_line()
        match kind:
            case "OUTPUT" | "MESSAGE":
                self._put(text, "dim italic" if data.get("thinking") else None)
            case "ERROR_OUTPUT":
                self._put(text, "red")
            case "PROMPT" | "TOOL_RESULT" if goes_on:
                self._line(f"… {len(text):,} more characters; --json shows all.", "dim")
            case "PROMPT":
                started = ", ".join(str(part) for part in (data.get("profile"), data.get("model")) if part)
                self._line(f"prompt for {started}" if started else "prompt", "bold")
                self._line(_beginning(text), "dim")
            case "TOOL_CALL":
                self._line(f"→ {text or data.get('tool') or 'a tool'} {_arguments(data)}".rstrip(), "cyan")
            case "TOOL_RESULT":
                self._line(_beginning(text) or "(nothing)", "red" if data.get("is_error") else "dim")
            case "DENIAL":
                self._line(f"denied: {text or data.get('tool_name') or _arguments(data)}", "yellow")
            case "USAGE":
                self._line(_usage(data), "dim")
            case _:
                self._line(f"({data.get('entries', 'some')} entries were not stored)", "dim")

    def end_line(self) -> None:
        """End an unfinished line."""
        if self._is_in_line:
            self._is_in_line = False
            self._output.say()

    def _line(self, text: str, style: str | None) -> None:
        self._output.say(text, style)

    def _put(self, text: str, style: str | None) -> None:
        if text:
            self._output.console.print(text, style=style, markup=False, end="", soft_wrap=True)
            self._is_in_line = not text.endswith("\n")


def _beginning(text: str) -> str:
    """The first lines of a text."""
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= SHOWN_LINES:
        return "\n".join(lines)
    more = len(lines) - SHOWN_LINES
    return "\n".join([*lines[:SHOWN_LINES], f"… {more:,} more lines; --json shows all."])


def _arguments(data: dict[str, Any]) -> str:
    """The arguments of a tool call, on one line."""
    given = data.get("arguments", data.get("changes"))
    if given in (None, {}, []):
        return ""
    text = json.dumps(given, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _usage(data: dict[str, Any]) -> str:
    parts = []
    if data.get("input_tokens") is not None or data.get("output_tokens") is not None:
        parts.append(f"{data.get('input_tokens') or 0:,} tokens in, {data.get('output_tokens') or 0:,} out")
    if data.get("cost_usd") is not None:
        parts.append(f"${data['cost_usd']:.4f}")
    if data.get("turns") is not None:
        parts.append(f"{data['turns']} turns")
    return ", ".join(parts) or "(tokens unknown)"
