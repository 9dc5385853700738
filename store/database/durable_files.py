"""Syncs files and folders, so that a written file survives a power failure."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def sync_file(file: IO[Any]) -> None:
    """Return once the content of a file is on disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Return once the entries of a folder are on disk: files created, renamed and deleted."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
