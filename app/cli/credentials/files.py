"""Commands about the vault as a whole: rotate its key, export and import its credentials, reset it.

All except `import` work directly on the data folder and the database, without a server.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from app.cli.base.options import Json, Server  # noqa: TC001 - likewise
from app.cli.credentials.credentials import credentials
from app.cli.server.machine import DataDir  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from app.cli.base.client import Client
    from store.database.engine import Store
    from store.secrets.vault_key import KeySource

T = TypeVar("T")
PassphraseFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Read the passphrase from a file; default: prompt for it.", show_default=False),
]


@credentials.command("rotate-key")
def rotate_key(
    from_stdin: Annotated[
        bool,
        typer.Option("--from-stdin", help="Read the new key from standard input; required with PACKLINE_VAULT_KEY."),
    ] = False,
    data_dir: DataDir = None,
    as_json: Json = None,
) -> None:
    """Encrypt everything with a new vault key; stop an embedded server first.

    The rotation is atomic. Older backups need the old key.
    """
    import sys

    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from runner.secrets.vault_offline import rotate_key as rotate
    from store.secrets.cipher import VaultKeyError, parse_key
    from store.secrets.vault_key import KeyFile

    output = Output(as_json)
    try:
        new_key = parse_key(sys.stdin.read(1000), "Standard input") if from_stdin else None
    except VaultKeyError as error:
        raise CliError(str(error)) from error

    async def work(store: Store, keys: KeySource) -> tuple[int, bool]:
        if new_key is None and not isinstance(keys, KeyFile):
            raise CliError(
                "The key is set by PACKLINE_VAULT_KEY, so you must provide the new one. Run "
                "`openssl rand -base64 32 > new.key`, then `packline credential rotate-key --from-stdin < new.key`, "
                "then set PACKLINE_VAULT_KEY to it."
            )
        return (await rotate(store, keys, new_key)).credentials, isinstance(keys, KeyFile)

    count, in_file = _offline(data_dir, work)
    if output.is_json:
        output.emit({"type": "rotated", "credentials": count})
        return
    output.say(f"{count} credentials are encrypted with the new key.")
    if not in_file:
        output.say("Set PACKLINE_VAULT_KEY to the new key now; the old one no longer opens the vault.")


@credentials.command("export")
def export(
    file: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.", show_default=False)],
    passphrase_file: PassphraseFile = None,
    data_dir: DataDir = None,
    as_json: Json = None,
) -> None:
    """Export all credentials to a file encrypted with a passphrase; stop an embedded server first."""
    import os

    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from runner.secrets.vault_offline import read_credentials
    from store.secrets.export_file import VaultFileError, seal_file

    output = Output(as_json)
    if file.exists():
        raise CliError(f"{file} already exists. Name a new file, or move that one away.")
    passphrase = _passphrase(passphrase_file, twice=True)

    async def work(store: Store, keys: KeySource) -> list[dict[str, Any]]:
        return await read_credentials(store, keys)

    exported = _offline(data_dir, work)
    try:
        text = seal_file(exported, passphrase)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
            opened.write(text)
    except VaultFileError as error:
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"{file} cannot be written: {error}.") from error
    if output.is_json:
        output.emit({"type": "exported", "file": str(file), "credentials": [each["key"] for each in exported]})
    else:
        output.say(f"{file}: {len(exported)} credentials. Anyone with the file and the passphrase can read them.")


@credentials.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File that `packline credential export` wrote.", show_default=False)
    ],
    passphrase_file: PassphraseFile = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace credentials that exist already.")] = False,
    server: Server = None,
    as_json: Json = None,
) -> None:
    """Import the credentials of an exported file into a running server.

    Grants to installed packs are kept; those to pipelines and callers are not, because their ids differ there.
    """
    from app.cli.base.client import Client
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from app.cli.base.target import Target
    from app.cli.credentials.calls import put_credential, stored_credentials
    from store.secrets.export_file import VaultFileError, open_file

    output = Output(as_json)
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{file} cannot be read: {error}.") from error
    try:
        found = open_file(text, _passphrase(passphrase_file))
    except VaultFileError as error:
        raise CliError(f"{file}: {error}") from error
    with Client(Target.find(server)) as client:
        there = {each["key"] for each in stored_credentials(client)}
        for each in found:
            is_there = each["key"] in there
            done = "kept as it is" if is_there and not replace else "replaced" if is_there else "stored"
            if not is_there or replace:
                change = {"key": each["key"], "kind": each["kind"], "fields": each["fields"]}
                change["expiresAt"] = each.get("expires_at")
                if not is_there:
                    change["grants"] = _granted_there(client, each.get("grants", []))
                put_credential(client, change)
            if output.is_json:
                output.emit({"type": "imported", "key": each["key"], "done": done})
            else:
                output.say(f"{each['key']}: {done}.")


@credentials.command("reset")
def reset(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    data_dir: DataDir = None,
    as_json: Json = None,
) -> None:
    """Delete every credential, to start over with a vault whose key is lost."""
    import sys

    from app.cli.base.exits import CliError
    from app.cli.base.output import Output
    from runner.secrets.vault_offline import reset_vault

    output = Output(as_json)
    if not yes:
        if not sys.stdin.isatty():
            raise CliError(
                "This deletes every credential. There is no terminal to ask on: repeat the command with `--yes`."
            )
        if input("This deletes every credential and cannot be undone. Type `delete`: ") != "delete":
            raise CliError("Nothing was deleted.")

    async def work(store: Store, _keys: KeySource) -> int:
        return await reset_vault(store)

    count = _offline(data_dir, work)
    if output.is_json:
        output.emit({"type": "reset", "credentials": count})
    else:
        output.say(f"{count} credentials are deleted. The next one you store starts a new vault.")


def _offline(data_dir: Path | None, work: Callable[[Store, KeySource], Awaitable[T]]) -> T:
    """Run `work` on the database and the vault key, without a server."""
    import asyncio

    from app.cli.base.exits import STOP_SERVER, CliError
    from app.settings.server import Settings, SettingsError
    from store.database.engine import open_store
    from store.database.errors import DataFolderInUseError, StoreError
    from store.secrets.cipher import UnsealError, VaultKeyError
    from store.secrets.vault_key import key_source

    async def run(settings: Settings) -> T:
        store = await open_store(settings.database_url, settings.data_dir, migrate=False)
        try:
            return await work(store, key_source(settings.data_dir, settings.vault_key_text()))
        finally:
            await store.close()

    try:
        settings = Settings.load({"data_dir": data_dir})
        if settings.database_url == "sqlite" and not (settings.data_dir / "packline.db").exists():
            raise CliError(f"There is no database in {settings.data_dir}.")
        return asyncio.run(run(settings))
    except SettingsError as error:
        raise CliError(str(error)) from error
    except DataFolderInUseError as error:
        raise CliError(f"{error} {STOP_SERVER}") from error
    except (StoreError, VaultKeyError, UnsealError) as error:
        raise CliError(str(error)) from error


def _passphrase(file: Path | None, *, twice: bool = False) -> str:
    from app.cli.base.exits import CliError
    from app.cli.base.prompts import ask_secret

    if file is None:
        return ask_secret("Passphrase", twice=twice)
    try:
        return file.read_text("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"The passphrase file {file} cannot be read: {error}.") from error


def _granted_there(client: Client, grants: list[str]) -> list[str]:
    """The granted packs that are installed on this server."""
    from app.cli.credentials.documents import NODES

    packs = [grant for grant in grants if "." in grant and not grant.startswith("builtin.")][:100]
    found = client.execute(NODES, {"ids": packs})["nodes"] if packs else []
    return [node["id"] for node in found if node is not None]


__all__ = ["credentials"]
