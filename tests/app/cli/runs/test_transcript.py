"""`packline transcript` against a real server and real agents: read, followed, replayed, harmless to terminals."""

import json
import os
import pty
import sys
from pathlib import Path

import pytest

from tests.support.forks import fork
from tests.support.machine import Machine

pytestmark = pytest.mark.slow

AGENT = Path(__file__).parents[3] / "support" / "agent_program.py"
#: Programs that stand for agents: how they print, and with which arguments they are called.
AGENTS = {
    "talker": ("claude", ["claude", "Bash"]),
    "hostile": ("raw", ["say", "\x1b]0;owned\x07\x1b[2Jred\u202e\x9b31m"]),
    "staying": ("raw", ["go_on", "stop"]),
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("machine"))
    settings = ['[agents.rehearsal]\npreset = "mock"\n']
    for name, (stream, arguments) in AGENTS.items():
        command = json.dumps([sys.executable, "-I", str(AGENT), *arguments])
        settings.append(f'[agents.{name}]\ncommand = {command}\nread = ["{AGENT.parent}"]\nstream = "{stream}"\n')
    (machine.folder / "data").mkdir()
    (machine.folder / "data" / "packline.toml").write_text("\n".join(settings))
    with machine.up():
        yield machine


def started(machine, name, *options, agent=None, steps=()):
    """A new run of one agent step, and of others before it; its id."""
    file = machine.folder / f"{name}.json"
    given = {"use": name, "prompt": "Go on.", **(agent or {})}
    file.write_text(json.dumps({"key": name, "name": name, "steps": [*steps, {"id": "draft", "agent": given}]}))
    machine.lines("apply", "--file", str(file), "--yes")
    return machine.lines("run", name, "--json", *options)[-1]["run"]["id"]


def test_what_an_agent_did_is_told_as_text_and_as_json_lines(machine):
    run = started(machine, "talker")
    text = machine.run("transcript", run, "--text").stdout
    assert "prompt for talker" in text
    assert "Go on." in text
    assert "→ Read" in text
    assert "# A" in text
    assert "denied: Bash" in text
    assert "120 tokens in, 30 out" in text
    assert f"packline transcript {run} draft" in machine.run("show", run, "--step", "draft", "--text").stdout
    entries = machine.lines("transcript", run, "draft", "--json")
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    assert {entry["type"] for entry in entries} == {"entry"}
    assert (entries[0]["kind"], entries[0]["step"], entries[0]["attempt"], entries[0]["runId"]) == (
        "PROMPT",
        "draft",
        1,
        run,
    )
    assert machine.lines("transcript", run, "--json", "--follow") == entries, "followed, it is the same"


def test_what_an_agent_prints_commands_no_terminal(machine):
    run = started(machine, "hostile")
    as_json = machine.run("transcript", run, "--json").stdout
    assert not {"\x1b", "\x9b", "\u202e"} & set(as_json)
    assert json.loads(as_json.splitlines()[-1])["text"] == "\x1b]0;owned\x07\x1b[2Jred\u202e\x9b31m", "the same value"
    main, side = pty.openpty()
    with fork(["transcript", run, "--text"], machine.environment, stdout=side) as process:
        assert process.wait() == 0
    os.close(side)
    shown = b""
    try:
        while part := os.read(main, 65536):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(main)
    assert b"red" in shown
    assert b"\x1b]0" not in shown
    assert "\x9b".encode() not in shown
    assert b"\x1b[2J" not in shown
    assert b"\x07" not in shown
    assert "\u202e".encode() not in shown


def test_a_transcript_is_followed_while_it_grows(machine):
    run = started(machine, "staying", "--detach")
    with fork(["transcript", run, "--json", "--follow"], machine.environment) as process:
        try:
            while "line 3 of many" not in (line := process.stdout.readline()):
                assert line, "it ended before anything was said"
            assert machine.lines("show", run, "--json")[0]["state"] == "RUNNING"
            workspace = next((machine.folder / "data" / "agents").glob("*/workspace"))
            (workspace / "stop").touch()
            rest = process.stdout.read()
            assert "the end" in rest
            assert process.wait() == 0
        finally:
            process.terminate()


def test_what_was_replayed_says_where_it_comes_from(machine):
    agent = {"cache": True, "stdout_to": "said.txt"}
    first = started(machine, "rehearsal", agent=agent)
    again = started(machine, "rehearsal", agent=agent)
    told = machine.run("transcript", again)
    assert told.stdout == ""
    assert f"its result is that of draft in {first}" in told.stderr


def test_what_is_not_there_is_named(machine):
    run = started(machine, "talker")
    assert "It has draft." in machine.run("transcript", run, "drafts").stderr
    assert "has no attempt 7. It has 1." in machine.run("transcript", run, "--attempt", "7").stderr
    assert machine.run("transcript", "run_none").returncode == 2
