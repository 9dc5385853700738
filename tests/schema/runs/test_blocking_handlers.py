"""A handler that blocks the event loop is named, with its place and what to use instead."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel
from structlog.testing import capture_logs

from packline import PackContext, pack
from runner.running import loop_watch
from tests.support.front_door import command, ran, save, step, until_state
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping
    from pathlib import Path

    from tests.support.product import Product

HINT = "`await ctx.run_in_process(function, …)`"
#: The server's log of the test that runs, and how often it named a pack; handlers block until then.
_log: list[MutableMapping[str, Any]] = []
_told = threading.Semaphore(0)


class Nothing(BaseModel):
    """Takes and gives nothing."""


def block(seconds: float = 20.0) -> None:
    """Blocks until the watch has named a pack, at most so long."""
    _told.acquire(timeout=seconds)


@pack("test.waits", version="1.0.0", effects="none", repeatable=True)
async def waits(ctx: PackContext, given: Nothing) -> Nothing:
    """Blocks the loop and returns in the same turn."""
    block()
    return given


@pack("test.computes", version="1.0.0", effects="none", repeatable=True)
async def computes(ctx: PackContext, given: Nothing) -> Nothing:
    """Keeps the interpreter to itself for about a second of processor time, again until it is named."""
    for _ in range(5):
        if _told.acquire(blocking=False):
            break
        sum(range(50_000_000))
    return given


@pack("test.fails", version="1.0.0", effects="none", repeatable=True)
async def fails(ctx: PackContext, given: Nothing) -> Nothing:
    """Blocks the loop in a task of its own, after a pause, and fails."""

    async def child() -> None:
        await asyncio.sleep(0)
        block()

    await asyncio.create_task(child())
    raise RuntimeError("No luck.")


@pack("test.repeats", version="1.0.0", effects="none", repeatable=True)
async def repeats(ctx: PackContext, given: Nothing) -> Nothing:
    """Blocks the loop twice in one place, for long enough to be named again."""
    block()
    await asyncio.sleep(0)
    block(4 * loop_watch.BLOCKED_SECONDS)
    return given


@pack("test.fine", version="1.0.0", effects="none", repeatable=True)
async def fine(ctx: PackContext, given: Nothing) -> Nothing:
    """Waits as it should."""
    await asyncio.sleep(0.01)
    return given


@pytest.fixture(autouse=True)
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(loop_watch, "BLOCKED_SECONDS", 0.5)
    monkeypatch.setattr(loop_watch, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(f"{__name__}._told", threading.Semaphore(0))
    with capture_logs([note]) as captured:
        monkeypatch.setattr(f"{__name__}._log", captured)
        yield


def note(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if event["event"] in ("a pack blocks the server", "one of several runs blocks the server"):
        _told.release()
    return event


async def log_of(it: Product, run_id: str, number: int = 0) -> list[dict[str, Any]]:
    query = "query ($id: ID!) { run(id: $id) { steps { attempts { log(first: 50) { nodes { level text } } } } } }"
    found = (await it.query(query, {"id": run_id}))["run"]["steps"][number]["attempts"][0]
    lines: list[dict[str, Any]] = found["log"]["nodes"]
    return lines


async def test_the_step_its_log_and_the_servers_log_name_the_pack_and_the_place(tmp_path: Path) -> None:
    async with product(tmp_path, [waits, fine]) as it:
        await save(it, "slow", step("first", "test.fine"), step("second", "test.waits"), step("last", "test.fine"))
        run = await ran(it, "slow")
        lines = await log_of(it, run["id"], 1)
    assert run["state"] == "SUCCEEDED"
    first, second, last = (step["warnings"] for step in run["steps"])
    assert (first, last) == ([], [])
    (warning,) = second
    assert warning.startswith("test.waits blocked the server for ")
    assert " s at test_blocking_handlers.py:" in warning
    assert HINT in warning
    assert {line["level"] for line in lines} == {"WARNING"}
    text = "\n".join(line["text"] for line in lines)
    assert HINT in text
    assert f'File "{__file__}", line {waits.handler.__code__.co_firstlineno + 3}, in waits\n    block()' in text  # type: ignore[attr-defined]
    assert "_told.acquire(timeout=seconds)" in text
    named = {"pack": "test.waits", "run": run["id"], "step": "second", "attempt": 1, "log_level": "warning"}
    begun, ended = (line for line in _log if line["event"].startswith("a pack block"))
    assert begun.items() >= named.items()
    assert ended.items() >= named.items()
    assert begun["stack"] in text + "\n"
    assert ended["seconds"] >= begun["seconds"] > 0
    assert begun["place"] == ended["place"] == warning.partition(" s at ")[2].partition(";")[0]
    assert HINT in ended["hint"]


async def test_code_that_keeps_the_interpreter_to_itself_is_told(tmp_path: Path) -> None:
    async with product(tmp_path, [computes]) as it:
        run = (await command(it, "runPack", pack="test.computes", input={}, waitSeconds=20))["run"]
    (warning,) = run["steps"][0]["warnings"]
    assert ", in computes; no other run" in warning


async def test_a_task_of_the_handler_is_told_and_the_failure_stays(tmp_path: Path) -> None:
    async with product(tmp_path, [fails]) as it:
        run = (await command(it, "runPack", pack="test.fails", input={}, waitSeconds=20))["run"]
    assert run["failure"]["code"] == "HANDLER_FAILED"
    assert run["steps"][0]["warnings"][0].startswith("test.fails blocked the server for ")


async def test_where_it_may_be_one_of_several_runs_only_the_servers_log_says_so(tmp_path: Path) -> None:
    released = asyncio.Event()

    @pack("test.patient", version="1.0.0", effects="none", repeatable=True)
    async def patient(ctx: PackContext, given: Nothing) -> Nothing:
        await released.wait()
        return given

    async with product(tmp_path, [fails, patient]) as it:
        other = (await command(it, "runPack", pack="test.patient", input={}))["run"]
        await until_state(it, other["id"], "RUNNING")
        run = (await command(it, "runPack", pack="test.fails", input={}, waitSeconds=20))["run"]
        released.set()
        await until_state(it, other["id"], "SUCCEEDED")
    assert run["steps"][0]["warnings"] == []
    (line,) = (line for line in _log if line["event"] == "one of several runs blocks the server")
    assert line["packs"] == ["test.fails", "test.patient"]
    assert ", in block" in line["place"]


async def test_each_place_is_told_once(tmp_path: Path) -> None:
    async with product(tmp_path, [repeats]) as it:
        run = (await command(it, "runPack", pack="test.repeats", input={}, waitSeconds=20))["run"]
    (warning,) = run["steps"][0]["warnings"]
    assert ", in block; no other run" in warning


async def test_the_thread_ends_with_the_server(tmp_path: Path) -> None:
    def watching() -> bool:
        return any(thread.name == "packline-loop-watch" for thread in threading.enumerate())

    async with product(tmp_path):
        assert watching()
    assert not watching()
