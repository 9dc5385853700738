"""The folder an agent works in: input files put there, outputs taken from it, never following a link out.

Whoever works in the folder is not trusted, and may swap a folder for a link while a path is walked: every step of a
path is opened without following links, relative to the folder before it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

_COPY_BYTES = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkspaceError(Exception):
    """A path of a workspace cannot be used; the message names it and says why."""


@contextmanager
def _opened_folder(root: Path, parts: tuple[str, ...], *, make: bool) -> Iterator[int]:
    """The folder at the end of a path, as a file descriptor, links refused."""
    current = os.open(root, _FOLDER)
    try:
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=current)
            following = os.open(part, _FOLDER, dir_fd=current)
            os.close(current)
            current = following
        yield current
    finally:
        os.close(current)


def put_file(root: Path, path: str, source: Path | bytes) -> None:
    """Writes a file into a workspace, its folders made; what stands there is replaced, a link included.

    Raises:
        WorkspaceError: a part of the path is a link or a file.
    """
    parts = PurePosixPath(path).parts
    try:
        with _opened_folder(root, parts[:-1], make=True) as folder:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(parts[-1], dir_fd=folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(parts[-1], flags, 0o600, dir_fd=folder), "wb") as target:
                if isinstance(source, bytes):
                    target.write(source)
                else:
                    with open(source, "rb") as content:
                        shutil.copyfileobj(content, target, _COPY_BYTES)
    except OSError as error:
        raise WorkspaceError(f"`{path}` cannot be put into the workspace: {error.strerror}.") from error


def take_file(root: Path, path: str, target: Path) -> int:
    """Copies a file out of a workspace; its size in bytes.

    Raises:
        WorkspaceError: it is not there, is no regular file, or lies behind a link.
    """
    with _opened_file(root, path) as source, open(target, "wb") as copy:
        shutil.copyfileobj(source, copy, _COPY_BYTES)
        return copy.tell()


def read_file(root: Path, path: str, *, limit: int) -> bytes:
    """The beginning of a file of a workspace.

    Raises:
        WorkspaceError: it is not there, is no regular file, or lies behind a link.
    """
    with _opened_file(root, path) as source:
        return source.read(limit)


@contextmanager
def _opened_file(root: Path, path: str) -> Iterator[BinaryIO]:
    parts = PurePosixPath(path).parts
    try:
        with _opened_folder(root, parts[:-1], make=False) as folder:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.open(parts[-1], flags, dir_fd=folder)
    except FileNotFoundError:
        raise WorkspaceError(f"`{path}` was not made.") from None
    except OSError as error:
        reason = "it lies behind a link" if error.errno in (errno.ENOTDIR, errno.ELOOP) else error.strerror
        raise WorkspaceError(f"`{path}` cannot be taken from the workspace: {reason}.") from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise WorkspaceError(f"`{path}` is no regular file.")
    with open(file, "rb") as source:
        yield source


def size_of(root: Path, *, limit: int) -> int:
    """Bytes of all files below a folder, links not followed; stops counting once it is over the limit."""
    total, folders = 0, [root]
    while folders and total <= limit:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(Path(entry.path))
                        else:
                            total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


def remove_folder(folder: Path) -> None:
    """Removes a folder with all that is in it, whatever modes the files have been given."""

    def allow(function: object, path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700, follow_symlinks=False) if os.chmod in os.supports_follow_symlinks else None
            if callable(function):
                function(path)

    shutil.rmtree(folder, onerror=allow)
