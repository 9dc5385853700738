"""Results of an agent's program: its answer, the files it proposes, or its failure."""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import orjson

from runner.agents import confine
from runner.agents.listening import ERROR_CHARACTERS
from runner.agents.streams import MAX_LINE
from runner.agents.workspace import WorkspaceError, put_file, take_file
from runner.excerpts import excerpt
from runner.failures import FailureCode, JSONValue, PackError
from runner.files.media_types import media_type_of
from runner.schemas.validation import compile_schema
from store.states import ArtifactStatus

if TYPE_CHECKING:
    from pathlib import Path

    from runner.agents.agent_attempt import AgentAttempt
    from runner.agents.listening import OutputListener
    from runner.packs.context import ArtifactRef

#: Space reserved in a step's output for each artifact, and once for the fields around the answer.
REFERENCE_BYTES = 1_000
#: Length of `text` for an answer that does not fit, and its suffix.
SHORTENED_CHARACTERS, SHORTENED = 100_000, "\n… (shortened)"


def failed(current: AgentAttempt, listener: OutputListener, exit_code: int) -> PackError:
    """Make the failure of a program, with the end of its output."""
    program = current.profile.command[0]
    if exit_code == confine.CANNOT:
        return PackError(FailureCode.POLICY_DENIED, "This kernel cannot enforce the step's `commands`.")
    how = f"ended with exit code {exit_code}" if exit_code >= 0 else f"was ended by signal {-exit_code}"
    reported = listener.reported_failure()
    if exit_code == 0:
        how = "reported a failure"
    said = reported or listener.last_error() or excerpt(listener.answer(), ERROR_CHARACTERS, from_end=True)
    return PackError(
        FailureCode.HANDLER_FAILED,
        f"{program} {how}" + (f": {excerpt(said.splitlines()[-1], 300)}" if said.strip() else "."),
        hint="The transcript of the attempt shows what it did.",
        detail={"exit_code": exit_code, "stderr": said},
    )


def answer_of(current: AgentAttempt, listener: OutputListener) -> tuple[str, JSONValue]:
    """Return the answer as text, and as JSON if the step declares a schema.

    It is complete, or shortened with a mark and a warning if `stdout_to` stores the whole output.

    Raises:
        PackError: `resource_exhausted` if it is larger than a step's output; `invalid_output`.
    """
    step, limit = current.step, current.ctx.resources.limits.step_output_bytes
    text = listener.answer()
    if listener.is_whole or step.output_schema is None:
        data = _answer_data(current, text) if listener.is_whole else None
        room = limit - REFERENCE_BYTES * (1 + len(step.outputs) + (step.stdout_to is not None))
        room -= len(orjson.dumps(data))
        if listener.is_whole and len(text) <= room and len(orjson.dumps(text)) <= room:
            return text, data
        # No character takes more than six bytes of JSON.
        kept = min(SHORTENED_CHARACTERS, (room - len(SHORTENED)) // 6)
        if step.stdout_to is not None and kept > 0:
            beginning = text[:kept]
            current.ctx.warn(
                f"The agent's answer, of {_length(listener)}, does not fit into the step's output: `text` has its "
                f"first {len(beginning):,} characters, `{step.stdout_to}` the whole output."
            )
            return beginning + SHORTENED, data
    remedy = "Ask the agent for less" if step.stdout_to else "Declare `stdout_to`, which stores it as an artifact"
    raise PackError(
        FailureCode.RESOURCE_EXHAUSTED,
        f"The agent's answer has {_length(listener)}; the limit of a step's output is {limit:,} bytes.",
        hint=f"{remedy}, or let it write a file that the step declares in `outputs`.",
    )


def _length(listener: OutputListener) -> str:
    known = f"{listener.answer_length:,} characters"
    if listener.is_whole or listener.answer_length > MAX_LINE:
        return known
    return f"a line of more than {MAX_LINE:,} bytes"


def _answer_data(current: AgentAttempt, text: str) -> JSONValue:
    """Parse the answer as JSON and check it, if the step declares a schema."""
    schema = current.step.output_schema
    if schema is None:
        return None
    try:
        value: JSONValue = orjson.loads(_json_part(text))
    except orjson.JSONDecodeError as error:
        raise PackError(
            FailureCode.INVALID_OUTPUT,
            f"The agent's answer is not the JSON the step declares: {error}.",
            hint="Say in the prompt that the answer is one JSON value and nothing else.",
        ) from error
    issues = compile_schema(schema).issues(value)
    if issues:
        where = ".".join(issues[0].path) or "the top level"
        raise PackError(
            FailureCode.INVALID_OUTPUT,
            f"The agent's answer does not fit `output_schema` at {where}: {issues[0].message}",
        )
    return value


def _json_part(text: str) -> str:
    """Return the JSON of an answer: all of it, or its only fenced block."""
    stripped = text.strip()
    if stripped.count("```") == 2:
        inside = stripped.split("```")[1]
        return inside.removeprefix("json").strip()
    return stripped


async def proposed_artifacts(current: AgentAttempt, listener: OutputListener) -> list[ArtifactRef]:
    """Propose what the step declares: each output, then standard output."""
    ctx, step = current.ctx, current.step
    if listener.spool is not None and step.stdout_to is not None:
        try:
            await asyncio.to_thread(put_file, current.workspace, step.stdout_to, listener.spool)
        except WorkspaceError as error:
            raise PackError(FailureCode.INVALID_OUTPUT, str(error)) from error
    found = []
    for index, path in enumerate(dict.fromkeys((*step.outputs, *((step.stdout_to,) if step.stdout_to else ())))):
        copy = current.folder / "taken" / str(index)
        try:
            await asyncio.to_thread(take_file, current.workspace, path, copy)
        except WorkspaceError as error:
            raise PackError(
                FailureCode.INVALID_OUTPUT,
                f"The declared output is not available: {error}",
                hint="See the transcript, and say in the prompt which file to write.",
            ) from error
        name = PurePosixPath(path).name
        media_type = await asyncio.to_thread(_media_type, copy, name)
        found.append(await ctx.save_artifact(name, copy, media_type, status=ArtifactStatus.PROPOSED))
    return found


def _media_type(file: Path, name: str) -> str:
    with file.open("rb") as content:
        return media_type_of(content.read(4096), name)
