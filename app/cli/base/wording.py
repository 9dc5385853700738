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
    "rerun_run": "packline rerun",
    "run_pack": "packline run",
    "run_pipeline": "packline run",
    "server": "packline doctor",
}
#: What gives an argument at the command line, for each whose option is not `--` and its name.
_GIVEN_AS: Final = {
    "deadline_seconds": "--deadline",
    "expires_at": "--days",
    "fields": "the secret",
    "grants": "--grant",
    "id": "RUN",
    "inputs": "--input",
    "input": "--input",
    "key": "KEY",
    "name": "NAME",
    "pipeline": "PIPELINE",
    "scopes": "--scope",
    "user_intent": "the request",
    "value": "VALUE",
}


def place_words(issue: Mapping[str, Any]) -> str:
    """Where an issue is: the option and the path inside its value; empty for the whole of what was given."""
    argument, path = issue.get("argument"), list(issue["path"])
    if argument is not None:
        path[0] = _GIVEN_AS.get(argument, f"--{argument.replace('_', '-')}")
    return ".".join(path)


def hint_words(problem: Mapping[str, Any]) -> str:
    """The hint of a problem, an issue, a requirement or the extensions of an error; empty where there is none."""
    parts = problem.get("hintParts")
    if parts is None:
        return ""
    command = COMMANDS.get(parts["operation"])
    if command and (run := problem.get("wrongRun")):
        command += f" {run['id']}"
    return Hint(parts["text"] or "", parts["closest"]).naming(command and f"`{command}`")
