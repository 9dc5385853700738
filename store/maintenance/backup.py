"""Backs up an embedded data folder into one archive, while a server runs, and restores it.

The archive is a tar: `manifest.json` first, then `packline.db` as SQLite's online backup wrote it, then the contents of
all artifacts that have one, then further named files. PostgreSQL has its own tools for this.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.database.errors import StoreError
from store.database.revisions import REVISIONS, head_revision
from store.database.schema import current_sqlite_revision
from store.files.blobs import BlobStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT = 1
DATABASE = "packline.db"
_MANIFEST = "manifest.json"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MANIFEST_BYTES = 256 << 20


class BackupError(StoreError):
    """The archive could not be written, or is damaged; nothing was left behind."""


@dataclass(frozen=True, slots=True)
class Backup:
    """The manifest of an archive.

    Attributes:
        revision: Schema revision of the database.
        database_digest: SHA-256 of the database file.
        blobs: Digests of the contents in it.
        missing: Digests of contents that artifacts refer to but that were not on disk.
        files: SHA-256 of further files, by name.
    """

    format: int
    created_at: str
    revision: str
    database_digest: str
    blobs: tuple[str, ...]
    missing: tuple[str, ...]
    files: Mapping[str, str]


def back_up(data_dir: Path, target: Path, *, files: Sequence[str] = ()) -> Backup:
    """Write a data folder into an archive that only its owner can read; a server may be using the folder.

    Args:
        data_dir: The folder.
        target: The archive to make; it must not exist.
        files: Names of further files of the folder to include, such as a key; absent ones are left out.

    Raises:
        BackupError: there is no database, or the archive exists or cannot be written.
    """
    source = data_dir / DATABASE
    if not source.is_file():
        raise BackupError(f"There is no database in {data_dir}. Name the data folder of a Packline server.")
    if target.exists():
        raise BackupError(f"{target} exists. Name a new file, or move that one away.")
    part = target.with_name(f"{target.name}.part")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".packline-backup-") as folder:
            copy = Path(folder) / DATABASE
            _copy_database(source, copy)
            backup, blobs = _inventory(data_dir, copy, files)
            part.touch(mode=0o600)
            with tarfile.open(part, "w") as archive:
                _add_text(archive, _MANIFEST, json.dumps(asdict(backup), indent=1))
                archive.add(copy, DATABASE)
                for digest in backup.blobs:
                    archive.add(blobs.path(digest), f"blobs/{digest}")
                for name in backup.files:
                    archive.add(data_dir / name, f"files/{name}")
        part.rename(target)
    except (OSError, sqlite3.Error, tarfile.TarError) as error:
        raise BackupError(f"The backup could not be written: {error}. Check the disk and the folder.") from error
    finally:
        part.unlink(missing_ok=True)
    return backup


def restore(archive_path: Path, data_dir: Path) -> Backup:
    """Make a data folder from an archive; every file is checked against its digest before any is in its place.

    The database comes last, so a folder with one is complete. The folder itself stays: it may be a mounted volume.

    Args:
        archive_path: What `back_up` wrote.
        data_dir: The folder to make; it must be absent or empty.

    Raises:
        BackupError: the folder is not empty or cannot be written, or the archive is damaged, foreign or of a newer
            release.
    """
    if data_dir.exists() and (not data_dir.is_dir() or any(data_dir.iterdir())):
        raise BackupError(f"{data_dir} is not empty. Restore into a new folder, then start the server with it.")
    is_new = not data_dir.exists()
    folder = data_dir / ".restoring"
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        with tarfile.open(archive_path, "r:") as archive:
            backup = _unpack(archive, folder)
        _check_database(folder / DATABASE, backup)
        for path in sorted(folder.iterdir(), key=lambda path: path.name == DATABASE):
            path.rename(data_dir / path.name)
    except (OSError, sqlite3.Error, tarfile.TarError) as error:
        raise BackupError(f"{archive_path} could not be restored: {error}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if is_new and data_dir.exists() and not any(data_dir.iterdir()):
            data_dir.rmdir()
    return backup


def _copy_database(source: Path, target: Path) -> None:
    # SQLite copies in steps, so that a server can write meanwhile, and starts over when it has to.
    with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as live, closing(sqlite3.connect(target)) as copy:
        live.execute("PRAGMA busy_timeout=5000")
        live.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")


def _inventory(data_dir: Path, copy: Path, files: Sequence[str]) -> tuple[Backup, BlobStore]:
    revision = current_sqlite_revision(copy)
    if revision is None:
        raise BackupError(f"The database in {data_dir} is empty: there is nothing to back up.")
    with closing(sqlite3.connect(copy)) as raw:
        digests = [row[0] for row in raw.execute("SELECT DISTINCT digest FROM artifact WHERE erased_at IS NULL")]
    blobs = BlobStore(data_dir)
    here = {digest: blobs.exists(digest) for digest in sorted(digests)}
    backup = Backup(
        format=FORMAT,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        revision=revision,
        database_digest=_digest(copy),
        blobs=tuple(digest for digest, found in here.items() if found),
        missing=tuple(digest for digest, found in here.items() if not found),
        files={name: _digest(data_dir / name) for name in files if (data_dir / name).is_file()},
    )
    return backup, blobs


def _unpack(archive: tarfile.TarFile, folder: Path) -> Backup:
    """Extract the members that the manifest names, and no others, to paths that this function makes."""
    backup = _manifest(archive, archive.next())
    blobs = BlobStore(folder)
    wanted = {DATABASE: (folder / DATABASE, backup.database_digest)}
    wanted |= {f"blobs/{digest}": (blobs.path(digest), digest) for digest in backup.blobs}
    wanted |= {f"files/{name}": (folder / name, digest) for name, digest in backup.files.items()}
    for member in archive:
        target = wanted.pop(member.name, None)
        if member.name == _MANIFEST:
            continue
        if target is None or not member.isfile():
            raise BackupError(f"The archive holds {member.name!r}, which its manifest does not name.")
        path, digest = target
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = archive.extractfile(member)
        if content is None:
            raise BackupError(f"The archive's {member.name} cannot be read.")
        path.touch(mode=0o600)
        with path.open("wb") as file:
            shutil.copyfileobj(content, file, 1 << 20)
        if _digest(path) != digest:
            raise BackupError(f"The archive's {member.name} is damaged: its digest differs from the manifest's.")
    if wanted:
        raise BackupError(f"The archive lacks {len(wanted)} files of its manifest, among them {next(iter(wanted))}.")
    return backup


def _manifest(archive: tarfile.TarFile, member: tarfile.TarInfo | None) -> Backup:
    file = archive.extractfile(member) if member is not None and member.name == _MANIFEST else None
    if file is None or member is None or member.size > _MANIFEST_BYTES:
        raise BackupError("The archive has no manifest: it is not a Packline backup.")
    try:
        data: dict[str, Any] = json.loads(file.read())
        if data["format"] != FORMAT:
            raise BackupError(f"The archive has format {data['format']}, this release reads {FORMAT}.")
        backup = Backup(**{**data, "blobs": tuple(data["blobs"]), "missing": tuple(data["missing"])})
    except (ValueError, TypeError, KeyError) as error:
        raise BackupError(f"The archive's manifest cannot be read: {error}.") from error
    if any(not _PLAIN_NAME.fullmatch(name) or name == DATABASE for name in backup.files):
        raise BackupError("The archive's manifest has a file name that is not plain.")
    if any(not re.fullmatch(r"[0-9a-f]{64}", digest) for digest in backup.blobs):
        raise BackupError("The archive's manifest has a content whose digest is not a SHA-256.")
    return backup


def _check_database(path: Path, backup: Backup) -> None:
    if backup.revision not in REVISIONS:
        raise BackupError(
            f"The backup has schema {backup.revision}, this release knows up to {head_revision()}. "
            "Restore it with the release that wrote it."
        )
    with closing(sqlite3.connect(path)) as raw:
        row = raw.execute("PRAGMA integrity_check").fetchone()
    if row is None or row[0] != "ok":
        raise BackupError(f"The database in the backup is damaged: {row[0] if row else 'unknown'}.")


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    content = text.encode()
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o600
    archive.addfile(member, io.BytesIO(content))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
