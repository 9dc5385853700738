"""Finds out what a pack needs and lacks on this server: services, and requirements of the caller."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from runner.excerpts import excerpt, plain_text
from runner.issues import Hint, hint_of
from runner.json_values import text_problem
from runner.packs.fleet import Fleet, named_needs, pack_needs
from runner.packs.needs import Missing, ServiceAddress, WorkerLabel
from runner.processes.pack_modules import package_of
from runner.tracebacks import in_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from collections.abc import Set as AbstractSet

    from runner.packs.needs import Service
    from runner.packs.pack import Pack

RequirementKind = Literal["input", "pack", "credential", "service", "model", "session", "agent_profile", "isolation"]
#: How long a probe's answer is cached: lists do not probe for each entry, and a new program still shows soon.
PROBE_SECONDS = 30.0
_PROBE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Requirement:
    """A missing requirement.

    Attributes:
        kind: Its kind.
        name: Its name.
        steps: Keys of the steps that need it, in order; empty without a definition.
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
        """Make a requirement from a `Missing`."""
        return cls(kind, name, steps, missing.message, hint_of(missing.hint))


class Probes:
    """Probes services and caches the answers for `PROBE_SECONDS`.

    Args:
        clock: Seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answers: dict[Service, tuple[float, Missing | None]] = {}

    def missing(self, service: Service) -> Missing | None:
        """Return why a service is not available; None if it is. A probe that raises counts as missing."""
        known = self._answers.get(service)
        now = self._clock()
        if known is not None and now - known[0] < PROBE_SECONDS:
            return known[1]
        try:
            answer = service.probe()
            if not _is_answer(answer):
                answer = _broken(service, f"returned {answer!r}, not a `Missing` or None")
        except BaseException as error:  # the pack's code may raise anything, also SystemExit
            package = package_of(service.probe.__module__ or "")
            answer = _broken(service, f"failed: {in_one_line(error, package)}")
        self._answers[service] = (now, answer)
        return answer


def _is_answer(answer: object) -> bool:
    """Whether a probe, which is the pack's code, returned what lists can show."""
    if answer is None:
        return True
    texts = (answer.message, answer.hint) if isinstance(answer, Missing) else (None,)
    return all(isinstance(text, str) and text_problem(text) is None for text in texts)


def _broken(service: Service, what: str) -> Missing:
    text = excerpt(plain_text(what), _PROBE_CHARACTERS)
    return Missing(f"The probe of `{service.name}` {text}.", "Check the probe in the pack.")


PROBES = Probes()
#: What a run's caller has to supply, on whatever machine the run is executed.
_OF_CALLER = frozenset({"credential"})
#: What needs with these prefixes ask for; the others are services and labels (see `store.runs.needs`).
_KINDS: dict[str, RequirementKind] = {"model": "model", "agent": "agent_profile", "pack": "pack"}


def lacks_nothing(_: Pack) -> Iterable[Requirement]:
    """Return no requirements, for checks without a caller."""
    return ()


@dataclass(frozen=True, slots=True)
class RequirementCheck:
    """Finds the requirements that packs lack; without arguments, on this machine only, and without a caller.

    Attributes:
        of: Lists what a pack lacks on this server besides services, such as credentials; does not name a step.
        fleet: What the living workers offer, this one among them if it executes runs.
        needs: Returns what a pack needs of a worker; None if no other worker can help.
        executes: Whether this process executes runs, so that a pack that lacks nothing here can run.
    """

    of: Callable[[Pack], Iterable[Requirement]] = lacks_nothing
    fleet: Fleet = field(default_factory=Fleet)
    needs: Callable[[Pack], AbstractSet[str] | None] = pack_needs
    executes: bool = True

    def on_all_workers(self, pack: Pack, here: list[Requirement]) -> list[Requirement]:
        """Return what a pack lacks on all living workers, given what it lacks here."""
        if (self.executes and not here) or (needs := self.needs(pack)) is None:
            return here
        if self.executes and not self.fleet.serves(needs):
            return here
        of_caller = [lack for lack in here if lack.kind in _OF_CALLER]
        # While no worker is alive there is nothing to judge by: the run waits for one.
        lacked = self.fleet.missing(needs) if self.fleet.offers else ()
        return [*of_caller, *map(_offered_by_none, named_needs(lacked))]


def _offered_by_none(need: str) -> Requirement:
    prefix, _, name = need.partition(":")
    kind = _KINDS.get(prefix)
    return Requirement(
        kind or "service",
        name if kind is not None and name else need,
        (),
        f"No living worker offers `{need}`.",
        Hint("Start a worker on a machine that has it. `packline workers` lists what is alive."),
    )


LOCAL_CHECK = RequirementCheck()


def pack_requirements(
    pack: Pack, probes: Probes = PROBES, *, check: RequirementCheck = LOCAL_CHECK
) -> list[Requirement]:
    """Return what a pack needs and lacks on this server and on all living workers; empty if it can run.

    Args:
        pack: The pack.
        probes: Checks its services.
        check: Judges what else it lacks for the caller.
    """
    services = [of_service(service, (), missing) for service, missing in missing_services(pack, probes)]
    return check.on_all_workers(pack, [*services, *check.of(pack)])


def missing_services(pack: Pack, probes: Probes) -> list[tuple[Service, Missing]]:
    """Return the missing services of a pack, and why."""
    answers = [(service, probes.missing(service)) for service in pack.services]
    return [(service, missing) for service, missing in answers if missing is not None]


def missing_settings(pack: Pack, addresses: Container[str], labels: Container[str]) -> list[Requirement]:
    """Return the services of a pack whose address is not set, and the labels that this server does not have.

    Args:
        pack: The pack.
        addresses: Names of the services that have an address.
        labels: Labels of this server.
    """
    found = []
    for service in pack.services:
        if isinstance(service, ServiceAddress) and service.name not in addresses:
            found.append(of_service(service, (), service.not_set()))
        elif isinstance(service, WorkerLabel) and service.name not in labels:
            found.append(of_service(service, (), service.not_given()))
    return found


def of_service(service: Service, steps: tuple[str, ...], missing: Missing) -> Requirement:
    """Make a requirement from a missing service."""
    return Requirement.of("service", service.name, missing, steps)
