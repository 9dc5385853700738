"""Read the values of a credential from prompts, standard input or files; secrets never from the command line.

Every user of the machine can see a command line in the list of processes, and it stays in the shell's history.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.base.exits import CliError
from app.cli.base.prompts import ask_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.secrets.credential_kinds import CredentialKind

#: Largest file a field is read from.
FILE_BYTES = 64 * 1024


def read_values(
    kind: CredentialKind, pairs: Sequence[str], *, from_stdin: bool, ask: bool, output: Callable[[str], None]
) -> dict[str, str | None] | None:
    """The fields to set; None if nothing was given and `ask` is false.

    Args:
        kind: The kind of the credential.
        pairs: `name=@FILE`, `name=` to remove it, or `name=value` for a field that is not secret.
        from_stdin: Whether to read standard input: a JSON object of fields, or the text of the one secret field.
        ask: Whether to prompt for required fields that were not given; only on a terminal.
        output: Prints notes for the user.

    Raises:
        CliError: a value cannot be read this way; the message says how to give it.
    """
    fields: dict[str, str | None] = dict(_from_pair(kind, pair) for pair in pairs)
    if from_stdin:
        fields |= _from_stdin(kind, fields)
    if not ask:
        return fields or None
    if not fields and kind.is_free and not sys.stdin.isatty():
        raise CliError("Pass the fields as a JSON object with `--from-stdin`, or with `--field NAME=@FILE`.")
    return {**_asked(kind, fields, output), **fields}


def _from_pair(kind: CredentialKind, pair: str) -> tuple[str, str | None]:
    name, equals, value = pair.partition("=")
    if not equals:
        raise CliError(f"`--field {pair[:40]}` is not of the form NAME=@FILE.")
    if not value:
        return name, None
    if value.startswith("@"):
        return name, _file(name, value[1:])
    field = kind.field(name)
    if field is None or not field.secret:
        return name, value
    raise CliError(
        f"The secret field `{name}` cannot be given on the command line, where every user of this machine can read it. "
        f"Leave it out to be prompted, or use `--field {name}=@FILE` or `--from-stdin`."
    )


def _file(name: str, path: str) -> str:
    try:
        with Path(path).expanduser().open("rb") as file:
            data = file.read(FILE_BYTES + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"The file {path} for the field `{name}` cannot be read: {error}.") from error
    if len(data) > FILE_BYTES:
        raise CliError(f"The file {path} for the field `{name}` is larger than {FILE_BYTES} bytes.")
    return _without_last_break(text)


def _from_stdin(kind: CredentialKind, given: dict[str, str | None]) -> dict[str, str | None]:
    text = sys.stdin.read(FILE_BYTES * 4)
    if text.lstrip().startswith("{"):
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise CliError(f"Standard input is not a JSON object: {error}.") from error
        if not all(isinstance(value, str | int | None) and not isinstance(value, bool) for value in fields.values()):
            raise CliError("The JSON object on standard input may only contain strings, integers and null.")
        return {name: None if value is None else str(value) for name, value in fields.items()}
    secrets = [field.name for field in kind.fields if field.secret and field.name not in given]
    if len(secrets) != 1:
        names = ", ".join(secrets) or "none left"
        raise CliError(
            f"Plain text on standard input sets the one secret field, but the kind {kind.name} has {names}. Send a "
            'JSON object, such as {"name": "value"}.'
        )
    value = _without_last_break(text)
    if not value:
        raise CliError("Standard input is empty.")
    return {secrets[0]: value}


def _asked(kind: CredentialKind, given: dict[str, str | None], output: Callable[[str], None]) -> dict[str, str | None]:
    asked: dict[str, str | None] = {}
    if kind.is_free and not given:
        output("Enter names and values of fields; an empty name ends the list.")
        while name := input("Field: ").strip():
            asked[name] = ask_secret(name)
        return asked
    for field in kind.fields:
        if field.name in given:
            continue
        # Optional secrets, such as a mail account's password, are also prompted for.
        if field.multiline or not sys.stdin.isatty():
            if field.required:
                raise CliError(
                    f"The field `{field.name}` is missing: use `--field {field.name}=@FILE` or `--from-stdin`."
                )
            continue
        if field.secret and field.required:
            asked[field.name] = ask_secret(field.description.rstrip("."))
            continue
        if field.secret:
            import getpass

            typed = getpass.getpass(f"{field.description.rstrip('.')} (optional): ")
        else:
            more = "" if field.required else " (optional)"
            typed = input(f"{field.description.rstrip('.')}{more}: ").strip()
        if typed:
            asked[field.name] = typed
        elif field.required:
            raise CliError(f"The field `{field.name}` is required.")
    return asked


def _without_last_break(text: str) -> str:
    """The text without the final line break that editors and `echo` add."""
    return text.removesuffix("\n").removesuffix("\r")
