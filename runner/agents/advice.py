"""What is questionable about an agent step, for checks and `packline doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.issues import Issue, warning

if TYPE_CHECKING:
    from runner.agents.definition import AgentStep


def advice(step: AgentStep, *, has_timeout: bool, is_read_later: bool) -> list[Issue]:
    """Warnings about a step, with paths below its `agent` block.

    Args:
        step: The step.
        has_timeout: Whether it says how long it may take.
        is_read_later: Whether a later step that is no agent's reads what it makes, and so vouches for it.
    """
    found = []
    makes = bool(step.outputs) or step.stdout_to is not None or step.workspace == "session"
    if not makes and step.output_schema is None:
        found.append(
            warning(
                ("outputs",),
                "no_declared_output",
                "The step declares nothing that it makes, so nothing tells whether the agent did its work.",
                "Declare `outputs`, `stdout_to` or `output_schema`.",
            )
        )
    elif not is_read_later:
        found.append(
            warning(
                (),
                "nothing_verifies",
                "No later step that is not an agent's reads what the agent makes: it stays proposed.",
                "Let a pack step read it, such as a check or a render.",
            )
        )
    if step.tools and step.isolation == "sandbox_offline":
        found.append(
            warning(
                ("tools",),
                "tools_without_network",
                "The step declares `tools` and demands `sandbox_offline`: without a network they cannot be called.",
                "Leave `tools` out, or accept `sandbox`.",
            )
        )
    if not has_timeout:
        found.append(
            warning(
                ("timeout_seconds",),
                "no_timeout",
                "The step says no `timeout_seconds`: the profile's own holds, which may be long.",
                "Say how long the agent may take.",
            )
        )
    if any(rule.args_prefix for rule in step.commands.rules):
        found.append(
            warning(
                ("commands", "rules"),
                "arguments_not_enforced_inside",
                "Rules with `args_prefix` hold for what Packline spawns; the agent itself may not spawn such a program "
                "at all, since the kernel sees programs, not arguments.",
                "Allow the program without `args_prefix` if the agent needs it.",
            )
        )
    return found
