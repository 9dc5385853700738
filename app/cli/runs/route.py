"""`packline route`: what to run for a request; nothing runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Json, Server  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from app.cli.base.client import JSON, Client
    from app.cli.base.output import Output

_WARNING = """missingCapability proposedPack { name inputSchema outputSchema integrationPattern whyUseful }"""
ROUTE = f"""
query CliRoute($intent: String!, $context: JSON) {{
  route(userIntent: $intent, context: $context) {{
    recommendation {{ kind id suggestedInputs inputSources {{ name source }} missingInputs
      missingRequirements {{ message hint }} why confidence }}
    alternatives {{ kind id suggestedInputs inputSources {{ name source }} missingInputs
      missingRequirements {{ message hint }} why confidence }}
    gapWarning {{ {_WARNING} }}
    reasoning
    decidedBy
  }}
}}
"""
#: People know their pipelines by key.
KEY = """
query CliRouteKey($id: ID!) {
  pipeline(id: $id) { id key }
}
"""


def route(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="What is wanted, in plain words.")],
    context: Annotated[
        str | None,
        typer.Option(
            help='What is at hand: JSON such as \'{"files": [{"name": "report.pdf"}]}\', or text.', show_default=False
        ),
    ] = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Say what to run for a request, and why; runs nothing."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        routed = client.execute(ROUTE, {"intent": request, "context": _parsed(context)})["route"]
        if output.is_json:
            output.emit(routed)
            return
        for found in (routed["recommendation"], *routed["alternatives"]):
            found["handle"] = _handle(client, found)
    best = routed["recommendation"]
    if best["id"] is None:
        _tell_gap(output, routed["gapWarning"], best)
    else:
        _tell_best(output, best)
    if routed["alternatives"]:
        output.say()
        output.table(
            ["or", "sure", "why"],
            ([other["handle"], f"{other['confidence']:.0%}", other["why"]] for other in routed["alternatives"]),
            empty="",
        )
    output.say()
    output.say(routed["reasoning"], "dim")


def _parsed(context: str | None) -> object:
    """JSON as what it says, anything else as text."""
    from app.cli.runs.inputs import json_of

    try:
        return None if context is None else json_of(context)
    except ValueError:
        return context


def _handle(client: Client, found: JSON) -> str:
    """What to call it by in a command: the key of a pipeline that was saved, for its id says nothing."""
    given = str(found["id"])
    if not given.startswith("pipe_"):
        return given  # a starter by its id: without `builtin.`, a pipeline of one's own with that key would run
    pipeline = client.execute(KEY, {"id": given})["pipeline"]
    return given if pipeline is None else str(pipeline["key"])


def _tell_best(output: Output, best: JSON) -> None:
    output.say(f"{best['handle']}  ({best['kind'].lower()}, {best['confidence']:.0%} sure)", "bold")
    output.say(best["why"])
    sources = {given["name"]: given["source"].lower() for given in best["inputSources"]}
    command = f"packline run {best['handle']}"
    for name, value in best["suggestedInputs"].items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        output.say(f"  {name} = {shown}  (from {sources[name]})")
        command += f" --input {_quoted(f'{name}={shown}')}"
    for name in best["missingInputs"]:
        output.say(f"  {name} is still needed", "yellow")
        command += f" --input {name}=…"
    for lack in best["missingRequirements"]:
        output.say(f"  It cannot run here yet: {lack['message']} {lack['hint'] or ''}".rstrip(), "yellow")
    output.say()
    output.say(f"To run it:  {command}")


def _tell_gap(output: Output, gap: JSON | None, best: JSON) -> None:
    output.say("Nothing here does that.", "yellow")
    if gap is None:
        output.say(best["why"])
        return
    pack = gap["proposedPack"]
    output.say(gap["missingCapability"])
    output.say(f"A pack that would: {pack['name']}", "bold")
    output.say(f"  {pack['whyUseful']}")
    output.say(f"  {pack['integrationPattern']}")


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)
