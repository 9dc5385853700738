"""Where the values of a credential come from: a prompt, standard input, files; never the command line for secrets.

What stands on a command line is seen by every user of the machine in the list of processes, and stays in the shell's
history.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.base.exits import CliError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.secrets.credential_kinds import CredentialKind

#: Largest file a field is read from.
FILE_BYTES = 64 * 1024


def read_values(
    kind: CredentialKind, pairs: Sequence[str], *, from_stdin: bool, ask: bool, output: Callable[[str], None]
) -> dict[str, str | None] | None:
    """The fields to set; None when nothing was given and nothing is to be asked.

    Args:
        kind: What the credential is.
        pairs: `name=@FILE`, `name=` to remove it, or `name=value` for a field that is no secret.
        from_stdin: Whether to read standard input: a JSON object of fields, or the text of the one secret field.
        ask: Whether to ask for required fields that were not given; only on a terminal.
        output: Prints notes for the user.

    Raises:
        CliError: a value cannot be had this way; the message says how else.
    """
    fields: dict[str, str | None] = dict(_from_pair(kind, pair) for pair in pairs)
    if from_stdin:
        fields |= _from_stdin(kind, fields)
    if not ask:
        return fields or None
    if not fields and kind.is_free and not sys.stdin.isatty():
        raise CliError("Give the fields with `--from-stdin` as a JSON object, or with `--field NAME=@FILE`.")
    return {**_asked(kind, fields, output), **fields}


def ask_secret(question: str, *, twice: bool = False) -> str:
    """A secret typed at the terminal, unseen.

    Raises:
        CliError: there is no terminal, nothing was typed, or the second time differs.
    """
    import getpass

    if not sys.stdin.isatty():
        raise CliError(f"{question} cannot be asked without a terminal.")
    typed = getpass.getpass(f"{question}: ")
    if not typed:
        raise CliError("Nothing was typed.")
    if twice and getpass.getpass("Again: ") != typed:
        raise CliError("The two differ.")
    return typed


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
        f"The value of the secret field `{name}` is not taken from the command line: every user of this machine can "
        f"read it in the list of processes, and it stays in the shell's history. Leave it out to be asked, use "
        f"`--field {name}=@FILE`, or `--from-stdin`."
    )


def _file(name: str, path: str) -> str:
    try:
        with Path(path).expanduser().open("rb") as file:
            data = file.read(FILE_BYTES + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"The file {path} for the field `{name}` cannot be read: {error}.") from error
    if len(data) > FILE_BYTES:
        raise CliError(f"The file {path} for the field `{name}` has more than {FILE_BYTES} bytes.")
    return _without_last_break(text)


def _from_stdin(kind: CredentialKind, given: dict[str, str | None]) -> dict[str, str | None]:
    text = sys.stdin.read(FILE_BYTES * 4)
    if text.lstrip().startswith("{"):
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise CliError(f"Standard input is no JSON object: {error}.") from error
        if not all(isinstance(value, str | int | None) and not isinstance(value, bool) for value in fields.values()):
            raise CliError("The JSON object on standard input holds something else than texts.")
        return {name: None if value is None else str(value) for name, value in fields.items()}
    secrets = [field.name for field in kind.fields if field.secret and field.name not in given]
    if len(secrets) != 1:
        names = ", ".join(secrets) or "none that is not given already"
        raise CliError(
            f"Standard input is the text of one secret field, and a credential of kind {kind.name} has {names}: give a "
            'JSON object, such as {"name": "value"}.'
        )
    value = _without_last_break(text)
    if not value:
        raise CliError("Standard input is empty.")
    return {secrets[0]: value}


def _asked(kind: CredentialKind, given: dict[str, str | None], output: Callable[[str], None]) -> dict[str, str | None]:
    asked: dict[str, str | None] = {}
    if kind.is_free and not given:
        output("Names and values of the fields; an empty name ends.")
        while name := input("Field: ").strip():
            asked[name] = ask_secret(name)
        return asked
    for field in kind.fields:
        if field.name in given:
            continue
        # A secret that may be left out, such as a mail account's password, is asked for when the rest is.
        if not sys.stdin.isatty():
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

            typed = getpass.getpass(f"{field.description.rstrip('.')} (may be left out): ")
        else:
            more = "" if field.required else " (may be left out)"
            typed = input(f"{field.description.rstrip('.')}{more}: ").strip()
        if typed:
            asked[field.name] = typed
        elif field.required:
            raise CliError(f"The field `{field.name}` is needed.")
    return asked


def _without_last_break(text: str) -> str:
    """The text without the one line break that editors and `echo` put at its end."""
    return text.removesuffix("\n").removesuffix("\r")
