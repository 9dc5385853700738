"""Commands about one pipeline: its versions, what differs between two, restore one; delete the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Json, Limit, Long, Server, number, whole_ids

if TYPE_CHECKING:
    from app.cli.base.client import Client
    from app.cli.base.output import JSON, Output

pipeline = typer.Typer(no_args_is_help=True, help="List, compare and restore versions of a pipeline; delete it.")

Pipeline = Annotated[
    str,
    typer.Argument(metavar="PIPELINE", help="Pipeline key or id.", show_default=False, callback=whole_ids("pipe")),
]
Number = Annotated[
    int,
    typer.Argument(parser=number(1), metavar="NUMBER", help="Number of the version.", show_default=False),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@pipeline.command()
def versions(
    pipeline: Pipeline, limit: Limit = 20, long: Long = False, server: Server = None, as_json: Json = None
) -> None:
    """List the versions of a pipeline, newest first."""
    from app.cli.base.client import Client
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output, ago
    from app.cli.base.target import Target
    from app.cli.pipelines import documents

    output = Output(as_json)
    found: list[JSON] = []
    after = None
    with Client(Target.find(server)) as client:
        while len(found) < limit:
            wanted = {"id": pipeline, "first": min(100, limit - len(found)), "after": after}
            one = client.execute(documents.VERSIONS, wanted)["pipeline"]
            if one is None:
                raise unknown_pipeline(client, pipeline)
            current = one["currentVersion"]["number"]
            found += [{**each, "current": each["number"] == current} for each in one["versions"]["nodes"]]
            after = one["versions"]["pageInfo"]["endCursor"]
            if not one["versions"]["pageInfo"]["hasNextPage"]:
                break
    if output.is_json:
        for each in found:
            output.emit(each)
        return
    print_list(
        output,
        [Column("version"), Column("saved"), Column("by"), Column("note", "cut"), Column("digest", "long")],
        (
            [
                f"{each['number']} (current)" if each["current"] else each["number"],
                ago(each["createdAt"]),
                each["createdBy"]["name"] if each["createdBy"] else "Packline",
                each["note"] or "",
                each["digest"],
            ]
            for each in found
        ),
        empty="There are no versions.",
        long=long,
    )


@pipeline.command()
def diff(
    pipeline: Pipeline,
    one: Annotated[
        int | None,
        typer.Argument(
            parser=number(1), metavar="NUMBER", help="Number of a version; default: the one before the current one."
        ),
    ] = None,
    other: Annotated[
        int | None,
        typer.Argument(parser=number(1), metavar="OTHER", help="The other version; default: the current one."),
    ] = None,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Show what differs between two versions of a pipeline; without numbers, the last two."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        before, after = _two_versions(client, pipeline, _before_last(client, pipeline) if one is None else one, other)
    changes = _diff(before, after)
    if output.is_json:
        output.emit({"type": "diff", "from": before["number"], "to": after["number"], "diff": changes})
    elif changes:
        print_diff(output, changes)
    else:
        output.say(f"Versions {before['number']} and {after['number']} do not differ.")


@pipeline.command()
def restore(pipeline: Pipeline, number: Number, yes: Yes = False, server: Server = None, as_json: Json = None) -> None:
    """Save an old version of a pipeline as its newest; all versions are kept.

    Shows the changes and asks first. Runs in progress keep their version.
    """
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept, confirm, issue_line
    from app.cli.base.target import Target
    from app.cli.pipelines import documents

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        old, current = _two_versions(client, pipeline, number, None)
        if not yes:
            if not output.is_json:
                print_diff(output, _diff(current, old))
            confirm(f"Restore version {number} as version {current['number'] + 1}?")
        change = {"pipeline": pipeline, "yaml": old["yaml"], "ifVersion": current["number"]}
        change["note"] = f"Version {number} restored"
        done = accept(client.execute(documents.RESTORE_VERSION, change)["result"])
    for issue in done["warnings"]:
        output.note(issue_line(issue))
    saved = done["pipeline"]
    if output.is_json:
        output.emit({"type": "restored", "version": number, "newVersion": done["newVersion"], "pipeline": saved})
    elif done["newVersion"]:
        output.say(f"Version {number} of {saved['key']} is restored as version {saved['currentVersion']['number']}.")
    else:
        output.say(f"Version {number} does not differ from the current one. Nothing was changed.")


@pipeline.command()
def delete(pipeline: Pipeline, yes: Yes = False, server: Server = None, as_json: Json = None) -> None:
    """Delete a pipeline: no new runs start; its runs and versions are kept."""
    from app.cli.base.client import Client
    from app.cli.base.output import Output, accept, confirm
    from app.cli.base.target import Target
    from app.cli.pipelines import documents

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = client.execute(documents.PIPELINE_KEY, {"id": pipeline})["pipeline"]
        if found is None:
            raise unknown_pipeline(client, pipeline)
        if not yes:
            confirm(f"Delete {found['key']} ({found['name']})?")
        given = {"pipeline": found["id"], "key": found["key"]}
        accept(client.execute(documents.DELETE_PIPELINE, given)["result"])
    if output.is_json:
        output.emit({"type": "deleted", "id": found["id"], "key": found["key"]})
    else:
        output.say(f"{found['key']} is deleted. Its runs and versions are kept.")


def _before_last(client: Client, pipeline: str) -> int:
    """The number of the version before the current one.

    Raises:
        CliError: there is no such pipeline, or it has one version.
    """
    from app.cli.base.exits import CliError
    from app.cli.pipelines import documents

    found = client.execute(documents.VERSIONS, {"id": pipeline, "first": 2})["pipeline"]
    if found is None:
        raise unknown_pipeline(client, pipeline)
    if len(found["versions"]["nodes"]) < 2:
        raise CliError(f"{pipeline} has only one version, so there is nothing to compare it with.")
    return int(found["versions"]["nodes"][1]["number"])


def _two_versions(client: Client, pipeline: str, one: int, other: int | None) -> tuple[JSON, JSON]:
    """Two versions of a pipeline; without `other`, the second is the current one.

    Raises:
        CliError: there is no such pipeline or version.
    """
    from app.cli.base.exits import CliError
    from app.cli.pipelines import documents

    given = {"id": pipeline, "one": one} | ({} if other is None else {"other": other})
    found = client.execute(documents.TWO_VERSIONS, given)["pipeline"]
    if found is None:
        raise unknown_pipeline(client, pipeline)
    chosen = found["one"], found["currentVersion"] if other is None else found["other"]
    for asked, version in zip((one, other), chosen, strict=True):
        if version is None:
            raise CliError(
                f"{found['key']} has no version {asked}. `packline pipeline versions {found['key']}` lists them."
            )
    return chosen


def _diff(before: JSON, after: JSON) -> str:
    import difflib

    texts = (before["yaml"].splitlines(), after["yaml"].splitlines())
    names = (f"version {before['number']}", f"version {after['number']}")
    return "\n".join(difflib.unified_diff(*texts, *names, lineterm=""))


def print_diff(output: Output, changes: str) -> None:
    """Print a unified diff in colours."""
    from rich.text import Text

    for line in changes.splitlines():
        colour = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
        output.console.print(Text(line, style=colour))


def unknown_pipeline(client: Client, name: str) -> Exception:
    """The error for a name that no pipeline has."""
    from app.cli.base.exits import CliError

    return CliError(f"{client.missed('pipeline', name)} `packline pipelines` lists them.")
