"""Checks that the Packline tools an agent step names exist, when its pipeline is checked."""

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

#: The one tool without a use case, see `app.mcp.tools.query_tool`.
QUERY_TOOL: Final = "graphql_query"


@cache
def tool_names() -> frozenset[str]:
    """Return the names of all tools; works without a server."""
    for module in walk_packages(resolvers.__path__, "resolvers."):
        import_module(module.name)  # declares its use cases
    return frozenset({*filter(None, (one.tool_name for one in OPERATIONS.values())), QUERY_TOOL})


def with_tools_checked(check: Check) -> Check:
    """Add an error to a check for each unknown tool that an agent step names."""
    if check.definition is None:
        return check
    known = sorted(tool_names())
    found = [
        error(
            ("steps", str(index), AGENT, "tools", str(position)),
            "unknown_tool",
            f"Packline has no tool {shown(tool)}.",
            did_you_mean(tool, known) or "docs/agents.md lists the tools.",
        )
        for index, step in enumerate(check.definition.steps)
        if step.agent is not None
        for position, tool in enumerate(step.agent.tools)
        if tool not in known
    ]
    return replace(check, valid=False, issues=(*check.issues, *found), definition=None) if found else check
