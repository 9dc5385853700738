"""Starts an agent's program behind its walls, with what it is given and what it is held to, and sees to its end."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import orjson

from runner.agents.isolation import CONFINE, SYSTEM_PATH, Isolation, Walls, has_landlock, places_of, weaker
from runner.agents.policy import denied_programs, needed_to_start, spawnable
from runner.agents.tool_access import tool_access
from runner.agents.workspace import size_of
from runner.failures import FailureCode, JSONValue, PackError
from runner.processes import ProcessLimits, run_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.agents.listening import Listener
    from runner.agents.work import Work

#: How often the size of a workspace is looked at.
WATCH_SECONDS = 1.0
#: Largest file an agent may write, in bytes.
FILE_BYTES = 1 << 30


async def spawn(current: Work, argv: list[str], listener: Listener) -> int:
    """Runs the program; its exit code. When this ends, nothing that it started is left.

    Args:
        current: The attempt.
        argv: Program, an absolute path, and arguments.
        listener: Takes what it prints.

    Raises:
        PackError: `policy_denied` when the demanded isolation is out of reach, `credential_invalid`,
            `resource_exhausted` when it prints or writes more than it may.
    """
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


async def _run(current: Work, walls: Walls, argv: list[str], environment: dict[str, str], listener: Listener) -> int:
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


async def _watch(current: Work, listener: Listener) -> PackError:
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


async def _environment(current: Work, walls: Walls, programs: Sequence[str]) -> dict[str, str]:
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


def _secret(ref: str, part: str, fields: Mapping[str, str] | None) -> str:
    """The value a variable gets: a field of a credential, or its only one."""
    values = fields or {}
    if part and part in values:
        return values[part]
    if not part and len(values) == 1:
        return next(iter(values.values()))
    raise PackError(
        FailureCode.CREDENTIAL_INVALID,
        f"`{ref}` names no field of that credential that can be had; it has {', '.join(values) or 'none'}.",
        hint="Write `credential.field`.",
    )


def _confined(current: Work, walls: Walls, argv: list[str]) -> list[str]:
    """The command line held to what it may spawn and where it may write, as far as this kernel can."""
    rules: dict[str, JSONValue] = {}
    allowed = spawnable(current.step.commands)
    if allowed is not None:
        rules["execute"] = [*sorted(needed_to_start(argv[0]) | allowed)]
    if walls.level is Isolation.PROCESS:
        rules["write"] = [str(current.workspace), str(current.folder / "home"), "/dev", "/tmp"]
    if not rules:
        return argv
    if not has_landlock():
        if allowed is not None and walls.level is Isolation.PROCESS:
            current.ctx.warn("This kernel cannot hold the agent to what the step lets it spawn: it has no Landlock.")
        return argv
    return [sys.executable, "-I", "-S", CONFINE, orjson.dumps(rules).decode(), *argv]
