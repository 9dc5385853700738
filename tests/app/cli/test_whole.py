"""The command line against a real server, each its own process, as a user has them."""

import json
import os
import pty
import re
import signal
import stat
import subprocess

import httpx2
import pytest

from tests.support.machine import PACKLINE, Machine


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("machine"))
    with machine.up():
        yield machine


def test_output_that_may_be_kept_as_a_log_has_no_login_link(machine):
    assert machine.second_line == "For a login link, run  packline token login-link\n"


def test_on_a_terminal_the_first_start_prints_a_login_link(tmp_path):
    fresh = Machine(tmp_path)
    server, terminal = pty.openpty()
    with subprocess.Popen(
        [*PACKLINE, "up", "--port", "0"], stdout=terminal, stderr=subprocess.PIPE, text=True, env=fresh.environment
    ) as process:
        os.close(terminal)
        with os.fdopen(server) as screen:
            assert screen.readline().startswith("Packline is running at http://127.0.0.1:")
            assert "/login#pkl_" in screen.readline()
            process.send_signal(signal.SIGTERM)
            assert process.stderr is not None
            assert "/login#" not in process.stderr.read()
            assert process.wait(60) == 0


def test_a_login_link_of_the_command_works_once(machine):
    link = re.search(r"http://\S+/login#(\S+)", machine.run("token", "login-link", "--text").stdout)
    assert link
    with httpx2.Client(base_url=machine.url, timeout=60, verify=False) as http:
        assert http.get("/healthz").text == "ok\n"
        assert http.post("/graphql", json={"query": "{viewer{name}}"}).status_code == 401
        assert http.post("/login", data={"token": link[1]}).status_code == 303
        asked = http.post("/graphql", json={"query": "{viewer{subject}}"}, headers={"origin": machine.url})
        assert asked.json() == {"data": {"viewer": {"subject": "admin"}}}
        assert http.post("/login", data={"token": link[1]}).status_code == 400


def test_what_lies_in_the_data_folder_is_the_servers_own(machine):
    data = machine.folder / "data"
    for name in ("cli-token", "download.key"):
        assert stat.S_IMODE((data / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_a_run_fails_is_resumed_and_leaves_its_deck(machine):
    failed = machine.lines("run", "sample", status=1)
    run = failed[-1]["run"]
    states = [(line["runStep"]["key"], line["stepState"]) for line in failed if "stepState" in line]
    assert ("read", "SUCCEEDED") in states
    assert run["failure"]["stepKey"] == "review"
    assert run["clientName"] == "packline CLI"

    shown = machine.run("show", run["id"], "--text").stdout
    assert f"packline resume {run['id']}" in shown
    step = machine.lines("show", run["id"], "--step", "review")[0]
    assert step["attempts"][0]["state"] == "FAILED"
    plan = machine.lines("resume", run["id"], "--preview")[0]["preview"]
    assert [one["action"] for one in plan["steps"]] == ["REUSE", "REUSE", "RUN", "RUN"]

    saved = machine.folder / "saved"
    resumed = machine.lines("resume", run["id"], "--save", str(saved))
    assert resumed[-1]["run"]["state"] == "SUCCEEDED"
    (deck,) = saved.iterdir()
    assert deck.read_bytes().startswith(b"%PDF")

    again = machine.run("resume", run["id"])
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.endswith(f"Try `packline rerun {run['id']}`.\n")
    assert "has succeeded; only failed and cancelled runs can be resumed." in again.stderr
    previewed = machine.run("resume", run["id"], "--preview")
    assert (previewed.returncode, previewed.stdout, previewed.stderr) == (2, "", again.stderr)
    watched = machine.lines("watch", run["id"])
    sequences = [line["sequence"] for line in watched if line["type"] == "event"]
    assert sequences == list(range(1, len(sequences) + 1))


def test_the_server_is_listed_as_the_only_worker(machine):
    worker, queue = machine.lines("workers")
    assert (worker["alive"], worker["running"]) == (True, 0)
    assert (queue["queuedRuns"], queue["oldestQueuedAt"]) == (0, None)
    assert worker["name"] in machine.run("workers", "--long", "--text").stdout
    findings = {line["what"]: line for line in machine.lines("doctor")}
    assert (findings["workers"]["state"], findings["workers"]["message"]) == ("works", "1 alive.")


def test_inputs_are_read_by_the_pipelines_schema(machine):
    done = machine.run("run", "sample", "--input", "practice_failure=perhaps")
    assert done.returncode == 2
    assert "must be true or false" in done.stderr
    for command in ("run", "export"):
        assert "Did you mean `sample`?" in machine.run(command, "sampel").stderr
    text = machine.run("run", "sample", "-i", "practice_failure=false", "--text")
    assert text.returncode == 0, text.stderr
    assert "render: succeeded" in text.stdout


def test_an_optional_input_that_had_no_value_is_a_note_of_its_step_and_no_warning(machine):
    file = machine.folder / "optional.yaml"
    file.write_text(
        "key: optional\nname: Optional\n"
        "inputs: {type: object, properties: {heading: {type: string}}}\n"
        "steps:\n  - {id: outline, pack: slides.outline, "
        "input: {text: Tea is made of leaves., title: '${{ inputs.heading }}'}}\n"
    )
    machine.lines("apply", "-f", str(file), "--yes")
    run = machine.lines("run", "optional")[-1]["run"]
    assert [step["warnings"] for step in run["steps"]] == [[]]
    assert "warning" not in machine.run("show", run["id"], "--text").stdout
    (step,) = machine.lines("show", run["id"], "--step", "outline")
    assert step["attempts"][0]["notes"] == ["Not set, because they had no value: title."]
    told = machine.run("show", run["id"], "--step", "outline", "--text").stdout
    assert "note: Not set, because they had no value: title." in told
    assert "warning" not in told


def test_a_refusal_says_nothing_twice(machine):
    placeholder = machine.run("run", "scrape-deck", "--input", "url={{REPO_URL}}")
    assert placeholder.returncode == 2
    assert placeholder.stderr.splitlines() == [
        'packline: The inputs do not fit pipeline scrape-deck: The input `url` is the placeholder "{{REPO_URL}}", '
        "not a value.",
        "  Replace it with the real value.",
    ]
    missing = machine.run("run", "scrape-deck")
    assert missing.stderr.splitlines() == [
        "packline: The inputs do not fit pipeline scrape-deck: The input `url` is required and missing.",
        "  Give it a value: Address of the page, https or http.",
    ]
    two = machine.run("run", "scrape-deck", "-i", "url=5", "-i", "max_slides=900")
    assert two.stderr.splitlines() == [
        "packline: The inputs do not fit pipeline scrape-deck:",
        "  error: --input max_slides: `max_slides` is 900; it must be at most 40.",
        '  error: --input url: `url` is "5"; it must be a URL such as https://example.org/page.',
    ]
    neither = machine.run("run", "doc-deck")
    assert neither.stderr.splitlines() == [
        "packline: The inputs do not fit pipeline doc-deck: Give `source_url` or `artifact`."
    ]
    both = machine.run("run", "doc-deck", "-i", "source_url=https://example.org/a.pdf", "-i", "artifact=art_1")
    assert "Give only one of `source_url` and `artifact`." in both.stderr
    unknown = machine.run("run", "scrape-deck", "-i", "urls=x", "-i", "url=http://example.org").stderr
    assert unknown.count("Did you mean `url`?") == 1


def test_a_rerun_reuses_steps(machine):
    first = machine.lines("run", "sample", "-i", "practice_failure=false")[-1]["run"]
    (told,) = machine.lines("rerun", first["id"], "--from-step", "render", "--preview")
    assert [one["action"] for one in told["preview"]["steps"]] == ["REUSE", "REUSE", "REUSE", "RUN"]
    second = machine.lines("rerun", first["id"], "--from-step", "render")[-1]["run"]
    assert second["state"] == "SUCCEEDED"
    assert second["rerunOf"] == {"id": first["id"]}


def test_changes_are_read_by_the_version_of_the_run_also_once_the_pipeline_is_deleted(machine):
    file = machine.folder / "passing.yaml"
    old = """
key: passing
name: Passing
inputs: {type: object, additionalProperties: false, properties: {fails: {type: boolean, default: true}}}
steps:
  - id: review
    pack: practice.review
    retry: {max_attempts: 1}
    input: {markdown: "# Tea", practice_failure: "${{ inputs.fails }}"}
"""
    file.write_text(old)
    machine.lines("apply", "-f", str(file), "--yes")
    first = machine.lines("run", "passing", status=1)[-1]["run"]["id"]
    file.write_text(old.replace("fails", "flaw"))
    changed = machine.run("apply", "-f", str(file), "--yes")
    assert changed.returncode == 0, changed.stderr

    assert machine.lines("rerun", first, "-i", "fails=false")[-1]["run"]["state"] == "SUCCEEDED"
    assert machine.lines("run", "passing", "--version", "1", "-i", "fails=false")[-1]["run"]["state"] == "SUCCEEDED"
    headers = {"authorization": f"Bearer {(machine.folder / 'data' / 'cli-token').read_text().strip()}"}
    delete = 'mutation { deletePipeline(pipeline: "passing", confirmKey: "passing") { __typename } }'
    with httpx2.Client(base_url=machine.url, headers=headers, timeout=60, verify=False) as http:
        assert "DeleteSuccess" in http.post("/graphql", json={"query": delete}).text
    assert machine.lines("rerun", first, "-i", "fails=false")[-1]["run"]["state"] == "SUCCEEDED"
    assert machine.lines("resume", first, "-i", "fails=false")[-1]["run"]["state"] == "SUCCEEDED"
    assert "There is no run" in machine.run("rerun", f"run_{26 * '0'}", "-i", "fails=false").stderr


def test_a_step_input_stays_with_the_failed_step_until_it_is_dropped(machine):
    file = machine.folder / "given.yaml"
    # Addresses of this machine are refused, so the step fails at once whichever it is given.
    scrape = "\n  - {id: scrape, pack: web.scrape, input: {url: 'http://127.0.0.1:1/tea'}}"
    head = "key: given\nname: Given\nsteps:"
    file.write_text(head + scrape)
    machine.lines("apply", "-f", str(file), "--yes")
    run = machine.lines("run", "given", status=1)[-1]["run"]["id"]
    milk = '{"url": "http://127.0.0.1:1/milk"}'
    machine.lines("resume", run, "--step-input", milk, status=1)

    kept = machine.run("resume", run, "--preview", "--text").stdout
    assert f"scrape gets the input given in an earlier resume: {milk}" in kept
    tea = milk.replace("milk", "tea")
    dropped = machine.run("resume", run, "--preview", "--text", "--step-input", "null").stdout
    assert f"scrape gets the input of its definition: {tea}" in dropped
    before = "\n  - {id: before, pack: slides.outline, input: {text: Tea is made of leaves.}}"
    file.write_text(head + before + scrape)
    machine.lines("apply", "-f", str(file), "--yes")
    table = machine.run("resume", run, "--preview", "--text", "--current").stdout
    assert "before" in table, "a step the run has no row for is listed, too"
    water = milk.replace("milk", "water")
    failed = machine.lines("resume", run, "--current", "--step-input", water, status=1)[-1]["run"]
    assert failed["failure"]["stepKey"] == "scrape"
    assert water in json.dumps(machine.lines("show", run, "--step", "scrape"))


def test_lists_tokens_and_definitions(machine):
    assert "sample" in [line["key"] for line in machine.lines("pipelines", "--starters")]
    assert "slides.render" in [line["id"] for line in machine.lines("packs", "--produces", "pdf")]
    shown = machine.run("packs", "doc.parse", "--text").stdout.splitlines()
    assert shown[0].startswith("doc.parse ")
    assert "runs here: yes" in shown
    assert "  max_chars: a whole number, default 400000" in shown
    assert "      Address of the document, fetched now. Give this or `artifact`." in shown
    assert shown.index("input") < shown.index("  source_url: text, optional") < shown.index("output")
    (whole,) = machine.lines("packs", "doc.parse")
    assert "max_chars" in whole["inputSchema"]["properties"]
    assert len(machine.lines("packs", "doc.pars")) >= 1, "no name: words to search for"
    assert {line["state"] for line in machine.lines("runs", "--limit", "3")} <= {"SUCCEEDED", "FAILED"}

    made = machine.lines("token", "create", "reader", "--scope", "read", "--subject", "rita")[0]
    machine.environment["PACKLINE_TOKEN"] = made["plaintext"]
    try:
        assert machine.lines("runs") == [], "other callers' runs do not exist for her"
        refused = machine.run("run", "sample")
        assert refused.returncode == 2
        assert "scope" in refused.stderr
    finally:
        del machine.environment["PACKLINE_TOKEN"]
    assert made["id"] in [line["id"] for line in machine.lines("token", "list")]
    machine.lines("token", "revoke", made["id"])
    assert made["id"] not in [line["id"] for line in machine.lines("token", "list")]


def test_every_command_says_the_same_of_a_run_it_does_not_find(machine, packline, monkeypatch):
    """In this process: others here are the commands as processes, and these would be 23."""
    monkeypatch.setenv("PACKLINE_DATA_DIR", machine.environment["PACKLINE_DATA_DIR"])
    run, file = "run_01J00000000000000000000000", "art_01J00000000000000000000000"
    asked = {
        run: [
            *((command, run) for command in ("show", "watch", "resume", "transcript", "promote", "rerun", "cancel")),
            ("rerun", run, "--from-step", "read"),
        ],
        file: [("artifact", command, file) for command in ("text", "save", "pin", "release")],
    }
    made = machine.lines("token", "create", "worker", "--scope", "read,run,write", "--subject", "wanda")[0]
    for token, seen in ((None, ""), (made["plaintext"], " that your token may see")):
        if token:
            monkeypatch.setenv("PACKLINE_TOKEN", token)
        for command in asked[run]:
            refused = packline(*command)
            assert (refused.status, refused.err) == (
                2,
                f"packline: There is no run `{run}`{seen}. `packline runs` lists runs.\n",
            ), command
        for command in asked[file]:
            if token and command[1] == "release":
                continue  # needs another scope
            assert packline(*command).err == (
                f"packline: There is no artifact `{file}`{seen}. `packline artifact list` lists artifacts.\n"
            ), command


def test_apply_export_and_check_speak_one_document(machine):
    file = machine.folder / "mine.yaml"
    file.write_text(
        "key: mine\nname: Mine\ndescription: Reads.\nsteps:\n  - id: read\n    pack: practice.text\n    input: {}\n"
    )
    (checked,) = machine.lines("check", str(file))
    assert (checked["valid"], checked["server"], checked["missing"]) == (True, machine.url, [])
    assert machine.lines("apply", "-f", str(file), "--yes")[0]["action"] == "CREATE"
    exported = machine.run("export", "mine").stdout
    schema = exported.splitlines()[0].partition("$schema=")[2]
    assert httpx2.get(schema, timeout=60, trust_env=False).json() == json.loads(machine.run("schema").stdout)
    file.write_text(exported)
    assert [line["action"] for line in machine.lines("apply", "-f", str(file), "--yes")] == ["KEEP"]
    assert machine.lines("run", "mine")[-1]["run"]["state"] == "SUCCEEDED"
    assert machine.lines("run", "practice.text")[-1]["run"]["state"] == "SUCCEEDED"


def test_apply_says_in_which_file_and_line_each_issue_is(machine, tmp_path):
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    steps = "steps:\n  - id: a\n    pack: doc.parse\n    input:\n      source_url: https://example.org\n"
    good.write_text(f"key: good\nname: Good\n{steps}")
    bad.write_text(f"key: fine\nname: Fine\n{steps}---\nkey: bad\nname: Bad\n{steps.replace('doc.parse', 'doc.pars')}")
    refused = machine.run("apply", "-f", str(good), "-f", str(bad), "--yes")
    assert refused.returncode == 2
    assert f"{bad}:13:5: error: step a, pack: There is no pack `doc.pars`." in refused.stderr
    assert "Did you mean `doc.parse`?" in refused.stderr
    bad.write_text("key: bad\n name: Bad\n")
    refused = machine.run("apply", "-f", str(good), "-f", str(bad), "--yes")
    assert refused.stderr.startswith(f"packline: {bad}:2:")


def test_doctor_finds_the_server_well(machine):
    findings = machine.lines("doctor")
    found = {line["what"]: line for line in findings}
    assert found["server"]["state"] == "works"
    assert not any(line["vital"] for line in findings)
    unusable = [line["id"] for line in machine.lines("packs", "--unusable")]
    usable = [line["id"] for line in machine.lines("packs", "--usable")]
    said = f"{len(usable) + len(unusable)} loaded, {len(usable)} can run on this server"
    assert found["packs"]["message"] == said
    lacking = " ".join(line["message"] for line in findings if "Needed by" in line["message"])
    assert all(name in lacking for name in unusable), "each with what it lacks"
    assert found["models of writer"]["state"] == "not_set_up"


def test_a_second_server_on_the_folder_says_what_to_do(machine):
    done = machine.run("up", "--port", "0")
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("Stop it, or give this one another `--data-dir` (PACKLINE_DATA_DIR).")


def test_commands_that_need_the_data_folder_for_themselves_say_to_stop_the_server(machine):
    for command in (("migrate",), ("credential", "rotate-key"), ("credential", "reset", "--yes")):
        done = machine.run(*command)
        assert done.returncode == 2, command
        assert done.stderr == (
            f"packline: A Packline server uses the data folder {machine.folder / 'data'}. "
            "Stop it, repeat this command, then start it again.\n"
        )
    embedded = machine.run("mcp", "--embedded", text="")
    assert (embedded.returncode, "Leave out --embedded" in embedded.stderr) == (2, True)


def test_a_backup_of_the_running_server_restores(machine):
    archive = machine.folder / "backup.tar"
    machine.lines("backup", str(archive))
    machine.lines("restore", str(archive), "--data-dir", str(machine.folder / "other"))
    runs = machine.lines("runs")
    url = machine.url
    with machine.up("--data-dir", str(machine.folder / "other")):
        assert machine.url != url
        assert machine.lines("runs", "--server", machine.url) == runs, "tokens and runs came along"
    machine.url = url


def test_other_machines_are_not_let_in_before_anybody_can_sign_in(tmp_path):
    fresh = Machine(tmp_path)
    done = fresh.run("up", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 1
    assert "PACKLINE_BOOTSTRAP_TOKEN" in done.stderr

    fresh.environment["PACKLINE_BOOTSTRAP_TOKEN"] = "a token for automation"
    with fresh.up("--host", "0.0.0.0"):
        assert fresh.lines("token", "list")


def test_a_file_of_this_machine_is_read_by_a_run(machine, tmp_path):
    document = tmp_path / "Tea & more.md"
    document.write_text("# Tea\n\nGreen tea is steeped for three minutes.\n")
    lines = machine.lines("run", "doc.parse", "--upload", f"artifact={document}")
    assert lines[-1]["run"]["state"] == "SUCCEEDED"
    plain = machine.run("run", "slides.render", "--upload", f"title={document}")
    assert plain.returncode == 2
    assert f"the input `title` takes no file. For the file's text, write --input title=@{document};" in plain.stderr
    large = tmp_path / "large.txt"
    large.write_text("x" * 2_000_000)
    refused = machine.run("run", "slides.render", "--input", f"markdown=@{large}")
    assert refused.returncode == 2
    assert "1,048,576 bytes (PACKLINE_REQUEST_BODY_BYTES)" in refused.stderr
    assert "The input `markdown` has 2,000,002 bytes. Send large content as a file" in refused.stderr
    missing = machine.run("run", "doc.parse", "--upload", "artifact=nowhere.pdf")
    assert (missing.returncode, "there is no file nowhere.pdf" in missing.stderr) == (2, True)
    (tmp_path / "empty.pdf").touch()
    empty = machine.run("run", "doc.parse", "-u", f"artifact={tmp_path / 'empty.pdf'}")
    assert (empty.returncode, "empty.pdf is empty" in empty.stderr) == (2, True)


def test_a_client_is_connected_with_a_token_of_its_own(machine, tmp_path):
    file = tmp_path / "mcp.json"
    (told,) = machine.lines("connect", "cursor", "--make-token", "--write", "--file", str(file))
    assert told["changed"] is True
    entry = json.loads(file.read_text())["mcpServers"]["packline"]
    assert entry["url"] == f"{machine.url}/mcp"
    question = {"query": "{ viewer { subject scopes } }"}
    answer = httpx2.post(
        f"{machine.url}/graphql", json=question, headers=entry["headers"], trust_env=False, timeout=60, verify=False
    ).json()
    assert answer["data"]["viewer"] == {"subject": "cursor", "scopes": ["READ", "RUN"]}
