"""What decides an agent step's result, as one digest, and what is kept under it (CONTRACT 6.8)."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.document import canonical_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.agents.definition import AgentStep
    from runner.agents.profiles import AgentProfile


def result_key(
    step: AgentStep,
    profile: AgentProfile,
    model: str | None,
    prompt: str,
    inputs: Sequence[tuple[str, str]],
    *,
    script: str | None = None,
) -> str:
    """SHA-256 over everything that decides a result, each part framed by its length; hexadecimal.

    What the step lets the agent do is part of it. Neither paths of this machine nor secrets nor transcripts are: of a
    path in the arguments, its last part. A mock's key holds its script, so that it neither replays nor leaves anything
    for a program.

    Args:
        step: The step.
        profile: The profile it works with.
        model: The model.
        prompt: Resolved.
        inputs: Workspace path and digest of each input file.
        script: What a mock answers from.
    """
    argv = profile.argv(model)
    digest = hashlib.sha256()
    allowed = step.document()
    may = {name: allowed.get(name) for name in ("commands", "tools", "isolation")}
    parts = (
        "mock" if profile.is_mock else "program",
        profile.key,
        model or "",
        _framed([os.path.basename(part) if os.path.isabs(part) else part for part in argv]),
        _framed(sorted(profile.capabilities)),
        prompt,
        _framed([text for pair in sorted(inputs) for text in pair]),
        canonical_json({"outputs": list(step.outputs), "stdout_to": step.stdout_to, "schema": step.output_schema}),
        script or "",
        canonical_json(may),
    )
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def _framed(texts: Sequence[str]) -> str:
    return canonical_json([*texts])


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of where a replayed result came from.

    Attributes:
        cache_key: See `result_key`.
        made_at: ISO 8601.
        made_by: The attempt that made it.
    """

    cache_key: str
    made_at: str
    made_by: str
