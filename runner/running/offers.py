"""What steps need of a worker, and what this worker offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from runner.agents.definition import AGENT
from runner.agents.profiles import Selection
from runner.packs.fleet import ANY_AGENT_NEED, agent_need, machine_need, need_of_pack, pack_needs, step_needs
from store.runs.needs import needs_of, needs_text

if TYPE_CHECKING:
    from runner.packs.registry import Registry
    from runner.running.resources import Resources


class StepNeeds(NamedTuple):
    """What a step needs of a worker, apart from the machine of its session.

    Attributes:
        uses_session: Whether its pack works in a session; false if the pack is not installed here.
    """

    needs: frozenset[str]
    uses_session: bool


class PackNeeds:
    """Finds what steps need by pack and version, as a run records them."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._revision = -1
        self._known: dict[tuple[str, str], StepNeeds] = {}

    def of(self, pack: str, version: str) -> StepNeeds:
        """Return what a step needs; of a pack that is not installed here, only the pack."""
        if self._revision != self._registry.revision:
            self._revision = self._registry.revision
            self._known.clear()
        if (known := self._known.get((pack, version))) is None:
            known = self._known[pack, version] = self._find(pack, version)
        return known

    def _find(self, name: str, version: str) -> StepNeeds:
        if name == AGENT:  # whether it uses a session is in its definition
            return StepNeeds(frozenset({agent_need(Selection.parse(version).profile)}), uses_session=False)
        pack = self._registry.find(name, version) or self._registry.find(name, version.split(".", 1)[0])
        if pack is None:
            return StepNeeds(frozenset({need_of_pack(name, version)}), uses_session=False)
        return StepNeeds(step_needs(pack, self._registry), pack.uses_session)


class WorkerOffers:
    """What this worker offers; empty until `refresh`.

    Attributes:
        matter: Whether other workers may share the database; without them, what a step needs is not recorded.
        now: What it offers.
        text: The same, as the store keeps it.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self.matter = resources.store.shared
        self.now: frozenset[str] = frozenset()
        self.text = ""

    def refresh(self) -> None:
        """Ask the probes again, whose answers are cached for half a minute."""
        if not self.matter:
            return
        resources = self._resources
        packs = resources.registry.packs()
        found = {machine_need(resources.store.machine), *resources.labels}
        found.update(agent_need(profile) for profile in resources.agents.usable())
        if not resources.agents.lacks_any():
            found.add(ANY_AGENT_NEED)
        for pack in packs:
            found |= resources.offered_by(pack)
        # A pack that lacks something is not offered: who knows only its name, and not what it needs, relies on that.
        found.update(need_of_pack(pack.name, pack.version) for pack in packs if pack_needs(pack) <= found)
        self.text = needs_text(found)
        self.now = needs_of(self.text)
