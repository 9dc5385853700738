"""The vault key: in a file of the data folder that only its owner can read, or in the environment.

The file is made when a key is first needed. A rotation writes the new key to `vault.key.new` before anything is sealed
with it, and keeps the old one in `vault.key.old` until the new one is in place: after a crash one of the three opens
the vault, and `KeyFile.finish_rotation` puts it in place.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.database.durable_files import sync_file, sync_folder
from store.secrets.cipher import KEY_BYTES, Cipher, VaultKeyError, key_text, parse_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VARIABLE = "PACKLINE_VAULT_KEY"
FILE_NAME = "vault.key"


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A vault key and where it was found, for messages."""

    key: bytes
    origin: str

    @property
    def cipher(self) -> Cipher:
        return Cipher(self.key)


class EnvironmentKey:
    """The key in the environment; nothing is written.

    Args:
        text: Base64 or hexadecimal.

    Raises:
        VaultKeyError: it is not a key.
    """

    def __init__(self, text: str) -> None:
        self._found = FoundKey(parse_key(text, VARIABLE), VARIABLE)

    origin = VARIABLE

    @property
    def remedy(self) -> str:
        return f"Set {VARIABLE} to the key the vault was made with, then start the server again."

    def candidates(self) -> list[FoundKey]:
        return [self._found]

    def make(self) -> FoundKey:
        return self._found

    def finish_rotation(self, found: FoundKey) -> None:
        """Do nothing: the environment is the operator's."""


class KeyFile:
    """The key file of a data folder.

    Args:
        data_dir: The data folder.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE_NAME
        self.new = data_dir / f"{FILE_NAME}.new"
        self.old = data_dir / f"{FILE_NAME}.old"

    @property
    def origin(self) -> str:
        return str(self.path)

    @property
    def remedy(self) -> str:
        return f"Put the key the vault was made with into {self.path}, or set {VARIABLE} to it, then start again."

    def candidates(self) -> list[FoundKey]:
        """Read all keys, the most likely first; more than one only after an interrupted rotation.

        Raises:
            VaultKeyError: a file cannot be read or does not hold a key.
        """
        found = []
        for path in (self.path, self.new, self.old):
            try:
                text = path.read_text("ascii")
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                raise VaultKeyError(f"The vault key file {path} cannot be read: {error}.") from error
            found.append(FoundKey(parse_key(text, str(path)), str(path)))
        return found

    def make(self) -> FoundKey:
        """Return the key in the file, which is made if absent; of two processes that make it at once, one wins.

        Raises:
            VaultKeyError: the file cannot be written or read.
        """
        key = os.urandom(KEY_BYTES)
        part = self.path.with_name(f"{FILE_NAME}.{os.getpid()}.part")
        try:
            _write(part, key)
            with suppress(FileExistsError):
                os.link(part, self.path)
            sync_folder(self.path.parent)
        except OSError as error:
            raise VaultKeyError(f"The vault key file {self.path} cannot be written: {error}.") from error
        finally:
            part.unlink(missing_ok=True)
        return self.candidates()[0]

    def discard(self, key: bytes) -> None:
        """Remove the file if it still holds this key, which nothing was sealed with."""
        with suppress(OSError, VaultKeyError):
            if parse_key(self.path.read_text("ascii"), str(self.path)) == key:
                self.path.unlink()

    @contextmanager
    def rotating(self) -> Iterator[None]:
        """Hold the lock of a rotation, which also keeps other processes from finishing it.

        Raises:
            VaultKeyError: another rotation is in progress.
        """
        with self._locked() as is_ours:
            if not is_ours:
                raise VaultKeyError(f"Another rotation of {self.path} is in progress.")
            yield

    def prepare(self, key: bytes) -> None:
        """Write the new key of a rotation next to the present one, before anything is sealed with it."""
        _write(self.new, key)
        sync_folder(self.new.parent)

    def finish_rotation(self, found: FoundKey) -> None:
        """Finish an interrupted rotation: put the key that opens the vault in place and delete the others.

        Does nothing while a rotation is in progress, which still needs its new key.
        """
        if self.new.exists() or self.old.exists():
            with self._locked() as is_ours:
                if is_ours:
                    self.put_in_place(found)

    def put_in_place(self, found: FoundKey) -> None:
        """Do what `finish_rotation` does, for the rotation that holds the lock."""
        if found.origin == str(self.new):
            if self.path.exists():
                self.old.unlink(missing_ok=True)
                os.link(self.path, self.old)
            self.new.replace(self.path)
        elif found.origin == str(self.old):
            self.old.replace(self.path)
        sync_folder(self.path.parent)
        self.new.unlink(missing_ok=True)
        self.old.unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        with self.path.with_name(f"{FILE_NAME}.lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def is_readable_by_others(self) -> bool:
        """Return whether other users of this machine may read the file."""
        try:
            return bool(self.path.stat().st_mode & 0o077)
        except OSError:
            return False


KeySource = EnvironmentKey | KeyFile


def key_source(data_dir: Path, variable: str | None) -> KeySource:
    """Return where this server's vault key is: in the variable if it is set, otherwise in the data folder.

    Raises:
        VaultKeyError: the variable is not a key.
    """
    return KeyFile(data_dir) if variable is None else EnvironmentKey(variable)


def _write(path: Path, key: bytes) -> None:
    """Write a key file durably, readable by its owner alone."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key_text(key) + "\n")
        sync_file(file)
