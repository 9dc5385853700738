"""Preflight: lists everything a definition needs and no living worker has, before its first step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from runner.definitions.step_packs import PackReference, pack_of_step
from runner.issues import Hint, nearest
from runner.packs.availability import (
    LOCAL_CHECK,
    PROBES,
    Probes,
    Requirement,
    RequirementCheck,
    RequirementKind,
    pack_requirements,
)
from runner.packs.registry import REPAIR

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.agents.definition import AgentStep
    from runner.packs.pack import Pack
    from runner.packs.registry import Registry


class KeyedStep(PackReference, Protocol):
    """A step of a preflight, such as one of a compiled definition."""

    @property
    def key(self) -> str:
        """The step's id in the definition."""


class StandaloneStep(NamedTuple):
    """A step outside a compiled definition.

    Attributes:
        key: Its id in the definition.
        pack: Name of its pack.
        version: The required version; None for the newest.
        agent: The fixed settings of an agent step.
    """

    key: str
    pack: str
    version: str | None
    agent: AgentStep | None = None


def preflight(
    steps: Iterable[KeyedStep],
    registry: Registry,
    probes: Probes = PROBES,
    *,
    check: RequirementCheck = LOCAL_CHECK,
) -> list[Requirement]:
    """Return what a definition needs and lacks, each requirement once with all its steps.

    A step lacks nothing that one living worker has, if that worker has all the step needs.

    Args:
        steps: The steps in order.
        registry: The installed packs.
        probes: Checks services.
        check: Judges what a pack lacks for the caller.
    """
    found: dict[tuple[RequirementKind, str], Requirement] = {}

    def need(requirement: Requirement) -> None:
        key = (requirement.kind, requirement.name)
        earlier = found.get(key)
        keys = (earlier.steps if earlier else ()) + requirement.steps
        found[key] = Requirement(
            requirement.kind, requirement.name, tuple(dict.fromkeys(keys)), requirement.message, requirement.hint
        )

    session_left = False
    complete: dict[int, Pack] = {}  # packs that lack nothing, by identity: many steps may call the same
    for step in steps:
        pack = pack_of_step(registry, step)
        if pack is None and step.agent is None and check.fleet.major(step.pack, step.version) is not None:
            session_left = True  # its worker knows whether it leaves one
            continue
        if pack is None:
            need(_missing_pack(step.key, step.pack, step.version, registry))
            continue
        if pack.uses_session and not session_left:
            need(_missing_session(step.key, pack))
        session_left = session_left or pack.preserves_session
        if id(pack) in complete:
            continue
        lacking = [replace(lack, steps=(step.key,)) for lack in pack_requirements(pack, probes, check=check)]
        if not lacking:
            complete[id(pack)] = pack
        for requirement in lacking:
            need(requirement)
    return list(found.values())


def _missing_session(step_key: str, pack: Pack) -> Requirement:
    return Requirement(
        "session",
        pack.name,
        (step_key,),
        f"{pack.name} needs a session, and no earlier step provides one.",
        Hint("Add an earlier step that does, such as repo.fetch."),
    )


def _missing_pack(step_key: str, name: str, version: str | None, registry: Registry) -> Requirement:
    broken = registry.unloaded(name)
    installed = registry.versions(name)
    if installed:
        return Requirement(
            "pack",
            f"{name}@{version}",
            (step_key,),
            f"Version {version} of pack {name} is not installed; installed: {', '.join(installed)}.",
            Hint(broken.message_for(name) if broken else "Use an installed version, or install the missing one."),
        )
    if broken is not None:
        return Requirement("pack", name, (step_key,), broken.message_for(name), Hint(REPAIR))
    near = nearest(name, registry.names())
    hint = Hint(closest=near) if near else Hint("Install the pack, or add its folder to PACKLINE_PACK_PATH.")
    return Requirement("pack", name, (step_key,), f"The pack {name} is not installed.", hint)
