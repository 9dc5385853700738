"""`packline pipeline` and short ids against a real server."""

import pytest

from tests.support.machine import Machine

DEFINITION = """\
key: mine
name: Mine
description: {}
steps:
  - id: read
    pack: practice.text
    input: {{}}
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("machine"))
    with machine.up():
        yield machine


def test_versions_are_listed_compared_and_restored_and_the_pipeline_is_deleted(machine):
    file = machine.folder / "mine.yaml"
    for text in ("Reads a text.", "Reads nothing."):
        file.write_text(DEFINITION.format(text))
        machine.lines("apply", "-f", str(file), "--yes")
    (created,) = [one["id"] for one in machine.lines("pipelines", "--own") if one["key"] == "mine"]
    listed = machine.lines("pipeline", "versions", created[:-1])
    assert [(one["number"], one["current"]) for one in listed] == [(2, True), (1, False)]
    assert "2 (current)" in machine.run("pipeline", "versions", "mine", "--text").stdout

    (told,) = machine.lines("pipeline", "diff", "mine", "1")
    assert (told["from"], told["to"]) == (1, 2)
    assert "-description: Reads a text.\n+description: Reads nothing." in told["diff"]
    assert machine.lines("pipeline", "diff", "mine") == [told], "the last two"
    alone = machine.run("pipeline", "diff", "sample").stderr
    assert alone == "packline: sample has only one version, so there is nothing to compare it with.\n"
    assert "do not differ" in machine.run("pipeline", "diff", "mine", "2", "2", "--text").stdout
    missing = machine.run("pipeline", "diff", "mine", "1", "7")
    assert missing.stderr == ("packline: mine has no version 7. `packline pipeline versions mine` lists them.\n")

    asked = machine.run("pipeline", "restore", "mine", "1", "--text")
    assert (asked.returncode, "+description: Reads a text." in asked.stdout) == (2, True)
    assert asked.stderr == (
        "packline: Restore version 1 as version 3? There is no terminal to ask on: repeat the command with `--yes`.\n"
    )
    (restored,) = machine.lines("pipeline", "restore", "mine", "1", "--yes")
    assert restored["pipeline"]["currentVersion"] == {"number": 3}
    assert "description: Reads a text." in machine.run("export", "mine").stdout
    assert machine.lines("pipeline", "versions", "mine")[0]["note"] == "Version 1 restored"

    assert machine.run("pipeline", "delete", "mine").returncode == 2
    assert machine.lines("pipeline", "delete", "mine", "--yes")[0]["key"] == "mine"
    assert "There is no pipeline" in machine.run("pipeline", "versions", "mine").stderr
    assert "read-only" in machine.run("pipeline", "delete", "sample", "--yes").stderr


def test_last_and_prefixes_name_runs_and_artifacts(machine):
    assert "you have none" in machine.run("show", "@last").stderr
    first = machine.lines("run", "practice.text")[-1]["run"]
    assert first["output"]["json"]["text"]
    second = machine.lines("run", "sample", "-i", "practice_failure=false")[-1]["run"]
    assert machine.lines("show", "@last")[0]["id"] == second["id"]
    assert machine.lines("show", first["id"][:-1])[0]["id"] == first["id"]
    (deck,) = second["artifacts"]["nodes"]
    assert machine.lines("artifact", "pin", "@last")[0]["id"] == deck["id"]
    assert machine.lines("artifact", "unpin", deck["id"][:-1])[0]["id"] == deck["id"]

    ambiguous = machine.run("show", first["id"][:7])
    assert ambiguous.returncode == 2
    assert [line.split()[0] for line in ambiguous.stderr.splitlines()[1:]] == [second["id"], first["id"]]
    made = machine.lines("token", "create", "reader", "--scope", "read")[0]
    assert machine.lines("token", "revoke", made["id"][:-1])[0]["id"] == made["id"]


def test_a_title_that_was_given_stays_when_a_resume_changes_the_inputs(machine):
    run = machine.lines("run", "sample", "--title", "For Ada", status=1)[-1]["run"]
    resumed = machine.lines("resume", run["id"], "-i", "practice_failure=false")[-1]["run"]
    assert (resumed["state"], resumed["title"]) == ("SUCCEEDED", "For Ada")
