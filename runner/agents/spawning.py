"""Runs an agent's program in its confinement, with its environment and limits, and stops it if it exceeds them."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from runner import tracing
from runner.agents.isolation import (
    CONFINE,
    DEVICES,
    SYSTEM_PATH,
    Confinement,
    Isolation,
    has_landlock,
    places_of,
    weaker,
)
from runner.agents.policy import allows_everything, denied_programs, needed_to_start, spawnable
from runner.agents.tool_access import tool_access
from runner.agents.workspace import WorkspaceError, size_of
from runner.failures import FailureCode, JSONValue, PackError
from runner.processes.processes import ProcessLimits, run_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.agents.agent_attempt import AgentAttempt
    from runner.agents.listening import OutputListener

#: Shortest interval between two checks of a workspace's size, and its least multiple of a check's duration.
WATCH_SECONDS, WATCH_SHARE = 1.0, 10
#: Largest file an agent may write, in bytes.
FILE_BYTES = 1 << 30


async def spawn(current: AgentAttempt, argv: list[str], listener: OutputListener) -> int:
    """Run the program and return its exit code; no process that it started is left.

    Args:
        current: The attempt.
        argv: Program, an absolute path, and arguments.
        listener: Receives its output.

    Raises:
        PackError: `policy_denied` without the required isolation, `credential_invalid`, `resource_exhausted` if it
            prints or writes more than it may.
    """
    ctx, step, profile = current.ctx, current.step, current.profile
    agents = ctx.resources.agents
    demanded = agents.demanded(step, profile)
    if weaker(agents.isolation, demanded):
        raise PackError(
            FailureCode.POLICY_DENIED,
            f"The step requires isolation `{demanded}`; this server offers `{agents.isolation}`.",
            hint="Install bubblewrap and allow user namespaces, or accept a weaker level.",
        )
    level = agents.level(step, profile)
    if level is Isolation.PROCESS and not has_landlock() and not allows_everything(step.commands):
        _refuse_or_warn_unconfined(current)
    needed = needed_to_start(argv[0])
    confinement = await asyncio.to_thread(_confinement, current, level, needed)
    ctx.isolation = level.value
    command = await asyncio.to_thread(lambda: confinement.command(_confined(current, confinement, argv)))
    with tracing.call_span("invoke_agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": profile.key}):
        environment = await _environment(current, confinement, sorted(needed))
        async with tool_access(ctx, step.tools, level, current.transcript) as access:
            return await _run(current, confinement, command, environment | access, listener)


def _confinement(current: AgentAttempt, level: Isolation, needed: frozenset[str]) -> Confinement:
    """Make the program's confinement; searches folders of programs, so call it in a thread."""
    policy, agents = current.step.commands, current.ctx.resources.agents
    named = current.profile.named_file
    own = (place for file in (*sorted(needed), *((named,) if named else ())) for place in places_of(file))
    allowed = spawnable(policy)
    return Confinement(
        level=level,
        workspace=current.workspace,
        home=current.folder / "home",
        read=(*current.profile.read, *(place for place in own if not Path(place).is_relative_to(agents.folder.parent))),
        hidden=(agents.folder.parent,),
        programs=needed | allowed if allowed is not None and policy.fallback == "deny" else None,
        denied=denied_programs(policy) - needed - needed_to_start(sys.executable),
    )


async def _run(
    current: AgentAttempt,
    confinement: Confinement,
    command: list[str],
    environment: dict[str, str],
    listener: OutputListener,
) -> int:
    limits = ProcessLimits(file_bytes=FILE_BYTES)
    current.is_started = True
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
    watching = asyncio.create_task(_watch(current, confinement, listener))
    try:
        await asyncio.wait((running, watching), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise watching.result()
        result = running.result()
    finally:
        for task in (running, watching):
            task.cancel()
        await asyncio.wait((running, watching))
    excess = listener.excess or await _oversize(current, confinement)  # a short program may never have been checked
    if excess is not None:
        raise excess
    return result.exit_code


async def _watch(current: AgentAttempt, confinement: Confinement, listener: OutputListener) -> PackError:
    """Wait until the agent exceeds a limit, and return the failure."""
    wait = WATCH_SECONDS
    while True:
        try:
            async with asyncio.timeout(wait):
                await listener.exceeded.wait()
        except TimeoutError:
            pass
        if listener.excess is not None:
            return listener.excess
        begun = time.monotonic()
        if (excess := await _oversize(current, confinement)) is not None:
            return excess
        wait = max(WATCH_SECONDS, WATCH_SHARE * (time.monotonic() - begun))


async def _oversize(current: AgentAttempt, confinement: Confinement) -> PackError | None:
    """Return the failure if its folders exceed their limit."""
    limit = current.ctx.resources.agents.workspace_bytes
    homes = [Path(confinement.home_seen)] if confinement.level is Isolation.PROCESS else []
    try:
        if await asyncio.to_thread(size_of, current.workspace, *homes, limit=limit) <= limit:
            return None
    except WorkspaceError as error:
        return PackError(FailureCode.RESOURCE_EXHAUSTED, str(error), hint="Make it nest its folders less deeply.")
    return PackError(
        FailureCode.RESOURCE_EXHAUSTED,
        f"The agent's workspace exceeds the limit of {limit:,} bytes.",
        hint="Give it less to do, or ask an operator to raise PACKLINE_AGENT_WORKSPACE_BYTES.",
    )


async def _environment(current: AgentAttempt, confinement: Confinement, programs: Sequence[str]) -> dict[str, str]:
    """Make the agent's environment: the profile's variables, credentials, five more, and the trace context.

    Args:
        current: The attempt.
        confinement: Its confinement.
        programs: Programs that must be on `PATH` for it to start, such as the interpreter of a script.
    """
    ctx, profile = current.ctx, current.profile
    agents = ctx.resources.agents
    known = SYSTEM_PATH.split(":")
    folders = dict.fromkeys([*known, *_folders_of(programs)])
    environment = {
        "PATH": ":".join(folders),
        "HOME": confinement.home_seen,
        "PWD": confinement.folder,
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
    # Upper case by OpenTelemetry's convention for environment variables.
    environment.update((name.upper(), value) for name, value in tracing.carrier().items())
    return environment


def _folders_of(programs: Sequence[str]) -> list[str]:
    """Return the folders of programs; skips paths that are folders."""
    return [os.path.dirname(place) for place in programs if os.path.isfile(place) and os.access(place, os.X_OK)]


def _secret(ref: str, part: str, fields: Mapping[str, str] | None) -> str:
    """Return a variable's value: a field of a credential, or its only one."""
    values = fields or {}
    if part and part in values:
        return values[part]
    if not part and len(values) == 1:
        return next(iter(values.values()))
    raise PackError(
        FailureCode.CREDENTIAL_INVALID,
        f"`{ref}` names no field of that credential; it has {', '.join(values) or 'none'}.",
        hint="Write `credential.field`.",
    )


def _confined(current: AgentAttempt, confinement: Confinement, argv: list[str]) -> list[str]:
    """Return the command line with restrictions of what it may spawn and write, as far as the kernel supports them."""
    rules: dict[str, JSONValue] = {}
    allowed = spawnable(current.step.commands)
    if allowed is not None:
        rules["execute"] = [*sorted(needed_to_start(argv[0]) | allowed)]
    own = [str(current.workspace), str(current.folder / "home"), "/tmp"]
    if confinement.level is Isolation.PROCESS:
        rules["write"] = [*own, *(f"/dev/{name}" for name in DEVICES)]
        rules["read"] = [*own, *confinement.readable(argv[0]), "/dev", "/proc", "/sys"]
    if not has_landlock():
        if confinement.level is Isolation.PROCESS:
            return argv
        rules = {}  # the sandbox hides programs that are not allowed
    return [sys.executable, "-I", "-S", CONFINE, orjson.dumps(rules).decode(), *argv]


def _refuse_or_warn_unconfined(current: AgentAttempt) -> None:
    """Refuse a declared policy that this machine cannot enforce; warn if only the default cannot be enforced."""
    if current.step.commands.declared:
        current.transcript.add("denial", None, {"by": "commands", "reason": "not enforceable here"})
        raise PackError(
            FailureCode.POLICY_DENIED,
            "This machine cannot enforce the step's `commands`: it has neither bubblewrap nor Landlock.",
            hint="Install bubblewrap, or write `commands: {fallback: allow}` to run without.",
        )
    current.ctx.warn("This machine cannot restrict what the agent spawns: it has neither bubblewrap nor Landlock.")
