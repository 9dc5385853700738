"""What a repository says about itself: its README and its documentation folder, cut to a readable size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._files import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from ._files import TreeFile

#: Of the README, and of all documents together.
MAX_CHARACTERS = 60_000

_README_NAMES = ("readme.md", "readme.markdown", "readme.mdown", "readme.rst", "readme.txt", "readme.adoc", "readme")
_README_FOLDERS = ("", ".github/", "docs/")
_DOCS_FOLDERS = ("docs/", "doc/", "documentation/")


@dataclass(frozen=True, slots=True)
class Introduction:
    """Text of one or more files.

    Attributes:
        paths: The files, in the order of the text; empty when there is none.
        text: At most `MAX_CHARACTERS`.
        is_cut: Whether there was more.
    """

    paths: list[str]
    text: str
    is_cut: bool


def read_readme(root: Path, files: list[TreeFile]) -> Introduction:
    """The README, Markdown before other formats, the root before `.github` and `docs`."""
    by_name = {file.path.lower(): file.path for file in reversed(files)}
    for folder in _README_FOLDERS:
        for name in _README_NAMES:
            path = by_name.get(folder + name)
            text = read_text(root, path, max_bytes=MAX_CHARACTERS * 4) if path else None
            if path and text is not None:
                return Introduction([path], text[:MAX_CHARACTERS], len(text) > MAX_CHARACTERS)
    return Introduction([], "", False)


def read_docs(root: Path, files: list[TreeFile], *, except_paths: list[str]) -> Introduction:
    """Markdown of the documentation folder: introductions first, then by depth and name."""
    found = [
        file.path
        for file in files
        if file.path.lower().startswith(_DOCS_FOLDERS)
        and file.path.lower().endswith((".md", ".markdown"))
        and file.path not in except_paths
    ]
    paths: list[str] = []
    texts: list[str] = []
    room = MAX_CHARACTERS
    for path in sorted(found, key=_docs_order):
        text = _without_front_matter(read_text(root, path, max_bytes=MAX_CHARACTERS * 4) or "").strip()
        if not text:
            continue
        if room <= 0:
            return Introduction(paths, "\n\n".join(texts), True)
        paths.append(path)
        texts.append(text[:room])
        room -= len(text) + 2
    return Introduction(paths, "\n\n".join(texts), room < -2)


def _docs_order(path: str) -> tuple[int, bool, str]:
    name = path.rpartition("/")[2].lower()
    return path.count("/"), not name.startswith(("index.", "readme.", "intro", "overview", "getting")), path


def _without_front_matter(text: str) -> str:
    """The text after a block of settings between `---` lines, which is for a site generator."""
    if not text.startswith("---\n"):
        return text
    end = text.find("\n---\n", 3)
    return text[end + 5 :] if end != -1 else text
