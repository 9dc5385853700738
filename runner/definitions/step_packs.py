"""Finds the pack of a step: the one a pack step names, or the one made from an agent step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from runner.agents.pack import agent_pack

if TYPE_CHECKING:
    from runner.agents.definition import AgentStep
    from runner.definitions.inputs import PackLookup
    from runner.packs.pack import Pack


class PackReference(Protocol):
    """The fields of a step that determine its pack."""

    @property
    def pack(self) -> str:
        """Name of the pack."""

    @property
    def version(self) -> str | None:
        """The required version."""

    @property
    def agent(self) -> AgentStep | None:
        """The fixed settings of an agent step."""


def pack_of_step(packs: PackLookup, step: PackReference) -> Pack | None:
    """Find the pack of a step; None if it is not installed."""
    return packs.find(step.pack, step.version) if step.agent is None else agent_pack(step.agent)
