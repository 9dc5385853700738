"""The registry of installed packs: loads them from folders and entry points, and finds them by name and version.

A pack folder has files `packs/<area>/<verb>.py`; every `Pack` at the top level of such a file is registered. Files and
folders whose names start with `_` are for imports by others. A file that fails becomes a `LoadError` of its source, and
the others load.
"""

from __future__ import annotations

import dataclasses
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

from pydantic import BaseModel, ConfigDict, ValidationError

from runner.excerpts import excerpt, plain_text
from runner.issues import nearest
from runner.packs.installed import find_module, install_command
from runner.packs.metadata import Metadata
from runner.packs.pack import Pack, PackDefinitionError
from runner.packs.schemas import schema_problem
from runner.processes import pack_modules
from runner.schemas.pydantic_messages import needed
from runner.tracebacks import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SourceKind = Literal["builtin_folder", "user_folder", "entry_point", "mcp_server"]
ENTRY_POINT_GROUP = "packline.packs"
#: Prefix of packs of mounted MCP servers, `mcp.<server>.<tool>`.
MOUNT_AREA = "mcp."
_DECLARED = re.compile(r"""\bpack\(\s*(?:name\s*=\s*)?["']([a-z0-9_.]+)["']""")
#: Hint for a pack that could not be loaded.
REPAIR = (
    "Fix the file: the server loads it again, unless PACKLINE_PACK_RELOAD is `false`. `packline doctor` lists "
    "everything that failed to load."
)
#: Longest message of a load error and longest value in one, in characters.
_MESSAGE_CHARACTERS = 2000
_VALUE_CHARACTERS = 80
_HERE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class LoadError:
    """An error while packs were loaded.

    Attributes:
        origin: The file, folder or entry point that failed.
        problem: What is wrong.
        packs: Names of its packs, as far as known.
        file: The file where it is wrong, which may be one that `origin` imports; None if unknown.
        line: Its line; None if unknown.
        keeps_former: Whether packs that `origin` declared before stay in use.
    """

    origin: str
    problem: str
    packs: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None
    keeps_former: bool = False

    @property
    def message(self) -> str:
        """What is wrong, with the line if known, and whether former packs stay in use."""
        text = self.problem
        if self.line is not None:
            text = (
                text.rstrip(".")
                + f" ({f'line {self.line}' if self.file == self.origin else f'{self.file}, line {self.line}'})"
            )
        if self.keeps_former:
            text = f"{text.rstrip('.')}. The version that was loaded before stays in use."
        return text

    @property
    def place(self) -> str:
        """The file and line, as `file:line`; what is known of it."""
        return self.origin if self.line is None else f"{self.file}:{self.line}"

    def message_for(self, pack: str) -> str:
        """Say why a pack is missing, in one sentence with the file's path from the pack folder."""
        place = "/".join(Path(self.origin).parts[-3:])
        return f"The pack `{pack}` could not be loaded from {place}: {self.message.rstrip('.')}."


@dataclass(frozen=True, slots=True)
class PackSource:
    """A source of packs.

    Attributes:
        kind: Its kind.
        location: Folder, `distribution:entry point` or server.
        load_errors: Its load errors.
    """

    kind: SourceKind
    location: str
    load_errors: tuple[LoadError, ...] = ()


@dataclass(slots=True)
class _Entry:
    pack: Pack
    source_key: tuple[SourceKind, str]
    origin: str
    order: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.order = tuple(int(part) for part in self.pack.version.split("."))


class Registry:
    """Packs by name and version, with their sources.

    Attributes:
        revision: Changes with every change of the packs, to invalidate caches.
    """

    def __init__(self) -> None:
        self.revision = 0
        self._versions: dict[str, list[_Entry]] = {}
        self._sources: dict[tuple[SourceKind, str], PackSource] = {}

    def find(self, name: str, version: str | None = None) -> Pack | None:
        """Find a pack.

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
        """List all names, in alphabetical order."""
        return sorted(self._versions)

    def versions(self, name: str) -> list[str]:
        """List all versions of a pack, newest first; empty if it does not exist."""
        return [entry.pack.version for entry in self._versions.get(name, ())]

    def packs(self) -> list[Pack]:
        """List all packs by name, newest version first."""
        return [entry.pack for name in self.names() for entry in self._versions[name]]

    def source_of(self, pack: Pack) -> PackSource:
        """Get the source of a registered pack.

        Raises:
            KeyError: It is not registered.
        """
        for entry in self._versions.get(pack.name, ()):
            if entry.pack.version == pack.version:
                return self._sources[entry.source_key]
        raise KeyError(f"Pack {pack.name} {pack.version} is not registered.")

    def ships(self, pack: Pack) -> bool:
        """Whether a pack comes with Packline; not if it is no longer registered."""
        return any(
            entry.pack.version == pack.version and self._sources[entry.source_key].kind == "builtin_folder"
            for entry in self._versions.get(pack.name, ())
        )

    def sources(self) -> list[PackSource]:
        """List all sources in load order, also those without packs."""
        return list(self._sources.values())

    def load_errors(self) -> list[LoadError]:
        """List all load errors, in order."""
        return [error for source in self._sources.values() for error in source.load_errors]

    def unloaded(self, name: str) -> LoadError | None:
        """Find the error of a pack that failed to load."""
        return next((error for error in self.load_errors() if name in error.packs), None)

    def put(self, source: PackSource, packs: Iterable[tuple[str, Pack]]) -> PackSource:
        """Add a source with its packs, or replace it.

        A pack whose name and version another source has is left out and reported.

        Args:
            source: Kind, location and the errors so far.
            packs: Packs with their file or entry point.

        Returns:
            The source with all its errors.
        """
        key = (source.kind, source.location)
        self._remove_packs(key)
        self.revision += 1
        errors = list(source.load_errors)
        for origin, pack in packs:
            problem = self._objection(pack, source.kind)
            if problem is not None:
                errors.append(LoadError(origin, problem, (pack.name,), *declared_at(pack)))
                continue
            if any(entry.pack is pack for entry in self._versions.get(pack.name, ())):
                continue  # imported by another file, or named by two entry points
            self._add(_Entry(pack, key, origin))
        self._sources[key] = PackSource(source.kind, source.location, tuple(errors))
        return self._sources[key]

    def replace(self, source: PackSource, packs: Iterable[tuple[str, Pack]]) -> PackSource:
        """Replace a source like `put`, except that a file with an error keeps the packs it had before."""
        key = (source.kind, source.location)
        former = [entry for entries in self._versions.values() for entry in entries if entry.source_key == key]
        source = self.put(source, packs)
        failed = {error.origin for error in source.load_errors}
        kept: set[str] = set()
        for entry in former:
            if entry.origin in failed and self.find(entry.pack.name, entry.pack.version) is None:
                self._add(entry)
                kept.add(entry.origin)
        errors = (dataclasses.replace(error, keeps_former=error.origin in kept) for error in source.load_errors)
        self._sources[key] = dataclasses.replace(source, load_errors=tuple(errors))
        return self._sources[key]

    def remove(self, source: PackSource) -> None:
        """Remove a source and its packs; ignores an unknown source."""
        key = (source.kind, source.location)
        if self._sources.pop(key, None) is not None:
            self.revision += 1
            self._remove_packs(key)

    def _add(self, entry: _Entry) -> None:
        entries = self._versions.setdefault(entry.pack.name, [])
        entries.append(entry)
        entries.sort(key=lambda entry: entry.order, reverse=True)

    def _remove_packs(self, key: tuple[SourceKind, str]) -> None:
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
                file, line = declared_at(entry.pack)
                there = entry.origin if file is None else f"{file}:{line}"
                return (
                    f"Pack {pack.name} {pack.version} is already loaded from {there}. "
                    "Give one of them another name or version."
                )
        # Tests check the schemas of built-in packs, `runner.mounts.tools` those of tools.
        if kind in ("user_folder", "entry_point") and (problem := schema_problem(pack)) is not None:
            return f"Pack {pack.name}: {problem}"
        return None


def declared_at(pack: Pack) -> tuple[str | None, int | None]:
    """Return the file and line where a pack's function begins, if known."""
    code = getattr(pack.handler, "__code__", None)
    return (None, None) if code is None else (code.co_filename, code.co_firstlineno)


def builtins_folder() -> Path:
    """Find the folder of built-in packs and starters: inside the installed package, else next to it in the source.

    Raises:
        FileNotFoundError: Neither exists.
    """
    for folder in (_HERE / "_builtins", _HERE.parent / "builtins"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError("This installation has no built-in packs: neither runner/_builtins nor builtins/ exists.")


def load_registry(builtin_folder: Path, user_folders: Sequence[Path] = (), *, entry_points: bool = True) -> Registry:
    """Load all packs: built-in ones, then the users' folders in order, then installed distributions.

    Files that this process has already imported are not run again.
    """
    registry = Registry()
    registry.put(*read_folder("builtin_folder", "builtin", builtin_folder))
    for folder in user_folders:
        registry.put(*read_folder("user_folder", source_name(folder), folder))
    if entry_points:
        _load_entry_points(registry)
    return registry


def source_name(folder: Path) -> str:
    """Make a unique Python identifier for a folder, the same at every start."""
    path = folder.resolve()
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^a-z0-9]+', '_', path.name.lower()).strip('_') or 'packs'}_{digest}"


def read_folder(
    kind: SourceKind, source: str, folder: Path, *, only: Path | None = None
) -> tuple[PackSource, list[tuple[str, Pack]]]:
    """Import the files of a pack folder; return its source with the errors, and its packs with their files.

    Args:
        kind: The kind of the source.
        source: Name of the folder's package, see `runner.processes.pack_modules`.
        folder: The pack folder.
        only: The one file to import; None for all.
    """
    packs_folder = folder.resolve() / "packs"
    if not packs_folder.is_dir():
        message = f"There is no folder {packs_folder}. A pack folder has files packs/<area>/<verb>.py."
        return PackSource(kind, str(folder), (LoadError(str(folder), message),)), []
    package = pack_modules.add_source(source, str(packs_folder))
    packs: list[tuple[str, Pack]] = []
    errors: list[LoadError] = []
    with _models_when_used() if kind == "builtin_folder" else nullcontext():
        for file in pack_files(packs_folder):
            if only is not None and file != only:
                continue
            origin = plain_text(file)
            try:
                _require_identifiers(file.parent.name, file.stem)
                module = importlib.import_module(f"{package}.{file.parent.name}.{file.stem}")
                packs += [(origin, pack) for pack in _packs_in(module)]
            except BaseException as error:  # a pack file may raise anything, also SystemExit and KeyboardInterrupt
                problem, at, line = _describe(error, package, str(file), folder)
                errors.append(LoadError(origin, problem, _names_in(file), at, line))
    return PackSource(kind, str(folder), tuple(errors)), packs


def pack_files(packs_folder: Path) -> list[Path]:
    """List the files that may declare packs, in the order in which they are imported.

    Names that start with `.` are of editors and file systems.
    """
    files = sorted(packs_folder.glob("*/*.py"))
    return [file for file in files if not file.parent.name.startswith(("_", ".")) and file.name[0] not in "_."]


def load_pack(file: Path | str, name: str | None = None) -> Pack:
    """Load a pack from a file `packs/<area>/<verb>.py`, as a server would.

    Args:
        file: The file.
        name: The pack's name; None if the file declares one pack.

    Raises:
        PackDefinitionError: The file cannot be loaded, with file and line, or has no such pack.
    """
    file = Path(file).resolve()
    folder = file.parents[2]
    source, packs = read_folder("user_folder", source_name(folder), folder, only=file)
    problems = [f"{error.place}: {error.problem}" for error in Registry().put(source, packs).load_errors]
    if problems:
        raise PackDefinitionError("\n".join(problems))
    declared = {pack.name: pack for _, pack in packs if declared_at(pack)[0] == str(file)}
    if len(declared) == 1 and name is None:
        return next(iter(declared.values()))
    if name not in declared:
        wanted = "one pack" if name is None else f"the pack {name}"
        raise PackDefinitionError(f"{file} declares {', '.join(declared) or 'no packs'}; expected {wanted}.")
    return declared[name]


@contextmanager
def _models_when_used() -> Iterator[None]:
    """Let pydantic build validators of models declared in this context when they are first used.

    For built-in packs: their 130 models take a tenth of the time of a start, and tests build each. Errors in a user's
    model must be reported when its file is loaded.
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
    """Return the packs at the top level of a module, including imported ones; refuse a module without one."""
    found = [value for value in vars(module).values() if isinstance(value, Pack)]
    if not found:
        raise PackDefinitionError("It has no pack at its top level. Names of files that others import begin with `_`.")
    return found


def _names_in(file: Path) -> tuple[str, ...]:
    """Return the names of packs of a file that failed to load: by its path, and those its text declares."""
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
            problem, at, line = _describe(error, point.module.partition(".")[0], origin)
            errors.append(LoadError(origin, problem, (), at, line))
        registry.put(PackSource("entry_point", origin, tuple(errors)), packs)


def _packs_of(loaded: object) -> list[Pack]:
    """Return the packs of an entry point, which names a module, a pack, or a list or tuple of packs."""
    match loaded:
        case ModuleType():
            return _packs_in(loaded)
        case Pack():
            return [loaded]
        case list() | tuple() if all(isinstance(item, Pack) for item in loaded):
            return list(loaded)
    raise TypeError(f"It names a {type(loaded).__name__}; expected a module, a pack or a list of packs.")


def _describe(
    error: BaseException, package: str, origin: str, folder: Path | None = None
) -> tuple[str, str | None, int | None]:
    """Describe an exception in one line; return it with the author's last file and line, if known.

    That is the last frame in a module of the package.

    Args:
        error: The exception.
        package: The package of the pack's modules.
        origin: The file or entry point.
        folder: The pack folder, which may have a `requirements.txt`.
    """
    file, line = None, None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if f"{frame.f_globals.get('__name__')}.".startswith(f"{package}."):
            file, line = frame.f_code.co_filename, number
    match error:
        case SyntaxError():
            text = f"Syntax error: {error.msg}"
            file, line = error.filename or origin, error.lineno
        case SystemExit():
            text = f"It ended the process (sys.exit({error.code!r})) instead of declaring packs."
        case PackDefinitionError():
            text = str(error)
        case ValidationError():
            text = _misfit(error)
        case ModuleNotFoundError(name=str(name)) if find_module(top := name.partition(".")[0]) is None:
            text = f"No module named {name!r}. Install it for the server's Python: `{install_command(top, folder)}`"
        case _:
            text = ": ".join(part for part in (type(error).__name__, text_of(error)) if part)
    return _one_line(text), None if file is None else plain_text(file), line


def _misfit(error: ValidationError) -> str:
    """Word the first error of a model that a pack file makes, such as its metadata."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in (error.title, *first["loc"]))
    if error.title == Metadata.__name__ and first["type"] == "extra_forbidden":
        near = nearest(str(first["loc"][-1]), Metadata.model_fields)
        return f"{where} does not exist{f'; did you mean `{near}`?' if near else '.'}"
    return f"{where} is {excerpt(repr(first['input']), _VALUE_CHARACTERS)}; {needed(first)}."


def _one_line(text: str) -> str:
    return excerpt(" ".join(plain_text(text).split()), _MESSAGE_CHARACTERS)
