"""Reading a checked-out tree that nobody trusts: no link is followed, no device opened, every size is bounded."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packline import PackError, excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_FILES = 50_000

#: Folders of other people's code or of built things: counted and listed, but neither measured nor searched.
FOREIGN_FOLDERS = frozenset(
    [
        "node_modules",
        "bower_components",
        "vendor",
        "third_party",
        "dist",
        "build",
        "target",
        ".venv",
        "venv",
        "site-packages",
        "__pycache__",
    ]
)

#: Programming languages by file ending. Prose and data (Markdown, JSON, YAML) are not languages here.
LANGUAGES = {
    ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
    ".jsx": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript", ".mts": "TypeScript", ".go": "Go", ".rs": "Rust",
    ".java": "Java", ".kt": "Kotlin", ".kts": "Kotlin", ".swift": "Swift", ".rb": "Ruby", ".php": "PHP",
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".hh": "C++", ".cs": "C#",
    ".scala": "Scala", ".sh": "Shell", ".bash": "Shell", ".zsh": "Shell", ".sql": "SQL", ".lua": "Lua",
    ".ex": "Elixir", ".exs": "Elixir", ".erl": "Erlang", ".hs": "Haskell", ".ml": "OCaml", ".clj": "Clojure",
    ".r": "R", ".jl": "Julia", ".dart": "Dart", ".zig": "Zig", ".pl": "Perl", ".vue": "Vue", ".svelte": "Svelte",
    ".html": "HTML", ".css": "CSS", ".scss": "CSS", ".graphql": "GraphQL", ".proto": "Protocol Buffers",
    ".tf": "Terraform",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A regular file of the tree.

    Attributes:
        path: From the root, with `/`, as text that JSON can carry.
        size_bytes: Its size.
        language: Programming language by its name, or None.
        foreign: Whether it lies in a folder of somebody else's code or of built things.
    """

    path: str
    size_bytes: int
    language: str | None
    foreign: bool


@dataclass(frozen=True, slots=True)
class LanguageShare:
    """How much of a tree is in one language; foreign folders left out.

    Attributes:
        name: The language.
        files: Number of files.
        size_bytes: Their size.
        share: Part of all bytes in programming languages, 0 to 1.
    """

    name: str
    files: int
    size_bytes: int
    share: float


def inside(workspace: Path, relative: str, *, field: str) -> Path:
    """The folder `relative` in the workspace, all links resolved.

    Raises:
        PackError: `policy_denied` when it leads out of the workspace, `not_found` when there is no such folder.
    """
    parts = relative.split("/")
    if relative.startswith(("/", "~")) or "\\" in relative or "\0" in relative or ".." in parts or ".git" in parts:
        raise PackError(
            "policy_denied",
            f"`{excerpt(relative, 200)}` leads out of the workspace.",
            field=field,
            hint="Give a folder inside the clone, such as `repo` or `repo/src`, or pass on an output of repo.fetch.",
        )
    root = workspace.resolve()
    target = (root / relative).resolve()
    if not target.is_relative_to(root):
        raise PackError(
            "policy_denied", f"`{excerpt(relative, 200)}` is a link that leads out of the workspace.", field=field
        )
    if not target.is_dir():
        raise PackError("not_found", f"There is no folder `{excerpt(relative, 200)}` in the repository.", field=field)
    return target


def list_files(root: Path, *, limit: int = MAX_FILES) -> tuple[list[TreeFile], bool]:
    """Regular files below `root` in the order of their paths, and whether there were more than `limit`.

    Links, devices and Git's own folder are left out.
    """
    found: list[TreeFile] = []
    pending: list[tuple[str, str, bool]] = [(str(root), "", False)]
    while pending:
        folder, prefix, foreign = pending.pop()
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = prefix + _as_text(entry.name)
            if entry.name == ".git":
                continue
            if entry.is_dir(follow_symlinks=False):
                into_foreign = foreign or entry.name in FOREIGN_FOLDERS
                # Last, so that a limit is reached there and not in the repository's own code.
                pending.insert(0 if into_foreign else len(pending), (entry.path, f"{path}/", into_foreign))
            elif entry.is_file(follow_symlinks=False):
                if len(found) >= limit:
                    return sorted(found, key=lambda file: file.path), True
                size = entry.stat(follow_symlinks=False).st_size
                found.append(TreeFile(path, size, language_of(path), foreign))
    return sorted(found, key=lambda file: file.path), False


def language_of(path: str) -> str | None:
    """Programming language by the ending of a file's name."""
    return LANGUAGES.get(os.path.splitext(path)[1].lower())


def measure_languages(files: Iterable[TreeFile]) -> list[LanguageShare]:
    """Languages by size, largest first."""
    sizes: dict[str, list[int]] = {}
    for file in files:
        if file.language is not None and not file.foreign:
            sizes.setdefault(file.language, []).append(file.size_bytes)
    whole = sum(map(sum, sizes.values())) or 1
    shares = [LanguageShare(name, len(each), sum(each), round(sum(each) / whole, 4)) for name, each in sizes.items()]
    return sorted(shares, key=lambda share: (-share.size_bytes, share.name))


def read_text(root: Path, path: str, *, max_bytes: int) -> str | None:
    """The start of a file as text, or None when it is binary, a link, or gone.

    `path` must come from `list_files`, so that no folder on the way is a link.
    """
    try:
        # O_NONBLOCK: opening a pipe that took the file's place must not wait for a writer.
        handle = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        data = file.read(max_bytes)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").replace("\0", "")
    if b"\0" in data:
        return None
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _as_text(name: str) -> str:
    """A file name as text without lone surrogates: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")
