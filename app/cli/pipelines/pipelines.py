"""The commands check, apply, export, pipelines and packs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.base.options import Json, Limit, Server  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from app.cli.base.output import JSON, Output

File = Annotated[str, typer.Argument(metavar="FILE", help="Pipelines as YAML or JSON; `-` reads standard input.")]
Words = Annotated[list[str] | None, typer.Argument(metavar="[WORD]…", help="Words to search for.", show_default=False)]
Usable = Annotated[
    bool | None,
    typer.Option("--usable/--unusable", help="Only those that can, or cannot, run here.", show_default=False),
]


def check(file: File, as_json: Json = None) -> None:
    """Check a definition, without a server and without running it."""
    from dataclasses import asdict

    from app.cli.base.exits import EXIT_REFUSED, CliError
    from app.cli.base.output import Output, issue_line, requirement_line
    from app.cli.pipelines.agent_checks import with_agents_checked
    from app.settings.server import Settings, SettingsError
    from runner.definitions.check import check_definition
    from runner.definitions.parsing import DefinitionLimits
    from runner.definitions.preflight import StandaloneStep, preflight
    from runner.json_values import DocumentError
    from runner.packs.registry import builtins_folder, load_registry
    from runner.yaml_documents import load_documents

    output = Output(as_json)
    try:
        settings = Settings.load()
        documents = load_documents(_read(file))
    except (SettingsError, DocumentError) as error:
        raise CliError(f"{file}: {error}" if isinstance(error, DocumentError) else str(error)) from error
    if not documents:
        raise CliError(f"{file} contains no definition.")
    registry = load_registry(builtins_folder(), settings.pack_path)
    for broken in registry.load_errors():
        output.note(f"{broken.origin}: {broken.message}")
    valid = True
    for document in documents:
        name = str(document.get("key") or document.get("name") or file)
        found = check_definition(document, registry, limits=DefinitionLimits(max_steps=settings.steps_max))
        found = with_agents_checked(found, settings)
        valid = valid and found.valid
        steps = (
            [StandaloneStep(step.id, step.pack, step.version, step.agent) for step in found.definition.steps]
            if found.definition
            else []
        )
        missing = preflight(steps, registry)
        issues = [
            {
                "path": list(issue.path),
                "rule": issue.rule,
                "severity": issue.severity,
                "message": issue.message,
                "hint": None if issue.hint is None else str(issue.hint),
                "hintParts": None if issue.hint is None else asdict(issue.hint),
            }
            for issue in found.issues
        ]
        needs: list[JSON] = [
            {
                "kind": need.kind,
                "name": need.name,
                "steps": list(need.steps),
                "message": need.message,
                "hint": None if need.hint is None else str(need.hint),
                "hintParts": None if need.hint is None else asdict(need.hint),
            }
            for need in missing
        ]
        if output.is_json:
            output.emit(
                {
                    "type": "check",
                    "name": name,
                    "valid": found.valid,
                    "issues": issues,
                    "missing": needs,
                    "inputSchema": found.input_schema,
                }
            )
            continue
        output.say(f"{name}: {'valid' if found.valid else 'not valid'}", "green" if found.valid else "red")
        for issue in issues:
            output.say(f"  {issue_line(issue)}")
        for need in needs:
            output.say(f"  {requirement_line(need)}", "yellow")
    if not valid:
        raise typer.Exit(EXIT_REFUSED)


def apply(
    file: Annotated[list[str], typer.Option("--file", "-f", metavar="FILE", help="Pipelines as YAML; repeatable.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Create and update pipelines from files.

    Shows the changes and asks first. Applying the same files again changes nothing.
    """
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, accept
    from app.cli.base.target import Target
    from app.cli.pipelines import documents

    output = Output(as_json)
    text = "---\n".join(text if text.endswith("\n") else text + "\n" for text in map(_read, file))
    with Client(Target.find(server)) as client:
        plan = accept(client.execute(documents.APPLY, {"yaml": text, "dryRun": True})["result"])["changes"]
        changed = [change for change in plan if change["action"] != "KEEP"]
        if not output.is_json:
            for change in plan:
                _show_change(output, change)
        if not changed or dry_run:
            if output.is_json:
                for change in plan:
                    output.emit({"type": "change", "applied": False, **change})
            elif not changed:
                output.say("Nothing to change.")
            return
        if not yes:
            import sys

            if not sys.stdin.isatty():
                raise CliError(
                    "There is no terminal to ask on. Add --yes to apply, or --dry-run to only see the changes."
                )
            if not typer.confirm(f"Apply {len(changed)} changes?" if len(changed) > 1 else "Apply?", err=True):
                raise CliError("Nothing was changed.")
        done = accept(client.execute(documents.APPLY, {"yaml": text, "dryRun": False})["result"])["changes"]
        for change in done:
            if output.is_json:
                output.emit({"type": "change", "applied": True, **change})
            elif change["action"] != "KEEP":
                output.say(f"{change['key']} {'created' if change['action'] == 'CREATE' else 'updated'}.", "green")


def export(
    pipeline: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PIPELINE]…", help="Keys or ids; default: all but starters.", show_default=False),
    ] = None,
    into: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write.", show_default=False)
    ] = None,
    server: Server = None,
) -> None:
    """Export pipelines as YAML, for `apply`."""
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.target import Target
    from app.cli.pipelines import documents

    with Client(Target.find(server)) as client:
        if pipeline:
            found = []
            for name in pipeline:
                one = client.execute(documents.EXPORT_ONE, {"id": name})["pipeline"]
                if one is None:
                    raise CliError(f"{client.missed('pipeline', name)} `packline pipelines` lists them.")
                found.append(one)
        else:
            found = list(client.pages(documents.EXPORT_ALL, "pipelines", {}, limit=None))
    # Versions saved by earlier releases may begin with a byte order mark.
    texts = [one["currentVersion"]["yaml"].removeprefix("\ufeff") for one in found]
    text = "---\n".join(text.removesuffix("\n") + "\n" for text in texts)
    if into is None:
        print(text, end="")
        return
    try:
        into.write_text(text, "utf-8")
    except OSError as error:
        raise CliError(f"The file {into} cannot be written: {error.strerror}.") from error


def pipelines(
    word: Words = None,
    starters: Annotated[
        bool | None, typer.Option("--starters/--own", help="Only starters, or only others.", show_default=False)
    ] = None,
    usable: Usable = None,
    limit: Limit = 100,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List pipelines and whether they can run here."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.pipelines import documents

    output = Output(as_json)
    wanted = _filter(word, usable)
    if starters is not None:
        wanted["builtin"] = starters
    with Client(Target.find(server)) as client:
        variables = {"filter": wanted, "orderBy": "NAME"}
        found = client.pages(documents.PIPELINES, "pipelines", variables, limit=limit)
        if output.is_json:
            for one in found:
                output.emit(one)
            return
        output.table(
            ["pipeline", "name", "runs here", "what it does"],
            (
                [
                    _marked(one["key"], starter=one["builtin"], practice=one["metadata"]["practice"]),
                    one["name"],
                    _usable(one["availability"]),
                    _first_line(one["description"]),
                ]
                for one in found
            ),
            empty="No pipelines match.",
        )


def packs(
    word: Words = None,
    accepts: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only packs that accept this kind; repeatable.", show_default=False),
    ] = None,
    produces: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only packs that produce this kind; repeatable.", show_default=False),
    ] = None,
    usable: Usable = None,
    limit: Limit = 100,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List packs and whether they can run here."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.pipelines import documents

    output = Output(as_json)
    wanted = {**_filter(word, usable), "kind": "PACK"}
    if accepts:
        wanted["accepts"] = accepts
    if produces:
        wanted["produces"] = produces
    with Client(Target.find(server)) as client:
        found = list(client.pages(documents.CATALOG, "catalog", {"filter": wanted}, limit=limit))
        client.refuse_missed("kind", [*(accepts or ()), *(produces or ())], "`packline packs` shows all kinds.")
        if output.is_json:
            for one in found:
                output.emit(one)
            return
        output.table(
            ["pack", "accepts", "produces", "runs here"],
            (
                [
                    _marked(one["id"], practice=one["metadata"]["practice"]),
                    ", ".join(one["metadata"]["accepts"]),
                    ", ".join(one["metadata"]["produces"]),
                    _usable(one["availability"]),
                ]
                for one in found
            ),
            empty="No packs match.",
        )


def _marked(name: str, *, starter: bool = False, practice: bool) -> str:
    marks = [mark for mark, holds in (("starter", starter), ("for practice", practice)) if holds]
    return f"{name} ({', '.join(marks)})" if marks else name


def _read(file: str) -> str:
    import sys

    from app.cli.base.exits import CliError

    try:
        # Some editors write a byte order mark, which must not end up inside the joined files.
        return (sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")).removeprefix("\ufeff")
    except OSError as error:
        raise CliError(f"The file {file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CliError(f"The file {file} is not UTF-8 text.") from error


def _show_change(output: Output, change: JSON) -> None:
    from rich.text import Text

    from app.cli.base.output import issue_line

    word = {"CREATE": "will be created", "UPDATE": "will be updated", "KEEP": "stays as it is"}[change["action"]]
    output.say(f"{change['key']} {word}", "bold")
    for line in change["diff"].splitlines():
        colour = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
        output.console.print(Text(line, style=colour))
    for issue in change["warnings"]:
        output.say(f"  {issue_line(issue)}", "yellow")


def _filter(words: list[str] | None, usable: bool | None) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    if words:
        wanted["text"] = " ".join(words)
    if usable is not None:
        wanted["usable"] = usable
    return wanted


def _usable(availability: JSON) -> Any:  # noqa: ANN401 - rich's Text, not imported at start
    from rich.text import Text

    if availability["usable"]:
        return Text("yes", style="green")
    return Text(
        f"no: {availability['missing'][0]['message'] if availability['missing'] else 'unknown'}", style="yellow"
    )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:120]
