"""The state of a running attempt of an agent step, shared by its phases."""

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
    """A running attempt.

    Attributes:
        folder: The attempt's own folder; removed at its end.
        workspace: The folder the agent works in: inside `folder`, or a session's.
        inputs: Workspace path, content and digest of each input file.
        is_started: Whether a program was started, which may have used models.
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
