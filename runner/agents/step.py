"""Runs one attempt of an agent step: a row of phases over one `AgentAttempt`, which always close its transcript.

The program gets its prompt on standard input, only the environment that profile and step declare, its own folder and
its confinement. No process outlives the attempt.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

from runner.agents.agent_attempt import AgentAttempt
from runner.agents.behaviour import Behaviour
from runner.agents.caching import named_digests, result_key
from runner.agents.input_output import AgentFile, AgentOutput
from runner.agents.listening import OutputListener
from runner.agents.mock import MockAgent
from runner.agents.parsing import workspace_path
from runner.agents.policy import decide
from runner.agents.profiles import Selection, find_program
from runner.agents.replaying import cache_result, replayed_result
from runner.agents.results import answer_of, failed, proposed_artifacts
from runner.agents.spawning import spawn
from runner.agents.transcript import Transcript
from runner.agents.workspace import WorkspaceError, is_full, put_file, remove_folder
from runner.failures import FailureCode, JSONValue, PackError

if TYPE_CHECKING:
    from pathlib import Path

    from runner.agents.definition import AgentStep
    from runner.agents.input_output import AgentInput
    from runner.packs.context import ArtifactRef
    from runner.running.attempt_context import AttemptContext


async def work(ctx: AttemptContext, step: AgentStep, selection: Selection | None, input: AgentInput) -> AgentOutput:
    """Run an agent step.

    Raises:
        PackError: `policy_denied`, `invalid_input`, `credential_invalid`, `handler_failed`, `invalid_output`,
            `resource_exhausted`, `not_found`.
    """
    assert selection is not None, "selected when the run started"
    agents = ctx.resources.agents
    profile = agents.profiles.get(selection.profile)
    if profile is None:
        raise PackError(
            FailureCode.SCHEMA_MISMATCH,
            f"The agent profile `{selection.profile}` of this run is no longer declared.",
            hint="Declare it again, or run again with another.",
        )
    folder = agents.folder / ctx.attempt_id
    session = (ctx.session_left or ctx.session) if step.workspace == "session" else None
    if step.workspace == "session" and session is None:
        raise PackError(FailureCode.SESSION_UNAVAILABLE, "No earlier step provides a session.")
    current = AgentAttempt(
        ctx=ctx,
        step=step,
        profile=profile,
        model=selection.model,
        prompt=input.prompt,
        folder=folder,
        workspace=folder / "workspace" if session is None else session.path,
        transcript=Transcript(
            ctx.resources.store,
            ctx.resources.redactor,
            ctx.attempt_id,
            keep_bytes=ctx.resources.limits.transcript_bytes,
        ),
    )
    try:
        return await _replayed_or_made(current, input)
    except OSError as error:
        if not is_full(error):
            raise
        raise PackError(
            FailureCode.RESOURCE_EXHAUSTED,
            f"The disk of the server is full: files of the agent could not be written ({error.strerror}).",
            hint="Free disk space on the server, then resume the run.",
        ) from error
    finally:
        if folder.exists():  # a replayed result has none
            await asyncio.to_thread(remove_folder, folder)
        await current.transcript.close()  # last, since on a full disk only now there may be space for it


async def _replayed_or_made(current: AgentAttempt, input: AgentInput) -> AgentOutput:
    """Replay a cached result, or run the phases of the attempt."""
    ctx, step, profile = current.ctx, current.step, current.profile
    current.inputs = [await _input_file(ctx, entry) for entry in input.inputs]
    script = MockAgent.load(profile.script) if profile.is_mock else None
    key = result_key(
        step,
        profile,
        current.model,
        current.prompt,
        [(path, digest) for path, _, digest in current.inputs],
        script=None if script is None else script.text,
        files=await asyncio.to_thread(named_digests, profile) if step.cache else (),
    )
    if step.cache and not ctx.force and (replayed := await replayed_result(current, key)) is not None:
        return replayed
    await asyncio.to_thread(_make_folders, current)
    behaviour = await asyncio.to_thread(Behaviour.of, profile)
    current.transcript.add("prompt", current.prompt, _prompt_data(current, behaviour))
    output = await _perform(current, script)
    if step.cache:
        await cache_result(current, key, output)
    return output


def _make_folders(current: AgentAttempt) -> None:
    current.folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    (current.folder / "home").mkdir(mode=0o700, exist_ok=True)
    (current.folder / "taken").mkdir(mode=0o700, exist_ok=True)
    if current.workspace.parent == current.folder:
        current.workspace.mkdir(mode=0o700, exist_ok=True)


def _prompt_data(current: AgentAttempt, behaviour: Behaviour) -> JSONValue:
    """Return the data of the prompt's entry: the agent and what it may do."""
    policy, agents = current.step.commands, current.ctx.resources.agents
    return {
        "profile": current.profile.key,
        "model": current.model,
        # The attempt has it, too, but only once it has ended.
        "isolation": None if current.profile.is_mock else agents.level(current.step, current.profile).value,
        "behaviour": behaviour.to_json(),
        "inputs": [path for path, _, _ in current.inputs],
        "commands": current.step.document().get("commands", f"{policy.fallback} by default"),
    }


async def _input_file(ctx: AttemptContext, entry: AgentFile | ArtifactRef | str) -> tuple[str, Path | bytes, str]:
    """Return the workspace path, content and digest of an input file."""
    wanted = entry if isinstance(entry, AgentFile) else AgentFile(path=None, artifact=entry, text=None)
    if (wanted.artifact is None) == (wanted.text is None):
        raise PackError(
            FailureCode.INVALID_INPUT, "An input file needs either an `artifact` or a `text`.", field="inputs"
        )
    content: Path | bytes
    if wanted.artifact is None:
        content, name = str(wanted.text).encode(), ""
        digest = hashlib.sha256(content).hexdigest()
    else:
        artifact_id = wanted.artifact if isinstance(wanted.artifact, str) else wanted.artifact.artifact_id
        opened = await ctx.open_artifact(artifact_id)
        content, name, digest = opened.path, opened.ref.name, opened.ref.digest
    path = workspace_path(wanted.path if wanted.path is not None else name)
    if path is None:
        raise PackError(
            FailureCode.INVALID_INPUT,
            f"The input file needs a `path` inside the workspace, not {wanted.path!r}.",
            field="inputs",
            hint="Write a relative path without `..`.",
        )
    return path, content, digest


async def _perform(current: AgentAttempt, script: MockAgent | None) -> AgentOutput:
    ctx = current.ctx
    argv = _allowed_argv(current)
    await ctx.budget.require()
    for path, content, _ in current.inputs:
        try:
            await asyncio.to_thread(put_file, current.workspace, path, content)
        except WorkspaceError as error:
            raise PackError(FailureCode.INVALID_INPUT, str(error), field="inputs") from error
    listener = OutputListener(current)
    ctx.progress(None, f"{current.profile.key} works")
    try:
        if script is not None:
            ctx.isolation = None  # not a process
            exit_code = await script.run(current.prompt, current.workspace, listener.take)
        else:
            exit_code = await spawn(current, argv, listener)
    except WorkspaceError as error:
        raise PackError(FailureCode.HANDLER_FAILED, str(error)) from error
    finally:
        listener.close()
        await listener.note_use(ctx)  # a stopped program has costs, too
    if listener.excess is not None:
        raise listener.excess
    if exit_code != 0 or listener.reported_failure() is not None:
        raise failed(current, listener, exit_code)
    if listener.is_cut_off:
        ctx.warn(
            f"{current.profile.command[0]} exited normally without the result that ends a stream of the format "
            f'`stream = "{current.profile.stream}"`: `text` has its messages until then and may be incomplete. The '
            "transcript shows its output."
        )
    text, data = answer_of(current, listener)
    if not text.strip() and current.profile.stream != "raw":
        ctx.warn(
            f"{current.profile.command[0]} exited normally without an answer in the format of the profile's "
            f'`stream = "{current.profile.stream}"`, so `text` is empty. The transcript shows its output.'
        )
    artifacts = await proposed_artifacts(current, listener)
    return AgentOutput(text=text, artifacts=artifacts, exit_code=exit_code, data=data)


def _allowed_argv(current: AgentAttempt) -> list[str]:
    """Return the command line with an absolute path, or refuse it if the step's policy denies it."""
    argv = list(current.profile.argv(current.model))
    decision = decide(current.step.commands, argv, adapter=argv[0])
    if not decision.allowed:
        current.transcript.add("denial", argv[0], {"program": argv[0], "by": decision.by})
        raise PackError(
            FailureCode.POLICY_DENIED,
            f"The step's `commands` do not allow `{argv[0]}`, the program of its agent profile ({decision.by}).",
            hint="Allow it in the step's `commands`, or use another profile.",
        )
    if not current.profile.is_mock:
        program = find_program(argv[0])
        if program is None:
            raise PackError(
                FailureCode.NOT_FOUND, f"The program `{argv[0]}` is not installed.", hint=f"Install `{argv[0]}`."
            )
        argv[0] = program
    return argv
