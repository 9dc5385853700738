"""What the log of a real server says about runs."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.support.pack_folders import write_pack_folder
from tests.support.servers import PACKS, Calls, Fleet, RealServer, held_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

#: Given to every run, and in no line of the log.
INPUT = "what only the run's record may hold"

FLAKY = '''
from pydantic import BaseModel

from packline import PackContext, PackError, pack


class Text(BaseModel):
    text: str


@pack("log.flaky", version="1.0.0", effects="none", repeatable=True)
async def flaky(ctx: PackContext, input: Text) -> Text:
    """Fails at first."""
    if ctx.attempt_number == 1:
        raise PackError("rate_limited", f"No more of {input.text}.", retry_after_seconds=0.01)
    if ctx.attempt_number == 2:
        raise PackError("invalid_input", f"Something other than {input.text} is needed.")
    return input
'''
PIPELINE = {
    "key": "two-steps",
    "name": "Two steps",
    "steps": [
        {"id": "first", "pack": "log.flaky", "input": {"text": "${{ inputs.text }}"}, "retry": {"initial_seconds": 0}},
        {"id": "second", "pack": "held.step", "input": {"text": "${{ steps.first.output.text }}"}},
    ],
}
CREATE = """mutation ($definition: PipelineDefinitionInput!) { createPipeline(definition: $definition) {
    ... on PipelineSuccess { pipeline { key } } ... on Problem { message } } }"""
RUN = """mutation ($pipeline: ID!, $inputs: JSON!) { runPipeline(pipeline: $pipeline, inputs: $inputs) {
    ... on StartRunSuccess { run { id } } ... on Problem { message } } }"""
CALL = """mutation ($text: String!) { runPack(pack: "held.step", input: {text: $text}) {
    ... on StartRunSuccess { run { id } } ... on Problem { message } } }"""
WAIT = "query ($id: ID!) { waitRun(id: $id) { run { state steps { attempts { id } } } } }"
RESUME = "mutation ($id: ID!) { resumeRun(id: $id) { ... on RunSuccess { run { id } } ... on Problem { message } } }"
CANCEL = "mutation ($id: ID!) { cancelRun(id: $id) { ... on RunSuccess { run { id } } ... on Problem { message } } }"


@asynccontextmanager
async def servers(tmp_path: Path, **settings: object) -> AsyncIterator[tuple[Fleet, Calls]]:
    own = write_pack_folder(tmp_path / "own", {"log/flaky.py": FLAKY})
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls, log_level="info", pack_path=f"{PACKS}{os.pathsep}{own}", **settings)
        try:
            yield fleet, calls
        finally:
            await fleet.down()


async def ended(server: RealServer, run_id: str) -> dict[str, Any]:
    run = (await server.ask(WAIT, id=run_id))["waitRun"]["run"]
    assert run["state"] in {"SUCCEEDED", "FAILED", "CANCELLED"}
    return dict(run)


def lines_of(server: RealServer, run_id: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in server.output if line.startswith("{")]
    return [line for line in lines if line.get("run") == run_id]


async def test_the_log_has_a_line_for_each_turn_of_a_run(tmp_path: Path):
    async with servers(tmp_path) as (fleet, calls):
        server = await fleet.up("one")
        assert "pipeline" in (created := await server.command(CREATE, definition={"document": PIPELINE})), created
        run_id = (await server.command(RUN, pipeline="two-steps", inputs={"text": INPUT}))["run"]["id"]
        attempts = (await ended(server, run_id))["steps"][0]["attempts"]
        await server.command(RESUME, id=run_id)
        await calls.next(run_id, step="second")
        await server.kill()
        first = lines_of(server, run_id)

        server = await fleet.up("one")
        call = await calls.next(run_id, step="second", attempt=2)
        call.go()
        await ended(server, run_id)
        cancelled_id = (await server.command(CALL, text=INPUT))["run"]["id"]
        await calls.next(cancelled_id)
        await server.command(CANCEL, id=cancelled_id)
        await ended(server, cancelled_id)
        assert await server.stop() == 0
        second, cancelled = lines_of(server, run_id), lines_of(server, cancelled_id)

    assert [(line["level"], line["event"]) for line in first] == [
        ("info", "run started"),
        ("warning", "step failed and is retried"),
        ("info", "run continued"),
        ("warning", "step failed"),
        ("warning", "run failed"),
        ("info", "run resumed"),
        ("info", "run continued"),
    ]
    started, retried, _, failed, ending, resumed, _ = first
    assert (started["pipeline"], started["caller"], started["cause"]) == ("two-steps", "admin", "person")
    ids = {(line["step"], line["attempt"], line["pack"]) for line in (retried, failed)}
    assert ids == {("first", attempt["id"], "log.flaky") for attempt in attempts}
    assert (retried["code"], retried["number"], retried["wait_seconds"]) == ("rate_limited", 1, 0.01)
    assert (failed["code"], failed["number"]) == ("invalid_input", 2)
    assert (ending["code"], ending["step"], ending["pipeline"]) == ("invalid_input", "first", "two-steps")
    assert 0 < ending["seconds"] < 60
    assert resumed["caller"] == "admin"

    assert [line["event"] for line in second] == ["run taken over", "run succeeded"]
    assert second[0]["lost_attempt"].startswith("att_")
    assert second[0]["worker"] != second[0]["previous_worker"]
    assert second[0]["level"] == "warning"
    assert 0 < second[1]["seconds"] < 60

    assert [line["event"] for line in cancelled] == ["run started", "run cancelled"]
    assert cancelled[0]["pack"] == "held.step"
    assert INPUT not in json.dumps([first, second, cancelled])


async def test_the_log_for_people_has_the_same_lines(tmp_path: Path):
    async with servers(tmp_path, log_format="console") as (fleet, calls):
        server = await fleet.up("one")
        run_id = (await server.command(CALL, text=INPUT))["run"]["id"]
        (await calls.next(run_id)).go()
        await ended(server, run_id)
        assert await server.stop() == 0
        lines = [line for line in server.output if run_id in line]
    assert ["run started" in lines[0], "run succeeded" in lines[1], len(lines)] == [True, True, 2]
    assert all("pack=held.step" in line and "caller=admin" in line for line in lines)
    assert INPUT not in "".join(server.output)
