"""Work that can be killed: functions in worker processes, and programs.

Each runs in a separate process group, started by a spawner process (`runner.processes.worker`). Cancellation and
timeouts kill the process with all its descendants, and so does the end of the server, even by `kill -9`. Nothing here
waits for a pipe to close: a grandchild may hold it open.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import signal
import sys
import weakref
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, TypeVar, cast

from runner.excerpts import excerpt
from runner.failures import Failure, JSONValue, PackError
from runner.fair_turns import FairTurns
from runner.processes import pack_modules
from runner.processes.exchange import OutputName, Worker, started_worker
from runner.processes.spawner import close_spawner
from runner.tracebacks import add_worker_frames

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_Result = TypeVar("_Result")
#: How much of a worker's standard error is kept, and how much of that a message quotes.
_STDERR_BYTES = 64 * 1024
_STDERR_CHARACTERS = 4000
#: How much a failure quotes of an exception's text.
_WORDS_CHARACTERS = 2000
_MAX_OUTPUT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits of each single process, enforced by the kernel. Core dumps are always off.

    Attributes:
        memory_bytes: Address space. Programs that reserve much more than they use (Node) do not start with it.
        file_bytes: Size of any file it writes.
    """

    memory_bytes: int | None = None
    file_bytes: int | None = None


NO_LIMITS = ProcessLimits()


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a program ended.

    Attributes:
        exit_code: 0 to 255, or the negative number of the signal that ended it.
        stdout: The first bytes of what it wrote.
        stderr: The last bytes of what it wrote.
        truncated: Whether either was longer than was kept.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    truncated: bool


async def run_in_process(
    function: Callable[..., _Result],
    /,
    *args: object,
    timeout_seconds: float | None = None,
    preload: Sequence[str] | None = None,
    limits: ProcessLimits = NO_LIMITS,
) -> _Result:
    """Run a function in a separate worker process.

    A caller has at most one worker per core at a time. The server has one more, so that no caller holds all; waiting
    callers take turns.

    Args:
        function: A function at the top level of a module, also of a pack folder.
        *args: Pickled, as is the result (at most 256 MiB).
        timeout_seconds: Counted from the start of the process, not while waiting for a turn.
        preload: Libraries that are imported before the worker is forked. By default those in the constant `PRELOAD` of
            the function's module; only libraries that survive a fork may be in it.
        limits: Limits of the process.

    Raises:
        PackError: what the function raised; `timeout`; `resource_exhausted` when memory ran out; `handler_failed`
            when the process died, or the function's exception cannot be pickled.
        Exception: what the function raised; `runner.tracebacks.describe` knows its frames in the process.
    """
    request = _request(function, args)
    if preload is None:
        preload = getattr(sys.modules.get(function.__module__), "PRELOAD", ())
    name = f"{function.__module__}.{function.__qualname__}"
    async with (
        _workers().place(_caller.get()),
        started_worker("call", asdict(limits), preload=["packline", *preload], keep=_STDERR_BYTES) as worker,
    ):
        try:
            async with asyncio.timeout(timeout_seconds):
                answer = await worker.exchange(request)
        except TimeoutError:
            raise PackError("timeout", f"`{name}` took longer than {timeout_seconds:g} seconds.") from None
        if answer is None:
            await worker.child.end()
            raise _death(name, worker)
    return cast("_Result", _read_answer(answer, name))


async def run_command(
    argv: Sequence[str],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    timeout_seconds: float | None = None,
    max_output_bytes: int = _MAX_OUTPUT_BYTES,
    on_output: Callable[[OutputName, bytes], None] | None = None,
    limits: ProcessLimits = NO_LIMITS,
) -> CommandResult:
    """Run a program without a shell. When it ends, all processes that it left running are killed.

    Args:
        argv: Program and arguments. A name without a slash is looked up on `env`'s PATH, else on the server's.
        cwd: Folder to start in; the server's own when None.
        env: The whole environment; empty when None.
        stdin: Its standard input; nothing when None.
        timeout_seconds: Counted from its start.
        max_output_bytes: How much of each output is kept.
        on_output: Called on the event loop with every chunk, also beyond the limit.
        limits: Limits of each process.

    Raises:
        PackError: `not_found` when there is no such program, `policy_denied` when it may not be run, `timeout`,
            `resource_exhausted` when no process can be started.
    """
    program = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=(env or {}).get("PATH"))
    if program is None:
        raise PackError("not_found", f"There is no program `{argv[0]}` here.", hint=f"Install `{argv[0]}`.")
    order = pickle.dumps(([program, *argv[1:]], dict(env or {}), None if cwd is None else str(cwd)))
    async with started_worker(
        "exec", asdict(limits), stdin=stdin, keep=max_output_bytes, on_output=on_output
    ) as worker:
        try:
            async with asyncio.timeout(timeout_seconds):
                problem = await worker.exchange(order)
                exit_code = None if problem else await worker.child.exited
        except TimeoutError:
            raise PackError("timeout", f"`{argv[0]}` took longer than {timeout_seconds:g} seconds.") from None
        await worker.child.end()
        if problem is not None:
            raise _refused(*pickle.loads(problem))
        if exit_code is None:
            raise PackError("handler_failed", f"The result of `{argv[0]}` is unknown: the spawner process died.")
        worker.drain()
        return CommandResult(
            exit_code, worker.stdout.kept(), worker.stderr.kept(), worker.stdout.is_cut or worker.stderr.is_cut
        )


async def stop_processes() -> None:
    """Kill all workers, commands and the spawner, and wait until they are gone; does nothing when there are none."""
    await asyncio.to_thread(close_spawner)


def work_for(caller_id: str) -> None:
    """Attribute the worker processes that the current task starts from now on to a caller."""
    _caller.set(caller_id)


#: The caller of the current task; the server's own work, such as previews, counts as that of one more caller.
_caller: ContextVar[str] = ContextVar("caller", default="")
_turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, FairTurns] = weakref.WeakKeyDictionary()


def _workers() -> FairTurns:
    """Return the event loop's places for workers: one per core for any caller, and one more for the others."""
    loop = asyncio.get_running_loop()
    if loop not in _turns:
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        _turns[loop] = FairTurns((count or 1) + 1, share=count or 1)
    return _turns[loop]


def _request(function: Callable[..., object], args: tuple[object, ...]) -> bytes:
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None)
    try:
        call = pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise PackError(
            "handler_failed",
            f"`{function.__qualname__}` or its arguments cannot be sent to a worker process: {error}.",
            hint="Use a function at the top level of a module, and arguments that can be pickled.",
        ) from error
    if function.__module__ == "__main__":
        raise PackError("handler_failed", f"`{function.__qualname__}` is in `__main__`, which no worker can import.")
    return pickle.dumps((pack_modules.sources(), function.__module__, file, call), pickle.HIGHEST_PROTOCOL)


def _read_answer(answer: bytes, name: str) -> object:
    try:
        kind, *value = pickle.loads(answer)
    except Exception as error:
        raise PackError("handler_failed", f"The result of `{name}` cannot be read: {error}.") from error
    match kind:
        case "result":
            return value[0]
        case "failure":
            raise _pack_error(Failure.from_json(value[0]))
        case "exception":
            exception, raised = value
            add_worker_frames(exception, raised)
            raise exception
    (raised,) = value
    failed = PackError(
        "handler_failed", f"`{name}` raised {raised.type}: {excerpt(raised.message, _WORDS_CHARACTERS)}".rstrip(": ")
    )
    failed.failure = replace(failed.failure, exception=raised)
    raise failed


def _pack_error(failure: Failure) -> PackError:
    return PackError(
        failure.code,
        excerpt(str(failure.message), _WORDS_CHARACTERS),
        field=failure.field,
        cause=None if failure.cause is None else excerpt(str(failure.cause), _WORDS_CHARACTERS),
        hint=None if failure.hint is None else excerpt(str(failure.hint), _WORDS_CHARACTERS),
        remedy=failure.remedy,
        retry_after_seconds=failure.retry_after_seconds,
        detail=failure.detail,
    )


def _death(name: str, worker: Worker) -> PackError:
    """Return the failure of a worker that died without an answer."""
    worker.drain()
    status = worker.child.exited.result() if worker.child.exited.done() else None
    stderr = worker.stderr.kept().decode("utf-8", "replace")
    if worker.stderr.is_cut:  # the cut may be in the middle of a secret, so the first line is left out
        stderr = stderr.partition("\n")[2]
    detail: dict[str, JSONValue] = {"stderr": excerpt(stderr, _STDERR_CHARACTERS, from_end=True)}
    if status is not None and status < 0:
        how = f"was killed by {_signal_name(-status)}"
        detail["signal"] = -status
        if -status == signal.SIGXCPU:
            return PackError(
                "resource_exhausted",
                f"The worker process of `{name}` used up its CPU time.",
                hint="Try a smaller input.",
                detail=detail,
            )
        if -status == signal.SIGKILL:
            hint = "The system may have run out of memory: try a smaller input."
        else:
            hint = "A library of the pack may have crashed: report it to the pack's author."
    else:
        how = "ended unexpectedly" if status is None else f"ended with exit code {status}"
        hint = "The function or a library it calls ended the process: report it to the pack's author."
        detail["exit_code"] = status
    return PackError("handler_failed", f"The worker process of `{name}` {how}.", hint=hint, detail=detail)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _refused(number: int, name: str) -> PackError:
    reason = os.strerror(number)
    if number in (2, 20):  # ENOENT, ENOTDIR
        return PackError("not_found", f"`{name}` does not exist: {reason}.")
    return PackError("policy_denied", f"`{name}` cannot be run: {reason}.")
