"""`packline route` and the pack `catalog.route` against a real server, each its own process."""

import pytest

from app.cli.base.client import Client
from app.cli.runs.route import route
from tests.support.machine import Machine


def test_a_request_is_answered_with_a_command_to_run_and_nothing_is_run(tmp_path):
    machine = Machine(tmp_path)
    with machine.up():
        told = machine.run("route", "dark slides of https://example.org/post")
        assert told.returncode == 0, told.stderr
        (routed,) = machine.lines("route", "slides", "--context", '{"files": [{"name": "report.pdf"}]}')
        (gap,) = machine.lines("route", "detect fraud in these transactions")
        gaps = machine.run("route", "detect fraud in these transactions and book me a flight", "--text").stdout
        (saved,) = machine.lines("route", "detect fraud in these transactions", "--save-gap")
        nothing = machine.run("route", "dark slides of https://example.org/post", "--save-gap", "--text").stdout
        posted = machine.run("route", "post to webhook", "--text").stdout
        called = machine.lines("run", "catalog.route", "--input", "user_intent=research tides and make a podcast")
        empty = machine.run("route", " ")
        runs = machine.lines("runs")
        mine = tmp_path / "mine.yaml"
        mine.write_text(
            "\n---\n".join(
                f"key: tides-{word}\nname: Tides {word}\ndescription: A tides {word} for a harbour.\n"
                "steps: [{id: a, pack: practice.text, input: {}}]\nmetadata: {practice: false}"
                for word in ("almanac", "calendar")
            )
        )
        applied = machine.run("apply", "--yes", "-f", str(mine))
        almanac = machine.run("route", "a tides almanac for the harbour", "--text")
        starter = machine.run("route", "slides", "--context", '{"files": [{"name": "report.pdf"}]}', "--text")
        unseen = machine.run("show", "tides-almanac")
        no_version = machine.run("run", "tides-almanac", "--version", "99")

    assert routed["recommendation"]["id"] == "builtin.doc-deck"
    assert routed["recommendation"]["missingInputs"] == ["source_url"]
    assert "packline run builtin.doc-deck" in starter.stdout
    assert gap["recommendation"]["kind"] == "NONE"
    assert [one["proposal"]["name"] for one in gap["gapWarnings"]] == ["doc.detect"]
    assert [one["issueText"] is not None for one in saved["savedGaps"]] == [True]
    assert saved["savedGaps"][0]["id"].startswith("gap_")
    assert "Nothing is missing to be saved." in nothing
    assert "Give what it needs of url, body, text, message; `packline packs http.post` describes them." in posted
    assert "packline run http.post --input NAME=VALUE" in posted
    for named in ("detect fraud in these transactions", "book me a flight"):
        assert f"Missing here: {named}\n" in gaps
    assert "A pack that would do it: custom.book\n" in gaps
    assert called[-1]["run"]["state"] == "SUCCEEDED"
    assert empty.returncode != 0
    assert "empty" in empty.stderr
    assert applied.returncode == 0, applied.stderr
    assert "packline run tides-almanac" in almanac.stdout
    assert "tides-calendar " in almanac.stdout.partition("To run it:")[2], "the other one, by its key"
    assert "pipe_" not in almanac.stdout
    assert unseen.stderr.endswith("`packline runs` lists runs, `packline pipelines` pipelines.\n")
    assert "There is no version `99` of pipeline `tides-almanac`." in no_version.stderr
    assert [run["title"].partition(":")[0] for run in runs] == ["catalog.route"]


def test_a_proposed_pipeline_names_its_packs_in_order(monkeypatch: pytest.MonkeyPatch, capsys):
    """Only a routing model proposes a pipeline, so the answer is given here."""
    proposal = {
        "action": "DRAFT_PIPELINE",
        "name": "read-and-post",
        "summary": "Reads a file and posts it.",
        "packs": ["doc.parse", "http.post"],
        "whyUseful": "Reach.",
        "integrationPattern": "A chain.",
    }
    answer = {
        "recommendation": {"kind": "NONE", "id": None, "why": "Nothing posts files."},
        "alternatives": [],
        "gapWarnings": [{"missingCapability": "post a file", "whyMissing": "No pipeline does.", "proposal": proposal}],
        "reasoning": "A model chose.",
    }
    monkeypatch.setattr(Client, "execute", lambda *_: {"route": answer})
    route("post a file", server="http://127.0.0.1:9", as_json=False)
    shown = capsys.readouterr().out.partition("A pipeline that would do it: read-and-post\n")[2]
    assert shown.startswith("  Reads a file and posts it.\n  Packs, in order: doc.parse, http.post\n  Reach.\n")
