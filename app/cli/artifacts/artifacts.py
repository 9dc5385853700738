"""Commands about artifacts: the files that runs made and callers uploaded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.base.options import Json, Limit, Long, Server, number, whole_ids

if TYPE_CHECKING:
    from app.cli.base.output import JSON

artifacts = typer.Typer(no_args_is_help=True, help="List, read, save, upload and pin the files of runs.")

ArtifactId = Annotated[
    str,
    typer.Argument(
        metavar="ARTIFACT",
        help="The artifact's id, art_…, or a unique prefix of it; `@last` is the one artifact of your newest run.",
        show_default=False,
        callback=whole_ids("art"),
    ),
]
_STATUSES = ("STORED", "PROPOSED", "VERIFIED", "QUARANTINED")


@artifacts.command("list")
def list_(
    search: Annotated[str | None, typer.Option(help="Search for these words in the name.", show_default=False)] = None,
    media_type: Annotated[
        list[str] | None,
        typer.Option(
            "--type", metavar="TYPE", help="Only this media type, such as `image/*`. Repeatable.", show_default=False
        ),
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATUS",
            help="Only this status: stored, proposed, verified, quarantined. Repeatable.",
            show_default=False,
        ),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(
            help="Only of runs of this pipeline, by id or key.", show_default=False, callback=whole_ids("pipe")
        ),
    ] = None,
    pinned: Annotated[
        bool | None,
        typer.Option("--pinned/--not-pinned", help="Only pinned, or only other artifacts.", show_default=False),
    ] = None,
    largest: Annotated[bool, typer.Option("--largest", help="List the largest first.")] = False,
    limit: Limit = 20,
    long: Long = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """List artifacts, newest first."""
    from app.cli.artifacts import documents
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.lists import Column, print_list
    from app.cli.base.output import Output, ago, size
    from app.cli.base.target import Target

    output = Output(as_json)
    wanted: dict[str, Any] = {}
    if search:
        wanted["text"] = search
    if media_type:
        wanted["mediaTypes"] = media_type
    if status:
        wanted["statuses"] = [word.upper() for word in status]
        for word in status:
            if word.upper() not in _STATUSES:
                raise CliError(f"`{word}` is not a status. The statuses are {', '.join(_STATUSES).lower()}.")
    if pipeline:
        wanted["pipelines"] = [pipeline]
    if pinned is not None:
        wanted["pinned"] = pinned
    variables = {"filter": wanted, "orderBy": "LARGEST" if largest else "NEWEST"}
    with Client(Target.find(server)) as client:
        found = client.pages(documents.ARTIFACTS, "artifacts", variables, limit=limit)
        if output.is_json:
            for one in found:
                output.emit(one)
            return
        print_list(
            output,
            [
                Column("artifact"),
                Column("name", "cut"),
                Column("type", "wide"),
                Column("size"),
                Column("status", "wide"),
                Column("made"),
                Column("kept", "wide"),
                Column("from", "wide"),
            ],
            (
                [
                    one["id"],
                    one["name"],
                    one["mediaType"],
                    size(one["sizeBytes"]),
                    one["status"].lower(),
                    ago(one["createdAt"]),
                    _kept(one),
                    one["run"]["title"] if one["run"] else "upload",
                ]
                for one in found
            ),
            empty="No artifacts. Runs make them, and `packline artifact send FILE` uploads one.",
            long=long,
        )


@artifacts.command()
def text(
    artifact: ArtifactId,
    offset: Annotated[int, typer.Option(parser=number(0), metavar="NUMBER", help="First byte to read.")] = 0,
    limit: Annotated[
        int, typer.Option(parser=number(1, 200_000), metavar="NUMBER", help="Most bytes to read, at most 200,000.")
    ] = 20_000,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Print part of an artifact's text."""
    from app.cli.artifacts import documents
    from app.cli.base.client import Client
    from app.cli.base.defusing import defused
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = client.execute(documents.ARTIFACT_TEXT, {"id": artifact, "offset": offset, "limit": limit})["result"]
        if found is None:
            raise client.unknown("artifact", artifact)
    if output.is_json:
        output.emit(found)
    elif found["text"] is None:
        name, kind = found["artifact"]["name"], found["artifact"]["mediaType"]
        raise CliError(f"{name} is {kind}, not text. `packline artifact save {artifact}` saves it.")
    else:
        shown = defused(found["text"]) if sys.stdout.isatty() else found["text"]
        sys.stdout.write(shown if shown.endswith("\n") else f"{shown}\n")
        if found["nextOffset"] is not None:
            output.note(f"There is more: `packline artifact text {artifact} --offset {found['nextOffset']}`.")


@artifacts.command()
def save(
    artifact: ArtifactId,
    to: Annotated[
        Path, typer.Option("--to", metavar="PATH", help="Folder, or new file; existing files are never overwritten.")
    ] = Path(),
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Save an artifact as a file; an interrupted download leaves no file."""
    from app.cli.artifacts import documents
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, size
    from app.cli.base.saving import free_name
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        found = client.execute(documents.ARTIFACT, {"id": artifact})["node"]
        if not found:
            raise client.unknown("artifact", artifact)
        if found["status"] == "QUARANTINED":
            raise CliError(
                f"{found['name']} is quarantined, because it seems to contain a secret. A caller with the scope "
                f"`manage` can release it with `packline artifact release {artifact}`."
            )
        if found["downloadUrl"] is None:
            raise CliError(f"{found['name']} has expired and was erased. Repeat the run that made it.")
        target = free_name(to, found["name"]) if to.is_dir() else to
        if target.exists():
            raise CliError(f"{target} already exists. Name another file, or a folder.")
        if not target.parent.is_dir():
            raise CliError(f"There is no folder {target.parent}. Create it, or name another.")
        count = client.download(f"/artifacts/{artifact}", target)
    if output.is_json:
        output.emit({"type": "saved", "path": str(target), "sizeBytes": count, "artifact": found})
    else:
        output.say(f"{target}, {size(count)}")


@artifacts.command()
def send(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file, at most 100 MiB.", show_default=False)],
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Upload a file to the server, as an input of runs."""
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from app.cli.base.target import Target

    output = Output(as_json)
    if not file.is_file():
        raise CliError(f"There is no file {file}.")
    with Client(Target.find(server)) as client:
        made = client.upload(file)
    if output.is_json:
        output.emit({"type": "artifact", **made})
    else:
        output.say(f"{file.name} is {made['id']} on the server.")


@artifacts.command()
def pin(artifact: ArtifactId, server: Server = None, as_json: Json = None) -> None:
    """Pin an artifact: keep it until it is unpinned."""
    _pin(artifact, server, as_json, pinned=True)


@artifacts.command()
def unpin(artifact: ArtifactId, server: Server = None, as_json: Json = None) -> None:
    """Unpin an artifact, so that it is deleted automatically again."""
    _pin(artifact, server, as_json, pinned=False)


@artifacts.command()
def release(artifact: ArtifactId, server: Server = None, as_json: Json = None) -> None:
    """Release an artifact from quarantine, although it seems to contain a secret."""
    from app.cli.artifacts import documents
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        result = client.execute(documents.RELEASE_ARTIFACT, {"id": artifact})["result"]
        made = client.accept(result, "artifact", [artifact])["artifact"]
    if output.is_json:
        output.emit({"type": "artifact", **made})
    else:
        output.say(f"{made['name']} ({made['id']}) is released from quarantine.")


def _pin(artifact: str, server: str | None, as_json: bool | None, *, pinned: bool) -> None:
    from app.cli.artifacts import documents
    from app.cli.base.client import Client
    from app.cli.base.output import Output
    from app.cli.base.target import Target

    output = Output(as_json)
    with Client(Target.find(server)) as client:
        result = client.execute(documents.PIN_ARTIFACT, {"id": artifact, "pinned": pinned})["result"]
        made = client.accept(result, "artifact", [artifact])["artifact"]
    if output.is_json:
        output.emit({"type": "artifact", **made})
    else:
        output.say(f"{made['name']} ({made['id']}): kept {_kept(made)}.")


def _kept(artifact: JSON) -> str:
    from app.cli.base.output import when

    if artifact["pinned"]:
        return "pinned"
    return f"until {when(artifact['expiresAt'])}" if artifact["expiresAt"] else "with its run"
