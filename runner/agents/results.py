"""What an agent's work comes to: its answer as JSON, the files it proposes, or how it failed."""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import orjson

from runner.agents import confine
from runner.agents.listening import ERROR_CHARACTERS
from runner.agents.workspace import WorkspaceError, put_file, take_file
from runner.failures import FailureCode, JSONValue, PackError
from runner.media_types import media_type_of
from runner.schemas import compile_schema
from store.states import ArtifactStatus

if TYPE_CHECKING:
    from pathlib import Path

    from runner.agents.listening import Listener
    from runner.agents.work import Work
    from runner.pack import ArtifactRef


def failed(current: Work, listener: Listener, exit_code: int) -> PackError:
    """The failure of a program that did not end well, with its last words."""
    program = current.profile.command[0]
    if exit_code == confine.CANNOT:
        return PackError(FailureCode.POLICY_DENIED, "This kernel cannot hold the agent to its `commands`.")
    how = f"ended with exit code {exit_code}" if exit_code >= 0 else f"was ended by signal {-exit_code}"
    said = listener.last_error() or listener.answer()[-ERROR_CHARACTERS:]
    return PackError(
        FailureCode.HANDLER_FAILED,
        f"{program} {how}" + (f": {said.splitlines()[-1][:300]}" if said else "."),
        hint="The transcript of the attempt tells what it did.",
        detail={"exit_code": exit_code, "stderr": said},
    )


def answer_data(current: Work, text: str) -> JSONValue:
    """The answer as JSON when the step declares what it looks like."""
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
        where = ".".join(issues[0].path) or "its top"
        raise PackError(
            FailureCode.INVALID_OUTPUT,
            f"The agent's answer does not fit `output_schema` at {where}: {issues[0].message}",
        )
    return value


def _json_part(text: str) -> str:
    """The JSON of an answer: all of it, or what stands in its only fenced block."""
    stripped = text.strip()
    if stripped.count("```") == 2:
        inside = stripped.split("```")[1]
        return inside.removeprefix("json").strip()
    return stripped


async def proposed_artifacts(current: Work, listener: Listener) -> list[ArtifactRef]:
    """Proposes what the step declares: each output, then standard output."""
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
                f"The declared output cannot be had: {error}",
                hint="Look at the transcript; say in the prompt which file is to be written.",
            ) from error
        name = PurePosixPath(path).name
        media_type = await asyncio.to_thread(_media_type, copy, name)
        found.append(await ctx.save_artifact(name, copy, media_type, status=ArtifactStatus.PROPOSED))
    return found


def _media_type(file: Path, name: str) -> str:
    with file.open("rb") as content:
        return media_type_of(content.read(4096), name)
