"""Local files as inputs of a run: uploaded first, then passed as the ids of their artifacts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.base.exits import CliError
from app.cli.runs.inputs import takes_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.cli.base.client import Client
    from app.cli.base.output import Output


def uploaded(client: Client, output: Output, pairs: Iterable[str], schema: dict[str, Any]) -> list[str]:
    """Upload the files of pairs `NAME=FILE`, and return pairs of the names and the artifacts' ids.

    No file is uploaded unless all exist and the inputs of the schema take files.

    Raises:
        CliError: a pair is malformed, an input takes no file, a file cannot be read, or the server refuses it.
    """
    files: list[tuple[str, Path]] = []
    for pair in pairs:
        name, mark, place = pair.partition("=")
        if not mark or not name or not place:
            raise CliError(f"`{pair}` is not of the form NAME=FILE. Write for example --upload name=report.pdf.")
        path = Path(place.removeprefix("@")).expanduser()
        if not path.is_file():
            raise CliError(f"--upload {name}: there is no file {path}.")
        if not takes_file(name, schema):
            raise CliError(
                f"--upload {name}: the input `{name}` takes no file. For the file's text, write --input "
                f"{name}=@{path}; for the id of an artifact, send the file with `packline artifact send`."
            )
        files.append((name, path))
    sent = []
    for name, path in files:
        artifact = client.upload(path)
        output.note(f"{path.name} is {artifact['id']} on the server.")
        sent.append(f"{name}={artifact['id']}")
    return sent
