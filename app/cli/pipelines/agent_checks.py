"""What `packline check` can say of agent steps without a server, and what it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from resolvers.agents.agent_tools import with_tools_checked
from runner.agents.definition import AGENT
from runner.issues import Issue, did_you_mean, warning

if TYPE_CHECKING:
    from app.settings.server import Settings
    from runner.agents.definition import AgentStep
    from runner.definitions.check import Check


def with_agents_checked(check: Check, settings: Settings) -> Check:
    """A check that also knows Packline's tools and the profiles declared here, and says what only a server knows.

    Args:
        check: Of one definition.
        settings: Those of this machine, which need not be the server's: a profile they do not have is a warning.
    """
    steps = {} if check.definition is None else dict(enumerate(check.definition.steps))
    agents = {index: step.agent for index, step in steps.items() if step.agent is not None}
    if not agents:
        return check
    found = [
        issue for index, agent in agents.items() for issue in _profiles(("steps", str(index), AGENT), agent, settings)
    ]
    first = min(agents)
    credentials = sorted({ref for agent in agents.values() for _, ref in agent.credentials})
    needs = f"its credentials ({', '.join(credentials)}), " if credentials else ""
    found.append(
        warning(
            ("steps", str(first), AGENT),
            "not_checked_here",
            f"Whether an agent's program, {needs}its profile and the isolation it demands are there is known to the "
            "server alone.",
            "`checkPipeline` and the start of a run check it.",
        )
    )
    checked = with_tools_checked(check)
    return replace(checked, issues=(*checked.issues, *found))


def _profiles(path: tuple[str, ...], agent: AgentStep, settings: Settings) -> list[Issue]:
    """Warnings of profiles a step may choose that are not declared here."""
    from app.settings.agents import agents_of

    known = agents_of(
        settings.agents,
        folder=settings.data_dir / "agents",
        output_bytes=settings.agent_output_bytes,
        workspace_bytes=settings.agent_workspace_bytes,
    ).profiles
    return [
        warning(
            (*path, "use"),
            "unknown_profile",
            f"The settings here declare no agent profile `{name}`.",
            did_you_mean(name, sorted(known)) or f"Declare `[agents.{name}]` where the server runs, if it is not.",
        )
        for name in agent.use.candidates
        if name not in known
    ]
