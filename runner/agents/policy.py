"""What an agent step may spawn: decisions over values.

Two places enforce them. Packline's own spawn of the profile's command is decided here, arguments included. What the
agent spawns itself is held by the kernel (`runner.agents.confine`) program by program; a rule about arguments cannot be
held there, so such a rule opens nothing inside.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from runner.agents.isolation import SYSTEM_PATH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.agents.definition import CommandPolicy, CommandRule


#: Where programs keep what they spawn themselves.
_HELPER_FOLDERS = ("/usr/lib", "/usr/libexec", "/usr/local/lib", "/usr/local/libexec", "/opt")


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a spawn is allowed, and by what: a rule, the fallback, or `adapter`, the profile's own command."""

    allowed: bool
    by: str


def decide(policy: CommandPolicy, argv: Sequence[str], *, adapter: str) -> Decision:
    """Whether a command may be spawned; the first rule that fits decides.

    Args:
        policy: The step's.
        argv: Program (a name or an absolute path) and arguments.
        adapter: Program of the step's profile, which is allowed unless a rule denies it.
    """
    for index, rule in enumerate(policy.rules):
        if _fits(rule, argv):
            return Decision(rule.allow, f"rule {index + 1}")
    if _same_program(argv[0], adapter):
        return Decision(True, "adapter")
    return Decision(policy.fallback == "allow", "fallback")


def holds_nothing(policy: CommandPolicy) -> bool:
    """Whether an agent may spawn any program."""
    return policy.fallback == "allow" and all(_by_program(policy).values())


def spawnable(policy: CommandPolicy) -> frozenset[str] | None:
    """Absolute paths of the programs an agent may spawn itself, links followed too; None when it is any.

    With `fallback: allow` and no rule that denies, nothing is held back. With one, everything on the system's path but
    what is denied may be spawned, and what its programs keep elsewhere for themselves: folders stand for all in them.
    """
    if holds_nothing(policy):
        return None
    named = _by_program(policy)
    if policy.fallback == "allow":
        denied = denied_programs(policy)
        own = (part for folder in _HELPER_FOLDERS for part in _without(folder, denied))
        return frozenset(place for place in _everything() if os.path.realpath(place) not in denied) | frozenset(own)
    return frozenset(place for program, is_allowed in named.items() if is_allowed for place in _places(program))


def denied_programs(policy: CommandPolicy) -> frozenset[str]:
    """Absolute paths, links followed, of the programs that rules deny inside, under every name they go by."""
    named = _by_program(policy)
    files = {
        (found.st_dev, found.st_ino)
        for program, is_allowed in named.items()
        if not is_allowed
        for place in _places(program)
        if (found := _stat(place)) is not None
    }
    if not files:
        return frozenset()
    # Also by its name where programs keep helpers: Git lies there once more, as a link to the same file or a copy.
    names = {os.path.basename(program) for program, is_allowed in named.items() if not is_allowed}
    copies = {place for place in _helpers() if os.path.basename(place) in names}
    places = {*_everything(), *_helpers(), *(place for program in named for place in _places(program))}
    return frozenset(
        os.path.realpath(place)
        for place in places
        if place in copies or ((found := _stat(place)) is not None and (found.st_dev, found.st_ino) in files)
    )


def _by_program(policy: CommandPolicy) -> dict[str, bool]:
    named: dict[str, bool] = {}
    for rule in policy.rules:
        # The first rule that fits decides. One about arguments denies the whole program inside, and allows nothing.
        named.setdefault(rule.program, rule.allow and not rule.args_prefix)
    return named


def needed_to_start(program: str) -> frozenset[str]:
    """What has to be spawnable for a program to start at all: itself, the interpreters of its first lines, the loader.

    A script of an npm package often starts the program proper, which lies in the package or in one for this machine
    beside it (Codex, opencode): their folders are named, too.

    Args:
        program: An absolute path.
    """
    found: set[str] = set()
    waiting = [program]
    while waiting:
        place = waiting.pop()
        if place in found or not os.path.exists(place):
            continue
        found |= {place, os.path.realpath(place)}
        with open(place, "rb") as file:
            head = file.read(300)
        if head.startswith(b"#!"):
            found |= _npm_folders(os.path.realpath(place))
            interpreter, *arguments = head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").split()[:3] or [""]
            waiting.append(interpreter)
            if os.path.basename(interpreter) == "env":
                named = [part for part in arguments if not part.startswith("-")]
                waiting += [path for part in named[:1] if (path := shutil.which(part)) is not None]
    loaders = [*Path("/").glob("lib*/ld-*.so*"), *Path("/lib").glob("*-linux-*/ld-*.so*")]
    return frozenset(found | {os.path.realpath(loader) for loader in loaders})


def _npm_folders(script: str) -> set[str]:
    """Folder of the npm package a script belongs to, and of those it names as one for each kind of machine."""
    before, inside, name = script.rpartition("/node_modules/")
    if not inside:
        return set()
    modules = before + inside
    package = modules + "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
    try:
        with open(f"{package}/package.json", "rb") as file:
            described = orjson.loads(file.read())
    except (OSError, orjson.JSONDecodeError):
        return {package}
    others = described.get("optionalDependencies") if isinstance(described, dict) else None
    found = (f"{modules}{other}" for other in others or () if ".." not in other)
    return {package, *(folder for folder in found if os.path.isdir(folder))}


def _fits(rule: CommandRule, argv: Sequence[str]) -> bool:
    return _same_program(rule.program, argv[0]) and tuple(argv[1 : 1 + len(rule.args_prefix)]) == rule.args_prefix


def _same_program(one: str, other: str) -> bool:
    if os.sep in one and os.sep in other:
        return one == other or os.path.realpath(one) == os.path.realpath(other)
    return os.path.basename(one) == os.path.basename(other)


def _places(program: str) -> set[str]:
    found = program if os.path.isabs(program) else shutil.which(program, path=SYSTEM_PATH)
    return {found, os.path.realpath(found)} if found else set()


def _stat(place: str) -> os.stat_result | None:
    try:
        return os.stat(place)
    except OSError:
        return None


def _without(folder: str, denied: frozenset[str]) -> list[str]:
    """A folder, or what is in it but some files."""
    if not any(place.startswith(f"{folder}/") for place in denied):
        return [folder] if os.path.isdir(folder) else []
    found = []
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            found += _without(entry.path, denied)
        elif os.path.realpath(entry.path) not in denied:
            found.append(entry.path)
    return found


@cache
def _helpers() -> frozenset[str]:
    """Programs that programs keep for themselves; looked for once (0.3 s for 50,000 files)."""
    found = set()
    for top in _HELPER_FOLDERS:
        for folder, _, names in os.walk(top):
            found |= {path for name in names if os.access(path := f"{folder}/{name}", os.X_OK)}
    return frozenset(found)


def _everything() -> list[str]:
    found = []
    for folder in dict.fromkeys(os.path.realpath(part) for part in SYSTEM_PATH.split(":")):
        if os.path.isdir(folder):
            found += [entry.path for entry in os.scandir(folder) if entry.is_file()]
    return found
