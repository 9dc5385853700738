"""Agent profiles: the agents that agent steps may use on this server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvers.operations import operation
from runner.agents.isolation import weaker
from runner.issues import Hint
from runner.packs.availability import Requirement
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context
    from runner.agents.isolation import Isolation
    from runner.agents.profiles import AgentProfile, Agents


@dataclass(frozen=True, slots=True)
class ListedAgent:
    """A profile, and what this server lacks to use it.

    Attributes:
        isolation: The weakest isolation it accepts, as declared or because it may not use the network; None for any.
    """

    profile: AgentProfile
    isolation: Isolation | None
    missing: tuple[Requirement, ...]


@operation("agent_profiles", scope=Scope.READ, kind="query")
async def list_agent_profiles(context: Context) -> list[ListedAgent]:
    """List every declared profile, by name."""
    agents = context.services.engine.resources.agents
    return [_listed(agents, key) for key in sorted(agents.profiles)]


def find_agent_profile(context: Context, key: str) -> ListedAgent | None:
    agents = context.services.engine.resources.agents
    return _listed(agents, key) if key in agents.profiles else None


def _listed(agents: Agents, key: str) -> ListedAgent:
    profile = agents.profiles[key]
    free = profile.is_mock or (profile.isolation is None and profile.network)
    return ListedAgent(profile, None if free else agents.demanded(None, profile), tuple(_missing(agents, key)))


def _missing(agents: Agents, key: str) -> list[Requirement]:
    profile = agents.profiles[key]
    found = []
    if (lack := agents.missing(profile)) is not None:
        found.append(Requirement.of("agent_profile", key, lack))
    demanded = agents.demanded(None, profile)
    if not profile.is_mock and weaker(agents.isolation, demanded):
        message = f"The agent profile `{key}` needs isolation `{demanded}`; this server offers `{agents.isolation}`."
        found.append(Requirement("isolation", demanded.value, (), message, Hint("Install bubblewrap.")))
    return found
