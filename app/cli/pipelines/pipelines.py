"""The commands apply, export, pipelines and packs."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.base.options import Json, Limit, Long, Server, whole_ids
from app.cli.pipelines.files import issues_in_files, places_in, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.cli.base.output import JSON, Output

Words = Annotated[list[str] | None, typer.Argument(metavar="WORD", help="Words to search for.", show_default=False)]
Usable = Annotated[
    bool | None,
    typer.Option("--usable/--unusable", help="Only those that can, or cannot, run here.", show_default=False),
]


_PLANNED = {
    "CREATE": "will be created",
    "UPDATE": "will be updated",
    "KEEP": "stays as it is",
    "DELETE": "will be deleted: the list does not name it",
}
_DONE = {"CREATE": "created", "UPDATE": "updated", "DELETE": "deleted"}


def apply(
    file: Annotated[list[str], typer.Option("--file", "-f", metavar="FILE", help="Pipelines as YAML; repeatable.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Create and update pipelines and their triggers from files.

    Shows the changes and asks first. Applying the same files again changes nothing. If a document lists `triggers`,
    your triggers of the pipeline that the list does not name are deleted.
    """
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, accept, confirm
    from app.cli.base.target import Target
    from app.cli.pipelines import documents

    output = Output(as_json)
    texts = [read_file(name) for name in file]
    places = [place for name, text in zip(file, texts, strict=True) for place in places_in(name, text)]
    text = "---\n".join(text if text.endswith("\n") else text + "\n" for text in texts)
    with Client(Target.find(server)) as client:
        planned = client.execute(documents.APPLY, {"yaml": text, "dryRun": True})["result"]
        if planned["__typename"] == "InvalidProblem" and (lines := issues_in_files(planned["issues"], places)):
            raise CliError("\n".join(lines))
        plan = accept(planned)["changes"]
        changed = [change for part in plan for change in (part, *part["triggers"]) if change["action"] != "KEEP"]
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
            confirm(f"Apply {len(changed)} changes?" if len(changed) > 1 else "Apply the change?")
        done = accept(client.execute(documents.APPLY, {"yaml": text, "dryRun": False})["result"])["changes"]
        for change in done:
            if output.is_json:
                output.emit({"type": "change", "applied": True, **change})
                continue
            if change["action"] != "KEEP":
                output.say(f"{change['key']} {_DONE[change['action']]}.", "green")
            for trigger in change["triggers"]:
                if trigger["action"] != "KEEP":
                    known = f" ({trigger['triggerId']})" if trigger["action"] == "CREATE" else ""
                    output.say(f"Trigger {trigger['name']}{known} {_DONE[trigger['action']]}.", "green")
                if trigger["secret"] is not None:
                    output.say(f"Secret: {trigger['secret']}")
                    output.say("The secret is not shown again. `packline trigger show` has the URL of the webhook.")


def export(
    pipeline: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PIPELINE",
            help="Keys or ids; default: all but starters.",
            show_default=False,
            callback=whole_ids("pipe"),
        ),
    ] = None,
    into: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write.", show_default=False)
    ] = None,
    server: Server = None,
) -> None:
    """Export pipelines with your triggers as YAML, for `apply`.

    The first line of each tells editors where the server has the JSON Schema of definitions.
    """
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.target import Target
    from app.cli.pipelines import documents
    from app.cli.pipelines.versions import unknown_pipeline
    from runner.definitions.editor_schema import with_schema_line

    with Client(Target.find(server)) as client:
        if pipeline:
            found = []
            for name in pipeline:
                one = client.execute(documents.EXPORT_ONE, {"id": name})["pipeline"]
                if one is None:
                    raise unknown_pipeline(client, name)
                found.append(one)
        else:
            found = list(client.pages(documents.EXPORT_ALL, "pipelines", {}, limit=None))
    # Versions saved by earlier releases may begin with a byte order mark.
    texts = [with_schema_line(one["exportYaml"].removeprefix("\ufeff"), client.target.url) for one in found]
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
    recent: Annotated[bool, typer.Option("--recent", help="Most recently run first, instead of by key.")] = False,
    limit: Limit = 100,
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List pipelines and whether they can run here."""
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.pipelines import documents

    output = Output(as_json)
    wanted = _filter(word, usable)
    if starters is not None:
        wanted["builtin"] = starters
    with Client(Target.find(server)) as client:
        variables = {"filter": wanted, "orderBy": "RECENTLY_RUN" if recent else "NAME"}
        found: Iterable[JSON] = client.pages(documents.PIPELINES, "pipelines", variables, limit=limit)
        if output.is_json:
            for one in found:
                output.emit(one)
            return
        if not recent:
            found = sorted(found, key=lambda one: one["key"])  # people read keys, the server sorts by name
        print_list(
            output,
            [
                Column("pipeline"),
                Column("runs here"),
                Column("name", "long"),
                Column("what it does", "cut"),
                Column("kind", "wide"),
                Column("missing", "long"),
                Column("id", "long"),
            ],
            (
                [
                    one["key"],
                    _usable(one["availability"]),
                    one["name"],
                    one["description"].strip() if long else _first_line(one["description"]),
                    _marks(starter=one["builtin"], practice=one["metadata"]["practice"]),
                    _missing(one["availability"]),
                    one["id"],
                ]
                for one in found
            ),
            empty="No pipelines match.",
            long=long,
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
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List packs and whether they can run here; with the name of one, show its input and output."""
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.pipelines import documents
    from app.cli.pipelines.pack_details import show_pack
    from catalog.metadata import unknown_kinds

    output = Output(as_json)
    wanted = {**_filter(word, usable), "kind": "PACK"}
    if accepts:
        wanted["accepts"] = accepts
    if produces:
        wanted["produces"] = produces
    with Client(Target.find(server)) as client:
        if word and len(word) == 1 and "." in word[0] and wanted.keys() == {"text", "kind"}:
            one = client.execute(documents.PACK, {"id": word[0]})["pack"]
            if one is not None:
                if output.is_json:
                    output.emit(one)
                else:
                    show_pack(output, one, lacks=_missing(one["availability"]))
                return
        found = list(client.pages(documents.CATALOG, "catalog", {"filter": wanted}, limit=limit))
        client.refuse_missed("kind", [*(accepts or ()), *(produces or ())], "`packline packs` shows all kinds.")
        if usable is not True:
            sources = client.execute(documents.LOAD_ERRORS)["server"]["packSources"]
            for lost in (lost for source in sources for lost in source["loadErrors"]):
                output.note(f"{lost['origin']} could not be loaded: {lost['message']}")
            for one in found:
                for field in ("accepts", "produces"):
                    for problem in unknown_kinds(field, one["metadata"][field]):
                        output.note(f"{one['id']}: {problem}")
        if output.is_json:
            for one in found:
                output.emit(one)
            return
        print_list(
            output,
            [
                Column("pack"),
                Column("runs here"),
                Column("accepts", "cut"),
                Column("produces", "cut"),
                Column("kind", "wide"),
                Column("version", "long"),
                Column("external changes", "long"),
                Column("what it does", "long"),
                Column("missing", "long"),
            ],
            (
                [
                    one["id"],
                    _usable(one["availability"]),
                    ", ".join(one["metadata"]["accepts"]),
                    ", ".join(one["metadata"]["produces"]),
                    _marks(practice=one["metadata"]["practice"]),
                    one["version"],
                    one["effects"].lower(),
                    one["description"].strip(),
                    _missing(one["availability"]),
                ]
                for one in found
            ),
            empty="No packs match.",
            long=long,
        )


def _marks(*, starter: bool = False, practice: bool) -> str:
    return ", ".join(mark for mark, holds in (("starter", starter), ("for practice", practice)) if holds)


def _show_change(output: Output, change: JSON) -> None:
    from app.cli.base.output import issue_line
    from app.cli.pipelines.versions import print_diff

    output.say(f"{change['key']} {_PLANNED[change['action']]}", "bold")
    for trigger in change["triggers"]:
        if trigger["action"] != "KEEP":
            output.say(f"  trigger {trigger['name']} {_PLANNED[trigger['action']]}", "bold")
    print_diff(output, change["diff"])
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

    return Text("yes", style="green") if availability["usable"] else Text("no", style="yellow")


def _missing(availability: JSON) -> str:
    from app.cli.base.output import hint_words

    return "\n".join(f"{one['message']} {hint_words(one)}".rstrip() for one in availability["missing"])


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
