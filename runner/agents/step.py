"""One attempt of an agent step: a row of phases over one `_Work`; whatever happens, its transcript is closed.

Prompt on standard input, nothing in the environment but what profile and step name, a folder of its own, walls around
it, and an end that leaves no process behind (CONTRACT 6.3).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

import orjson

from runner.agents import confine
from runner.agents.caching import Receipt, result_key
from runner.agents.exchange import AgentFile, AgentOutput
from runner.agents.isolation import CONFINE, SYSTEM_PATH, Isolation, Walls, has_landlock, places_of, weaker
from runner.agents.mock import MockAgent
from runner.agents.policy import decide, denied_programs, needed_to_start, spawnable
from runner.agents.profiles import AgentProfile, Selection, find_program
from runner.agents.reading import workspace_path
from runner.agents.streams import JsonReader, RawReader, reader_for
from runner.agents.tool_access import tool_access
from runner.agents.transcript import Transcript
from runner.agents.workspace import WorkspaceError, put_file, remove_folder, size_of, take_file
from runner.executor import plain_text
from runner.failures import FailureCode, JSONValue, PackError
from runner.gateway.uses import ModelUse
from runner.media_types import media_type_of
from runner.processes import ProcessLimits, run_command
from runner.schemas import compile_schema
from store.agent_results import CachedFile, find_result, put_result
from store.states import ArtifactStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.agents.definition import AgentStep
    from runner.agents.exchange import AgentInput
    from runner.context import AttemptContext
    from runner.pack import ArtifactRef

#: How often the size of a workspace is looked at.
WATCH_SECONDS = 1.0
#: End of a program's standard error that a failure tells.
ERROR_CHARACTERS = 2_000
#: Largest file an agent may write, in bytes.
FILE_BYTES = 1 << 30


@dataclass(slots=True)
class _Work:
    """An attempt under way.

    Attributes:
        folder: What only this attempt uses; removed at its end.
        workspace: Where the agent works: in that folder, or a session's.
        inputs: Workspace path, content and digest of each input file.
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


async def work(ctx: AttemptContext, step: AgentStep, selection: Selection | None, input: AgentInput) -> AgentOutput:
    """Has an agent do a step.

    Raises:
        PackError: `policy_denied`, `invalid_input`, `credential_invalid`, `handler_failed`, `invalid_output`,
            `resource_exhausted`, `not_found`.
    """
    assert selection is not None, "a run keeps what was selected at its start"
    agents = ctx.resources.agents
    profile = agents.profiles.get(selection.profile)
    if profile is None:
        raise PackError(
            FailureCode.SCHEMA_MISMATCH,
            f"The agent profile `{selection.profile}` this run was started with is not declared any more.",
            hint="Declare it again, or run again with another.",
        )
    folder = agents.folder / ctx.attempt_id
    session = (ctx.session_left or ctx.session) if step.workspace == "session" else None
    if step.workspace == "session" and session is None:
        raise PackError(FailureCode.SESSION_UNAVAILABLE, "No earlier step left a session to work in.")
    current = _Work(
        ctx=ctx,
        step=step,
        profile=profile,
        model=selection.model,
        prompt=input.prompt,
        folder=folder,
        workspace=folder / "workspace" if session is None else session.path,
        transcript=Transcript(ctx.resources.store, ctx.resources.redactor, ctx.attempt_id),
    )
    try:
        current.inputs = [await _input_file(ctx, entry) for entry in input.inputs]
        script = MockAgent.load(profile.script) if profile.is_mock else None
        key = result_key(
            step,
            profile,
            current.model,
            current.prompt,
            [(path, digest) for path, _, digest in current.inputs],
            script=None if script is None else script.text,
        )
        if step.cache and not ctx.force and (replayed := await _replayed(current, key)) is not None:
            return replayed
        await asyncio.to_thread(_make_folders, current)
        current.transcript.add("prompt", current.prompt, _told(current))
        output = await _perform(current, script)
        if step.cache:
            await _keep(current, key, output)
        return output
    finally:
        await current.transcript.close()
        if folder.exists():  # what is replayed made none
            await asyncio.to_thread(remove_folder, folder)


def _make_folders(current: _Work) -> None:
    current.folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    (current.folder / "home").mkdir(mode=0o700, exist_ok=True)
    (current.folder / "taken").mkdir(mode=0o700, exist_ok=True)
    if current.workspace.parent == current.folder:
        current.workspace.mkdir(mode=0o700, exist_ok=True)


def _told(current: _Work) -> JSONValue:
    """What stands beside the prompt: who is asked, and what it may do."""
    policy = current.step.commands
    return {
        "profile": current.profile.key,
        "model": current.model,
        "inputs": [path for path, _, _ in current.inputs],
        "commands": current.step.document().get("commands", f"{policy.fallback} by default"),
    }


async def _input_file(ctx: AttemptContext, entry: AgentFile | ArtifactRef | str) -> tuple[str, Path | bytes, str]:
    """Workspace path, content and digest of one input."""
    wanted = entry if isinstance(entry, AgentFile) else AgentFile(path=None, artifact=entry, text=None)
    if (wanted.artifact is None) == (wanted.text is None):
        raise PackError(
            FailureCode.INVALID_INPUT, "An input file is given either as an `artifact` or as `text`.", field="inputs"
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


# ------------------------------------------------------------------------------------------------ performing


async def _perform(current: _Work, script: MockAgent | None) -> AgentOutput:
    ctx = current.ctx
    argv = _allowed_argv(current)
    for path, content, _ in current.inputs:
        try:
            await asyncio.to_thread(put_file, current.workspace, path, content)
        except WorkspaceError as error:
            raise PackError(FailureCode.INVALID_INPUT, str(error), field="inputs") from error
    listener = _Listener(current)
    ctx.progress(None, f"{current.profile.key} works")
    try:
        if script is not None:
            ctx.isolation = None  # it is no process
            exit_code = await script.run(current.prompt, current.workspace, listener.take)
        else:
            exit_code = await _spawn(current, argv, listener)
    except WorkspaceError as error:
        raise PackError(FailureCode.HANDLER_FAILED, str(error)) from error
    finally:
        listener.close()
    listener.note_use(ctx)
    if exit_code != 0:
        raise _failed(current, listener, exit_code)
    text = listener.answer()
    data = _data(current, text)
    artifacts = await _artifacts(current, listener)
    return AgentOutput(text=text, artifacts=artifacts, exit_code=exit_code, data=data)


def _allowed_argv(current: _Work) -> list[str]:
    """The command line, its program an absolute path; refused when the step's policy denies it."""
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
                FailureCode.NOT_FOUND, f"The program `{argv[0]}` is not there.", hint=f"Install `{argv[0]}`."
            )
        argv[0] = program
    return argv


async def _spawn(current: _Work, argv: list[str], listener: _Listener) -> int:
    ctx, step, profile = current.ctx, current.step, current.profile
    agents = ctx.resources.agents
    demanded = agents.demanded(step, profile)
    if weaker(agents.isolation, demanded):
        raise PackError(
            FailureCode.POLICY_DENIED,
            f"The step demands isolation `{demanded}`; this machine reaches `{agents.isolation}`.",
            hint="Install bubblewrap and allow user namespaces, or accept a weaker level.",
        )
    # Without a demand, an agent keeps the network it needs to reach its model.
    level = max(demanded, min(agents.isolation, Isolation.SANDBOX, key=_strength), key=_strength)
    needed, allowed = needed_to_start(argv[0]), spawnable(step.commands)
    walls = Walls(
        level=level,
        workspace=current.workspace,
        home=current.folder / "home",
        read=(*profile.read, *(place for program in sorted(needed) for place in places_of(program))),
        hidden=(agents.folder.parent,),
        programs=needed | allowed if allowed is not None and step.commands.fallback == "deny" else None,
        denied=denied_programs(step.commands) - needed - needed_to_start(sys.executable),
    )
    ctx.isolation = level.value
    environment = await _environment(current, walls, sorted(needed))
    async with tool_access(ctx, step.tools, level) as access:
        return await _run(current, walls, argv, environment | access, listener)


async def _run(current: _Work, walls: Walls, argv: list[str], environment: dict[str, str], listener: _Listener) -> int:
    command = walls.command(_confined(current, walls, argv))
    limits = ProcessLimits(file_bytes=FILE_BYTES)
    running = asyncio.ensure_future(
        run_command(
            command,
            cwd=current.workspace,
            env=environment,
            stdin=current.prompt.encode(),
            max_output_bytes=0,
            on_output=listener.take,
            limits=limits,
        )
    )
    watching = asyncio.create_task(_watch(current, listener))
    try:
        await asyncio.wait((running, watching), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise watching.result()
        result = running.result()
    finally:
        for task in (running, watching):
            task.cancel()
        await asyncio.wait((running, watching))
    if listener.excess is not None:
        raise listener.excess
    return result.exit_code


def _strength(level: Isolation) -> int:
    return list(Isolation).index(level)


async def _watch(current: _Work, listener: _Listener) -> PackError:
    """Waits until the agent uses more than it may, and answers what to say then."""
    limit = current.ctx.resources.agents.workspace_bytes
    while True:
        try:
            async with asyncio.timeout(WATCH_SECONDS):
                await listener.exceeded.wait()
        except TimeoutError:
            pass
        if listener.excess is not None:
            return listener.excess
        if await asyncio.to_thread(size_of, current.workspace, limit=limit) > limit:
            return PackError(
                FailureCode.RESOURCE_EXHAUSTED,
                f"The agent's workspace holds more than {limit:,} bytes.",
                hint="Give it less to do, or have an operator raise PACKLINE_AGENT_WORKSPACE_BYTES.",
            )


async def _environment(current: _Work, walls: Walls, programs: Sequence[str]) -> dict[str, str]:
    """All the agent is given: what the profile names, the secrets of profile and step, and five plain facts.

    Args:
        current: The attempt.
        walls: What is around it.
        programs: What has to be found for its program to start, such as the interpreter of a script.
    """
    ctx, profile = current.ctx, current.profile
    agents = ctx.resources.agents
    known = SYSTEM_PATH.split(":")
    folders = dict.fromkeys([*known, *(os.path.dirname(place) for place in programs if os.access(place, os.X_OK))])
    environment = {
        "PATH": ":".join(folders),
        "HOME": walls.home_seen,
        "PWD": walls.folder,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
    for name in profile.env:
        if (value := agents.read_variable(name)) is not None:
            environment[name] = value
    environment.update(profile.variables)
    for name, ref in profile.credentials:
        key, _, part = ref.partition(".")
        environment[name] = _secret(ref, part, ctx.resources.vault.find(key))
    for name, ref in current.step.credentials:
        key, _, part = ref.partition(".")
        environment[name] = _secret(ref, part, await ctx.credential(key))
    return environment


def _secret(ref: str, part: str, fields: object) -> str:
    known = fields if isinstance(fields, dict) or hasattr(fields, "items") else {}
    values = {str(name): str(value) for name, value in known.items()}
    if part and part in values:
        return values[part]
    if not part and len(values) == 1:
        return next(iter(values.values()))
    raise PackError(
        FailureCode.CREDENTIAL_INVALID,
        f"`{ref}` names no field of that credential that can be had; it has {', '.join(values) or 'none'}.",
        hint="Write `credential.field`.",
    )


def _confined(current: _Work, walls: Walls, argv: list[str]) -> list[str]:
    """The command line held to what it may spawn and where it may write, as far as this kernel can."""
    rules: dict[str, JSONValue] = {}
    allowed = spawnable(current.step.commands)
    if allowed is not None:
        rules["execute"] = [*sorted(needed_to_start(argv[0]) | allowed)]
    if walls.level is Isolation.PROCESS:
        rules["write"] = [str(current.workspace), str(current.folder / "home"), "/dev", "/tmp"]
    if not rules or not has_landlock():
        return argv
    return [sys.executable, "-I", "-S", CONFINE, orjson.dumps(rules).decode(), *argv]


# ------------------------------------------------------------------------------------------------ results


class _Listener:
    """Takes what the program prints: into the transcript, and word for word into a file when it is to be kept."""

    def __init__(self, current: _Work) -> None:
        redactor = current.ctx.resources.redactor
        self._limit = current.ctx.resources.agents.output_bytes
        self._stdout = reader_for(current.profile.stream, current.transcript, redactor)
        # Cut only once it is masked: half a secret would not be known as one.
        self._stderr = RawReader(current.transcript, redactor, "error_output", keep_end=ERROR_CHARACTERS)
        self._profile = current.profile
        self._model = current.model
        self._size = 0
        self.excess: PackError | None = None
        self.exceeded = asyncio.Event()
        self.spool: Path | None = None
        self._file: BinaryIO | None = None
        if current.step.stdout_to is not None:
            self.spool = current.folder / "stdout"
            self._file = self.spool.open("wb")

    def take(self, name: str, data: bytes) -> None:
        """Takes bytes of one stream."""
        self._size += len(data)
        if self._size > self._limit:
            if self.excess is None:
                self.excess = PackError(
                    FailureCode.RESOURCE_EXHAUSTED,
                    f"The agent printed more than {self._limit:,} bytes.",
                    hint="Have it print less, or have an operator raise PACKLINE_AGENT_OUTPUT_BYTES.",
                )
                self.exceeded.set()
            return
        if name == "stdout":
            if self._file is not None:
                self._file.write(data)
            self._stdout.feed(data)
        else:
            self._stderr.feed(data)

    def close(self) -> None:
        """Takes what was held back."""
        self._stdout.close()
        self._stderr.close()
        if self._file is not None:
            self._file.close()

    def answer(self) -> str:
        """The program's answer, masked."""
        said = self._stdout.heard.text() if isinstance(self._stdout, JsonReader) else self._stdout.text
        return plain_text(said)  # programs print U+0000 at times, which no output may hold

    def last_error(self) -> str:
        """The end of its standard error, masked."""
        return self._stderr.end.strip()

    def note_use(self, ctx: AttemptContext) -> None:
        """Records tokens and cost, when the program told."""
        if not isinstance(self._stdout, JsonReader):
            return
        usage = self._stdout.heard.usage
        if usage.input_tokens is None and usage.output_tokens is None and usage.cost_usd is None:
            return
        model = usage.model or self._model or "unknown"
        ctx.model_uses.append(
            ModelUse(
                f"{self._profile.key}:{model}",
                usage.input_tokens,
                usage.output_tokens,
                None if usage.cost_usd is None else round(usage.cost_usd * 1_000_000),
                role="agent",
            )
        )


def _failed(current: _Work, listener: _Listener, exit_code: int) -> PackError:
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


def _data(current: _Work, text: str) -> JSONValue:
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


async def _artifacts(current: _Work, listener: _Listener) -> list[ArtifactRef]:
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


# ------------------------------------------------------------------------------------------------ replaying


async def _replayed(current: _Work, key: str) -> AgentOutput | None:
    """A kept result, its artifacts proposed anew; None when there is none, or a content of it is gone."""
    ctx = current.ctx
    async with ctx.resources.store.read() as connection:
        kept = await find_result(connection, ctx.caller_id, key)
    if kept is None:
        return None
    artifacts = []
    try:
        for file in kept.files:
            path = await ctx.resources.blobs.local(file.digest)
            artifacts.append(await ctx.save_artifact(file.name, path, file.media_type, status=ArtifactStatus.PROPOSED))
    except (FileNotFoundError, PackError):
        return None
    ctx.receipt = orjson.dumps(asdict(Receipt(key, kept.made_at.isoformat(), kept.attempt_id))).decode()
    ctx.progress(None, "replayed from the cache")
    return AgentOutput(artifacts=artifacts, **orjson.loads(kept.output))


async def _keep(current: _Work, key: str, output: AgentOutput) -> None:
    ctx = current.ctx
    if any(artifact.status == ArtifactStatus.QUARANTINED for artifact in ctx.artifacts):
        return
    value = ctx.resources.redactor.value(output.model_dump(mode="json", exclude={"artifacts"}))
    files = [CachedFile(ref.name, ref.media_type, ref.digest, ref.size_bytes) for ref in output.artifacts]
    await ctx.resources.store.write(
        put_result,
        caller_id=ctx.caller_id,
        key=key,
        attempt_id=ctx.attempt_id,
        output=orjson.dumps(value).decode(),
        files=files,
        keep_days=ctx.resources.limits.artifact_days,
    )
