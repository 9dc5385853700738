from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from runner.failures import FailureCode, PackError
from runner.packs.registry import load_registry
from runner.processes import spawner as process_spawner
from runner.processes.processes import ProcessLimits, run_command, run_in_process, stop_processes
from runner.tracebacks import describe
from tests.support import worker_functions as work
from tests.support.pack_folders import pack_source, write_pack_folder
from tests.support.signs import Signs
from tests.support.waiting import eventually, pass_time

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
ROOT = Path(__file__).parents[3]
CORES = len(os.sched_getaffinity(0))


@pytest.fixture(scope="module", autouse=True)
def nothing_left():
    before = psutil.Process().children()  # such as the browser that the browser tests share
    yield
    process_spawner.close_spawner()
    assert [child for child in psutil.Process().children() if child not in before] == []


@pytest.fixture
def signs(tmp_path):
    made = Signs(tmp_path / "signs")
    yield made
    made.close()


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if is_alive(pid)]


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until_dead(pids: list[int], seconds: float = 60) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            file = os.pidfd_open(pid)
            assert select.select([file], [], [], seconds)[0], f"{pid} lives"
            os.close(file)


async def failure_of(awaitable):
    with pytest.raises(PackError) as raised:
        await awaitable
    return raised.value.failure


# Functions


async def test_arguments_go_and_results_come_back():
    assert await run_in_process(work.add, 2, 3) == 5
    big = os.urandom(3_000_000)
    assert await run_in_process(work.blob, 2_000_000, big) == big + bytes(2_000_000)


async def test_workers_find_libraries_imported_and_settings_gone(monkeypatch):
    await stop_processes()
    monkeypatch.setenv("PACKLINE_VAULT_KEY", "not for packs")
    about = await run_in_process(work.about_me)
    assert about == {"group": True, "modules": ["xmlrpc.server", "pydantic"], "settings": []}
    await stop_processes()
    assert (await run_in_process(work.about_me, preload=()))["modules"] == ["pydantic"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("value_error", ValueError("no luck")), ("timeout_error", TimeoutError("mine, not yours"))],
)
async def test_exceptions_come_back(kind, expected):
    with pytest.raises(type(expected), match=str(expected)) as raised:
        await run_in_process(work.fail, kind, timeout_seconds=30)
    frames = describe(raised.value, package=work.__package__, without=__file__).frames
    assert [frame.function for frame in frames] == ["fail"], "those of the worker process"


async def test_pack_errors_come_back_whole():
    failure = await failure_of(run_in_process(work.fail, "pack_error"))
    with pytest.raises(PackError) as here:
        work.fail("pack_error")
    assert failure == here.value.failure


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("panic", "raised Panic: index out of bounds"),
        ("exit", "raised SystemExit: 3"),
        ("picky", "raised Picky: this and that"),
        ("die", "ended with exit code 7"),
        ("segfault", "was killed by SIGSEGV"),
    ],
)
async def test_what_cannot_come_back_is_told(kind, says):
    failure = await failure_of(run_in_process(work.fail, kind))
    assert failure.code is FailureCode.HANDLER_FAILED
    assert says in failure.message
    assert f"{work.__name__}.fail" in failure.message
    if kind == "die":
        assert failure.detail == {"exit_code": 7, "stderr": "last words\n"}


async def test_a_function_that_used_up_its_processor_time_is_told_so():
    failure = await failure_of(run_in_process(work.spin, 1))
    assert failure.code is FailureCode.RESOURCE_EXHAUSTED
    assert failure.message == f"The worker process of `{work.__name__}.spin` used up its CPU time."
    assert not failure.retryable


async def test_what_cannot_be_pickled_is_told():
    for function, args in ((lambda: None, ()), (work.add, (1, threading.Lock()))):
        failure = await failure_of(run_in_process(function, *args))
        assert failure.code is FailureCode.HANDLER_FAILED
        assert "cannot be sent to a worker" in failure.message
    assert "result cannot be pickled" in (await failure_of(run_in_process(work.unpicklable))).message


async def test_limits_hold(tmp_path):
    limits = ProcessLimits(memory_bytes=1 << 30, file_bytes=1 << 20)
    failure = await failure_of(run_in_process(work.allocate, 1 << 31, limits=limits))
    assert failure.code is FailureCode.RESOURCE_EXHAUSTED
    with pytest.raises(OSError, match="File too large"):
        await run_in_process(work.write_file, str(tmp_path / "large"), 2 << 20, limits=limits)


async def test_functions_of_pack_folders_run(tmp_path):
    extra = """
from . import _helper

class Found(BaseModel):
    text: str

def find(asked: Input) -> Found:
    return Found(text=_helper.shout(asked.text))
"""
    folder = write_pack_folder(
        tmp_path / "mine",
        {"text/echo.py": pack_source("text.echo") + extra, "text/_helper.py": "def shout(t): return t.upper()\n"},
    )
    registry = load_registry(folder, entry_points=False)
    assert registry.load_errors() == []
    pack = registry.find("text.echo")
    assert pack is not None
    module = sys.modules[pack.handler.__module__]
    assert await run_in_process(module.find, module.Input(text="hi")) == module.Found(text="HI")


async def test_functions_of_modules_loaded_by_path_run(tmp_path):
    file = tmp_path / "anywhere.py"
    file.write_text("def twice(x): return 2 * x\n")
    spec = importlib.util.spec_from_file_location("made_up_name_of_it", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["made_up_name_of_it"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert await run_in_process(module.twice, 21) == 42


async def test_at_most_one_worker_per_core(signs):
    tasks = [asyncio.create_task(run_in_process(work.hang, signs.path)) for _ in range(CORES + 2)]
    first = await signs.pids(CORES)
    assert len(psutil.Process(process_spawner.get_spawner().pid).children()) == CORES
    tasks[-1].cancel()  # still waiting
    tasks[0].cancel()
    [next_one] = await signs.pids(1)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(end, asyncio.CancelledError) for end in ended)
    assert alive([*first, next_one]) == []


async def test_cancelling_kills_the_whole_tree(signs):
    task = asyncio.create_task(run_in_process(work.tree, signs.path))
    pids = await signs.pids(10)
    assert len(alive(pids)) == 10
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(pids) == []


async def test_a_time_out_kills_the_whole_tree(signs):
    task = asyncio.create_task(run_in_process(work.tree, signs.path, timeout_seconds=90))
    pids = await signs.pids(10)
    pass_time(90)
    failure = await failure_of(task)
    assert failure.code is FailureCode.TIMEOUT
    assert "took longer than 90 seconds" in failure.message
    assert alive(pids) == []


async def test_a_process_that_runs_away_is_caught(signs):
    task = asyncio.create_task(run_in_process(work.run_away, signs.path))
    await signs.pids(2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert psutil.Process(process_spawner.get_spawner().pid).children(recursive=True) == []


async def test_a_grandchild_that_holds_everything_open_holds_nobody_up(signs):
    async with asyncio.timeout(60):
        assert await run_in_process(work.leave_grandchild, signs.path) == "done"
        assert alive(await signs.pids(1)) == []
        failure = await failure_of(run_in_process(work.die_leaving_grandchild, signs.path))
        assert "exit code 9" in failure.message
        assert alive(await signs.pids(1)) == []


SERVER = """
import asyncio, sys
from runner.processes.processes import run_command, run_in_process
from tests.support.worker_functions import tree

async def serve():
    shell = f"echo $$ > {sys.argv[1]}; sleep 600 & echo $! > {sys.argv[1]}; wait"
    await asyncio.gather(run_in_process(tree, sys.argv[1]), run_command(["sh", "-c", shell]))

asyncio.run(serve())
"""


async def test_a_killed_server_leaves_no_process_behind(signs):
    server = await asyncio.to_thread(subprocess.Popen, [sys.executable, "-c", SERVER, signs.path], cwd=ROOT)
    pids = await signs.pids(12)
    spawner = [child.pid for child in psutil.Process(server.pid).children()]
    assert len(spawner) == 1
    assert len(alive(pids + spawner)) == 13
    server.kill()
    server.wait()
    wait_until_dead(pids + spawner)


async def test_a_killed_spawner_is_told_and_replaced(signs):
    task = asyncio.create_task(run_in_process(work.hang, signs.path))
    pids = await signs.pids(1)
    os.kill(process_spawner.get_spawner().pid, signal.SIGKILL)
    failure = await failure_of(task)
    assert failure.code is FailureCode.HANDLER_FAILED
    wait_until_dead(pids)
    assert await run_in_process(work.add, 1, 1) == 2


async def test_stopping_ends_what_runs_and_may_be_repeated(signs):
    task = asyncio.create_task(run_in_process(work.tree, signs.path))
    pids = await signs.pids(10)
    await stop_processes()
    assert alive(pids) == []
    assert (await failure_of(task)).code is FailureCode.HANDLER_FAILED
    await stop_processes()
    assert await run_in_process(work.add, 1, 1) == 2


def test_event_loops_may_come_and_go():
    assert [asyncio.run(run_in_process(work.add, number, 1)) for number in range(3)] == [1, 2, 3]


async def test_a_hundred_calls_leave_nothing_behind(signs):
    await run_in_process(work.add, 1, 1)
    await run_command(["true"])

    def trace() -> tuple[object, ...]:
        spawner = psutil.Process(process_spawner.get_spawner().pid)
        return psutil.Process().num_fds(), spawner.num_fds(), spawner.children(), threading.active_count()

    before = trace()
    for number in range(25):
        await run_in_process(work.add, number, 1)
        await run_command(["true"])
        await failure_of(run_in_process(work.fail, "die"))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.001 * (number % 5)):
                await run_in_process(work.add, number, 1)
    await eventually(lambda: trace() == before)  # the spawner lets go of the last one right behind its word


# Programs


async def test_a_program_runs_in_an_empty_environment(tmp_path):
    result = await run_command(["env"])
    assert (result.exit_code, result.stdout, result.stderr, result.truncated) == (0, b"", b"", False)
    script = "cat; pwd; echo $NAME; echo oops >&2; exit 3"
    result = await run_command(["sh", "-c", script], cwd=tmp_path, env={"NAME": "v"}, stdin=b"in\n", timeout_seconds=30)
    assert (result.exit_code, result.stdout) == (3, f"in\n{tmp_path}\nv\n".encode())
    assert result.stderr == b"oops\n"
    assert (await run_command(["echo", "$HOME; echo `id`"])).stdout == b"$HOME; echo `id`\n"


async def test_much_output_is_read_and_cut():
    script = "yes 12345678 | head -c 3000000; yes abcdefgh | head -c 3000000 >&2; kill -TERM $$"
    parts: dict[str, int] = {"stdout": 0, "stderr": 0}

    def listen(name, part):
        parts[name] += len(part)

    result = await run_command(["sh", "-c", script], max_output_bytes=1000, on_output=listen)
    assert result.exit_code == -signal.SIGTERM
    assert result.truncated
    assert result.stdout == b"12345678\n" * 111 + b"1"
    assert result.stderr == (b"abcdefgh\n" * 400_000)[:3_000_000][-1000:]
    assert parts == {"stdout": 3_000_000, "stderr": 3_000_000}


async def test_a_program_that_cannot_be_run_is_told(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("not a program")
    for argv, cwd, code in (
        (["no-such-program-here"], None, FailureCode.NOT_FOUND),
        ([str(tmp_path / "gone")], None, FailureCode.NOT_FOUND),
        (["true"], tmp_path / "gone", FailureCode.NOT_FOUND),
        ([str(plain)], None, FailureCode.POLICY_DENIED),
    ):
        failure = await failure_of(run_command(argv, cwd=cwd))
        assert failure.code is code
        assert (str(cwd) if cwd else argv[0]) in failure.message


async def test_a_background_process_does_not_outlive_the_program():
    async with asyncio.timeout(60):
        result = await run_command(["sh", "-c", "(setsid sleep 600 &) ; sleep 601 & echo $!"])
    assert alive([int(result.stdout)]) == []
    assert psutil.Process(process_spawner.get_spawner().pid).children(recursive=True) == []


async def test_a_program_is_killed_as_a_tree(signs):
    script = f"for i in 1 2 3; do (setsid sh -c 'echo $$ > {signs.path}; sleep 600; true' &); done; wait; sleep 600"
    failing = asyncio.create_task(run_command(["sh", "-c", script], timeout_seconds=90))
    pids = await signs.pids(3)
    pass_time(90)
    assert (await failure_of(failing)).code is FailureCode.TIMEOUT
    assert alive(pids) == []
    assert psutil.Process(process_spawner.get_spawner().pid).children(recursive=True) == []
