"""Cache key of agent steps: a digest of everything that determines a result."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.json_values import canonical_json

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
    files: Sequence[str] = (),
) -> str:
    """Return the SHA-256 of everything that determines a result, each part framed by its length; hexadecimal.

    Includes what the step allows the agent to do; excludes secrets, transcripts and paths of this machine, except for
    the last part of a path in the arguments. A mock's key has its script, so that mocks and programs share no results.

    Args:
        step: The step.
        profile: The selected profile.
        model: The model.
        prompt: The resolved prompt.
        inputs: Workspace path and digest of each input file.
        script: The script of a mock.
        files: Digests of the files the command line names; see `named_digests`.
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
        _framed(files),
    )
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def named_digests(profile: AgentProfile) -> list[str]:
    """Return the SHA-256 of each file that a profile's command line names by absolute path.

    Includes the program only if it is a script: an installed program is part of the key by its name, a file of the
    profile by its content.
    """
    program, *arguments = profile.command
    named = [part for part in arguments if os.path.isabs(part) and os.path.isfile(part)]
    if os.path.isabs(program) and _is_script(program):
        named.insert(0, program)
    found = []
    for path in named:
        with suppress(OSError), open(path, "rb") as file:  # the agent may read what the server cannot
            found.append(hashlib.file_digest(file, "sha256").hexdigest())
    return found


def _is_script(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(2) == b"#!"
    return False


def _framed(texts: Sequence[str]) -> str:
    return canonical_json([*texts])


@dataclass(frozen=True, slots=True)
class Receipt:
    """The origin of a replayed result.

    Attributes:
        cache_key: See `result_key`.
        made_at: ISO 8601.
        made_by: Id of the attempt that produced it.
    """

    cache_key: str
    made_at: str
    made_by: str
