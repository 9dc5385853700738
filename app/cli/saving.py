"""Where files of the server are put on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def free_name(folder: Path, name: str) -> Path:
    """A path in `folder` for a file called `name`: without its folders, and never one that exists."""
    bare = name.replace("\\", "/").rpartition("/")[2].strip()
    bare = "".join(sign if sign.isprintable() else "_" for sign in bare)
    bare = bare if bare.strip(".") else "artifact"
    target = folder / bare
    number = 1
    while target.exists():
        number += 1
        target = folder / f"{(folder / bare).stem}-{number}{(folder / bare).suffix}"
    return target
