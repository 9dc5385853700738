"""Loads changed pack folders again while the server runs.

Polls the modification times of their Python files: this also notices changes from other machines, in network folders
and container mounts, which the notifications of the operating system leave out.

Each time, the files are imported under a new name of the folder's package. So running attempts keep their code, with
its modules, until they end.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import os
import sysconfig
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from typing import TYPE_CHECKING, TypeAlias

import structlog

from runner.packs.registry import read_folder, source_name
from runner.processes import pack_modules
from store.database.essential_tasks import EssentialTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from runner.packs.pack import Pack
    from runner.packs.registry import LoadError, Registry

log = structlog.get_logger(__name__)

#: How often files are looked at.
POLL_SECONDS = 0.4
#: How long files must be unchanged, so that a copy in progress is not loaded.
QUIET_SECONDS = 1.1
#: Wait after folders could not be read, such as those of a file server that is away.
_AGAIN_SECONDS = 5.0
_numbers = itertools.count(2)

#: Modification time, size and inode of files, by path.
_Files: TypeAlias = "dict[str, tuple[int, int, int]]"


@dataclass(frozen=True, slots=True)
class _Stamp:
    """The state of the files at one time.

    Attributes:
        folders: Python files of each pack folder.
        libraries: The folders where pip installs, which change with each installed distribution.
    """

    folders: dict[Path, _Files]
    libraries: _Files

    @classmethod
    def of(cls, folders: Iterable[Path]) -> _Stamp:
        """Look at the files."""
        libraries = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
        return cls({folder: _stamps(_python_files(folder)) for folder in folders}, _stamps(libraries))


class PackReload:
    """Loads the users' pack folders again after their files have changed.

    A file that cannot be loaded keeps the packs it had before, until it is mended. Folders with load errors are also
    loaded again after a distribution was installed, which may be the one that was missing.

    Args:
        folders: The pack folders; their packs must be loaded after this is made, so that no change is missed.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        try:
            self._loaded = _Stamp.of(folders)
        except OSError:
            self._loaded = _Stamp({}, {})  # the server starts; they are loaded once they can be read
        self._current = {source_name(folder) for folder in folders}
        self._superseded: set[str] = set()
        self._task: EssentialTask | None = None

    def start(self, registry: Registry, running: Callable[[], Iterable[Pack]]) -> None:
        """Begin to watch the folders.

        Args:
            registry: Has the packs of the folders and gets the changed ones.
            running: Lists the packs of running attempts.
        """
        if self._folders:
            self._task = EssentialTask(self._watch(registry, running), "packline-pack-reload")

    async def stop(self) -> None:
        """Stop watching; does nothing before `start` or when called again."""
        task, self._task = self._task, None
        if task is not None:
            await task.stop()

    async def _watch(self, registry: Registry, running: Callable[[], Iterable[Pack]]) -> None:
        loop = asyncio.get_running_loop()
        seen, since = self._loaded, loop.time()
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                found = await asyncio.to_thread(_Stamp.of, self._folders)
                if found != seen:
                    seen, since = found, loop.time()
                elif self._is_changed(found, registry) and loop.time() - since >= QUIET_SECONDS:
                    await self._load(found, registry, running)
            except OSError as error:
                log.warning("pack folders cannot be read, retrying", error=str(error))
                await asyncio.sleep(_AGAIN_SECONDS)

    def _is_changed(self, found: _Stamp, registry: Registry) -> bool:
        if found.folders != self._loaded.folders:
            return True
        return found.libraries != self._loaded.libraries and bool(_errors(registry))

    async def _load(self, found: _Stamp, registry: Registry, running: Callable[[], Iterable[Pack]]) -> None:
        """Import all folders again, since packs of one may have taken the names of another's."""
        importlib.invalidate_caches()
        for folder, files in found.folders.items():
            _forget_bytecode(files.items() - self._loaded.folders[folder].items())
        former, number = _errors(registry), next(_numbers)
        sources = {f"{source_name(folder)}_{number}": folder for folder in self._folders}
        for name, folder in sources.items():
            registry.replace(*await asyncio.to_thread(read_folder, "user_folder", name, folder))
        changed = [str(folder) for folder in self._folders if found.folders[folder] != self._loaded.folders.get(folder)]
        self._loaded = found
        log.info("pack folders were loaded again", changed=changed, packs=len(registry.names()))
        for error in _errors(registry):
            if error not in former:
                log.warning("a pack could not be loaded; the others were", origin=error.origin, problem=error.message)
        used = {pack_modules.package_of(pack.handler.__module__) for pack in (*registry.packs(), *running())}
        self._unload({name for name in self._superseded if f"{pack_modules.ROOT}.{name}" not in used})
        # Not unloaded before the next time: an attempt that has found its pack may not be running yet.
        self._superseded |= self._current
        self._current = set(sources)

    def _unload(self, names: set[str]) -> None:
        for name in names:
            pack_modules.remove_source(name)
        self._superseded -= names


def _forget_bytecode(changed: Iterable[tuple[str, object]]) -> None:
    """Remove bytecode of changed files: Python takes it for current if size and second of the change are the same."""
    for file, _ in changed:
        with suppress(OSError):
            os.remove(cache_from_source(file))


def _errors(registry: Registry) -> list[LoadError]:
    return [error for source in registry.sources() if source.kind == "user_folder" for error in source.load_errors]


def _python_files(folder: Path) -> Iterator[str]:
    """Find the packs of a folder and everything they may import from it; an area may be a symbolic link."""
    packs = str(folder / "packs")
    try:
        links = [entry.path for entry in os.scandir(packs) if entry.is_symlink()]
    except (FileNotFoundError, NotADirectoryError):
        return
    for top in (packs, *links):
        for place, folders, files in os.walk(top, onerror=_unless_gone):
            folders[:] = [name for name in folders if name != "__pycache__" and name[0] != "."]
            yield from (os.path.join(place, name) for name in files if name.endswith(".py") and name[0] != ".")


def _unless_gone(error: OSError) -> None:
    # Packs cannot be imported from a folder that may not be read, such as the lost+found of a disk.
    if not isinstance(error, (FileNotFoundError, NotADirectoryError, PermissionError)):
        raise error  # else the packs of a file server that is away would be removed


def _stamps(files: Iterable[str]) -> _Files:
    found: _Files = {}
    for file in files:
        with suppress(FileNotFoundError, NotADirectoryError):
            state = os.stat(file)
            found[file] = (state.st_mtime_ns, state.st_size, state.st_ino)
    return found
