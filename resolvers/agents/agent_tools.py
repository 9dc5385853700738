"""Which of Packline's own tools an agent step may name, looked up when its pipeline is checked."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Final

import resolvers
from resolvers.operations import OPERATIONS
from runner.agents.definition import AGENT
from runner.issues import did_you_mean, error, shown

if TYPE_CHECKING:
    from runner.definitions.check import Check

#: The tool that is made of no use case, see `app.mcp.tools.query_tool`.
QUERY_TOOL: Final = "graphql_query"


@cache
def tool_names() -> frozenset[str]:
    """Names of the tools there are for agents, whoever asks; without a server, too."""
    for module in walk_packages(resolvers.__path__, "resolvers."):
        import_module(module.name)  # where its use cases are declared
    return frozenset({*filter(None, (one.tool_name for one in OPERATIONS.values())), QUERY_TOOL})


def with_tools_checked(check: Check) -> Check:
    """A check that also knows the tools agent steps name; one there is not is an error."""
    if check.definition is None:
        return check
    known = sorted(tool_names())
    found = [
        error(
            ("steps", str(index), AGENT, "tools", str(position)),
            "unknown_tool",
            f"There is no tool {shown(tool)} of Packline.",
            did_you_mean(tool, known) or "docs/agents.md lists the tools.",
        )
        for index, step in enumerate(check.definition.steps)
        if step.agent is not None
        for position, tool in enumerate(step.agent.tools)
        if tool not in known
    ]
    return replace(check, valid=False, issues=(*check.issues, *found), definition=None) if found else check
