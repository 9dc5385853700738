"""What keeps a pack from running here: services, and what else the caller lacks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from runner.issues import hint_of
from runner.packs.needs import Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.issues import Hint
    from runner.packs.needs import Service
    from runner.packs.pack import Pack

RequirementKind = Literal["input", "pack", "credential", "service", "model", "session", "agent_profile", "isolation"]
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
    hint: Hint | None = None

    @classmethod
    def of(cls, kind: RequirementKind, name: str, missing: Missing, steps: tuple[str, ...] = ()) -> Requirement:
        """Something that is known to be missing."""
        return cls(kind, name, steps, missing.message, hint_of(missing.hint))


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


#: Tells what else than services a pack needs and cannot have, such as credentials; without naming a step.
Lacks: TypeAlias = "Callable[[Pack], Iterable[Requirement]]"
PROBES = Probes()


def lacks_nothing(_: Pack) -> Iterable[Requirement]:
    """Nothing else is asked for."""
    return ()


def pack_requirements(pack: Pack, probes: Probes = PROBES, *, lacks: Lacks = lacks_nothing) -> list[Requirement]:
    """What a pack needs that cannot be had here; empty when it can run.

    Args:
        pack: The pack.
        probes: Who asks its services.
        lacks: Lists what else it lacks for the caller.
    """
    services = [of_service(service, (), missing) for service, missing in missing_services(pack, probes)]
    return [*services, *lacks(pack)]


def missing_services(pack: Pack, probes: Probes) -> list[tuple[Service, Missing]]:
    """The services of a pack that cannot be had, and why."""
    answers = [(service, probes.missing(service)) for service in pack.services]
    return [(service, missing) for service, missing in answers if missing is not None]


def of_service(service: Service, steps: tuple[str, ...], missing: Missing) -> Requirement:
    """A missing service as a requirement."""
    return Requirement.of("service", service.name, missing, steps)
