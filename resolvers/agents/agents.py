"""Agent profiles: which command lines agent steps may use here."""

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
    """A profile, and what keeps it from being used here.

    Attributes:
        isolation: The weakest it accepts, since it says so or since it may not reach the network; None for any.
    """

    profile: AgentProfile
    isolation: Isolation | None
    missing: tuple[Requirement, ...]


@operation("agent_profiles", scope=Scope.READ, kind="query")
async def list_agent_profiles(context: Context) -> list[ListedAgent]:
    """Every profile that is declared, by name."""
    agents = context.services.engine.resources.agents
    return [_listed(agents, key) for key in sorted(agents.profiles)]


def find_agent_profile(context: Context, key: str) -> ListedAgent | None:
    """A profile by name; None when it is not declared."""
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
        message = f"The agent profile `{key}` needs isolation `{demanded}`; this machine reaches `{agents.isolation}`."
        found.append(Requirement("isolation", demanded.value, (), message, Hint("Install bubblewrap.")))
    return found
