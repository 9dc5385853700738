"""A server that is killed while an agent works: no process stays, and what the agent said up to then is kept."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support.databases import prepare_sqlite
from tests.support.sandbox import NEEDS_SANDBOX
from tests.support.servers import Fleet, RealServer, held_calls
from tests.support.waiting import eventually

AGENT = Path(__file__).parents[1] / "support" / "agent_program.py"
CREATE = """mutation($document: JSON!) { createPipeline(definition: {document: $document}) {
    ... on PipelineSuccess { pipeline { id } } ... on InvalidProblem { message } } }"""
RUN = """mutation($pipeline: ID!) { runPipeline(pipeline: $pipeline, inputs: {}) {
    ... on StartRunSuccess { run { id } } } }"""
CANCEL = "mutation($id: ID!) { cancelRun(id: $id) { __typename } }"
LOOK = """query($id: ID!) { run(id: $id) { state steps { attempts { number state isolation
    transcript { nodes { kind text data } } } } } }"""


def processes_of(path: Path) -> list[str]:
    """Ids of the processes whose command line holds a path, of any group and session."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(path).encode() in entry.read_bytes():
                found.append(entry.parent.name)
    return found


def without_bubblewrap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a PATH on which everything is but bubblewrap."""
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for found in Path(place).glob("*"):
            if found.name != "bwrap":
                with suppress(FileExistsError):
                    (folder / found.name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))


async def said(server: RealServer, run: str) -> list[tuple[str, str]]:
    attempts = (await server.ask(LOOK, id=run))["run"]["steps"][0]["attempts"]
    nodes: list[dict[str, Any]] = attempts[0]["transcript"]["nodes"] if attempts else []
    return [(node["kind"], node["text"]) for node in nodes]


@pytest.mark.parametrize("isolation", ["process", pytest.param("sandbox", marks=NEEDS_SANDBOX)])
async def test_a_killed_server_leaves_no_agent_and_the_transcript_up_to_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    if isolation == "process":
        without_bubblewrap(tmp_path / "programs", monkeypatch)
    program = tmp_path / "bin" / "agent_program.py"
    program.parent.mkdir()
    shutil.copy(AGENT, program)
    folder = tmp_path / "one"
    prepare_sqlite(folder)
    command = orjson.dumps([sys.executable, "-I", str(program), "stay"]).decode()
    (folder / "packline.toml").write_text(
        f'session_sweep_seconds = 0.2\n[agents.staying]\ncommand = {command}\nread = ["{program.parent}"]\n'
    )
    agent = {"use": "staying", "prompt": "Stay.", "isolation": isolation}
    document = {"name": "Ask", "key": "ask", "steps": [{"id": "draft", "agent": agent}]}
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls)
        try:
            server = await fleet.up("one")
            pipeline = (await server.command(CREATE, document=document))["pipeline"]["id"]
            run = (await server.command(RUN, pipeline=pipeline))["run"]["id"]

            async def has_spoken() -> bool:
                return "staying" in "".join(text for _, text in await said(server, run))

            await eventually(has_spoken)
            before = await said(server, run)
            assert len(processes_of(program)) >= 2  # itself, and the child that left its group
            (workspace,) = (folder / "agents").iterdir()
            await server.kill()
            await eventually(lambda: not processes_of(program))

            server = await fleet.up("one")
            assert (await said(server, run))[: len(before)] == before
            assert before[0] == ("PROMPT", "Stay.")
            await eventually(lambda: _is_over(server, run))
            await eventually(lambda: not workspace.exists())  # of the lost attempt
            prompt = (await server.ask(LOOK, id=run))["run"]["steps"][0]["attempts"][0]["transcript"]["nodes"][0]
            assert prompt["data"]["isolation"] == isolation
            await server.command(CANCEL, id=run)  # what was lost is done again
            await eventually(lambda: not processes_of(program))
        finally:
            await fleet.down()


async def _is_over(server: RealServer, run: str) -> bool:
    attempts = (await server.ask(LOOK, id=run))["run"]["steps"][0]["attempts"]
    return bool(attempts[0]["state"] == "LOST")
