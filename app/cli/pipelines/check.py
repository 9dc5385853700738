"""The commands check and schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.base.options import Json, Server  # noqa: TC001 - typer reads the annotations
from app.cli.pipelines.files import File, read_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.cli.base.output import JSON, Output
    from app.settings.server import Settings
    from runner.failures import JSONValue
    from runner.issues import Hint, Issue
    from runner.packs.availability import Requirement
    from runner.packs.registry import Registry
    from runner.yaml_documents import YamlDocument


def check(
    file: File,
    server: Server = None,
    local: Annotated[bool, typer.Option("--local", help="Ask no server; check with the packs found here.")] = False,
    as_json: Json = None,
) -> None:
    """Check a definition without running it: whether it is valid, and whether it can run.

    The server that other commands use checks it, since only a server knows its packs, credentials and models. If none
    answers, the check uses this machine's packs and settings.
    """
    from app.cli.base.exits import EXIT_REFUSED, CliError
    from app.cli.base.output import Output
    from app.settings.server import Settings, SettingsError
    from runner.json_values import DocumentError
    from runner.triggers.documents import TRIGGERS
    from runner.yaml_documents import load_written, positions

    output = Output(as_json)
    text = read_file(file)
    shown_file = "stdin" if file == "-" else file
    try:
        settings = Settings.load()
        documents = load_written(text)
    except SettingsError as error:
        raise CliError(str(error)) from error
    except DocumentError as error:
        where = "" if error.line is None else f":{error.line}:{error.column}"
        raise CliError(f"{shown_file}{where}: {error.message}") from error
    if not documents:
        raise CliError(f"{shown_file} contains no definition.")
    # Documents with a key and triggers alone are about pipelines that exist.
    definitions = [_without_triggers(one) for one in documents if one.document.keys() != {"key", TRIGGERS}]
    url, found = (None, None) if local else _checked_by_server(output, server, definitions)
    if found is None:
        found = _checked_here(output, settings, [one.document for one in definitions])
    of_definitions, valid = iter(found), True
    for one, places in zip(documents, positions(text), strict=True):
        has_definition = one.document.keys() != {"key", TRIGGERS}
        checked: JSON = next(of_definitions) if has_definition else {"valid": True, "issues": [], "missing": []}
        _add_triggers(checked, one.document.get(TRIGGERS))
        for issue in checked["issues"]:
            issue["line"], issue["column"] = places.of(tuple(issue["path"]))
        name = str(one.document.get("key") or one.document.get("name") or shown_file)
        if output.is_json:
            output.emit({"type": "check", "name": name, "server": url, **checked})
        else:
            _say(output, shown_file, name, one.document, checked, url)
        valid = valid and checked["valid"]
    if not valid:
        raise typer.Exit(EXIT_REFUSED)


def schema() -> None:
    """Print the JSON Schema of definitions, for editors.

    A server has the same schema at `/schema/pipeline.json`.
    """
    import json

    from app.cli.base.exits import CliError
    from app.settings.server import Settings, SettingsError
    from runner.triggers.documents import document_schema

    try:
        settings = Settings.load()
    except SettingsError as error:
        raise CliError(str(error)) from error
    print(json.dumps(document_schema(settings.steps_max), indent=2))


def _without_triggers(written: YamlDocument) -> YamlDocument:
    """Return a document as a server checks it: without the triggers, which only `apply` reads."""
    from runner.triggers.documents import TRIGGERS
    from runner.yaml_documents import YamlDocument, without_key

    if TRIGGERS not in written.document:
        return written
    document = {key: value for key, value in written.document.items() if key != TRIGGERS}
    return YamlDocument(document, None if written.text is None else without_key(written.text, TRIGGERS))


def _add_triggers(checked: JSON, triggers: JSONValue) -> None:
    """Add what is wrong with the triggers of a document; whether the pipeline accepts their inputs, `apply` checks."""
    from datetime import UTC, datetime

    from runner.triggers.documents import read_triggers

    if triggers is None:
        return
    _, issues = read_triggers(triggers, datetime.now(UTC))
    checked["issues"] += [_issue(issue) for issue in issues]
    checked["valid"] = checked["valid"] and not issues


def _say(output: Output, file: str, name: str, document: JSON, checked: JSON, url: str | None) -> None:
    """Print the result for one definition."""
    from app.cli.base.output import hint_words, requirement_line
    from runner.issues import place

    for issue in checked["issues"]:
        where = place(issue["path"], document)
        said = f"{where}: {issue['message']}" if where else issue["message"]
        line = f"{file}:{issue['line']}:{issue['column']}: {issue['severity']}: {said} {hint_words(issue)}"
        output.say(line.rstrip(), "red" if issue["severity"] == "error" else "yellow")
    for need in checked["missing"]:
        if need["kind"] != "PACK":  # an issue says it, with its line
            output.say(requirement_line(need), "yellow")
    place_to_run = "here" if url is None else f"on {url}"
    if not checked["valid"]:
        output.say(f"{name}: not valid", "red")
    elif checked["missing"]:
        output.say(f"{name}: valid, but it cannot run {place_to_run}", "yellow")
    elif url is None:
        output.say(f"{name}: valid; no server was asked whether it can run", "green")
    else:
        output.say(f"{name}: valid, and it can run {place_to_run}", "green")


def _checked_by_server(
    output: Output, server: str | None, documents: Sequence[YamlDocument]
) -> tuple[str | None, list[JSON] | None]:
    """Return a server's address and its checks; None for both if none can check them."""
    from app.cli.base.client import Client
    from app.cli.base.exits import EXIT_UNREACHABLE, CliError
    from app.cli.base.target import Target
    from app.cli.pipelines.documents import CHECK

    try:
        with Client(Target.find(server)) as client:
            checks = [
                client.execute(
                    CHECK,
                    {"definition": {"document": one.document} if one.text is None else {"yaml": one.text}},
                )["checkPipeline"]
                for one in documents
            ]
            url = client.target.url
    except CliError as error:
        if server is not None:
            raise
        if error.status != EXIT_UNREACHABLE:
            output.note(f"The server did not check it, so it is checked here: {error}")
        return None, None
    return url, [
        {
            "valid": one["valid"],
            "issues": [{**issue, "severity": issue["severity"].lower()} for issue in one["issues"]],
            "missing": one["preflight"]["missing"],
            "inputSchema": one["inputSchema"],
        }
        for one in checks
    ]


def _checked_here(output: Output, settings: Settings, documents: Sequence[JSON]) -> list[JSON]:
    """Check definitions with this machine's packs and settings."""
    from runner.packs.registry import builtins_folder, load_registry

    registry = load_registry(builtins_folder(), settings.pack_path)
    for broken in registry.load_errors():
        output.note(f"{broken.origin}: {broken.message}")
    return [_checked_with(registry, settings, document) for document in documents]


def _checked_with(registry: Registry, settings: Settings, document: JSON) -> JSON:
    from app.cli.pipelines.agent_checks import with_agents_checked
    from runner.definitions.check import check_definition
    from runner.definitions.parsing import DefinitionLimits
    from runner.definitions.preflight import StandaloneStep, preflight

    found = check_definition(document, registry, limits=DefinitionLimits(max_steps=settings.steps_max))
    found = with_agents_checked(found, settings)
    steps = () if found.definition is None else found.definition.steps
    missing = preflight([StandaloneStep(step.id, step.pack, step.version, step.agent) for step in steps], registry)
    return {
        "valid": found.valid,
        "issues": [_issue(issue) for issue in found.issues],
        "missing": [requirement_json(need) for need in missing],
        "inputSchema": found.input_schema,
    }


def _issue(issue: Issue) -> JSON:
    return {
        "path": list(issue.path),
        "rule": issue.rule,
        "severity": issue.severity,
        "message": issue.message,
        **_hint(issue.hint),
    }


def requirement_json(need: Requirement) -> JSON:
    return {
        "kind": need.kind.upper(),
        "name": need.name,
        "steps": list(need.steps),
        "message": need.message,
        **_hint(need.hint),
    }


def _hint(hint: Hint | None) -> dict[str, Any]:
    from dataclasses import asdict

    return {"hint": None if hint is None else str(hint), "hintParts": None if hint is None else asdict(hint)}
