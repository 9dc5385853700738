"""`packline route`: recommend what to run for a request, without running it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Json, Server  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from app.cli.base.client import Client
    from app.cli.base.output import JSON, Output

_WARNING = """missingCapability whyMissing
      proposal { action name summary packs inputSchema outputSchema integrationPattern whyUseful }"""
ROUTE = f"""
query CliRoute($intent: String!, $context: JSON) {{
  route(userIntent: $intent, context: $context) {{
    recommendation {{ kind id suggestedInputs inputSources {{ name source }} missingInputs
      missingRequirements {{ message hint }} why confidence }}
    alternatives {{ kind id suggestedInputs inputSources {{ name source }} missingInputs
      missingRequirements {{ message hint }} why confidence }}
    gapWarnings {{ {_WARNING} }}
    reasoning
    decidedBy
  }}
}}
"""
#: For the key of a pipeline, by which people know it.
KEY = """
query CliRouteKey($id: ID!) {
  pipeline(id: $id) { id key }
}
"""


def route(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="What you want, in plain words.")],
    context: Annotated[
        str | None,
        typer.Option(
            help='What you have: JSON such as \'{"files": [{"name": "report.pdf"}]}\', or text.', show_default=False
        ),
    ] = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Recommend what to run for a request, and say why, without running it."""
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
    gaps = routed["gapWarnings"]
    if best["id"] is not None:
        _print_best(output, best)
    else:
        output.say("No pipeline or pack here does that.", "yellow")
        if not gaps:
            output.say(best["why"])
    for gap in gaps:
        _print_gap(output, gap)
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
    """The value of JSON; any other text unchanged."""
    from app.cli.runs.inputs import json_of

    try:
        return None if context is None else json_of(context)
    except ValueError:
        return context


def _handle(client: Client, found: JSON) -> str:
    """The name to use in a command: a saved pipeline's key, because people do not know its id."""
    given = str(found["id"])
    if not given.startswith("pipe_"):
        return given  # a starter keeps `builtin.`, because a saved pipeline may have the same key
    pipeline = client.execute(KEY, {"id": given})["pipeline"]
    return given if pipeline is None else str(pipeline["key"])


def _print_best(output: Output, best: JSON) -> None:
    output.say(f"{best['handle']}  ({best['kind'].lower()}, {best['confidence']:.0%} sure)", "bold")
    output.say(best["why"])
    sources = {given["name"]: given["source"].lower() for given in best["inputSources"]}
    command = f"packline run {best['handle']}"
    for name, value in best["suggestedInputs"].items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        output.say(f"  {name} = {shown}  (from {sources[name]})")
        command += f" --input {_quoted(f'{name}={shown}')}"
    for name in best["missingInputs"]:
        output.say(f"  {name} is missing", "yellow")
        command += f" --input {name}=…"
    for requirement in best["missingRequirements"]:
        output.say(f"  It cannot run here yet: {requirement['message']} {requirement['hint'] or ''}".rstrip(), "yellow")
    output.say()
    output.say(f"To run it:  {command}")


def _print_gap(output: Output, gap: JSON) -> None:
    proposal = gap["proposal"]
    output.say()
    output.say(f"Missing here: {gap['missingCapability']}", "yellow")
    output.say(gap["whyMissing"])
    noun = "pipeline" if proposal["action"] == "DRAFT_PIPELINE" else "pack"
    output.say(f"A {noun} that would do it: {proposal['name']}", "bold")
    packs = [f"Packs, in order: {', '.join(proposal['packs'])}"] if proposal["packs"] else []
    for line in (proposal["summary"], *packs, proposal["whyUseful"], proposal["integrationPattern"]):
        output.say(f"  {line}")


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)
