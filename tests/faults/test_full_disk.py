"""A disk that is really full while an agent works: the attempt fails and says why, the server goes on, nothing is lost.

The server's data folder is a small file system of its own, in a mount namespace that only the server is in.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import pytest_asyncio

from tests.support.sandbox import NEEDS_SANDBOX
from tests.support.servers import Calls, Fleet, RealServer, held_calls
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = [pytest.mark.slow, NEEDS_SANDBOX, pytest.mark.asyncio(loop_scope="module")]

AGENT = Path(__file__).parents[1] / "support" / "agent_program.py"
MEGABYTES = 48
#: What the program does as each of the agents.
PROFILES = {
    "brief": ["say", "hello"],
    "flood": ["flood", "90"],
    "large": ["leave", "28"],
    "leave": ["leave", "8"],
    "fill": ["fill", "200"],
    "talker": ["go_on", "stop"],
}
CREATE = """mutation($document: JSON!) { createPipeline(definition: {document: $document}) {
    ... on PipelineSuccess { pipeline { id } } ... on InvalidProblem { message } } }"""
RUN = """mutation($pipeline: ID!, $wait: Int!) { runPipeline(pipeline: $pipeline, inputs: {}, waitSeconds: $wait) {
    ... on StartRunSuccess { run { id state failure { code message hint } steps { output { json } } } } } }"""
LOOK = """query($id: ID!) { run(id: $id) { state failure { code } steps { output { json } artifacts { id sizeBytes }
    attempts { number state transcript(last: 100) { nodes { kind text } totalCount: __typename } } } } }"""
FIND = "query($key: ID!) { pipeline(id: $key) { id } }"
ALL = """query($id: ID!, $after: Cursor) { run(id: $id) { steps { attempts { transcript(first: 500, after: $after) {
    nodes { sequence kind text } pageInfo { hasNextPage endCursor } } } } } }"""


@dataclass
class SmallDisk:
    """A server whose data folder has little room.

    Attributes:
        place: The folder, as seen from here.
        calls: Calls of the packs that a test holds.
    """

    server: RealServer
    place: Path
    calls: Calls

    def fill(self, leave: int = 0) -> None:
        """Takes what room there is, but a little."""
        with open(self.place / "filler", "wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        if leave:
            size = (self.place / "filler").stat().st_size
            os.truncate(self.place / "filler", max(size - leave, 0))

    def free(self) -> None:
        """Gives it back."""
        (self.place / "filler").unlink(missing_ok=True)

    async def run(self, key: str, wait: int = 40, **agent: Any) -> dict[str, Any]:
        """Starts a run of one agent step."""
        given = {"prompt": "Go on.", "isolation": "sandbox", **agent}
        document = {"name": key, "key": key, "steps": [{"id": "draft", "agent": given}]}
        pipeline = (await self.server.command(CREATE, document=document))["pipeline"]["id"]
        return dict((await self.server.command(RUN, pipeline=pipeline, wait=wait))["run"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_disk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SmallDisk]:
    """One for all tests: each gives back the room it takes.

    Only the database and its log stay as large as they have grown, so the test that makes them largest is the last.
    """
    folder = tmp_path_factory.mktemp("disk")
    data = folder / "one"
    data.mkdir()
    settings = [
        f"[agents.{name}]\ncommand = {orjson.dumps([sys.executable, '-I', str(AGENT), *arguments]).decode()}\n"
        f'read = ["{AGENT.parent}"]\n'
        for name, arguments in PROFILES.items()
    ]
    (folder / "packline.toml").write_text("\n".join(settings))
    mount = f'mount -t tmpfs -o size={MEGABYTES}m small "{data}" && cp "{folder}/packline.toml" "{data}" && exec "$@"'
    async with held_calls() as calls:
        fleet = Fleet(
            folder, "sqlite", calls, within=("unshare", "-rm", "sh", "-c", mount, "sh"), caller_run_seconds=600
        )
        try:
            server = await fleet.up("one")
            yield SmallDisk(server, Path(f"/proc/{server.process.pid}/root{data}"), calls)
        finally:
            await fleet.down()


@pytest.fixture
def disk(shared_disk: SmallDisk) -> Iterator[SmallDisk]:
    yield shared_disk
    shared_disk.free()
    for left in (shared_disk.place / "agents").glob("*/*"):  # of a test that failed
        shutil.rmtree(left)


async def is_well(disk: SmallDisk, key: str) -> None:
    """The server works, and has room again."""
    after = await disk.run(key, use="brief")
    assert (after["state"], after["failure"]) == ("SUCCEEDED", None)
    assert not list((disk.place / "agents").glob("*/*")), "nothing of the attempts is left"


async def test_a_file_that_cannot_be_taken_ends_the_attempt(disk: SmallDisk) -> None:
    run = await disk.run("taken", use="large", outputs=["large"])
    assert run["failure"]["code"] == "RESOURCE_EXHAUSTED"
    assert "disk" in run["failure"]["message"]
    await is_well(disk, "after-taken")


async def test_an_input_that_cannot_be_put_ends_the_attempt(disk: SmallDisk) -> None:
    made = await disk.run("made", use="leave", outputs=["large"])
    disk.fill(leave=3_000_000)
    file = made["steps"][0]["output"]["json"]["artifacts"][0]["artifact_id"]
    run = await disk.run("put", use="brief", inputs=[file])
    assert run["failure"]["code"] == "RESOURCE_EXHAUSTED", run
    disk.free()
    await is_well(disk, "after-put")


async def test_what_was_told_before_and_after_a_full_disk_is_all_there(disk: SmallDisk) -> None:
    run = await disk.run("talker", wait=0, use="talker", isolation="process")

    async def said(least: int) -> bool:
        return len(await transcript(disk, run["id"])) >= least

    await eventually(lambda: said(50))
    before = await transcript(disk, run["id"])
    written = len(disk.server.output)
    disk.fill()
    folder = next((disk.place / "agents").glob("att_*"))
    await eventually(lambda: any("could not be stored yet" in line for line in disk.server.output[written:]))
    assert (await transcript(disk, run["id"]))[: len(before)] == before, "what was written can still be read"
    disk.free()
    await eventually(lambda: said(2 * len(before)))
    (folder / "workspace" / "stop").touch()

    async def is_over() -> bool:
        return str((await disk.server.ask(LOOK, id=run["id"]))["run"]["state"]) == "SUCCEEDED"

    await eventually(is_over)
    after = await transcript(disk, run["id"])
    assert after[: len(before)] == before
    assert [entry["sequence"] for entry in after] == list(range(1, len(after) + 1)), "no gap"
    lines = "".join(entry["text"] for entry in after[1:]).split("\n")
    assert lines[-2:] == ["the end", ""]
    assert [line.split(" ")[1] for line in lines[:-2]] == [str(number + 1) for number in range(len(lines) - 2)]
    await is_well(disk, "after-talker")


async def transcript(disk: SmallDisk, run: str) -> list[dict[str, Any]]:
    """All that is kept of a run's first attempt."""
    found: list[dict[str, Any]] = []
    after = None
    while True:
        attempts = (await disk.server.ask(ALL, id=run, after=after))["run"]["steps"][0]["attempts"]
        if not attempts:
            return found
        page = attempts[0]["transcript"]
        found += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            return found
        after = page["pageInfo"]["endCursor"]


async def test_commands_are_refused_until_there_is_room_and_runs_go_on_then(disk: SmallDisk) -> None:
    steps = [{"id": "hold", "pack": "held.step"}, {"id": "end", "pack": "held.quick"}]

    def document(key: str) -> dict[str, Any]:
        return {"name": key, "key": key, "description": "x" * 5_000, "steps": steps}

    pipeline = (await disk.server.command(CREATE, document=document("waits")))["pipeline"]["id"]
    run = (await disk.server.command(RUN, pipeline=pipeline, wait=0))["run"]["id"]
    call = await disk.calls.next(run, step="hold")
    disk.fill()
    saved = ["waits"]
    while not (answer := await disk.server.admin.execute(CREATE, {"document": document(f"p{len(saved)}")})).errors:
        saved.append(f"p{len(saved)}")  # the database still has a little room
    (refusal,) = answer.errors
    assert refusal["extensions"]["code"] == "UNAVAILABLE"
    assert "The disk is full" in refusal["message"]

    call.go()
    await call.ended.wait()
    disk.free()
    await eventually(lambda: has_ended(disk, run))
    assert (await disk.server.ask(LOOK, id=run))["run"]["state"] == "SUCCEEDED"
    for key in saved:
        assert (await disk.server.ask(FIND, key=key))["pipeline"]
    assert (await disk.server.ask(FIND, key=f"p{len(saved)}"))["pipeline"] is None


async def has_ended(disk: SmallDisk, run: str) -> bool:
    for call in disk.calls.held():  # what could not be recorded runs again
        call.go()
    return str((await disk.server.ask(LOOK, id=run))["run"]["state"]) in {"SUCCEEDED", "FAILED"}


async def test_an_agent_that_fills_the_disk_fails_by_itself_and_leaves_room(disk: SmallDisk) -> None:
    run = await disk.run("filled", use="fill")
    assert run["failure"]["code"] in ("HANDLER_FAILED", "RESOURCE_EXHAUSTED")
    assert "No space left on device" in run["failure"]["message"]
    await is_well(disk, "after-filled")


async def test_output_that_cannot_be_kept_ends_the_attempt(disk: SmallDisk) -> None:
    run = await disk.run("spool", use="flood", stdout_to="all.txt")
    assert run["failure"] is not None
    assert run["failure"]["code"] == "RESOURCE_EXHAUSTED"
    assert "could not be stored: No space left on device" in run["failure"]["message"]
    assert "Free disk space" in run["failure"]["hint"]
    await is_well(disk, "after-spool")
