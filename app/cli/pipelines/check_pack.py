"""The command check-pack."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Json  # noqa: TC001 - typer reads the annotation

if TYPE_CHECKING:
    from app.cli.base.output import Output
    from runner.packs.pack import Pack
    from runner.packs.registry import LoadError


def check_pack(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A pack folder, or one file packs/<area>/<verb>.py in it.")
    ],
    as_json: Json = None,
) -> None:
    """Check packs as a server loads them: declarations, schemas, names, and what this machine lacks.

    Needs no server. Whether credentials, models and addresses of services are set up, only a server knows: see
    `packline packs`.
    """
    from app.cli.base.exits import EXIT_FAILED, CliError
    from app.cli.base.output import Output
    from runner.packs.registry import builtins_folder, load_registry, read_folder, source_name

    output = Output(as_json)
    folder, only = _folder_of(path)
    registry = load_registry(builtins_folder(), entry_points=False)
    with redirect_stdout(sys.stderr):  # what packs print while they are imported is no part of the answer
        source = registry.put(*read_folder("user_folder", source_name(folder), folder, only=only))
    packs = [pack for pack in registry.packs() if registry.source_of(pack) is source]
    if not packs and not source.load_errors:
        raise CliError(f"{path} has no packs: files packs/<area>/<verb>.py that declare one.")
    _say_requirements(output, folder)
    for pack in packs:
        _say_pack(output, pack)
    for error in source.load_errors:
        _say_error(output, error)
    if source.load_errors:
        raise typer.Exit(EXIT_FAILED)


def _folder_of(path: Path) -> tuple[Path, Path | None]:
    """Return the pack folder of a path, and the file if the path names one."""
    from app.cli.base.exits import CliError

    if not path.exists():
        raise CliError(f"There is no file or folder {path}.")
    path = Path(os.path.abspath(path))  # an area may be a symbolic link, so links are not resolved
    if path.is_dir():
        return path, None
    if len(path.parents) < 3 or path.parents[1].name != "packs" or path.suffix != ".py":
        raise CliError(f"{path} is not a pack file: those are packs/<area>/<verb>.py in a pack folder.")
    if path.name.startswith("_") or path.parent.name.startswith("_"):
        raise CliError(f"{path} is not a pack file: files and folders whose names start with `_` are for imports.")
    folder = path.parents[2]
    return folder, folder.resolve() / path.relative_to(folder)


def _say_requirements(output: Output, folder: Path) -> None:
    from runner.packs.installed import install_command
    from runner.packs.requirements import unmet_requirements

    unmet = unmet_requirements(folder)
    for one in unmet:
        if output.is_json:
            output.emit({"type": "requirement", "file": str(one.file), "line": one.line, "message": one.problem})
        else:
            output.say(f"{one.file}:{one.line}: warning: {one.problem}", "yellow")
    if unmet and not output.is_json:
        output.say(f"Install them for the server's Python: `{install_command('', folder)}`.", "yellow")


def _say_pack(output: Output, pack: Pack) -> None:
    from app.cli.base.output import requirement_line
    from app.cli.pipelines.check import requirement_json
    from catalog.metadata import unknown_kinds
    from runner.packs.availability import pack_requirements
    from runner.packs.registry import declared_at

    file, line = declared_at(pack)
    missing = [requirement_json(need) for need in pack_requirements(pack)]
    about = pack.metadata
    warnings = [*unknown_kinds("accepts", about.accepts), *unknown_kinds("produces", about.produces)]
    if output.is_json:
        described = {"name": pack.name, "version": pack.version, "file": file, "line": line}
        output.emit({"type": "pack", **described, "missing": missing, "warnings": warnings})
        return
    for warning in warnings:
        output.say(f"{file}:{line}: warning: {warning}", "yellow")
    for need in missing:
        output.say(f"{file}:{line}: {requirement_line(need)}", "yellow")
    result = "loads, but cannot run on this machine" if missing else "works"
    output.say(f"{pack.name} {pack.version}: {result}", "yellow" if missing else "green")


def _say_error(output: Output, error: LoadError) -> None:
    if output.is_json:
        place = {"origin": error.origin, "file": error.file, "line": error.line}
        output.emit({"type": "error", **place, "packs": list(error.packs), "message": error.problem})
        return
    output.say(f"{error.place}: error: {error.problem}", "red")
