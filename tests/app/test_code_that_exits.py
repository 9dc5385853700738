"""Pack code that ends the process where no handler runs: what people get, and what becomes of the server."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from app.server import EXIT_STOPPED
from tests.support.databases import prepare_sqlite
from tests.support.forks import async_fork
from tests.support.pack_folders import write_pack_folder
from tests.support.servers import Fleet, RealServer, held_calls

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import asyncio
import os
import sys

from pydantic import BaseModel, ConfigDict, Field, field_validator

from packline import PackContext, Service, pack

def fail() -> str:
    raise {error}


"""
MODELS = {
    "validator": """class Text(BaseModel):
    text: str = "tea"

    @field_validator("text", mode="before")
    def check(cls, value):
        return fail() if value == "bad" else value
""",
    "default": """class Text(BaseModel):
    text: str = "tea"
    at: str = Field(default_factory=fail)
""",
    "schema": """asked = []

def extra(schema):
    asked.append(schema)
    if len(asked) > 2:
        fail()

class Text(BaseModel):
    model_config = ConfigDict(json_schema_extra=extra)
    text: str = "tea"
""",
    "probe": """class Text(BaseModel):
    text: str = "tea"
""",
    "task": """class Text(BaseModel):
    text: str = "tea"

async def ending():
    fail()
""",
    "cancelling": """class Text(BaseModel):
    text: str = "tea"

def cancel(name):
    next(task for task in asyncio.all_tasks() if task.get_name() == name).cancel()
""",
    "loading": """fail()
""",
}
PACK = '''
@pack("exit.{name}", version="1.0.0", effects="none", repeatable=True{more})
async def run(ctx: PackContext, input: Text) -> Text:
    """Exits."""
    {body}
    return input
'''
BODY = {
    "task": "task = asyncio.create_task(ending()); await asyncio.Event().wait()",
    "cancelling": "cancel(input.text); await asyncio.Event().wait()",
}
MORE = {"probe": ', services=[Service("tea", fail)]'}
RUN = """mutation ($pack: ID!, $input: JSON!) { runPack(pack: $pack, input: $input, waitSeconds: 20) {
    __typename
    ... on StartRunSuccess { run { id state failure { code message } steps { attempts { failure { code }
        exception { type message file line } } } } }
    ... on Problem { message }
    ... on InvalidProblem { issues { message } }
    ... on UnavailableProblem { missing { message } } } }"""


def pack_folder(tmp_path: Path, error: str) -> Path:
    files = {
        f"exit/{name}.py": HEAD.replace("{error}", error)
        + model
        + PACK.format(name=name, body=BODY.get(name, "pass"), more=MORE.get(name, ""))
        for name, model in MODELS.items()
    }
    return write_pack_folder(tmp_path / "mine", files)


def place_in(tmp_path: Path, name: str) -> str:
    """Where `fail` raises."""
    file = tmp_path / "mine" / "packs" / "exit" / f"{name}.py"
    line = next(number for number, line in enumerate(file.read_text().splitlines(), 1) if "    raise " in line)
    return f"({file}, line {line})"


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt()", "RuntimeError('tea')"])
async def test_code_outside_a_handler_that_raises_anything_is_named(tmp_path: Path, error: str):
    shown = {"SystemExit(3)": "SystemExit: 3", "KeyboardInterrupt()": "KeyboardInterrupt"}.get(
        error, "RuntimeError: tea"
    )
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls, pack_path=pack_folder(tmp_path, error))
        try:
            server = await fleet.up("one")

            async def run(name: str, text: str = "tea") -> dict[str, Any]:
                return await server.command(RUN, pack=f"exit.{name}", input={"text": text})

            for name, text in (("validator", "bad"), ("default", "tea")):
                refused = await run(name, text)
                (issue,) = refused["issues"]
                place = place_in(tmp_path, name)
                assert issue["message"] == f"exit.{name} raised {shown} {place} while it checked its input."
            assert (await run("validator"))["run"]["state"] == "SUCCEEDED"

            assert (await run("schema"))["run"]["state"] == "SUCCEEDED", "its schemas are made once, when it is loaded"
            assert (await run("schema"))["run"]["state"] == "SUCCEEDED"

            missing = (await run("probe"))["missing"][0]["message"]
            assert missing == f"The probe of `tea` failed: {shown} {place_in(tmp_path, 'probe')}."

            unloaded = (await run("loading"))["missing"][0]["message"]
            assert "The pack `exit.loading` could not be loaded from packs/exit/loading.py: " in unloaded
            assert "(line " in unloaded
        finally:
            await fleet.down()


async def test_a_process_whose_loop_is_stopped_ends_and_the_run_fails_in_the_end(tmp_path: Path):
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls, pack_path=pack_folder(tmp_path, "SystemExit(0)"))
        try:
            server = await fleet.up("one")
            with pytest.raises(httpx2.TransportError):
                await server.command(RUN, pack="exit.task", input={})
            assert await ended(server) == EXIT_STOPPED
            (line,) = last_words(server)
            assert line == f"SystemExit: 0 {place_in(tmp_path, 'task')}"

            ends = 1
            while True:
                with suppress(AssertionError, httpx2.TransportError):  # it may end before it is ready
                    server = await fleet.up("one")
                    (run,) = (await server.ask("{ runs { nodes { state failure { code message } } } }"))["runs"][
                        "nodes"
                    ]
                    if run["failure"]:
                        break
                    await ended(server)
                ends += 1
            assert ends == 5
            assert run["failure"]["code"] == "HANDLER_FAILED"
            assert "5 times in a row" in run["failure"]["message"]
        finally:
            await fleet.down()


@pytest.mark.parametrize("task", ["packline-heartbeat", "packline-wakes-run_due"])
async def test_a_process_ends_with_a_task_it_cannot_do_without(tmp_path: Path, task: str):
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls, pack_path=pack_folder(tmp_path, "SystemExit(3)"))
        try:
            server = await fleet.up("one")
            with pytest.raises(httpx2.TransportError):
                await server.command(RUN, pack="exit.cancelling", input={"text": task})
            assert await ended(server) == EXIT_STOPPED
            assert last_words(server) == [f"EssentialTaskError: the task {task} was cancelled"]
        finally:
            await fleet.down()


async def test_the_embedded_server_of_an_agent_ends_too(tmp_path: Path):
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls, pack_path=pack_folder(tmp_path, "SystemExit(3)"))
        prepare_sqlite(tmp_path / "one", starters=True)
        process = await async_fork(["mcp", "--embedded"], fleet.environment("one"), stdin=PIPE, stderr=PIPE)
        assert process.stdin is not None
        assert process.stderr is not None
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "ada", "version": "1"}}
        call = {"name": "run_pack", "arguments": {"pack": "exit.task", "input": {}}}
        for message in (
            {"id": 1, "method": "initialize", "params": client},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": call},
        ):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        try:
            async with asyncio.timeout(60):  # its standard input stays open
                said = (await process.stderr.read()).decode()
                assert await process.wait() == EXIT_STOPPED
        finally:
            process.kill()
        assert f'"error": "SystemExit: 3 {place_in(tmp_path, "task")}"' in said


async def ended(server: RealServer) -> int:
    """The exit status of a server that ends by itself, with all it wrote read."""
    status = await server.process.wait()
    assert server.reading is not None
    await server.reading
    return status


def last_words(server: RealServer) -> list[str]:
    """What it said of its end."""
    events = [json.loads(line) for line in server.output if line.startswith("{")]
    return [event["error"] for event in events if event["level"] == "critical"]
