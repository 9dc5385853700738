"""Local names for files of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Most bytes of a name. File systems allow 255; the rest is for a number and for the suffix of a partial file.
_NAME_BYTES = 240
#: Longest text after the last dot that counts as a suffix.
_SUFFIX_BYTES = 40


def free_name(folder: Path, name: str) -> Path:
    """A path in `folder` for a file called `name`: without its folders, not too long, and never one that exists."""
    bare = name.replace("\\", "/").rpartition("/")[2].strip()
    bare = "".join(sign if sign.isprintable() else "_" for sign in bare)
    bare = bare if bare.strip(".") else "artifact"
    suffix = (folder / bare).suffix if len((folder / bare).suffix.encode()) <= _SUFFIX_BYTES else ""
    stem = bare.removesuffix(suffix).encode()[: _NAME_BYTES - len(suffix.encode())].decode(errors="ignore")
    target = folder / f"{stem}{suffix}"
    number = 1
    while target.exists():
        number += 1
        target = folder / f"{stem}-{number}{suffix}"
    return target
