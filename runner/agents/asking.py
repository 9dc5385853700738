"""Runs an agent for a pack, with the same confinement, policy and transcript as for an agent step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.agents.definition import AgentStep, Choice, CommandPolicy
from runner.agents.input_output import AgentInput
from runner.agents.profiles import ANY_AGENT
from runner.agents.step import work
from runner.failures import FailureCode, PackError
from runner.packs.context import AgentAnswer
from runner.packs.needs import Missing

if TYPE_CHECKING:
    from runner.running.attempt_context import AttemptContext


async def ask(
    ctx: AttemptContext, prompt: str, *, agent: str | None, model: str | None, may_spawn: bool
) -> AgentAnswer:
    """Implement `runner.packs.context.PackContext.ask_agent`."""
    agents = ctx.resources.agents
    step = AgentStep(
        use=ANY_AGENT.use,
        model=None if model is None else Choice(model),
        workspace="session",
        commands=CommandPolicy("allow" if may_spawn else "deny", declared=True),
        isolation="sandbox",
    )
    selected = agents.select(step, agent)
    if isinstance(selected, Missing):
        raise PackError(FailureCode.INVALID_INPUT, selected.message, field="agent", hint=selected.hint)
    if (missing := agents.missing(agents.profiles[selected.profile])) is not None:
        raise PackError(FailureCode.INVALID_INPUT, missing.message, field="agent", hint=missing.hint)
    output = await work(ctx, replace(step, use=Choice(selected.profile)), selected, AgentInput(prompt=prompt))
    return AgentAnswer(ctx.resources.redactor.text(output.text), str(selected))
