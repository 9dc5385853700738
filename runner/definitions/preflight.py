"""What keeps a whole definition from running here, found out before step one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from runner.definitions.step_packs import PackReference, pack_of_step
from runner.issues import Hint, nearest
from runner.packs.availability import (
    PROBES,
    Lacks,
    Probes,
    Requirement,
    RequirementKind,
    lacks_nothing,
    missing_services,
    of_service,
)
from runner.packs.registry import REPAIR

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.agents.definition import AgentStep
    from runner.packs.pack import Pack
    from runner.packs.registry import Registry


class KeyedStep(PackReference, Protocol):
    """A step as a preflight takes it; those of a compiled definition are."""

    @property
    def key(self) -> str:
        """Its id in the definition."""


class StandaloneStep(NamedTuple):
    """A step that is no part of a compiled definition.

    Attributes:
        key: Its id in the definition.
        pack: Name of its pack.
        version: The version asked for; None for the newest.
        agent: What is fixed of an agent step.
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
    lacks: Lacks = lacks_nothing,
) -> list[Requirement]:
    """What a definition needs that cannot be had here, each thing once with all the steps that need it.

    Args:
        steps: The steps in their order.
        registry: The packs there are.
        probes: Who asks the services.
        lacks: Lists what else a pack lacks for the caller.
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
    complete: dict[int, Pack] = {}  # that lack nothing, by identity: many steps may call the same
    for step in steps:
        pack = pack_of_step(registry, step)
        if pack is None:
            need(_missing_pack(step.key, step.pack, step.version, registry))
            continue
        if pack.uses_session and not session_left:
            need(_missing_session(step.key, pack))
        session_left = session_left or pack.preserves_session
        if id(pack) in complete:
            continue
        lacking = [of_service(service, (step.key,), missing) for service, missing in missing_services(pack, probes)]
        lacking += [replace(lack, steps=(step.key,)) for lack in lacks(pack)]
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
        f"{pack.name} works in a session, and no earlier step leaves one.",
        Hint("Put a step before it that does, such as repo.fetch."),
    )


def _missing_pack(step_key: str, name: str, version: str | None, registry: Registry) -> Requirement:
    broken = registry.unloaded(name)
    installed = registry.versions(name)
    if installed:
        return Requirement(
            "pack",
            f"{name}@{version}",
            (step_key,),
            f"Pack {name} has no version {version} here; installed: {', '.join(installed)}.",
            Hint(broken.says(name) if broken else "Use an installed version, or install the pack's missing one."),
        )
    if broken is not None:
        return Requirement("pack", name, (step_key,), broken.says(name), Hint(REPAIR))
    near = nearest(name, registry.names())
    hint = Hint(closest=near) if near else Hint("Install the pack, or add its folder to PACKLINE_PACK_PATH.")
    return Requirement("pack", name, (step_key,), f"There is no pack {name} here.", hint)
