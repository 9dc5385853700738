"""Checks of agent steps for `packline check` when no server answers."""

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
    """Add to a check the tools of agent steps, the profiles declared here, and what only a server can check.

    Args:
        check: The check of one definition.
        settings: This machine's settings, which may differ from the server's: an unknown profile is a warning.
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
            f"Only the server can check whether an agent's program, {needs}its profile and the isolation it demands "
            "are available.",
            "`checkPipeline` and the start of a run check it.",
        )
    )
    checked = with_tools_checked(check)
    return replace(checked, issues=(*checked.issues, *found))


def _profiles(path: tuple[str, ...], agent: AgentStep, settings: Settings) -> list[Issue]:
    """Warnings about profiles of a step that are not declared here."""
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
            f"The settings of this machine declare no agent profile `{name}`.",
            did_you_mean(name, sorted(known)) or f"Declare `[agents.{name}]` in the settings of the server.",
        )
        for name in agent.use.candidates
        if name not in known
    ]
