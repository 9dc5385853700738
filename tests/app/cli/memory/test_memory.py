"""`packline memory` and `packline promote` against a real server, each its own process."""

import json

import httpx2

from app.cli.memory.memory import FIELDS
from catalog.memory.learning import LearnedField
from tests.support.machine import Machine

OUTLINE = ("run", "slides.outline", "--input", "text=# Lenses\n\nA lens bends light.\n\nA prism splits it.")


def test_every_learned_field_can_be_named():
    assert tuple(field.value for field in LearnedField) == FIELDS


def test_inputs_are_taken_from_memory_where_the_command_says_so(tmp_path):
    machine = Machine(tmp_path)
    with machine.up():
        nothing = machine.run(*OUTLINE, "--from-memory", "persona", "--dry-run")
        assert nothing.returncode == 2
        assert "There is no usual value for the input `persona` of slides.outline" in nothing.stderr
        machine.lines("memory", "pin", "slides.outline", "persona", "executive")
        machine.lines("memory", "pin", "slides.outline", "voice", "narrator")

        done = machine.run(*OUTLINE, "--from-memory", "all")
        assert done.returncode == 0, done.stderr
        assert "From memory: persona=executive." in done.stderr  # the pack has no voice
        assert taken_by(machine, done.stdout) == (["PERSONA"], "executive")
        given = machine.run(*OUTLINE, "--from-memory", "persona", "--input", "persona=student")
        assert taken_by(machine, given.stdout) == (["PERSONA"], "student")
        plain = machine.run(*OUTLINE, "--json")
        assert taken_by(machine, plain.stdout) == ([], None)
        first = json.loads(plain.stdout.splitlines()[0])["run"]["id"]
        again = machine.run("rerun", first, "--from-memory", "persona")
        assert again.returncode == 0, again.stderr
        assert "From memory: persona=executive." in again.stderr
        assert taken_by(machine, again.stdout) == (["PERSONA"], "executive")
        changed = machine.run("rerun", first, "--from-memory", "all", "--input", "persona=student")
        assert taken_by(machine, changed.stdout) == ([], "student")
        assert taken_by(machine, machine.run("rerun", first, "--json").stdout) == ([], None)
        strange = machine.run(*OUTLINE, "--from-memory", "shoe_size")
        assert "Memory does not learn `shoe_size`" in strange.stderr


def taken_by(machine: Machine, printed: str) -> tuple[list[str], str | None]:
    """The learned fields a run says came from memory, and its persona."""
    run_id = json.loads(printed.splitlines()[0])["run"]["id"]
    asked = {
        "query": "query ($id: ID!) { run(id: $id) { inputs fromMemory { field } } }",
        "variables": {"id": run_id},
    }
    token = (machine.folder / "data" / "cli-token").read_text("utf-8").strip()
    with httpx2.Client(base_url=machine.url, trust_env=False, timeout=60, verify=False) as http:
        answer = http.post("/graphql", json=asked, headers={"authorization": f"Bearer {token}"}).json()["data"]["run"]
    return [one["field"] for one in answer["fromMemory"]], answer["inputs"].get("persona")


def test_what_is_learned_is_shown_pinned_promoted_and_forgotten(tmp_path):
    machine = Machine(tmp_path)
    with machine.up():
        for number in range(2):
            done = machine.run(*OUTLINE, "--input", "persona=executive", "--input", f"title={number}")
            assert done.returncode == 0, done.stderr
        (told,) = machine.lines("memory", "defaults")
        (entry,) = told["packs"]
        assert (entry["target"], entry["uses"]) == ("slides.outline", 2)
        assert {value["field"]: value["value"] for value in entry["values"]} == {"PERSONA": "executive"}

        (pinned,) = machine.lines("memory", "pin", "slides.outline", "audience", "the board")
        values = {value["field"]: value for value in pinned["packs"][0]["values"]}
        assert (values["AUDIENCE"]["value"], values["AUDIENCE"]["pinned"]) == ("the board", True)
        (excluded,) = machine.lines("memory", "exclude", "slides.outline", "audience")
        assert {value["field"]: value["excluded"] for value in excluded["packs"][0]["values"]}["AUDIENCE"]
        machine.lines("memory", "learn", "slides.outline", "audience")
        assert machine.run("memory", "pin", "slides.outline", "shoe_size", "44").returncode == 2
        assert "paused" in machine.run("memory", "pause").stdout
        assert "resumed" in machine.run("memory", "resume").stdout

        rows = machine.lines("memory", "entries")
        assert [row["target"] for row in rows] == ["slides.outline", "slides.outline"]
        made = machine.run("promote", rows[0]["run"]["id"], "--to", str(tmp_path / "made.yaml"), "--name", "Outlined")
        assert made.returncode == 0, made.stderr
        applied = machine.run("apply", "-f", str(tmp_path / "made.yaml"), "--yes")
        assert applied.returncode == 0, applied.stderr
        assert machine.run("export", "outlined").stdout.count("${{ inputs.persona }}") == 1

        (counted,) = machine.lines("memory", "forget", "all", "--dry-run")
        assert counted["rows"] == 2
        (gone,) = machine.lines("memory", "forget", "pack:slides.outline")
        assert json.loads(json.dumps(gone)) == {"scope": "pack:slides.outline", "rows": 2, "dryRun": False}
        refused = machine.run("memory", "forget", "everything")
        assert refused.returncode == 2
        assert "pipeline:<id>" in refused.stderr
