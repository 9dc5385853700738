"""The packs this installation has: loaded from folders and entry points, found by name and version.

A pack folder holds `packs/<area>/<verb>.py`; every `Pack` at the top level of such a file is registered. Files and
folders whose names start with `_` are for their siblings to import. What a file does wrong is reported as a
`LoadError` of its source, and the rest load.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import keyword
import re
import traceback
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from runner.packs.pack import Pack
from runner.processes import pack_modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SourceKind = Literal["builtin_folder", "user_folder", "entry_point", "mcp_server"]
ENTRY_POINT_GROUP = "packline.packs"
#: Packs of mounted MCP servers are called `mcp.<server>.<tool>`.
MOUNT_AREA = "mcp."
_DECLARED = re.compile(r"""\bpack\(\s*(?:name\s*=\s*)?["']([a-z0-9_.]+)["']""")
#: What to do about a pack that could not be loaded.
REPAIR = "Repair the file and restart the server. `packline doctor` lists everything that was not loaded."
_HERE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class LoadError:
    """Something that could not be loaded.

    Attributes:
        origin: The file, folder or entry point at fault.
        message: What is wrong, naming the line where there is one.
        packs: Names of the packs it would have given, as far as they are known.
    """

    origin: str
    message: str
    packs: tuple[str, ...] = ()

    def says(self, pack: str) -> str:
        """Why a pack is missing, one sentence. The file is named from the pack folder on."""
        place = "/".join(Path(self.origin).parts[-3:])
        return f"The pack `{pack}` could not be loaded from {place}: {self.message.rstrip('.')}."


@dataclass(frozen=True, slots=True)
class PackSource:
    """Where packs come from.

    Attributes:
        kind: What sort of place.
        location: Folder, `distribution:entry point` or server.
        load_errors: What could not be loaded from it.
    """

    kind: SourceKind
    location: str
    load_errors: tuple[LoadError, ...] = ()


@dataclass(slots=True)
class _Entry:
    pack: Pack
    source_key: tuple[SourceKind, str]
    order: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.order = tuple(int(part) for part in self.pack.version.split("."))


class Registry:
    """Packs by name and version, with where they came from.

    Attributes:
        revision: Another number after every change, for those who remember what they found out about the packs.
    """

    def __init__(self) -> None:
        self.revision = 0
        self._versions: dict[str, list[_Entry]] = {}
        self._sources: dict[tuple[SourceKind, str], PackSource] = {}

    def find(self, name: str, version: str | None = None) -> Pack | None:
        """The pack of that name.

        Args:
            name: `area.verb`.
            version: None for the newest, `1.2.3` for exactly that, `1` for the newest of that major.
        """
        for entry in self._versions.get(name, ()):
            if version is None or entry.pack.version == version:
                return entry.pack
            if version.isascii() and version.isdigit() and entry.order[0] == int(version):
                return entry.pack
        return None

    def names(self) -> list[str]:
        """All names, in alphabetical order."""
        return sorted(self._versions)

    def versions(self, name: str) -> list[str]:
        """All versions of a pack, newest first; empty when there is no such pack."""
        return [entry.pack.version for entry in self._versions.get(name, ())]

    def packs(self) -> list[Pack]:
        """All packs by name, newest version first."""
        return [entry.pack for name in self.names() for entry in self._versions[name]]

    def source_of(self, pack: Pack) -> PackSource:
        """Where a registered pack came from.

        Raises:
            KeyError: when it is not registered here.
        """
        for entry in self._versions.get(pack.name, ()):
            if entry.pack.version == pack.version:
                return self._sources[entry.source_key]
        raise KeyError(f"Pack {pack.name} {pack.version} is not registered.")

    def sources(self) -> list[PackSource]:
        """All sources in the order they were loaded, those without a single good pack too."""
        return list(self._sources.values())

    def load_errors(self) -> list[LoadError]:
        """Everything that could not be loaded, in the order it was met."""
        return [error for source in self._sources.values() for error in source.load_errors]

    def unloaded(self, name: str) -> LoadError | None:
        """The error that kept a pack from being loaded; None when there was none."""
        return next((error for error in self.load_errors() if name in error.packs), None)

    def put(self, source: PackSource, packs: Iterable[tuple[str, Pack]]) -> PackSource:
        """Add a source with its packs, replacing what that source had before.

        A pack whose name and version are taken by another source is left out and reported.

        Args:
            source: Kind, location and the errors known so far.
            packs: Each with the file or entry point it came from.

        Returns:
            The source with all its errors.
        """
        key = (source.kind, source.location)
        self.remove(source)
        self.revision += 1
        errors = list(source.load_errors)
        for origin, pack in packs:
            problem = self._objection(pack, source.kind)
            if problem is not None:
                errors.append(LoadError(origin, problem, (pack.name,)))
                continue
            if any(entry.pack is pack for entry in self._versions.get(pack.name, ())):
                continue  # imported by a sibling, or named by two entry points
            entries = self._versions.setdefault(pack.name, [])
            entries.append(_Entry(pack, key))
            entries.sort(key=lambda entry: entry.order, reverse=True)
        self._sources[key] = PackSource(source.kind, source.location, tuple(errors))
        return self._sources[key]

    def remove(self, source: PackSource) -> None:
        """Forget a source and its packs; unknown ones are no error."""
        key = (source.kind, source.location)
        if self._sources.pop(key, None) is None:
            return
        self.revision += 1
        for name, entries in list(self._versions.items()):
            kept = [entry for entry in entries if entry.source_key != key]
            if kept:
                self._versions[name] = kept
            else:
                del self._versions[name]

    def _objection(self, pack: Pack, kind: SourceKind) -> str | None:
        if pack.name.startswith(MOUNT_AREA) != (kind == "mcp_server"):
            return f"Pack {pack.name}: names that start with `{MOUNT_AREA}` belong to mounted MCP servers."
        for entry in self._versions.get(pack.name, ()):
            if entry.pack.version == pack.version and entry.pack is not pack:
                return (
                    f"Pack {pack.name} {pack.version} is already there, from {entry.source_key[1]}. "
                    "Give one of them another name or version."
                )
        return None


def builtins_folder() -> Path:
    """The folder of the packs and starters that ship: inside the installed package, else beside it in the source.

    Raises:
        FileNotFoundError: when neither exists.
    """
    for folder in (_HERE / "_builtins", _HERE.parent / "builtins"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError("This installation has no built-in packs: neither runner/_builtins nor builtins/ exists.")


def load_registry(builtin_folder: Path, user_folders: Sequence[Path] = (), *, entry_points: bool = True) -> Registry:
    """Load all packs: those that ship, then the users' folders in order, then installed distributions.

    Files already imported by this process are not run again.
    """
    registry = Registry()
    _load_folder(registry, "builtin_folder", "builtin", builtin_folder)
    for folder in user_folders:
        _load_folder(registry, "user_folder", _source_name(folder), folder)
    if entry_points:
        _load_entry_points(registry)
    return registry


def _source_name(folder: Path) -> str:
    """A Python identifier that tells folders of the same name apart, the same at every start."""
    path = folder.resolve()
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^a-z0-9]+', '_', path.name.lower()).strip('_') or 'packs'}_{digest}"


def _load_folder(registry: Registry, kind: SourceKind, source: str, folder: Path) -> None:
    packs_folder = folder.resolve() / "packs"
    if not packs_folder.is_dir():
        message = f"There is no folder {packs_folder}. A pack folder holds packs/<area>/<verb>.py."
        registry.put(PackSource(kind, str(folder), (LoadError(str(folder), message),)), ())
        return
    package = pack_modules.add_source(source, str(packs_folder))
    packs: list[tuple[str, Pack]] = []
    errors: list[LoadError] = []
    with _models_when_used() if kind == "builtin_folder" else nullcontext():
        for file in sorted(packs_folder.glob("*/*.py")):
            area, verb = file.parent.name, file.stem
            if area.startswith("_") or verb.startswith("_"):
                continue
            try:
                _require_identifiers(area, verb)
                module = importlib.import_module(f"{package}.{area}.{verb}")
                packs += [(str(file), pack) for pack in _packs_in(module)]
            except BaseException as error:  # a pack file may do anything, sys.exit(), panics and interrupts included
                errors.append(LoadError(str(file), _describe(error, file), _names_in(file)))
    registry.put(PackSource(kind, str(folder), tuple(errors)), packs)


@contextmanager
def _models_when_used() -> Iterator[None]:
    """Have pydantic build validators of models declared meanwhile when they are first used.

    For packs that ship: their 130 models take a tenth of the time of a start, and tests build each. What is wrong with
    a user's model is reported when its file is loaded.
    """
    before = BaseModel.model_config
    BaseModel.model_config = ConfigDict(**before, defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = before


def _require_identifiers(*names: str) -> None:
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"`{name}` cannot be imported: rename it to letters, digits and underscores.")


def _packs_in(module: ModuleType) -> list[Pack]:
    """The packs at the top level of a module, those it imported from a sibling too."""
    return [value for value in vars(module).values() if isinstance(value, Pack)]


def _names_in(file: Path) -> tuple[str, ...]:
    """Names of the packs that a file which cannot be loaded is there for: its own, and those its text declares."""
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        text = ""
    return tuple(dict.fromkeys((f"{file.parent.name}.{file.stem}", *_DECLARED.findall(text))))


def _load_entry_points(registry: Registry) -> None:
    for point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        origin = f"{point.dist.name if point.dist else '?'}:{point.name}"
        packs: list[tuple[str, Pack]] = []
        errors: list[LoadError] = []
        try:
            packs = [(origin, pack) for pack in _packs_of(point.load())]
        except BaseException as error:
            errors.append(LoadError(origin, _describe(error, None)))
        registry.put(PackSource("entry_point", origin, tuple(errors)), packs)


def _packs_of(loaded: object) -> list[Pack]:
    """What an entry point may name: a module, a pack, or a list or tuple of packs."""
    match loaded:
        case ModuleType():
            return _packs_in(loaded)
        case Pack():
            return [loaded]
        case list() | tuple() if all(isinstance(item, Pack) for item in loaded):
            return list(loaded)
    raise TypeError(f"It names a {type(loaded).__name__}; expected a module, a pack or a list of packs.")


def _describe(error: BaseException, file: Path | None) -> str:
    """The exception in one line, with the last line of the file it passed through."""
    if isinstance(error, SyntaxError):
        return f"Syntax error in line {error.lineno}: {error.msg}"
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SystemExit):
        text = f"It ended the process (sys.exit({error.code!r})) instead of declaring packs."
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if file and frame.filename == str(file)
    ]
    return f"{text} (line {lines[-1]})" if lines else text
