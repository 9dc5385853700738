"""`repo.map`: an outline of the repository that an earlier step fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, pack

from ._files import LanguageShare, TreeFile, inside, list_files, measure_languages, read_text
from ._outline import is_test, render_map
from ._python import scan_python
from ._symbols import Symbol, scan_lines

if TYPE_CHECKING:
    from pathlib import Path

_MAX_LISTED_FILES = 1_500
_MAX_LISTED_SYMBOLS = 2_000
_MAX_SCANNED_FILES = 4_000
_MAX_FILE_BYTES = 400_000
_MAX_SCANNED_BYTES = 30_000_000
_TIME_LIMIT_SECONDS = 100.0


class Input(BaseModel):
    """What to map."""

    clone_path: str = Field(
        default="repo",
        description="Folder inside the session, as `repo.fetch` gives it in its output `clone_path`.",
        min_length=1,
        max_length=600,
        examples=["repo"],
    )
    max_chars: int = Field(
        default=8_000, description="Longest outline in characters; about four to a token.", ge=500, le=100_000
    )


class File(BaseModel):
    """A file of the repository."""

    path: str = Field(description="From the root of the map.")
    size_bytes: int = Field(description="Its size in bytes.")
    language: str | None = Field(description="Programming language; null for text, data and everything else.")


class Definition(BaseModel):
    """Something a file defines."""

    path: str = Field(description="The file.")
    line: int = Field(description="Line, counting from 1.")
    kind: str = Field(description="`class`, `function`, `method`, `struct`, `interface` and the like.")
    name: str = Field(description="Its name.")
    signature: str = Field(description="The name with its parameters or bases.")
    parent: str | None = Field(description="Class or module that contains it; null at the top of a file.")
    summary: str = Field(description="First sentence of its documentation; may be empty.")


class Language(BaseModel):
    """How much of the repository is in one programming language."""

    name: str = Field(description="The language.")
    files: int = Field(description="Number of files.")
    size_bytes: int = Field(description="Their size in bytes.")
    share: float = Field(description="Part of all code, 0 to 1.", ge=0, le=1)


class Output(BaseModel):
    """The map."""

    map: str = Field(description="The outline as Markdown: figures, key files, folders, definitions by file.")
    files: list[File] = Field(description="Files by path, at most 1,500.")
    symbols: list[Definition] = Field(description="Definitions, the most used files first, at most 2,000.")
    languages: list[Language] = Field(description="Programming languages, largest first.")
    file_count: int = Field(description="Number of files, listed or not.")
    symbol_count: int = Field(description="Number of definitions found, listed or not.")


@pack(
    "repo.map",
    version="1.0.0",
    effects="none",
    repeatable=True,
    uses_session=True,
    timeout_seconds=120,
    metadata=Metadata(
        accepts=["repo_workspace", "session_id"],
        produces=["repo_map", "markdown", "json"],
        intent_keywords=[
            "map repository",
            "code overview",
            "outline of the code",
            "project structure",
            "list classes and functions",
            "symbols",
            "explain codebase",
        ],
        example_intents=[
            "Give me an overview of how this codebase is organised",
            "Which classes and functions does the repository define?",
            "Map the repo we just cloned",
            "Show the folder structure and the most important files",
            "What are the entry points of this project?",
            "Outline the source code for a new colleague",
            "Summarise the structure of the code, without reading every file",
            "List the public functions of the library",
        ],
        typical_use="Use this after repo.fetch to get a compact outline of a repository's files and definitions.",
        limitations=[
            "Needs the session of an earlier repo.fetch step in the same run.",
            "Definitions are exact for Python; for other languages they are read line by line and may be incomplete.",
            "It describes structure, not behaviour: no model reads the code.",
            "Very large repositories are mapped in part; a warning says so.",
        ],
    ),
)
async def map_repository(ctx: PackContext, input: Input) -> Output:
    """Outlines a fetched repository: figures, key files, folders, and what each important file defines."""
    if ctx.session is None or not ctx.session.path.is_dir():
        raise PackError(
            "session_unavailable",
            "There is no fetched repository to map.",
            hint="Put a repo.fetch step before this one; a pack called by itself has no earlier step.",
        )
    ctx.progress(0.1, "Reading the repository")
    job = MapJob(ctx.session.path, input.clone_path.rstrip("/"), input.max_chars)
    result = await ctx.run_in_process(map_workspace, job, timeout_seconds=_TIME_LIMIT_SECONDS)
    for warning in result.warnings:
        ctx.warn(warning)
    ctx.progress(1.0, f"Mapped {result.file_count:,} files, {result.symbol_count:,} definitions")
    return Output(
        map=result.text,
        files=[File(path=each.path, size_bytes=each.size_bytes, language=each.language) for each in result.files],
        symbols=[
            Definition(
                path=each.path,
                line=each.line,
                kind=each.kind,
                name=each.name,
                signature=each.signature,
                parent=each.parent,
                summary=each.summary,
            )
            for each in result.symbols
        ],
        languages=[
            Language(name=each.name, files=each.files, size_bytes=each.size_bytes, share=each.share)
            for each in result.languages
        ],
        file_count=result.file_count,
        symbol_count=result.symbol_count,
    )


@dataclass(frozen=True, slots=True)
class MapJob:
    """What the worker process is given.

    Attributes:
        workspace: Folder of the session.
        clone_path: Folder in it that is mapped.
        max_chars: Longest outline.
    """

    workspace: Path
    clone_path: str
    max_chars: int


@dataclass(frozen=True, slots=True)
class MapResult:
    """What it gives back: the outline and its evidence, both cut to size."""

    text: str
    files: list[TreeFile]
    symbols: list[Symbol]
    languages: list[LanguageShare]
    file_count: int
    symbol_count: int
    warnings: list[str]


def map_workspace(job: MapJob) -> MapResult:
    """Reads the tree and ranks its files; blocks.

    Raises:
        PackError: `policy_denied` or `not_found` for the folder.
    """
    root = inside(job.workspace, job.clone_path, field="clone_path")
    files, more = list_files(root)
    warnings = [f"Only the first {len(files):,} files were looked at."] if more else []
    scanned, imports, skipped = _scan(root, files)
    if skipped:
        warnings.append(f"{skipped:,} source files were too large or too many to be searched for definitions.")
    ranked = _ranked(scanned, imports)
    symbols = [symbol for _, found in ranked for symbol in found]
    languages = measure_languages(files)
    return MapResult(
        text=render_map(files, languages, ranked, max_chars=job.max_chars),
        files=files[:_MAX_LISTED_FILES],
        symbols=symbols[:_MAX_LISTED_SYMBOLS],
        languages=languages,
        file_count=len(files),
        symbol_count=len(symbols),
        warnings=warnings,
    )


def _scan(root: Path, files: list[TreeFile]) -> tuple[list[tuple[TreeFile, list[Symbol]]], dict[str, list[str]], int]:
    """Source files with their symbols, the imports of Python files by path, and how many files were passed over."""
    scanned: list[tuple[TreeFile, list[Symbol]]] = []
    imports: dict[str, list[str]] = {}
    skipped = read_bytes = 0
    sources = [file for file in files if file.language is not None and not file.foreign]
    for number, file in enumerate(
        sorted(sources, key=lambda each: (is_test(each.path), each.path.count("/"), each.path))
    ):
        over = file.size_bytes > _MAX_FILE_BYTES or read_bytes + file.size_bytes > _MAX_SCANNED_BYTES
        if over or number >= _MAX_SCANNED_FILES:
            skipped += 1
            continue
        text = read_text(root, file.path, max_bytes=_MAX_FILE_BYTES)
        if text is None or file.language is None:
            continue
        read_bytes += file.size_bytes
        if file.language == "Python":
            parsed = scan_python(file.path, text)
            if parsed is not None:
                scanned.append((file, parsed[0]))
                imports[file.path] = parsed[1]
        else:
            scanned.append((file, scan_lines(file.path, text, file.language)))
    return scanned, imports, skipped


def _ranked(
    scanned: list[tuple[TreeFile, list[Symbol]]], imports: dict[str, list[str]]
) -> list[tuple[TreeFile, list[Symbol]]]:
    """Files that define something, the most telling first.

    Tests come last and private modules before them; else the most imported by others, then the nearest to the root.
    """
    used = _times_imported(imports)
    return sorted(
        ((file, symbols) for file, symbols in scanned if symbols),
        key=lambda pair: (
            is_test(pair[0].path),
            pair[0].path.rpartition("/")[2].startswith("_") and not pair[0].path.endswith("/__init__.py"),
            -used.get(pair[0].path, 0),
            pair[0].path.count("/"),
            -len(pair[1]),
            pair[0].path,
        ),
    )


def _times_imported(imports: dict[str, list[str]]) -> dict[str, int]:
    """How many other files import each Python file, found by the endings of dotted names."""
    by_ending: dict[str, set[str]] = {}
    for path in imports:
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        for start in range(len(parts)):
            by_ending.setdefault(".".join(parts[start:]), set()).add(path)
    used: dict[str, int] = {}
    for path, names in imports.items():
        # An ending that several files share tells nothing.
        targets = {next(iter(found)) for name in names if len(found := by_ending.get(name, set())) == 1}
        for target in targets - {path}:
            used[target] = used.get(target, 0) + 1
    return used
