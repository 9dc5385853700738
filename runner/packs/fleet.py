"""What the living workers of a shared database offer, so that any server accepts what one of them can execute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.runs.needs import MACHINE, as_need, needs_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from collections.abc import Set as AbstractSet

    from runner.packs.pack import Pack
    from runner.packs.registry import Registry

_PACK = "pack:"
#: Need of packs that use any agent profile.
ANY_AGENT_NEED = "agent"


def pack_needs(pack: Pack) -> frozenset[str]:
    """Return what a pack declares that a worker may lack, as `store.runs.needs` writes it."""
    services = (as_need(service.name) for service in pack.services)
    models = (model_need(need.role) for need in pack.models if need.required)
    return frozenset((*services, *models, *((ANY_AGENT_NEED,) if pack.uses_agent else ())))


def model_need(role: str) -> str:
    """Return the need of a model that serves a role."""
    return f"model:{role}"


def agent_need(profile: str) -> str:
    """Return the need of an agent profile."""
    return f"agent:{profile}"


def machine_need(machine: str) -> str:
    """Return the need of the machine that has a session."""
    return as_need(f"{MACHINE}{machine}")


def step_needs(pack: Pack, registry: Registry) -> frozenset[str]:
    """Return what a step that calls a registered pack needs, as its run records it.

    Packs that ship with Packline are not needs themselves: every worker has them.
    """
    needs = pack_needs(pack)
    if not registry.ships(pack):
        needs |= {need_of_pack(pack.name, pack.version)}
    return needs


def need_of_pack(name: str, version: str) -> str:
    """Return the need of a pack itself, by its major version."""
    return f"{_PACK}{name}@{version.split('.', 1)[0]}"


def worker_with(needs: AbstractSet[str]) -> str:
    """Return which worker these needs ask for, such as `a worker with chromium`."""
    machines = [need.removeprefix(MACHINE) for need in needs if need.startswith(MACHINE)]
    named = [
        f"pack {need.removeprefix(_PACK)}" if need.startswith(_PACK) else need
        for need in named_needs(needs)
        if not need.startswith(MACHINE)
    ]
    having = f" with {', '.join(named)}" if named else ""
    return f"a worker{having}{f' on {machines[0]}' if machines else ''}"


def named_needs(needs: Collection[str]) -> list[str]:
    """Return the needs to name to people, sorted; packs only if no other need but a machine is there.

    A worker does not offer a pack that lacks something on its machine.
    """
    others = any(not need.startswith((MACHINE, _PACK)) for need in needs)
    return sorted(need for need in needs if not (others and need.startswith(_PACK)))


class Fleet:
    """What the living workers that take runs offer, as last read from the store; nothing with the embedded database.

    Attributes:
        offers: What each of them offers.
        is_empty: Whether there is none.
    """

    def __init__(self) -> None:
        self.offers: tuple[AbstractSet[str], ...] = ()
        self.is_empty = False

    def update(self, offers: Iterable[AbstractSet[str]]) -> None:
        """Replace what is known."""
        self.offers = tuple(offers)
        self.is_empty = not self.offers

    def serves(self, needs: AbstractSet[str]) -> bool:
        """Return whether one living worker offers all of these needs."""
        return any(needs <= offers for offers in self.offers)

    def lacked(self, recorded: str) -> AbstractSet[str]:
        """Return what `missing` does of the needs of a run, as recorded; empty before anything is known."""
        return self.missing(needs_of(recorded)) if self.offers else frozenset()

    def missing(self, needs: AbstractSet[str]) -> AbstractSet[str]:
        """Return which of these needs no living worker offers; all if each is offered, but not by one worker.

        Empty if a worker serves them all.
        """
        if self.serves(needs):
            return frozenset()
        return frozenset(needs).difference(*self.offers) or needs

    def major(self, pack: str, version: str | None) -> str | None:
        """Return the newest major version of a pack that a living worker has, or that of `version` if one has it."""
        found = {need for offers in self.offers for need in offers if need.startswith(f"{_PACK}{pack}@")}
        majors = sorted((int(need.rpartition("@")[2]) for need in found), reverse=True)
        wanted = None if version is None else version.split(".", 1)[0]
        return next((str(major) for major in majors if wanted in (None, str(major))), None)
