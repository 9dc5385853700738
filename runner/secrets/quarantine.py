"""Whether a file holds a secret the vault knows.

Artifacts are never rewritten: one that holds a known value is put in quarantine instead. The bytes are looked through
as they are, text or not, and so are the members of ZIP archives, which is what Office documents and many exports are.
What is compressed or encrypted otherwise is out of reach.
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

#: How much of an archive is unpacked to be looked at, and how many of its members; a bomb costs no more than that.
UNPACKED_BYTES = 256 << 20
MEMBERS = 5_000
_CHUNK = 1 << 20
#: What `zipfile` raises for what it cannot unpack.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)


async def known_secret_in(redactor: Redactor, path: Path) -> str | None:
    """The name of a known secret in a file, or None; costs nothing while no secret is known.

    Runs in a thread, a mebibyte at a time.
    """
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
                # One member that nobody here can unpack, encrypted or damaged, hides none of the others.
                with contextlib.suppress(*_UNREADABLE), archive.open(member) as file:
                    finder.begin()
                    for chunk in _chunks(file):
                        if (found := finder.feed(chunk)) is not None:
                            return found
                        left -= len(chunk)
                        if left <= 0:
                            return None
    except _UNREADABLE:
        return None  # no archive after all
    return None


def _first(finder: SecretFinder, chunks: Iterator[bytes]) -> str | None:
    finder.begin()
    return next((found for chunk in chunks if (found := finder.feed(chunk)) is not None), None)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk
