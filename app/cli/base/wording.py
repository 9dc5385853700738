"""Hints of the server in the words of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from runner.issues import Hint

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The command that does what an operation of the server does, for each that a hint names.
COMMANDS: Final = {
    "callers": "packline token list",
    "credentials": "packline credential list",
    "mcp_servers": "packline packs",
    "memory_entries": "packline memory entries",
    "run_pack": "packline run",
    "run_pipeline": "packline run",
    "server": "packline doctor",
}


def hint_words(problem: Mapping[str, Any]) -> str:
    """The hint of a problem, an issue, a requirement or the extensions of an error; empty where there is none."""
    parts = problem.get("hintParts")
    if parts is None:
        return ""
    command = COMMANDS.get(parts["operation"])
    return Hint(parts["text"] or "", parts["closest"]).naming(command and f"`{command}`")
