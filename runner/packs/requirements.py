"""Compares a pack folder's `requirements.txt` with the distributions that are installed for this Python."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from runner.excerpts import excerpt
from runner.packs.installed import REQUIREMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COMMENT = re.compile(r"(^|\s)#.*$")
#: A name and the beginning of a version or marker: neither an option, nor a path, nor an address.
_MEANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[^\]]*\])?\s*([<>=!~;]|$)")
#: The beginning of options that follow a requirement, such as `--hash`.
_OPTION = re.compile(r"\s--?\w")


@dataclass(frozen=True, slots=True)
class UnmetRequirement:
    """A line of a `requirements.txt` that the installed distributions do not meet.

    Attributes:
        file: The file.
        line: Its line.
        problem: What is installed instead, one sentence.
    """

    file: Path
    line: int
    problem: str


def unmet_requirements(folder: Path) -> list[UnmetRequirement]:
    """List the lines of a pack folder's `requirements.txt` that are not met; empty without such a file.

    Only pip understands its options, files and addresses: those lines are not compared.
    """
    file = folder.resolve() / REQUIREMENTS
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        return []
    found = (
        (
            line,
            _problem(wanted) if isinstance(wanted, Requirement) else f"`{excerpt(wanted, 80)}` is not a requirement.",
        )
        for line, wanted in _requirements(text)
    )
    return [UnmetRequirement(file, line, problem) for line, problem in found if problem is not None]


def _requirements(text: str) -> Iterator[tuple[int, Requirement | str]]:
    """Yield requirements with their lines; a line that is meant as one and cannot be read as its text."""
    for number, line in enumerate(text.replace("\\\n", " \n").splitlines(), 1):
        bare = _OPTION.split(_COMMENT.sub("", line).strip())[0].strip()
        try:
            wanted = Requirement(bare)
        except InvalidRequirement:
            if _MEANT.match(bare):
                yield number, bare
            continue
        if wanted.url is None and (wanted.marker is None or wanted.marker.evaluate()):
            yield number, wanted


def _problem(wanted: Requirement) -> str | None:
    try:
        installed = importlib.metadata.version(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        return f"{wanted.name}{wanted.specifier} is not installed."
    if wanted.specifier.contains(installed, prereleases=True):
        return None
    return f"{wanted.name} {installed} is installed, not {wanted.name}{wanted.specifier}."
