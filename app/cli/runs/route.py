"""`packline route`: recommend what to run for a request, without running it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.fragments import PROBLEM_PARTS
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
INPUTS = """
query CliRouteInputs($id: ID!) {
  node(id: $id) { ... on Pack { inputSchema } ... on Pipeline { inputSchema } }
}
"""
SAVE_GAP = (
    PROBLEM_PARTS
    + """
mutation CliSaveGap($request: String!, $gap: GapWarningInput!) {
  result: saveGapProposal(userIntent: $request, gap: $gap) {
    __typename
    ... on GapProposalSuccess { proposal { id issueText } }
    ...ProblemParts
  }
}
"""
)


def route(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="What you want, in plain words.")],
    context: Annotated[
        str | None,
        typer.Option(
            help='What you have: JSON such as \'{"files": [{"name": "report.pdf"}]}\', or text.', show_default=False
        ),
    ] = None,
    save_gap: Annotated[
        bool, typer.Option("--save-gap", help="Save what is missing here for the operators, as the page does.")
    ] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Recommend what to run for a request, and say why, without running it."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        routed = client.execute(ROUTE, {"intent": request, "context": _parsed(context)})["route"]
        best, gaps = routed["recommendation"], routed["gapWarnings"]
        saved = []
        for gap in gaps if save_gap else ():
            made = accept(client.execute(SAVE_GAP, {"request": request, "gap": gap})["result"])
            saved.append(made["proposal"])
        if output.is_json:
            output.emit({**routed, "savedGaps": saved} if save_gap else routed)
            return
        takes = _inputs(client, best)
        for found in (routed["recommendation"], *routed["alternatives"]):
            found["handle"] = _handle(client, found)
    if best["id"] is not None:
        _print_best(output, best, takes)
    else:
        output.say("No pipeline or pack here does that.", "yellow")
        if not gaps:
            output.say(best["why"])
    for gap in gaps:
        _print_gap(output, gap)
    if save_gap:
        output.say()
        output.say(f"Saved: {', '.join(each['id'] for each in saved)}." if saved else "Nothing is missing to be saved.")
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


def _inputs(client: Client, best: JSON) -> list[str]:
    """The optional inputs of a recommendation that names none: those without a default, such as alternatives."""
    if best["id"] is None or best["suggestedInputs"] or best["missingInputs"]:
        return []
    found = client.execute(INPUTS, {"id": best["id"]})["node"]
    schema = {} if found is None else found["inputSchema"] or {}
    return [name for name, each in schema.get("properties", {}).items() if each.get("default") is None]


def _print_best(output: Output, best: JSON, takes: list[str]) -> None:
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
    if takes:
        described = f"`packline {best['kind'].lower()}s {best['handle']}`"
        output.say(f"  Give what it needs of {', '.join(takes)}; {described} describes them.")
        command += " --input NAME=VALUE"
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
