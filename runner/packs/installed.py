"""Finds installed Python libraries and programs.

A lookup reads folders for 0.1 to 0.8 ms on the event loop, and lists of packs repeat it for each pack. So answers are
cached for some seconds.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from pathlib import Path

#: File of a pack folder that lists the distributions its packs import.
REQUIREMENTS = "requirements.txt"
_Key = TypeVar("_Key")
_Found = TypeVar("_Found")
_SECONDS = 5.0
_modules: dict[str, tuple[float, ModuleSpec | None]] = {}
_programs: dict[tuple[str, str | None], tuple[float, str | None]] = {}


def find_module(name: str) -> ModuleSpec | None:
    """Find a top-level module without importing it."""
    return _cached(_modules, name, lambda: importlib.util.find_spec(name))


def has_module(name: str) -> bool:
    """Whether a top-level module can be imported."""
    return find_module(name) is not None


def has_program(name: str) -> bool:
    """Whether a program is on PATH."""
    return _cached(_programs, (name, os.environ.get("PATH")), lambda: shutil.which(name)) is not None


def install_command(module: str, folder: Path | None) -> str:
    """Return the command that installs a module: with the pack folder's requirements if it lists them."""
    file = None if folder is None else folder.resolve() / REQUIREMENTS
    given = ["-r", str(file)] if file is not None and file.is_file() else [module]
    return shlex.join([sys.executable, "-m", "pip", "install", *given])


def _cached(known: dict[_Key, tuple[float, _Found]], key: _Key, look: Callable[[], _Found]) -> _Found:
    now = time.monotonic()
    earlier = known.get(key)
    if earlier is not None and now - earlier[0] <= _SECONDS:
        return earlier[1]
    found = look()
    known[key] = (now, found)
    return found
