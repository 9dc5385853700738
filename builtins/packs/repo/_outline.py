"""A repository's map as Markdown: what it is made of, where things are, what the important files define."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._files import LanguageShare, TreeFile
    from ._symbols import Symbol

_MAX_FOLDERS = 24
_MAX_KEY_FILES = 12
_SYMBOLS_PER_FILE = 12
_MEMBERS_PER_TYPE = 4

#: What a well-known file is for; matched by name anywhere in the first two levels, in this order of importance.
_KEY_FILES = {
    "readme.md": "introduction",
    "readme.rst": "introduction",
    "readme.txt": "introduction",
    "readme": "introduction",
    "pyproject.toml": "Python project",
    "setup.py": "Python project",
    "package.json": "JavaScript project",
    "cargo.toml": "Rust project",
    "go.mod": "Go module",
    "pom.xml": "Java project",
    "build.gradle": "Java project",
    "build.gradle.kts": "Kotlin project",
    "gemfile": "Ruby project",
    "composer.json": "PHP project",
    "cmakelists.txt": "C or C++ project",
    "makefile": "commands",
    "dockerfile": "container image",
    "docker-compose.yml": "containers",
    "compose.yaml": "containers",
    "__main__.py": "entry point",
    "main.py": "entry point",
    "app.py": "entry point",
    "manage.py": "entry point",
    "main.go": "entry point",
    "main.rs": "entry point",
    "lib.rs": "library root",
    "index.ts": "entry point",
    "index.js": "entry point",
    "main.ts": "entry point",
    "contributing.md": "how to contribute",
    "changelog.md": "changes",
    "license": "licence",
    "license.md": "licence",
    "license.txt": "licence",
}


def render_map(
    files: list[TreeFile],
    languages: list[LanguageShare],
    ranked: list[tuple[TreeFile, list[Symbol]]],
    *,
    max_chars: int,
) -> str:
    """The outline, at most `max_chars` characters; sections come in order of use and the last ones give way."""
    blocks = [
        _at_a_glance(files, languages),
        _section("Key files", [f"- `{_code(file.path)}`: {what}" for file, what in _key_files(files)]),
        _section("Folders", _folders(files)),
    ]
    text = "# Repository map\n\n" + "\n\n".join(block for block in blocks if block)
    if len(text) > max_chars:
        return _cut(text, max_chars)
    text = _with_symbols(text, ranked, max_chars)
    return f"{text}\n" if len(text) < max_chars else text


def human_size(size_bytes: int) -> str:
    """A size as people write it: `512 bytes`, `3.2 kB`, `14 MB`."""
    if size_bytes < 1_000:
        return f"{size_bytes} bytes"
    size, unit = (size_bytes / 1_000, "kB") if size_bytes < 1_000_000 else (size_bytes / 1_000_000, "MB")
    return f"{size:.1f} {unit}" if size < 10 else f"{size:,.0f} {unit}"


def _at_a_glance(files: list[TreeFile], languages: list[LanguageShare]) -> str:
    lines = [f"- {len(files):,} files, {human_size(sum(file.size_bytes for file in files))}"]
    if languages:
        largest = ", ".join(f"{each.name} {each.share:.0%}" for each in languages[:6] if each.share >= 0.005)
        lines.append(f"- Languages: {largest}")
    tests = sum(1 for file in files if is_test(file.path) and not file.foreign)
    if tests:
        lines.append(f"- {tests:,} test {'file' if tests == 1 else 'files'}")
    return _section("At a glance", lines)


def _key_files(files: list[TreeFile]) -> list[tuple[TreeFile, str]]:
    """Well-known files, the most telling first; the nearest to the root of each name."""
    order = {name: number for number, name in enumerate(_KEY_FILES)}
    nearest: dict[str, TreeFile] = {}
    for file in sorted(files, key=lambda each: (each.path.count("/"), each.path)):
        name = file.path.rpartition("/")[2].lower()
        if name in order and file.path.count("/") <= 2 and not file.foreign and not is_test(file.path):
            nearest.setdefault(name, file)
    names = sorted(nearest, key=order.__getitem__)[:_MAX_KEY_FILES]
    return [(nearest[name], _KEY_FILES[name]) for name in names]


def _folders(files: list[TreeFile]) -> list[str]:
    """Folders of the first two levels with number and size of everything below."""
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for file in files:
        parts = file.path.split("/")[:-1]
        for depth in range(1, min(len(parts), 2) + 1):
            counts["/".join(parts[:depth])] += 1
            sizes["/".join(parts[:depth])] += file.size_bytes
    for name in [name for name in counts if "/" in name]:
        parent = name.partition("/")[0]
        if counts[parent] == counts[name]:
            del counts[parent]  # all that is in it is in its one folder
    shown = sorted(sorted(counts, key=lambda name: (name.count("/"), -counts[name], name))[:_MAX_FOLDERS])
    lines = []
    for name in shown:
        indent = "  " if "/" in name and name.partition("/")[0] in counts else ""
        lines.append(f"{indent}- `{_code(name)}/`: {_plural(counts[name], 'file')}, {human_size(sizes[name])}")
    if len(counts) > len(shown):
        lines.append(f"- and {len(counts) - len(shown):,} more folders")
    return lines


def _with_symbols(text: str, ranked: list[tuple[TreeFile, list[Symbol]]], max_chars: int) -> str:
    """Adds a section for each file until there is no more room, and says how many were left out."""
    reserve = len("\n\n- and 99,999 more files with definitions")
    headed = False
    for number, (file, symbols) in enumerate(ranked):
        block = f"### {_code(file.path)}\n\n" + "\n".join(_symbol_lines(symbols))
        addition = f"\n\n{block}" if headed else f"\n\n## Definitions\n\n{block}"
        if len(text) + len(addition) + reserve > max_chars:
            if len(text) + reserve <= max_chars and headed:
                text += f"\n\n- and {_plural(len(ranked) - number, 'more file')} with definitions"
            return text
        text += addition
        headed = True
    return text


def _symbol_lines(symbols: list[Symbol]) -> Iterable[str]:
    public = [each for each in symbols if not (each.parent or "").startswith("_")]
    public = [each for each in public if not each.name.startswith("_")] or symbols
    shown = _most_telling(public)
    for symbol in shown:
        summary = f": {_plain(symbol.summary)}" if symbol.summary else ""
        indent = "  " if symbol.parent else ""
        kind = "" if symbol.kind in {"function", "method"} else f"{symbol.kind} "
        yield f"{indent}- {kind}`{_code(symbol.signature)}`{summary}"
    if len(public) > len(shown):
        yield f"- and {len(public) - len(shown):,} more"


def _most_telling(symbols: list[Symbol]) -> list[Symbol]:
    """The symbols at the top of the file, then members while there is room; in the order of the file."""
    members: Counter[str] = Counter()
    seen: set[tuple[str | None, str]] = set()
    top: list[Symbol] = []
    below: list[Symbol] = []
    for symbol in symbols:
        if (symbol.parent, symbol.name) in seen:
            continue  # overloads
        seen.add((symbol.parent, symbol.name))
        if symbol.parent is None:
            top.append(symbol)
        elif members[symbol.parent] < _MEMBERS_PER_TYPE:
            members[symbol.parent] += 1
            below.append(symbol)
    kept = {id(symbol) for symbol in [*top, *below][:_SYMBOLS_PER_FILE]}
    return [symbol for symbol in symbols if id(symbol) in kept]


def is_test(path: str) -> bool:
    """Whether a file is a test by its name or folder."""
    lower = f"/{path.lower()}"
    name = lower.rpartition("/")[2]
    return (
        "/test/" in lower
        or "/tests/" in lower
        or "/__tests__/" in lower
        or "/spec/" in lower
        or name.startswith("test_")
        or any(mark in name for mark in ("_test.", ".test.", ".spec.", "_spec."))
    )


def _section(title: str, lines: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines) if lines else ""


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _code(text: str) -> str:
    """Text for inside backticks: names come from strangers and may hold anything."""
    return "".join(char if char.isprintable() and char != "`" else "?" for char in text)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is: no HTML, no line that could become structure."""
    line = "".join(char for char in text if char.isprintable()).replace("<", "\\<").replace("``", "`")
    return line if line.count("`") % 2 == 0 else line.replace("`", "'")


def _cut(text: str, max_chars: int) -> str:
    """Whole lines within the limit."""
    kept = text[: max_chars - 2].rpartition("\n")[0]
    return f"{kept}\n…"
