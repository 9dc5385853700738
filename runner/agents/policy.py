"""Decides what an agent step may spawn.

For Packline's own spawn of the profile's command, rules apply here, including arguments. For the agent's own spawns,
the kernel applies them (`runner.agents.confine`) by program; it cannot check arguments, so a rule with arguments allows
nothing there.
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


#: Folders of programs that other programs spawn.
_HELPER_FOLDERS = ("/usr/lib", "/usr/libexec", "/usr/local/lib", "/usr/local/libexec", "/opt")


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a spawn is allowed, and by what: a rule, `fallback`, or `adapter`, the profile's own command."""

    allowed: bool
    by: str


def decide(policy: CommandPolicy, argv: Sequence[str], *, adapter: str) -> Decision:
    """Decide whether a command may be spawned; the first rule that matches decides.

    Args:
        policy: The step's policy.
        argv: Program (a name or an absolute path) and arguments.
        adapter: Program of the step's profile, which is allowed unless a rule denies it.
    """
    for index, rule in enumerate(policy.rules):
        if _fits(rule, argv):
            return Decision(rule.allow, f"rule {index + 1}")
    if _same_program(argv[0], adapter):
        return Decision(True, "adapter")
    return Decision(policy.fallback == "allow", "fallback")


def allows_everything(policy: CommandPolicy) -> bool:
    """Whether an agent may spawn any program."""
    return policy.fallback == "allow" and all(_by_program(policy).values())


def spawnable(policy: CommandPolicy) -> frozenset[str] | None:
    """Return the absolute paths of programs an agent may spawn, with and without links; None for any program.

    With `fallback: allow` and no rule that denies, any program. With one that denies, every other program on the
    system's path and in `_HELPER_FOLDERS`; a folder means all programs in it.
    """
    if allows_everything(policy):
        return None
    named = _by_program(policy)
    if policy.fallback == "allow":
        denied = denied_programs(policy)
        own = (part for folder in _HELPER_FOLDERS for part in _without(folder, denied))
        return frozenset(place for place in _everything() if os.path.realpath(place) not in denied) | frozenset(own)
    return frozenset(place for program, is_allowed in named.items() if is_allowed for place in _places(program))


def denied_programs(policy: CommandPolicy) -> frozenset[str]:
    """Return the absolute paths, links followed, of programs that rules deny to the agent, under all their names."""
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
    # Also by name in the helper folders: Git is there, too, as a link to the same file or as a copy.
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
        # The first rule that matches decides. One with arguments denies the whole program to the agent.
        named.setdefault(rule.program, rule.allow and not rule.args_prefix)
    return named


def needed_to_start(program: str) -> frozenset[str]:
    """Return what a program needs to spawn to start: itself, the interpreters in its first lines, the loader.

    A script of an npm package often starts a binary in its package or in a package for this machine next to it (Codex,
    opencode): their folders are included, too.

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
    """Return the folders of a script's npm package and of its packages for kinds of machines."""
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
    """Return a folder, or its contents without denied files."""
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
    """Find the programs in the helper folders; cached (0.3 s for 50,000 files)."""
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
