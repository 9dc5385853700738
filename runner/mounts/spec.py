"""The configuration of an MCP server."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEY = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")
#: What a tool changes outside, as the operator declares it; the server's own annotations are not trusted.
ToolEffects = Literal["none", "idempotent", "external"]


class MountSpecError(ValueError):
    """The configuration of a mount is invalid; the message names the server, the field and the remedy."""


@dataclass(frozen=True, slots=True)
class SecretRef:
    """A reference to a field of a credential in the vault."""

    credential: str
    field: str


@dataclass(frozen=True, slots=True)
class MountSpec:
    """One MCP server.

    Attributes:
        key: Part of its packs' names.
        command: Program and arguments of a stdio server; the program is an absolute path once `checked`.
        url: Address of a Streamable HTTP server; exactly one of the two is set.
        env: Environment of a stdio server, in addition to PATH, LANG and a separate HOME.
        secret_env: Further variables, with values from the vault.
        bearer: Token sent to an HTTP server.
        effects: What tools change outside, by tool name; `external` for all others.
        tools: Names of the tools to mount; all when None.
        call_seconds: Timeout of a call.
        start_seconds: Timeout of a connection attempt.
        concurrency: Maximum number of concurrent calls.
        problem: Why it cannot be started with this configuration; None when it can.
    """

    key: str
    command: tuple[str, ...] = ()
    url: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    secret_env: Mapping[str, SecretRef] = field(default_factory=dict)
    bearer: SecretRef | None = None
    effects: Mapping[str, ToolEffects] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    call_seconds: float = 60.0
    start_seconds: float = 30.0
    concurrency: int = 8
    problem: str | None = None

    @property
    def transport(self) -> Literal["stdio", "http"]:
        return "stdio" if self.command else "http"


def checked_command(key: str, command: Sequence[str], allowed: Sequence[str]) -> tuple[str, ...]:
    """Check that a server's program is allowed; return the command with the program's absolute path.

    Args:
        key: The server, for messages.
        command: Program and arguments.
        allowed: Allowed programs: names, found on PATH, or absolute paths.

    Raises:
        MountSpecError: the program is not allowed, or does not exist.
    """
    program = command[0]
    name = Path(program).name if os.path.isabs(program) else program
    if os.sep in program and not os.path.isabs(program):
        raise MountSpecError(f"MCP server `{key}`: `{program}` is a relative path; give an absolute one.")
    found = program if os.path.isabs(program) else shutil.which(program)
    places = {entry if os.path.isabs(entry) else shutil.which(entry) for entry in allowed}
    if name not in allowed and found not in places:
        raise MountSpecError(
            f"MCP server `{key}`: `{program}` is not an allowed program "
            f"({', '.join(allowed) or 'none'}). Add it to PACKLINE_MCP_COMMANDS."
        )
    if os.path.isabs(program) and program not in allowed and found not in places:
        raise MountSpecError(
            f"MCP server `{key}`: `{program}` is not the `{name}` that PACKLINE_MCP_COMMANDS allows; "
            "add the path itself."
        )
    if found is None or not os.access(found, os.X_OK):
        raise MountSpecError(
            f"MCP server `{key}`: there is no program `{program}` here. Install it or correct the path."
        )
    return (found, *command[1:])
