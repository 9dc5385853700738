"""The folder an agent works in: writes input files to it and reads outputs from it without following links.

The agent is not trusted and may replace a folder by a link while a path is walked. So every part of a path is opened
without following links, relative to the previous folder.
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
#: Least size counted for a file or folder.
ENTRY_BYTES = 4096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


#: Errors of a full disk or quota.
_FULL = (errno.ENOSPC, errno.EDQUOT)


class WorkspaceError(Exception):
    """A path of a workspace cannot be used; the message names it and says why."""


def is_full(error: OSError) -> bool:
    """Whether a full disk caused an error, which is not the agent's fault."""
    return error.errno in _FULL


@contextmanager
def _opened_folder(root: Path, parts: tuple[str, ...], *, make: bool) -> Iterator[int]:
    """Open the folder at the end of a path as a file descriptor; refuses links."""
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
    """Write a file into a workspace, creating its folders and replacing an existing file or link.

    Raises:
        WorkspaceError: A part of the path is a link or a file.
        OSError: The disk is full.
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
        if is_full(error):
            raise
        raise WorkspaceError(f"`{path}` cannot be written to the workspace: {error.strerror}.") from error


def take_file(root: Path, path: str, target: Path) -> int:
    """Copy a file out of a workspace; returns its size in bytes.

    Raises:
        WorkspaceError: It does not exist, is not a regular file, or is behind a link.
        OSError: The copy cannot be written.
    """
    with _opened_file(root, path) as source, open(target, "wb") as copy:
        shutil.copyfileobj(source, copy, _COPY_BYTES)
        return copy.tell()


def read_file(root: Path, path: str, *, limit: int) -> bytes:
    """Read the beginning of a file in a workspace.

    Raises:
        WorkspaceError: It does not exist, is not a regular file, or is behind a link.
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
        raise WorkspaceError(f"`{path}` does not exist.") from None
    except OSError as error:
        reason = "it is behind a link" if error.errno in (errno.ENOTDIR, errno.ELOOP) else error.strerror
        raise WorkspaceError(f"`{path}` cannot be read from the workspace: {reason}.") from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise WorkspaceError(f"`{path}` is not a regular file.")
    with open(file, "rb") as source:
        yield source


def size_of(*roots: Path, limit: int) -> int:
    """Count the bytes of all files in some folders without following links; stops once it is over the limit.

    Every entry counts at least `ENTRY_BYTES`, since many empty files fill a disk, too. A folder without permissions
    gets them back.

    Raises:
        WorkspaceError: Folders are nested deeper than the longest path, so that their files cannot be counted.
    """
    total, folders = 0, [str(root) for root in roots]
    while folders and total <= limit:
        folder = folders.pop()
        try:
            with _scanned(folder) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):
                        total += max(ENTRY_BYTES, entry.stat(follow_symlinks=False).st_size)
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise WorkspaceError(
                    "The agent's workspace nests folders deeper than the longest path (4,096 bytes), so that their "
                    "files cannot be counted."
                ) from error
    return total


def _scanned(folder: str) -> contextlib.AbstractContextManager[Iterator[os.DirEntry[str]]]:
    try:
        return os.scandir(folder)
    except PermissionError:
        file = os.open(folder, _FOLDER | getattr(os, "O_PATH", 0))
        try:
            os.chmod(f"/proc/self/fd/{file}", 0o700)
        finally:
            os.close(file)
        return os.scandir(folder)


def remove_folder(folder: Path) -> None:
    """Remove a folder and its contents, for any file modes and any depth.

    Moves folders to the top before it empties them, since an agent can nest them deeper than a recursion can go. What
    cannot be removed stays.
    """
    with contextlib.suppress(OSError):
        top = os.open(folder, _FOLDER)
        try:
            number = 0
            while inside := os.listdir(top):
                before = number
                for name in inside:
                    number += _emptied(top, name, number)
                if number == before:
                    break
        finally:
            os.close(top)
        os.rmdir(folder)


def _emptied(top: int, name: str, number: int) -> int:
    """Remove one entry of a folder after moving its folders up; returns the number of changes."""
    with contextlib.suppress(IsADirectoryError, PermissionError):
        os.unlink(name, dir_fd=top)
        return 1
    steps = 0
    with contextlib.suppress(OSError):
        os.chmod(name, 0o700, dir_fd=top)
        current = os.open(name, _FOLDER, dir_fd=top)
        try:
            for inside in os.listdir(current):
                try:
                    os.unlink(inside, dir_fd=current)
                except (IsADirectoryError, PermissionError):
                    os.chmod(inside, 0o700, dir_fd=current)
                    steps += 1
                    os.rename(inside, f".{number + steps}.removed", src_dir_fd=current, dst_dir_fd=top)
        finally:
            os.close(current)
        os.rmdir(name, dir_fd=top)
        steps += 1
    return steps
