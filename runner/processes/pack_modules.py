"""Makes the Python files of pack folders importable as `packline_packs.<source>.<area>.<verb>`.

Pack folders are not on `sys.path`, and the shipped one is called `builtins` like a module of the standard library. So
each folder is a *source*: a package made here whose `__path__` is the folder's `packs/`. The ordinary import system
finds everything below it, so that relative imports of siblings work, and a worker process with the same sources can
unpickle what packs send it. This module imports nothing heavy, because worker processes import it at their start.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = "packline_packs"
_folders: dict[str, str] = {}


def add_source(source: str, packs_folder: str) -> str:
    """Make the files below a folder importable, and return the name of their package.

    Adding the same folder again changes nothing. Another folder for the same source replaces it and unloads the modules
    of the former.

    Args:
        source: A Python identifier.
        packs_folder: Absolute path of the folder with the areas.
    """
    if ROOT not in sys.modules:
        sys.modules[ROOT] = _package(ROOT, [])
    name = f"{ROOT}.{source}"
    if _folders.get(source) != packs_folder:
        remove_source(source)
        sys.modules[name] = _package(name, [packs_folder])
        setattr(sys.modules[ROOT], source, sys.modules[name])
        _folders[source] = packs_folder
        importlib.invalidate_caches()
    return name


def remove_source(source: str) -> None:
    """Unload the modules of a source; does nothing for an unknown one. Functions that are in use keep working."""
    if _folders.pop(source, None) is None:
        return
    name = f"{ROOT}.{source}"
    # These packages are made here, and removing the entries is Python's documented way to unload them:
    # https://docs.python.org/3/reference/import.html#the-module-cache
    for module in [module for module in sys.modules if module == name or module.startswith(f"{name}.")]:
        del sys.modules[module]
    delattr(sys.modules[ROOT], source)


def add_sources(sources: Iterable[tuple[str, str]]) -> None:
    """Add the sources that `sources` returned in another process."""
    for source, folder in sources:
        add_source(source, folder)


def sources() -> list[tuple[str, str]]:
    """Return all sources with their folders."""
    return list(_folders.items())


def package_of(module: str) -> str:
    """Return the package that a pack's module belongs to: its pack folder, or the top package of an installed one."""
    return ".".join(module.split(".")[: 2 if module.startswith(f"{ROOT}.") else 1])


def _package(name: str, path: list[str]) -> ModuleType:
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = path
    module = ModuleType(name)
    module.__spec__ = spec
    module.__path__ = path
    module.__package__ = name
    return module
