"""What keeps a pack or a whole definition from running here, found out before step one (CONTRACT 2.3)."""

from __future__ import annotations

import difflib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from runner.pack import Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.pack import Pack, Service
    from runner.registry import Registry

RequirementKind = Literal["input", "pack", "credential", "service", "model", "session", "agent", "isolation"]
#: How long a probe's answer holds: installing a program shows up soon, and lists do not probe for each entry.
PROBE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that is needed and missing.

    Attributes:
        kind: What sort of thing.
        name: Which one.
        steps: Keys of the steps that need it, in their order; empty when no definition is involved.
        message: What is missing, one sentence.
        hint: What to do about it.
    """

    kind: RequirementKind
    name: str
    steps: tuple[str, ...]
    message: str
    hint: str | None = None


class Probes:
    """Asks services whether they can be had, and remembers the answers for a while.

    Args:
        clock: Seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answers: dict[Service, tuple[float, Missing | None]] = {}

    def missing(self, service: Service) -> Missing | None:
        """What is missing for a service, or None. A probe that fails itself counts as missing."""
        known = self._answers.get(service)
        now = self._clock()
        if known is not None and now - known[0] < PROBE_SECONDS:
            return known[1]
        try:
            answer = service.probe()
        except Exception as error:
            answer = Missing(f"Whether `{service.name}` is there cannot be told: {error}.", "Look at the pack's probe.")
        self._answers[service] = (now, answer)
        return answer

    def forget(self) -> None:
        """Asks again from now on."""
        self._answers.clear()


#: Tells what else than services a pack needs and cannot have, such as credentials; without naming a step.
Lacks: TypeAlias = "Callable[[Pack], Iterable[Requirement]]"
_probes = Probes()


def _lacks_nothing(_: Pack) -> Iterable[Requirement]:
    return ()


def pack_requirements(pack: Pack, probes: Probes = _probes, *, lacks: Lacks = _lacks_nothing) -> list[Requirement]:
    """What a pack needs that cannot be had here; empty when it can run.

    Args:
        pack: The pack.
        probes: Who asks its services.
        lacks: Tells what else it lacks for whoever asks.
    """
    services = [_of_service(service, (), missing) for service, missing in _missing_services(pack, probes)]
    return [*services, *lacks(pack)]


def preflight(
    steps: Iterable[tuple[str, str, str | None]],
    registry: Registry,
    probes: Probes = _probes,
    *,
    lacks: Lacks = _lacks_nothing,
) -> list[Requirement]:
    """What a definition needs that cannot be had here, each thing once with all the steps that need it.

    Args:
        steps: Key, pack name and version (None for the newest) of each pack step.
        registry: The packs there are.
        probes: Who asks the services.
        lacks: Tells what else a pack lacks for whoever asks.
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
    for step_key, name, version in steps:
        pack = registry.find(name, version)
        if pack is None:
            need(_missing_pack(step_key, name, version, registry))
            continue
        if pack.uses_session and not session_left:
            need(_missing_session(step_key, pack))
        session_left = session_left or pack.preserves_session
        for service, missing in _missing_services(pack, probes):
            need(_of_service(service, (step_key,), missing))
        for lack in lacks(pack):
            need(replace(lack, steps=(step_key,)))
    return list(found.values())


def _missing_services(pack: Pack, probes: Probes) -> list[tuple[Service, Missing]]:
    answers = [(service, probes.missing(service)) for service in pack.services]
    return [(service, missing) for service, missing in answers if missing is not None]


def _of_service(service: Service, steps: tuple[str, ...], missing: Missing) -> Requirement:
    return Requirement("service", service.name, steps, missing.message, missing.hint)


def _missing_session(step_key: str, pack: Pack) -> Requirement:
    return Requirement(
        "session",
        pack.name,
        (step_key,),
        f"{pack.name} works in a session, and no earlier step leaves one.",
        "Put a step before it that does, such as repo.fetch.",
    )


def _missing_pack(step_key: str, name: str, version: str | None, registry: Registry) -> Requirement:
    installed = registry.versions(name)
    if installed:
        return Requirement(
            "pack",
            f"{name}@{version}",
            (step_key,),
            f"Pack {name} has no version {version} here; installed: {', '.join(installed)}.",
            "Use an installed version, or install the pack's missing one.",
        )
    near = difflib.get_close_matches(name, registry.names(), n=1)
    hint = f"Did you mean `{near[0]}`?" if near else "Install the pack, or add its folder to PACKLINE_PACK_PATH."
    return Requirement("pack", name, (step_key,), f"There is no pack {name} here.", hint)
