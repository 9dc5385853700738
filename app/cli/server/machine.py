"""Commands about this machine's server and its data: up, doctor, migrate, backup, restore."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base.options import Json, Server  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from app.settings.server import Settings

Host = Annotated[
    str | None, typer.Option(help="Address to listen on (PACKLINE_HOST); default: 127.0.0.1.", show_default=False)
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="FOLDER", help="Data folder (PACKLINE_DATA_DIR).", show_default=False),
]
LogLevel = Annotated[
    str | None,
    typer.Option(help="Lowest level to log: debug, info, warning or error (PACKLINE_LOG_LEVEL).", show_default=False),
]
Offers = Annotated[
    str | None,
    typer.Option(
        metavar="LABELS",
        help="Labels to offer besides what is found, such as gpu, separated by commas (PACKLINE_OFFERS).",
        show_default=False,
    ),
]
# Numbers are read by the settings, which say what is wrong with one.
Concurrency = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="Concurrent runs (PACKLINE_LANES); default: 64.", show_default=False),
]


def up(
    host: Host = None,
    port: Annotated[
        str | None,  # read by the settings, which say what is wrong with it
        typer.Option(
            metavar="NUMBER", help="Port (PACKLINE_PORT); default: 8420; 0 picks a free one.", show_default=False
        ),
    ] = None,
    data_dir: DataDir = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Leave all runs to `packline worker` (PACKLINE_WORKER=off).")
    ] = False,
    offers: Offers = None,
    concurrency: Concurrency = None,
    log_level: LogLevel = None,
) -> None:
    """Start the server. Ctrl-C stops it; runs continue at the next start."""
    gc.disable()  # importing makes more collections than garbage, 0.1 s of CPU; `run_app` enables it once it serves
    from app.cli.base.exits import CliError
    from app.server import serve

    settings = settings_of(
        host=host,
        port=port,
        data_dir=data_dir,
        log_level=log_level,
        worker=False if no_worker else None,
        offers=offers,
        lanes=concurrency,
    )
    if offers and not settings.worker:  # PACKLINE_OFFERS may be there for the workers of the same machine
        raise CliError(
            f"`packline up --no-worker` executes no runs, so it cannot offer {offers}. Give --offers to `packline "
            "worker` instead."
        )
    raise typer.Exit(serve(settings))


def doctor(data_dir: DataDir = None, server: Server = None, as_json: Json = None) -> None:
    """Check what works on this machine, and say what to do about the rest.

    ✓ works, ✗ is missing or wrong, ○ is not set up. Exits with 1 if Packline itself cannot work.
    """
    from dataclasses import asdict

    from app.cli.base.exits import EXIT_FAILED
    from app.cli.base.output import Output
    from app.cli.server.doctor import examine

    output = Output(as_json)
    works = True
    for finding in examine(data_dir, server):
        if output.is_json:
            output.emit({"type": "finding", **asdict(finding)})
        else:
            sign, plain, colour = {
                "works": ("✓", "+", "green"),
                "missing": ("✗", "x", "red" if finding.vital else "yellow"),
                "not_set_up": ("○", "-", "dim"),
            }[finding.state]
            sign = plain if output.console.options.ascii_only else sign
            output.console.print(f"[{colour}]{sign}[/{colour}] {finding.what}", end="  ")
            output.say(finding.message)
        works = works and not finding.vital
    if not works:
        raise typer.Exit(EXIT_FAILED)


def migrate(data_dir: DataDir = None, as_json: Json = None) -> None:
    """Upgrade the database to the schema of this release.

    An embedded database is copied first.
    """
    from app.cli.base.exits import STOP_SERVER, CliError
    from app.cli.base.output import Output
    from store.database.errors import DataFolderInUseError, StoreError
    from store.database.revisions import head_revision
    from store.database.schema import current_sqlite_revision, ensure_postgres_schema, ensure_sqlite_schema

    output = Output(as_json)
    settings = settings_of(data_dir=data_dir)
    before: str | None = None
    try:
        if settings.database_url == "sqlite":
            from store.database.sqlite import acquire_lock

            settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = settings.data_dir / "packline.db"
            with acquire_lock(settings.data_dir):
                before = current_sqlite_revision(path)
                ensure_sqlite_schema(path, migrate=True)
        else:
            before = ensure_postgres_schema(settings.database_url, migrate=True)
    except DataFolderInUseError as error:
        raise CliError(f"{error} {STOP_SERVER}") from error
    except StoreError as error:
        raise CliError(str(error)) from error
    after = head_revision()
    if output.is_json:
        output.emit({"type": "migrated", "before": before, "after": after})
    elif before == after:
        output.say(f"The database has the schema of this release, {after}.")
    else:
        output.say(f"The database now has the schema of this release, {after}.")


def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="Archive to write, such as packline.tar.")],
    data_dir: DataDir = None,
    as_json: Json = None,
) -> None:
    """Back up the database and the artifacts to one archive.

    The server may keep running. The archive contains all data, so keep it secret.
    """
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, size
    from store.database.errors import StoreError
    from store.maintenance.backup import back_up
    from store.secrets.vault_key import FILE_NAME

    output = Output(as_json)
    settings = _embedded(data_dir, "Back it up with pg_dump, and copy the folder `blobs` of the data folder.")
    try:
        made = back_up(settings.data_dir, target, files=("packline.toml", "download.key"))
    except StoreError as error:
        raise CliError(str(error)) from error
    if settings.artifact_store != "disk":
        output.note(
            f"The contents of artifacts are in {settings.artifact_store}, not in the archive. Back that up too."
        )
    for digest in made.missing if settings.artifact_store == "disk" else ():
        output.note(f"warning: the content {digest} of an artifact was not on disk.")
    if (key := settings.data_dir / FILE_NAME).exists():
        output.note(f"The vault key is not in the archive. Keep a copy of {key} in another place.")
    if output.is_json:
        output.emit({"type": "backup", "file": str(target), "revision": made.revision, "contents": len(made.blobs)})
    else:
        output.say(f"{target}: database and {len(made.blobs)} files, {size(target.stat().st_size)}. Keep it secret.")


def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="Archive that `packline backup` wrote.")],
    data_dir: DataDir = None,
    as_json: Json = None,
) -> None:
    """Restore a data folder from a backup.

    The folder must be missing or empty.
    """
    from app.cli.base.exits import CliError
    from app.cli.base.output import Output, when
    from store.database.errors import StoreError
    from store.maintenance.backup import restore as unpack
    from store.secrets.vault_key import FILE_NAME

    output = Output(as_json)
    settings = _embedded(data_dir, "Restore it with pg_restore, and copy the folder `blobs` back.")
    try:
        made = unpack(source, settings.data_dir)
    except StoreError as error:
        raise CliError(str(error)) from error
    if settings.vault_key is None:
        key = settings.data_dir / FILE_NAME
        output.note(f"A backup has no vault key. If there were credentials, copy their {FILE_NAME} to {key}.")
    if output.is_json:
        output.emit({"type": "restored", "folder": str(settings.data_dir), "revision": made.revision})
    else:
        at = when(made.created_at, seconds=True)
        output.say(f"Restored to {settings.data_dir}, as of {at}. `packline up` starts it.")


def settings_of(**overrides: object) -> Settings:
    """The settings, with overrides.

    Raises:
        CliError: a setting is invalid.
    """
    from app.cli.base.exits import CliError
    from app.settings.server import Settings, SettingsError

    try:
        return Settings.load(overrides)
    except SettingsError as error:
        raise CliError(str(error)) from error


def _embedded(data_dir: Path | None, instead: str) -> Settings:
    from app.cli.base.exits import CliError

    settings = settings_of(data_dir=data_dir)
    if settings.database_url != "sqlite":
        raise CliError(f"PACKLINE_DATABASE_URL names a PostgreSQL database. {instead}")
    return settings
