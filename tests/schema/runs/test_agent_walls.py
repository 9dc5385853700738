"""Agents gone bad: what is tried to get out of the walls, at each level, through the front door."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import app.settings.agents
from runner.agents import spawning
from runner.agents.isolation import Isolation
from tests.schema.runs.test_agent_steps import ATTEMPT, program, run, text_of
from tests.support.product import Product, product
from tests.support.sandbox import NEEDS_SANDBOX

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HOSTILE = Path(__file__).parents[2] / "support" / "hostile_agent.py"
MARK = "marked-by-the-server"
LEVELS = [Isolation.PROCESS, Isolation.SANDBOX]


@asynccontextmanager
async def hostile(folder: Path, *names: str, **settings: Any) -> AsyncIterator[Product]:
    """A product whose profiles are functions of the hostile program, by name; arguments stand behind a colon."""
    agents = {
        name.partition(":")[0].replace("_", "-"): {
            "command": [sys.executable, "-I", str(HOSTILE), *name.split(":")],
        }
        for name in names
    }
    async with product(folder, agents=agents, **settings) as it:
        yield it


async def told(it: Product, use: str, **agent: Any) -> Any:
    """What a hostile agent got."""
    started = await run(it, {"use": use, **agent}, key=use)
    return json.loads(text_of(started))


@pytest.mark.parametrize("level", LEVELS)
async def test_neither_processes_nor_devices_nor_the_kernel_give_anything_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: Isolation
) -> None:
    monkeypatch.setenv("OF_THE_SERVER", MARK)
    monkeypatch.setattr(app.settings.agents, "best_isolation", lambda: level)
    outside = Path(tempfile.mkdtemp(dir="/var/tmp"))  # `/tmp` itself may be written at the level `process`
    kept = outside / "kept.txt"
    kept.write_text(MARK)
    name = f"\0packline-test-{os.getpid()}"
    tries = [
        f"processes:{MARK[:5]}:{MARK[5:]}",
        "descriptors",
        f"sockets:@{name[1:]}:{outside}/socket",
        f"others:{os.getpid()}",
        "devices:/dev/mem:/dev/kmsg:/dev/port",
        "kernel",
        "privileges:evil",
        f"reads:/etc/shadow:{outside}/kept.txt:/proc/1/environ:{Path.home() / '.bashrc'}",
        f"writes:{outside}/kept.txt:/etc/hosts:/usr/bin/id",
    ]
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as on_disk:
        for one, address in ((listening, name), (on_disk, f"{outside}/socket")):
            one.bind(address)
            one.listen()
        async with hostile(tmp_path, *tries) as it:
            got = {use: await told(it, use) for use in it.services.engine.resources.agents.profiles if use != "mock"}

    assert got["processes"]["found"] == []
    assert got["processes"]["shadow"] == []
    assert got["descriptors"] == [], "nothing is inherited open"
    # Landlock says nothing of sockets that lie on the disk.
    assert got["sockets"]["reached"] == ([f"{outside}/socket"] if level == "process" else [])
    assert [way for of in got["others"].values() for way, went in of.items() if went] == []
    assert got["devices"]["made"].startswith("refused")
    assert (got["devices"]["opened"], got["devices"]["written"]) == ([], [])
    assert got["kernel"] == {"writable": [], "keys": False, "rights": 0}
    assert got["privileges"]["no_new"], "a set-uid file gives nothing"
    assert [text for text in got["reads"].values() if not text.startswith("refused")] == []
    # Landlock says nothing of modes: who works as the server's user may change those of its files.
    assert {way for ways in got["writes"].values() for way in ways} == ({"mode"} if level == "process" else set())
    assert kept.read_text() == MARK
    assert sorted(os.listdir(outside)) == ["kept.txt", "socket"]
    shutil.rmtree(outside)


@NEEDS_SANDBOX
async def test_memory_that_stands_for_a_disk_is_bounded_in_a_sandbox(tmp_path: Path) -> None:
    async with hostile(tmp_path, "room") as it:
        got = await told(it, "room")
    large = {folder: size for folder, (size, _) in got.items() if size}
    assert large == {"/tmp": 256, "/dev/shm": 64}


@pytest.mark.parametrize("kind", ["hard_link", "device", "fifo", "socket", "link"])
async def test_an_output_that_is_no_file_of_its_own_is_refused(tmp_path: Path, kind: str) -> None:
    async with hostile(tmp_path, f"outputs:{kind}") as it:
        started = await run(it, {"use": "outputs", "outputs": ["out"]})
    failure = started["run"]["failure"]
    assert failure["code"] == "INVALID_OUTPUT"
    assert "`out`" in failure["message"]
    assert started["run"]["steps"][0]["artifacts"] == []


async def test_what_swaps_an_output_for_a_link_is_dead_before_it_is_taken(tmp_path: Path) -> None:
    async with hostile(tmp_path, "swap:1") as it:
        for number in range(5):
            started = await run(it, {"use": "swap", "outputs": ["out"]}, key=f"k{number}")
            found = started["run"]
            if found["state"] == "FAILED":
                assert "behind a link" in found["failure"]["message"] or "does not exist" in found["failure"]["message"]
            else:
                assert [file["sizeBytes"] in {0, 4} for file in found["steps"][0]["artifacts"]] == [True]


@pytest.mark.parametrize("name", ["outputs:sparse", "outputs:many_sparse", "many:3000", "deep:15:30"])
async def test_a_workspace_holds_no_more_than_it_may(tmp_path: Path, name: str) -> None:
    async with hostile(tmp_path, name, agent_workspace_bytes=10 << 20) as it:
        use = name.partition(":")[0]
        started = await run(it, {"use": use, "outputs": ["out"]})
        folder = it.services.engine.resources.agents.folder
        assert os.listdir(folder) == [], "nothing is left, however deep or closed"
    failure = started["run"]["failure"]
    assert (failure["code"], "exceeds the limit" in failure["message"]) == ("RESOURCE_EXHAUSTED", True)


@pytest.mark.parametrize("name", ["deep:40:1", "nested:3000"])
async def test_folders_nested_too_deep_are_told_as_what_they_are(tmp_path: Path, name: str) -> None:
    async with hostile(tmp_path, name) as it:
        failure = (await run(it, {"use": name.partition(":")[0]}))["run"]["failure"]
        assert os.listdir(it.services.engine.resources.agents.folder) == [], "nothing is left, however deep"
    assert failure["code"] == "RESOURCE_EXHAUSTED"
    assert "nests folders deeper than the longest path" in failure["message"]


async def test_odd_names_and_closed_folders_are_removed_with_the_rest(tmp_path: Path) -> None:
    async with hostile(tmp_path, "odd_names") as it:
        names = await told(it, "odd-names")
        assert "a\nb" in names
        assert os.listdir(it.services.engine.resources.agents.folder) == []


async def test_the_level_without_a_sandbox_is_recorded_and_a_demand_beyond_it_fails_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.settings.agents, "best_isolation", lambda: Isolation.PROCESS)
    made = tmp_path / "made"
    agents = {"teller": program("tell"), "writer": program("write", str(made))}
    async with product(tmp_path, agents=agents) as it:
        started = await run(it, {"use": "teller"})
        attempt = (await it.query(ATTEMPT, {"id": started["run"]["id"]}))["run"]["steps"][0]["attempts"][0]
        refused = [await run(it, {"use": "writer", "isolation": level}, key=level[-7:]) for level in DEMANDS]

    assert attempt["isolation"] == "PROCESS"
    for one in refused:
        assert one["__typename"] == "UnavailableProblem", "a start refuses before anything is run"
        assert [need["kind"] for need in one["missing"]] == ["ISOLATION"]
        assert "this server offers `process`" in one["missing"][0]["message"]
    assert not made.exists()


DEMANDS = ["sandbox", "sandbox_offline"]


async def test_a_level_that_is_lost_after_the_start_fails_closed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = {"writer": program("write", "made")}
    async with product(tmp_path, agents=agents) as it:
        found = it.services.engine.resources.agents
        lacks = type(found).lacks
        monkeypatch.setattr(type(found), "lacks", lambda *_: [])
        monkeypatch.setattr(type(found), "isolation", Isolation.PROCESS)
        started = await run(it, {"use": "writer", "isolation": "sandbox", "outputs": ["made"]})
        monkeypatch.setattr(type(found), "lacks", lacks)
    assert started["run"]["failure"]["code"] == "POLICY_DENIED"


@pytest.mark.parametrize("commands", [None, {"rules": [{"program": "id", "allow": True}]}, {"fallback": "allow"}])
async def test_without_sandbox_and_landlock_a_step_is_not_told_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commands: dict[str, Any] | None
) -> None:
    monkeypatch.setattr(app.settings.agents, "best_isolation", lambda: Isolation.PROCESS)
    monkeypatch.setattr(spawning, "has_landlock", lambda: False)
    async with product(tmp_path, agents={"spawner": program("spawn", "/usr/bin/id", "-u")}) as it:
        started = await run(it, {"use": "spawner", **({"commands": commands} if commands else {})})
    found = started["run"]
    if commands and "rules" in commands:
        assert found["failure"]["code"] == "POLICY_DENIED"
        assert "neither bubblewrap nor Landlock" in found["failure"]["message"]
    else:
        assert text_of(started).startswith("ran: 0")
        assert bool(found["steps"][0]["warnings"]) is (commands is None)


async def test_landlock_alone_holds_programs_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.settings.agents, "best_isolation", lambda: Isolation.PROCESS)
    outside = Path(tempfile.mkdtemp(dir="/var/tmp"))
    up = ("../up.txt", "../../up.txt", "../stdout", "../../../packline.db")
    agents = {
        "spawner": program("spawn", "/usr/bin/id", "-u"),
        "writer": program("write", "inside.txt", str(outside / "new"), *up, "/dev/kmsg"),
    }
    async with product(outside / "server", agents=agents) as it:
        denied = await run(it, {"use": "spawner"})
        allowed = await run(it, {"use": "spawner", "commands": {"rules": [{"program": "id", "allow": True}]}}, key="b")
        written = await run(it, {"use": "writer", "outputs": ["inside.txt"]}, key="c")
    assert [text_of(denied), text_of(allowed)] == ["denied: Permission denied\n", "ran: 0 0\n"]
    assert text_of(written).count(" ok\n") == 1
    assert not (outside / "new").exists()
    shutil.rmtree(outside)


async def test_a_denied_program_leaves_what_others_keep_for_themselves(tmp_path: Path) -> None:
    denying = {"fallback": "allow", "rules": [{"program": "git-shell", "allow": False}]}
    helper = "/usr/lib/git-core/git-sh-i18n--envsubst"
    agents = {"helper": program("spawn", helper, "x"), "denied": program("spawn", "/usr/bin/git-shell")}
    async with product(tmp_path, agents=agents) as it:
        ran = text_of(await run(it, {"use": "helper", "commands": denying}))
        refused = text_of(await run(it, {"use": "denied", "commands": denying}, key="b"))
    assert ran.startswith("ran: ")
    assert refused == "denied: Permission denied\n"


@NEEDS_SANDBOX
async def test_a_script_that_a_command_names_may_be_read_without_saying_so(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "say.py").write_text("print('said')\n")
    (scripts / "other.txt").write_text("other")
    read = "import sys; print(open(sys.argv[1]).read())"
    agents = {
        "named": {"command": [sys.executable, "-I", str(scripts / "say.py"), str(scripts / "other.txt")]},
        "beside": {"command": [sys.executable, "-I", "-c", read, "/etc/hosts", str(scripts / "other.txt")]},
    }
    async with product(tmp_path, agents=agents) as it:
        assert text_of(await run(it, {"use": "named"})) == "said\n"
        (scripts / "say.py").write_text("print(open(__file__.replace('say.py', 'other.txt')).read())\n")
        started = await run(it, {"use": "named"}, key="b")
    assert started["run"]["failure"]["code"] == "HANDLER_FAILED", "one file, not the folder around it"
