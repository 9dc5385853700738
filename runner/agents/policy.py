"""What an agent step may spawn (CONTRACT 6.4): decisions over values.

Two places enforce them. Packline's own spawn of the profile's command is decided here, arguments included. What the
agent spawns itself is held by the kernel (`runner.agents.confine`) program by program; a rule about arguments cannot be
held there, so such a rule opens nothing inside.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.agents.definition import CommandPolicy, CommandRule

#: Where programs are looked up that agents may be allowed to spawn.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


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


def spawnable(policy: CommandPolicy) -> frozenset[str] | None:
    """Absolute paths of the programs an agent may spawn itself, links followed too; None when it is any.

    With `fallback: allow` and no rule that denies, nothing is held back. With one, everything on the system's path but
    what is denied may be spawned.
    """
    named: dict[str, bool] = {}
    for rule in policy.rules:
        # The first rule that fits decides. One about arguments denies the whole program inside, and allows nothing.
        allowed = rule.allow and not rule.args_prefix
        named.setdefault(rule.program, allowed)
    if policy.fallback == "allow" and all(named.values()):
        return None
    allowed_names = [program for program, is_allowed in named.items() if is_allowed]
    if policy.fallback == "allow":
        denied = {place for program, is_allowed in named.items() if not is_allowed for place in _places(program)}
        return frozenset(place for place in _everything() if denied.isdisjoint((place, os.path.realpath(place))))
    return frozenset(place for program in allowed_names for place in _places(program))


def needed_to_start(program: str) -> frozenset[str]:
    """What has to be spawnable for a program to start at all: itself, the interpreters of its first lines, the loader.

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
            interpreter, *arguments = head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").split()[:3] or [""]
            waiting.append(interpreter)
            if os.path.basename(interpreter) == "env":
                named = [part for part in arguments if not part.startswith("-")]
                waiting += [path for part in named[:1] if (path := shutil.which(part)) is not None]
    loaders = [*Path("/").glob("lib*/ld-*.so*"), *Path("/lib").glob("*-linux-*/ld-*.so*")]
    return frozenset(found | {os.path.realpath(loader) for loader in loaders})


def _fits(rule: CommandRule, argv: Sequence[str]) -> bool:
    return _same_program(rule.program, argv[0]) and tuple(argv[1 : 1 + len(rule.args_prefix)]) == rule.args_prefix


def _same_program(one: str, other: str) -> bool:
    if os.sep in one and os.sep in other:
        return one == other or os.path.realpath(one) == os.path.realpath(other)
    return os.path.basename(one) == os.path.basename(other)


def _places(program: str) -> set[str]:
    found = program if os.path.isabs(program) else shutil.which(program, path=SYSTEM_PATH)
    return {found, os.path.realpath(found)} if found else set()


def _everything() -> list[str]:
    found = []
    for folder in dict.fromkeys(os.path.realpath(part) for part in SYSTEM_PATH.split(":")):
        if os.path.isdir(folder):
            found += [entry.path for entry in os.scandir(folder) if entry.is_file()]
    return found
