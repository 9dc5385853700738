"""Finds the pack of a step: the one a pack step names, or the one made from an agent step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from runner.agents.pack import agent_pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.agents.definition import AgentStep
    from runner.packs.pack import Pack
    from runner.packs.registry import LoadError


class PackLookup(Protocol):
    """The part of the registry that checks use."""

    def find(self, name: str, version: str | None) -> Pack | None:
        """Find a pack by name and exact or major version; None means the newest."""

    def names(self) -> Sequence[str]:
        """List the names of all packs."""

    def versions(self, name: str) -> Sequence[str]:
        """List the installed versions of a pack, newest first."""

    def unloaded(self, name: str) -> LoadError | None:
        """Find the error of a pack that failed to load."""


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
