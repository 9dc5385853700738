"""Checks whether a file contains a known secret.

Artifacts are never rewritten: one that contains a known value is quarantined instead. The bytes of files of any type
are searched, and so are the members of ZIP archives, which Office documents and many exports are. Other compressed or
encrypted content is not searched.
"""

from __future__ import annotations

import asyncio
import contextlib
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

    from runner.secrets.finder import SecretFinder
    from runner.secrets.redaction import Redactor

#: Most bytes and members of an archive that are unpacked, which bounds the cost of a ZIP bomb.
UNPACKED_BYTES = 256 << 20
MEMBERS = 5_000
_CHUNK = 1 << 20
#: Raised by `zipfile` for members it cannot unpack.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)


async def known_secret_in(redactor: Redactor, path: Path) -> str | None:
    """Return the name of a known secret in a file, or None; reads the file in a thread, unless no secret is known."""
    finder = redactor.finder()
    return None if finder is None else await asyncio.to_thread(_look, finder, path)


def _look(finder: SecretFinder, path: Path) -> str | None:
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        found = _first(finder, _chunks(file))
    if found is None and start == b"PK\x03\x04":
        return _look_inside(finder, path)
    return found


def _look_inside(finder: SecretFinder, path: Path) -> str | None:
    left = UNPACKED_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist()[:MEMBERS]:
                # A member that cannot be unpacked, encrypted or damaged, does not hide the others.
                with contextlib.suppress(*_UNREADABLE), archive.open(member) as file:
                    finder.begin()
                    for chunk in _chunks(file):
                        if (found := finder.feed(chunk)) is not None:
                            return found
                        left -= len(chunk)
                        if left <= 0:
                            return None
    except _UNREADABLE:
        return None  # not an archive after all
    return None


def _first(finder: SecretFinder, chunks: Iterator[bytes]) -> str | None:
    finder.begin()
    return next((found for chunk in chunks if (found := finder.feed(chunk)) is not None), None)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk
