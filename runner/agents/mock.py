"""The mock agent: answers from a script file instead of running a program.

answers:
- when: "draft"                 # a part of the prompt; if absent, any prompt matches
say: "Here is a draft."       # standard output; `${prompt}` stands for the prompt
files: {draft.md: "# Draft"}  # files it writes to the workspace
error_output: ""              # standard error
exit_code: 0
seconds: 0                    # how long it takes
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner.agents.parsing import workspace_path
from runner.agents.workspace import WorkspaceError, put_file, read_file
from runner.failures import FailureCode, PackError
from runner.json_values import DocumentError
from runner.yaml_documents import load_document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: The answer of a profile without a script: the prompt itself.
ECHO = "${prompt}"
_PLACE = re.compile(r"\$\{(?:prompt|file:([^}]{1,500}))\}")
#: Longest file a script may quote, in bytes.
_FILE_BYTES = 1 << 20


class Answer(BaseModel):
    """One answer of a script."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: str | None = Field(None, description="A part of the prompt it answers; any prompt when absent.")
    say: str = Field("", description="Standard output.")
    files: dict[str, str] = Field(default_factory=dict, description="Files it leaves, by workspace path.")
    error_output: str = Field("", description="Standard error.")
    exit_code: int = Field(0, ge=0, le=255, description="Exit code.")
    seconds: float = Field(0, ge=0, le=3600, description="How long it takes.")


class Script(BaseModel):
    """A script file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: tuple[Answer, ...] = Field(description="The first that fits the prompt answers.")


@dataclass(frozen=True, slots=True)
class MockAgent:
    """A script ready to answer.

    Attributes:
        script: The answers.
        text: The script as written; part of the key of cached results.
    """

    script: Script
    text: str = field(repr=False)

    @classmethod
    def load(cls, path: Path | None) -> MockAgent:
        """Load a script, or the one that repeats the prompt; a file is read again only if it has changed.

        Raises:
            PackError: `invalid_input` if it cannot be read.
        """
        if path is None:
            return cls(Script.model_validate({"answers": [{"say": ECHO}]}), ECHO)
        try:
            found = path.stat()
            return _read(path, found.st_mtime_ns, found.st_size)
        except (OSError, UnicodeError, DocumentError, ValidationError) as error:
            raise PackError(
                FailureCode.INVALID_INPUT,
                f"The script {path.name} of the mock agent cannot be used: {error}",
                hint="Correct the file; docs/agent-steps.md shows its form.",
            ) from error

    async def run(self, prompt: str, workspace: Path, on_output: Callable[[str, bytes], None]) -> int:
        """Answer a prompt; returns the exit code.

        Args:
            prompt: The prompt.
            workspace: The folder for its files.
            on_output: Called with the name of the stream and bytes.
        """
        answer = next((one for one in self.script.answers if one.when is None or one.when in prompt), None)
        if answer is None:
            on_output("stderr", b"No answer of the script matches this prompt.\n")
            return 1
        if answer.seconds:
            await asyncio.sleep(answer.seconds)
        for path, content in answer.files.items():
            put_file(workspace, path, _filled(content, prompt, workspace).encode())
        if answer.say:
            on_output("stdout", _filled(answer.say, prompt, workspace).encode())
        if answer.error_output:
            on_output("stderr", answer.error_output.encode())
        return answer.exit_code


@lru_cache(maxsize=32)
def _read(path: Path, changed_ns: int, size: int) -> MockAgent:
    """Read a script; cached until its file changes."""
    text = path.read_text("utf-8")
    return MockAgent(Script.model_validate(load_document(text)), text)


def _filled(text: str, prompt: str, workspace: Path) -> str:
    """Fill the placeholders of a text in one pass: inserted text is not filled again."""

    def content(place: re.Match[str]) -> str:
        path = place.group(1)
        if path is None:
            return prompt
        found = workspace_path(path)
        if found is None:
            raise WorkspaceError(f"`{path}` is not a path inside the workspace.")
        return read_file(workspace, found, limit=_FILE_BYTES).decode("utf-8", "replace")

    return _PLACE.sub(content, text)
