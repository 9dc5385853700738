"""An attempt of an agent step under way: what its phases hand on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from runner.agents.definition import AgentStep
    from runner.agents.profiles import AgentProfile
    from runner.agents.transcript import Transcript
    from runner.running.attempt_context import AttemptContext


@dataclass(slots=True)
class AgentAttempt:
    """An attempt under way.

    Attributes:
        folder: What only this attempt uses; removed at its end.
        workspace: Where the agent works: in that folder, or a session's.
        inputs: Workspace path, content and digest of each input file.
        is_started: Whether a program was started, which may have asked models.
    """

    ctx: AttemptContext
    step: AgentStep
    profile: AgentProfile
    model: str | None
    prompt: str
    folder: Path
    workspace: Path
    transcript: Transcript
    inputs: list[tuple[str, Path | bytes, str]] = field(default_factory=list)
    is_started: bool = False
