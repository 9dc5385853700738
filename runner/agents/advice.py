"""Warnings about agent steps, for checks and `packline doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.issues import Issue, warning

if TYPE_CHECKING:
    from runner.agents.definition import AgentStep


def advice(step: AgentStep, *, has_timeout: bool, is_read_later: bool) -> list[Issue]:
    """Return warnings about a step, with paths below its `agent` block.

    Args:
        step: The step.
        has_timeout: Whether it sets `timeout_seconds`.
        is_read_later: Whether a later pack step reads its outputs and so verifies them.
    """
    found = []
    makes = bool(step.outputs) or step.stdout_to is not None or step.workspace == "session"
    if not makes and step.output_schema is None:
        found.append(
            warning(
                ("outputs",),
                "no_declared_output",
                "The step declares no output, so nothing shows whether the agent did its work.",
                "Declare `outputs`, `stdout_to` or `output_schema`.",
            )
        )
    elif not is_read_later:
        found.append(
            warning(
                (),
                "nothing_verifies",
                "No later pack step reads the agent's outputs, so they stay proposed.",
                "Let a pack step read them, such as a check or a render.",
            )
        )
    if step.tools and step.isolation == "sandbox_offline":
        found.append(
            warning(
                ("tools",),
                "tools_without_network",
                "The step declares `tools` and requires `sandbox_offline`, but tools need a network.",
                "Leave `tools` out, or accept `sandbox`.",
            )
        )
    if not has_timeout:
        found.append(
            warning(
                ("timeout_seconds",),
                "no_timeout",
                "The step has no `timeout_seconds`, so the profile's applies, which may be long.",
                "Set `timeout_seconds`.",
            )
        )
    if any(rule.args_prefix for rule in step.commands.rules):
        found.append(
            warning(
                ("commands", "rules"),
                "arguments_not_enforced_inside",
                "Rules with `args_prefix` apply to what Packline spawns. The agent itself cannot spawn such a program "
                "at all, since the kernel checks programs, not arguments.",
                "Allow the program without `args_prefix` if the agent needs it.",
            )
        )
    return found
