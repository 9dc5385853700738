"""What is installed on this machine: Python libraries and programs.

Looking takes 0.1 to 0.8 ms of reading folders, and lists of packs ask for each pack again, on the event loop: so an
answer counts for some seconds. What is installed meanwhile is noticed soon enough.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec

_Key = TypeVar("_Key")
_Found = TypeVar("_Found")
_SECONDS = 5.0
_modules: dict[str, tuple[float, ModuleSpec | None]] = {}
_programs: dict[tuple[str, str | None], tuple[float, str | None]] = {}


def find_module(name: str) -> ModuleSpec | None:
    """A top-level module that can be imported, without importing it."""
    return _looked_up(_modules, name, lambda: importlib.util.find_spec(name))


def has_module(name: str) -> bool:
    """Whether a top-level module can be imported."""
    return find_module(name) is not None


def has_program(name: str) -> bool:
    """Whether a program is on PATH."""
    return _looked_up(_programs, (name, os.environ.get("PATH")), lambda: shutil.which(name)) is not None


def _looked_up(known: dict[_Key, tuple[float, _Found]], key: _Key, look: Callable[[], _Found]) -> _Found:
    now = time.monotonic()
    earlier = known.get(key)
    if earlier is not None and now - earlier[0] <= _SECONDS:
        return earlier[1]
    found = look()
    known[key] = (now, found)
    return found
