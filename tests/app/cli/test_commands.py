"""The commands as typed, against a server of canned answers."""

import json
import re
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from typing import Annotated, get_args, get_origin, get_type_hints

import psycopg
import pytest

from app.cli.base.client import Client
from app.cli.base.exits import CliError
from app.cli.base.saving import free_name
from app.cli.base.target import Target
from app.cli.commands import tree
from app.cli.runs import documents
from runner.issues import Hint
from tests.support.databases import ready_database
from tests.support.pack_folders import pack_source, write_pack_folder

AT = "2026-11-21T12:00:00.000Z"


def step(key, state="SUCCEEDED", **more):
    return {
        "id": f"step_{key}",
        "key": key,
        "state": state,
        "progress": None,
        "startedAt": AT,
        "endedAt": AT,
        "warnings": [],
        "step": {"packName": "text.shorten"},
        "wait": None,
        "failure": None,
        "attempts": [{"number": 1, "state": state, "startedAt": AT, "endedAt": AT}],
        "milestones": [],
        **more,
    }


def failure(**more):
    return {
        "code": "INVALID_INPUT",
        "class": "CALLER_FIXABLE",
        "message": "The text is empty.",
        "field": "text",
        "cause": "Nobody wrote it.",
        "hint": "Give some text.",
        "remedy": "CHANGE_INPUT",
        "fixableBy": "You, with another input.",
        "retryable": False,
        "retryAfterSeconds": None,
        "safeToRepeat": True,
        "stepKey": "shorten",
        **more,
    }


def run(state="SUCCEEDED", **more):
    return {
        "id": "run_1",
        "title": "A deck",
        "state": state,
        "cause": "PERSON",
        "createdAt": AT,
        "startedAt": AT,
        "endedAt": AT,
        "deadlineAt": None,
        "progress": 1,
        "workSeconds": 1,
        "resumeCount": 0,
        "eventCursor": "c9",
        "actions": [],
        "wait": None,
        "failure": None,
        "pipeline": {"id": "pipe_1", "key": "deck", "name": "Deck"},
        "pack": None,
        "version": {"number": 1},
        "caller": {"name": "Ada", "subject": "ada"},
        "rerunOf": None,
        "output": None,
        "steps": [step("scrape"), step("shorten")],
        "artifacts": {"nodes": []},
        **more,
    }


def artifact(name="deck.pdf", **more):
    return {
        "id": "art_1",
        "name": name,
        "mediaType": "application/pdf",
        "sizeBytes": 12_345,
        "digest": "d",
        "status": "STORED",
        "downloadUrl": "/artifacts/art_1",
        "expiresAt": None,
        **more,
    }


def event(kind, cursor, **more):
    return {"__typename": kind, "sequence": 1, "cursor": cursor, "at": AT, **more}


def batch(*events):
    return {
        "runEvents": {"__typename": "RunEventBatch", "cursor": events[-1]["cursor"], "live": True, "events": [*events]}
    }


def end(final):
    return {"runEvents": {"__typename": "RunEventsEnd", "cursor": "end", "run": final}}


def started(final=None, **more):
    return {
        "result": {
            "__typename": "StartRunSuccess",
            "coalesced": False,
            "replayed": False,
            "warnings": [],
            "run": final or run("QUEUED", startedAt=None, endedAt=None),
            **more,
        }
    }


def hint(text="", closest=None, operation=None):
    return {"text": text, "closest": closest, "operation": operation}


def problem(kind, code, **more):
    return {
        "result": {
            "__typename": kind,
            "code": code,
            "message": "It cannot be.",
            "retryable": False,
            **{"hintParts": hint("Do this."), **more},
        }
    }


SCHEMA = {
    "type": "object",
    "properties": {"url": {"type": "string"}, "count": {"type": "integer"}},
    "additionalProperties": False,
}


@pytest.fixture
def deck(server):
    """A server with one pipeline whose runs succeed at once."""
    server.answers["CliPipelineInputs"] = {"pipeline": {"id": "p", "key": "deck", "name": "D", "inputSchema": SCHEMA}}
    server.answers["CliRunPipeline"] = started()
    server.streams["CliRunEvents"] = [([end(run())], "complete")]
    return server


# ------------------------------------------------------------------------------------------------ run


def test_run_sends_the_inputs_and_tells_events_as_json_lines(packline, deck):
    change = event("StepStateChanged", "c1", runStep={"key": "scrape"}, stepState="RUNNING", reason=None)
    deck.streams["CliRunEvents"] = [([batch(change), end(run())], "complete")]

    result = packline("run", "deck", "-i", "url=http://x", "--input", "count=3", "--title", "Mine", "--force")

    assert result.status == 0
    (asked,) = deck.asked_for("CliRunPipeline")
    assert asked["inputs"] == {"url": "http://x", "count": 3}
    assert asked["force"] is True
    assert asked["title"] == "Mine"
    assert [line["type"] for line in result.lines] == ["started", "event", "run"]
    assert result.lines[1]["stepState"] == "RUNNING"
    assert result.lines[2]["run"]["state"] == "SUCCEEDED"


@pytest.mark.parametrize(("state", "status"), [("SUCCEEDED", 0), ("FAILED", 1), ("CANCELLED", 3)])
def test_the_exit_status_tells_how_the_run_ended(packline, deck, state, status):
    deck.streams["CliRunEvents"] = [([end(run(state))], "complete")]
    assert packline("run", "deck").status == status


def test_run_as_text_says_what_a_queued_run_waits_for(packline, deck):
    waiting = {"reason": "QUEUE", "message": "starts are paused by an operator", "until": None}
    deck.answers["CliRunPipeline"] = started(run("QUEUED", wait=waiting))
    result = packline("run", "deck", "-i", "url=http://x", "--text")
    assert "queued: starts are paused by an operator" in result.out.splitlines()


def test_run_as_text_tells_changes_the_failure_and_what_to_type_next(packline, deck):
    failed = run(
        "FAILED",
        failure=failure(safeToRepeat=False),
        steps=[step("scrape"), step("shorten", "FAILED", failure=failure())],
        artifacts={"nodes": [artifact()]},
    )
    deck.streams["CliRunEvents"] = [
        (
            [
                batch(
                    event("RunStateChanged", "c1", previousRunState="QUEUED", runState="RUNNING", reason=None),
                    event(
                        "StepProgressed",
                        "c2",
                        runStep={"key": "scrape"},
                        milestone={"at": AT, "fraction": 0.5, "message": "half"},
                    ),
                    event(
                        "AttemptStateChanged",
                        "c3",
                        attemptState="FAILED",
                        attempt={"number": 1, "runStep": {"key": "shorten"}, "failure": failure()},
                    ),
                    event("ArtifactChanged", "c4", artifactStatus="STORED", artifact=artifact()),
                ),
                end(failed),
            ],
            "complete",
        )
    ]

    result = packline("run", "deck", "--text")

    assert result.status == 1
    for text in (
        "run running",
        "scrape: 50% half",
        "shorten: attempt 1 failed: invalid_input: The text is empty.",
        "artifact deck.pdf made",
        "12.3 kB",
        "Likely cause: Nobody wrote it.",
        "What to do: Give some text.",
        "Who can fix it: You, with another input.",
        "The step may already have changed an external system; repeating it may do so again.",
        "packline resume run_1",
        "resumes at `shorten`",
        "packline show run_1 --step shorten",
    ):
        assert text in result.out


def test_after_a_wrong_input_the_next_commands_change_it(packline, deck):
    wrong = {"failure": failure(), "steps": [step("scrape"), step("shorten", "FAILED", failure=failure())]}
    deck.streams["CliRunEvents"] = [([end(run("FAILED", **wrong))], "complete")]
    lines = packline("run", "deck", "--text").out.splitlines()
    first = lines.index("packline resume run_1 --step-input JSON")
    assert lines[first + 1].strip() == "resumes at `shorten` with a corrected input; succeeded steps are kept"
    assert "packline rerun run_1 --input NAME=VALUE" in lines

    at_first = wrong | {"steps": [step("shorten", "FAILED", failure=failure())]}
    deck.streams["CliRunEvents"] = [([end(run("FAILED", **at_first))], "complete")]
    assert "packline resume run_1 --input NAME=VALUE" in packline("run", "deck", "--text").out
    gone = {**wrong, "failure": failure(code="UPSTREAM_UNAVAILABLE", remedy="RESUME")}
    deck.streams["CliRunEvents"] = [([end(run("FAILED", **gone))], "complete")]
    assert "packline resume run_1\n" in packline("run", "deck", "--text").out


def test_the_pause_before_a_resume_is_no_time_of_a_step(packline, server):
    times = [("12:00:00", "12:00:02"), ("14:30:00", "14:30:01")]
    attempts = [
        {"number": n, "state": "FAILED", "startedAt": f"2026-11-21T{start}.000Z", "endedAt": f"2026-11-21T{end}.000Z"}
        for n, (start, end) in enumerate(times, 1)
    ]
    resumed = step("scrape", startedAt=attempts[0]["startedAt"], endedAt=attempts[1]["endedAt"], attempts=attempts)
    began = attempts[0]["startedAt"]
    server.answers["CliRun"] = {"run": run("RUNNING", endedAt=None)}
    final = run(startedAt=began, endedAt=resumed["endedAt"], steps=[resumed], resumeCount=1)
    server.streams["CliRunEvents"] = [([end(final)], "complete")]
    out = packline("watch", "run_1", "--text").out
    assert out.count("3.0 s") == 2, "of the run and of its step"
    assert "min" not in out
    server.answers["CliRuns"] = page("runs", {**final, "workSeconds": 3.0})
    assert "3.0 s" in packline("runs", "--text").out


def test_a_pack_is_run_by_its_name(packline, server):
    server.answers["CliPackInputs"] = {"pack": {"id": "web.scrape", "name": "web.scrape", "inputSchema": SCHEMA}}
    server.answers["CliRunPack"] = started()
    server.streams["CliRunEvents"] = [([end(run())], "complete")]
    assert packline("run", "web.scrape", "-i", "url=u").status == 0
    assert server.asked_for("CliRunPack")[0]["input"] == {"url": "u"}
    assert packline("run", "web.scrape", "--title", "x").status == 2


def test_the_output_of_a_pack_is_in_the_json_and_in_the_text(packline, server):
    server.answers["CliPackInputs"] = {"pack": {"id": "web.scrape", "name": "web.scrape", "inputSchema": SCHEMA}}
    server.answers["CliRunPack"] = started()
    made = {"json": {"title": "Tides"}, "text": None, "nextOffset": None, "sizeBytes": 17}
    final = run(pipeline=None, pack={"id": "web.scrape"}, output=made)
    server.streams["CliRunEvents"] = [([end(final)], "complete")] * 2
    assert packline("run", "web.scrape").lines[-1]["run"]["output"]["json"] == {"title": "Tides"}
    assert '"title": "Tides"' in packline("run", "web.scrape", "--text").out


def test_a_starter_with_its_whole_id_is_a_pipeline(packline, deck):
    assert packline("run", "builtin.sample").status == 0
    assert deck.asked_for("CliRunPipeline")[0]["pipeline"] == "builtin.sample"


def test_detached_only_the_run_is_told(packline, deck):
    result = packline("run", "deck", "--detach", "--text")
    assert result.status == 0
    assert result.out.startswith("run_1\n")
    assert deck.asked_for("CliRunEvents") == []


def test_a_dry_run_starts_nothing(packline, deck):
    deck.answers["CliRunPipeline"] = {"result": {**started()["result"], "run": None}}
    result = packline("run", "deck", "--dry-run", "--text")
    assert (result.status, result.out) == (0, "The run would start; nothing was started.\n")
    assert deck.asked_for("CliRunPipeline")[0]["dryRun"] is True


def test_artifacts_are_saved_under_harmless_names(packline, deck, tmp_path):
    final = run(artifacts={"nodes": [artifact("../../evil.pdf")]})
    deck.streams["CliRunEvents"] = [([end(final)], "complete")]
    deck.files["art_1"] = "content"
    result = packline("run", "deck", "--save", str(tmp_path / "out"))
    assert result.status == 0
    assert (tmp_path / "out" / "evil.pdf").read_text() == "content"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["evil.pdf"]


def test_files_are_never_overwritten(tmp_path):
    for name in ("a.pdf", "a-2.pdf", "artifact"):
        (tmp_path / name).touch()
    assert free_name(tmp_path, "a.pdf").name == "a-3.pdf"
    assert free_name(tmp_path, "..").name == "artifact-2"
    assert free_name(tmp_path, "x\n.pdf").name == "x_.pdf"


def test_a_name_is_cut_to_what_file_systems_take(tmp_path):
    for name in ("é" * 200, "灯" * 196 + ".pdf", "a." + "b" * 198, "x" * 200):
        target = free_name(tmp_path, name)
        target.with_name(f".{target.name}.part").touch()
        target.touch()
        assert free_name(tmp_path, name) not in (target, tmp_path / name)
        free_name(tmp_path, name).touch()
    assert free_name(tmp_path, "灯" * 196 + ".pdf").name.endswith("灯-3.pdf")


def test_refusals_say_everything_and_end_with_2(packline, deck):
    issue = {
        "path": ["inputs", "url"],
        "rule": "required",
        "severity": "ERROR",
        "message": "It is missing.",
        "hintParts": None,
    }
    deck.answers["CliRunPipeline"] = problem("InvalidProblem", "INVALID", issues=[issue], summary=None)
    result = packline("run", "deck")
    assert result.status == 2
    assert result.err == "packline: It cannot be.\n  Do this.\n", "the message is that of the one issue"
    other = {**issue, "path": ["inputs", "lang"], "message": "No such language.", "hintParts": hint(closest="en")}
    deck.answers["CliRunPipeline"] = problem(
        "InvalidProblem",
        "INVALID",
        issues=[issue, other],
        summary="The inputs do not fit",
        hintParts=hint(closest="en"),
    )
    assert packline("run", "deck").err == (
        "packline: The inputs do not fit:\n  error: inputs.url: It is missing.\n"
        "  error: inputs.lang: No such language. Did you mean `en`?\n"
    )

    missing = {
        "kind": "CREDENTIAL",
        "name": "ghost",
        "steps": ["publish"],
        "message": "Not stored.",
        "hintParts": hint("Store it."),
    }
    deck.answers["CliRunPipeline"] = problem("UnavailableProblem", "UNAVAILABLE", missing=[missing])
    assert "missing credential ghost (steps: publish): Not stored. Store it." in packline("run", "deck").err
    deck.answers["CliRunPipeline"] |= {
        "result": {**deck.answers["CliRunPipeline"]["result"], "hintParts": hint("Store it.")}
    }
    assert packline("run", "deck").err.count("Store it.") == 1


def test_a_file_is_no_pipeline(packline, server):
    server.answers["CliPipelineInputs"] = {"pipeline": None}
    for name in ("pl/good.yaml", "good.yml"):
        server.answers["CliPackInputs"] = {"pack": None}
        assert f"`packline apply -f {name}`" in packline("run", name).err


def test_an_unknown_pipeline_is_named(packline, server):
    server.answers["CliPipelineInputs"] = {"pipeline": None}
    result = packline("run", "dekc")
    assert result.status == 2
    assert "There is no pipeline `dekc`. `packline pipelines` lists them." in result.err


def test_errors_of_the_server_carry_their_id(packline, server):
    server.answers["CliPipelineInputs"] = RuntimeError("Something broke")
    assert packline("run", "deck").err == "packline: Something broke (INTERNAL, e1)\n"


# ------------------------------------------------------------------------------------------------ watch


def test_watch_goes_on_after_the_last_cursor_when_the_connection_breaks(packline, server, monkeypatch):
    monkeypatch.setattr("app.cli.base.client._PAUSES", (0.0,))
    server.answers["CliRun"] = {"run": run("RUNNING", endedAt=None)}
    changed = [
        event("StepStateChanged", f"c{n}", runStep={"key": "scrape"}, stepState="RUNNING", reason=str(n))
        for n in (1, 2)
    ]
    server.streams["CliRunEvents"] = [
        ([batch(changed[0])], "drop"),
        ([], 1012),
        ([batch(changed[1]), end(run())], "complete"),
    ]

    result = packline("watch", "run_1")

    assert result.status == 0
    assert [line["reason"] for line in result.lines if line["type"] == "event"] == ["1", "2"]
    assert [asked["after"] for asked in server.asked_for("CliRunEvents")] == [None, "c1", "c1"]
    assert result.err == (
        "The connection was lost: the server closed it. Trying again.\n"
        "The connection was lost: the server is stopping or restarting. Trying again.\n"
    )


def test_watch_does_not_try_again_when_signed_out(packline, server):
    server.answers["CliRun"] = {"run": run("RUNNING")}
    server.streams["CliRunEvents"] = [([], 4403)]
    result = packline("watch", "run_1")
    assert result.status == 2
    assert "ended the watch" in result.err


def test_watch_tells_a_gap(packline, server):
    server.answers["CliRun"] = {"run": run("RUNNING")}
    gap = {"runEvents": {"__typename": "RunEventGap", "cursor": "c5", "missed": 3, "run": run("RUNNING")}}
    server.streams["CliRunEvents"] = [([gap, end(run())], "complete")]
    assert [line["type"] for line in packline("watch", "run_1").lines] == ["gap", "run"]


def test_interrupting_leaves_the_run_alone(packline, server, monkeypatch):
    server.answers["CliRun"] = {"run": run("RUNNING")}

    def interrupt(*_, **__):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("app.cli.base.client.Client.subscribe", interrupt)
    result = packline("watch", "run_1")
    assert result.status == 130
    assert "packline cancel run_1" in result.err


def test_the_live_table_shows_states_as_words(server):
    from io import StringIO

    from rich.console import Console

    from app.cli.base.output import Output
    from app.cli.runs.view import RunView
    from app.cli.runs.watch import table

    output = Output(as_json=False)
    output._console = Console(file=StringIO(), width=120, force_terminal=True, color_system=None)
    waiting = {"reason": "RETRY", "message": "Tries again.", "until": "2099-01-01T00:00:00.000Z"}
    steps = [
        step("one", "RUNNING", progress=0.5, endedAt=None),
        step(
            "two",
            "WAITING",
            wait=waiting,
            attempts=[{"number": n, "state": "FAILED", "startedAt": AT, "endedAt": AT} for n in (1, 2)],
        ),
        step("three", "FAILED", failure=failure()),
        step("four", "PENDING", startedAt=None),
    ]
    output.console.print(table(output, RunView.of(run("RUNNING", steps=steps))))
    text = output.console.file.getvalue()
    for word in ("running", "waiting", "failed", "pending", "attempt 2", "retries in", "invalid_input"):
        assert word in text


def test_a_step_that_starts_again_shows_nothing_of_its_earlier_attempt():
    from app.cli.runs.view import RunView

    attempts = [{"number": 1, "state": "FAILED", "startedAt": AT, "endedAt": "2026-11-21T12:00:03.000Z"}]
    said = [{"message": "almost done"}]
    view = RunView.of(run("RUNNING", steps=[step("one", "FAILED", progress=0.6, milestones=said, attempts=attempts)]))
    one = view.steps["one"]
    assert (one.fraction, one.message, one.time) == (0.6, "almost done", "3.0 s")
    view.apply({"__typename": "StepStateChanged", "stepState": "PENDING", "runStep": {"key": "one"}})
    assert (one.fraction, one.message, one.time) == (None, "", "")
    one.fraction, one.message = 0.3, "lost with its process"
    started = {"number": 2, "runStep": {"key": "one"}}
    view.apply({"__typename": "AttemptStateChanged", "attemptState": "RUNNING", "attempt": started, "at": AT})
    assert (one.fraction, one.message) == (None, "")


# --------------------------------------------------------------------------------- resume, rerun, cancel


PLANNED = {"effects": "NONE", "mayRepeatEffects": False, "inputSource": "DEFINITION", "input": None}


def preview(**more):
    plan = {
        "allowed": True,
        "definitionChanged": False,
        "issues": [],
        "steps": [
            {"key": "scrape", "action": "REUSE", "reason": "", **PLANNED, "inputSource": None},
            {"key": "publish", "action": "RUN", "reason": "failed", **PLANNED, "effects": "EXTERNAL"},
        ],
        **more,
    }
    return {"run": {"id": "run_1", "state": "FAILED", "pipeline": None, "resumePreview": plan}}


def test_resume_goes_on_from_where_the_run_stands(packline, server):
    server.answers["CliResumePreview"] = preview()
    server.answers["CliResumeRun"] = {"result": {"__typename": "RunSuccess", "run": run("QUEUED", endedAt=None)}}
    server.streams["CliRunEvents"] = [([end(run())], "complete")]
    result = packline("resume", "run_1", "--step-input", '{"text": "x"}', "--current")
    assert result.status == 0
    assert server.asked_for("CliResumeRun") == [
        {"id": "run_1", "stepInput": {"text": "x"}, "inputs": None, "definition": "CURRENT"}
    ]
    assert server.asked_for("CliRunEvents")[0]["after"] == "c9"


def test_resume_asks_before_outside_effects_repeat(packline, server):
    plan = preview()
    plan["run"]["resumePreview"]["steps"][1]["mayRepeatEffects"] = True
    server.answers["CliResumePreview"] = plan
    result = packline("resume", "run_1", "--text")
    assert result.status == 2
    assert "External changes of publish may happen a second time" in result.err
    assert "may repeat" in result.out
    assert server.asked_for("CliResumeRun") == []


def test_resume_tells_why_not(packline, server):
    issue = {"path": [], "rule": "wrong_state", "severity": "ERROR", "message": "It is running.", "hintParts": None}
    server.answers["CliResumePreview"] = preview(allowed=False, issues=[issue])
    assert "It is running." in packline("resume", "run_1").err
    only = packline("resume", "run_1", "--preview", "--text")
    assert only.status == 2
    assert "kept" in only.out


def test_what_cannot_be_sent_is_told_by_its_argument(packline, server):
    """Python hands on bytes of another encoding as lone surrogates."""
    refused = packline("show", "run_\udce4")
    assert refused.status == 2
    assert refused.err == "packline: The argument 'run_\\udce4' is not UTF-8. Write it in UTF-8.\n"
    assert packline("run", "deck", "--deadline", "nan").status == 2


def test_rerun_gives_only_the_changes(packline, server):
    other = {"type": "object", "properties": {}, "additionalProperties": False}
    of_run = {"id": "run_1", "pipeline": {"id": "p", "inputSchema": other}, "version": {"inputSchema": SCHEMA}}
    server.answers["CliRunInputs"] = {"run": {**of_run, "pack": None}}
    server.answers["CliRerunPreview"] = rerun_preview()
    server.answers["CliRerunRun"] = started()
    assert packline("rerun", "run_1", "-i", "count=5", "--current").status == 2
    assert packline("rerun", "run_1", "-i", "count=5", "--from-step", "shorten", "-d").status == 0
    (asked,) = server.asked_for("CliRerunRun")
    assert (asked["inputs"], asked["fromStep"], asked["definition"]) == ({"count": 5}, "shorten", "OF_RUN")


def rerun_preview(**more):
    return {"run": {"id": "run_1", "rerunPreview": preview(**more)["run"]["resumePreview"]}}


def test_rerun_asks_before_outside_effects_repeat(packline, server):
    plan = rerun_preview()
    plan["run"]["rerunPreview"]["steps"][0] |= {"action": "RUN_AGAIN", "mayRepeatEffects": True, "effects": "EXTERNAL"}
    server.answers["CliRerunPreview"] = plan
    server.answers["CliRerunRun"] = started()

    asked = packline("rerun", "run_1", "--from-step", "publish", "--text")
    assert asked.status == 2
    assert "External changes of scrape may happen a second time" in asked.err
    assert "runs again" in asked.out
    only = packline("rerun", "run_1", "--from-step", "publish", "--preview", "--text")
    assert (only.status, only.out) == (0, asked.out)
    assert server.asked_for("CliRerunPreview")[0] == {
        "id": "run_1",
        "inputs": {},
        "definition": "OF_RUN",
        "fromStep": "publish",
    }
    assert server.asked_for("CliRerunRun") == []

    assert packline("rerun", "run_1", "--from-step", "publish", "--yes", "-d").status == 0
    assert len(server.asked_for("CliRerunRun")) == 1
    plan["run"]["rerunPreview"]["steps"][0]["action"] = "RUN"
    for arguments in (["--from-step", "scrape"], []):
        refused = packline("rerun", "run_1", *arguments, "-d")
        assert refused.status == 2
        assert "External changes of scrape may happen a second time" in refused.err
    assert len(server.asked_for("CliRerunRun")) == 1


def test_a_preview_shows_the_input_that_a_definition_makes(packline, server):
    plan = preview()
    plan["run"]["resumePreview"]["steps"][1]["input"] = {"json": {"text": "tea"}, "text": None}
    server.answers["CliResumePreview"] = plan
    said = packline("resume", "run_1", "--step-input", "null", "--preview", "--text").out
    assert 'publish gets the input of its definition: {"text": "tea"}' in said
    assert "--json" not in said


def test_a_preview_shows_the_beginning_of_a_long_input(packline, server):
    plan = preview()
    long = {"text": "# Tea\n" + "Green tea. " * 500, "pages": [{"n": n} for n in range(200)], "style": "plain"}
    plan["run"]["resumePreview"]["steps"][1]["input"] = {"json": long, "text": None}
    server.answers["CliResumePreview"] = plan
    said = packline("resume", "run_1", "--preview", "--text").out
    assert len(said) < 800
    assert 'publish gets the input of its definition: {"text": "# Tea\\nGreen tea.' in said
    assert '"style": "plain"' in said, "a long text hides no other field"
    assert "Shortened; `--json` shows more." in said
    assert packline("resume", "run_1", "--preview", "--json").lines[0]["preview"]["steps"][1]["input"]["json"] == long


def test_cancel_says_whether_it_has_ended(packline, server):
    server.answers["CliCancelRun"] = {"result": {"__typename": "RunSuccess", "run": run("CANCELLING")}}
    assert packline("cancel", "run_1", "--reason", "wrong", "--text").out == "run_1 is being cancelled.\n"
    server.answers["CliCancelRun"] = problem("WrongStateProblem", "WRONG_STATE")
    assert packline("cancel", "run_1").status == 2


# ------------------------------------------------------------------------------------------------ lists


def page(name, *nodes, more=False):
    return {name: {"nodes": [*nodes], "pageInfo": {"hasNextPage": more, "endCursor": "e"}}}


def test_runs_pages_and_filters(packline, server):
    server.answers["CliRuns"] = [page("runs", run(), more=True), page("runs", run("FAILED", failure=failure()))]
    result = packline(
        "runs", "--state", "failed", "--pipeline", "deck", "--search", "tide", "--attention", "--limit", "150", "--text"
    )
    assert result.status == 0
    assert "shorten: The text is empty." in result.out
    first, second = server.asked_for("CliRuns")
    assert first["filter"] == {"states": ["FAILED"], "pipelines": ["deck"], "text": "tide", "needsAttention": True}
    assert (first["first"], second["first"], second["after"]) == (50, 50, "e")


def test_runs_refuses_unknown_states(packline, server):
    result = packline("runs", "--state", "done")
    assert result.status == 2
    assert "`done` is not a state of a run. The states are queued" in result.err


def test_empty_lists_say_what_to_do(packline, server):
    server.answers["CliRuns"] = page("runs")
    assert packline("runs", "--text").out == "No runs. `packline run sample` starts one.\n"


def entry(**more):
    missing = {"kind": "SERVICE", "name": "typst", "steps": [], "message": "typst is not installed.", "hintParts": None}
    return {
        "__typename": "Pack",
        "id": "slides.render",
        "name": "slides.render",
        "description": "Renders.",
        "version": "1.0.0",
        "effects": "NONE",
        "source": {"kind": "BUILTIN_FOLDER", "location": "builtin"},
        "metadata": {"accepts": ["markdown"], "produces": ["pdf"], "typicalUse": None, "practice": True},
        "availability": {"usable": False, "missing": [missing]},
        **more,
    }


def test_packs_say_what_is_missing(packline, server):
    server.answers["CliCatalog"] = page("catalog", entry())
    server.answers["CliLoadErrors"] = {"server": {"packSources": []}}
    result = packline("packs", "render", "slides", "--accepts", "markdown", "--unusable", "--text")
    assert result.out.split()[-6:] == ["slides.render", "no", "markdown", "pdf", "for", "practice"]
    assert "typst is not installed." in packline("packs", "--long", "--text").out
    wanted = {"text": "render slides", "usable": False, "kind": "PACK", "accepts": ["markdown"]}
    assert server.asked_for("CliCatalog")[0]["filter"] == wanted
    assert result.err == ""


def test_packs_name_the_files_that_could_not_be_loaded(packline, server):
    lost = {"origin": "/mine/packs/a.py", "message": "Pack a.b: effects is 'no'. (line 4)"}
    server.answers["CliCatalog"] = page("catalog", entry())
    server.answers["CliLoadErrors"] = {"server": {"packSources": [{"loadErrors": []}, {"loadErrors": [lost]}]}}
    said = "/mine/packs/a.py could not be loaded: Pack a.b: effects is 'no'. (line 4)\n"
    assert packline("packs").err == said
    assert packline("packs", "--unusable").err == said
    assert packline("packs", "--usable").err == ""


def test_packs_name_kinds_that_do_not_exist(packline, server):
    metadata = {"accepts": ["markdwn", "text"], "produces": ["tea"], "typicalUse": None, "practice": False}
    server.answers["CliCatalog"] = page("catalog", entry(metadata=metadata))
    server.answers["CliLoadErrors"] = {"server": {"packSources": []}}
    assert packline("packs").err.splitlines() == [
        "slides.render: accepts names `markdwn`, which does not exist; did you mean `markdown`?",
        "slides.render: produces names `tea`, which does not exist.",
    ]


def test_pipelines_are_listed(packline, server):
    one = {
        "id": "builtin.sample",
        "key": "sample",
        "name": "Sample",
        "description": "First line.\nSecond.",
        "builtin": True,
        "updatedAt": AT,
        "metadata": {"practice": True},
        "availability": {"usable": True, "missing": []},
        "currentVersion": {"number": 1},
    }
    server.answers["CliPipelines"] = page("pipelines", one)
    out = packline("pipelines", "--starters", "--text").out
    assert "starter, for practice" in out
    assert "First line." in out
    assert "Second." not in out
    assert "Second." in packline("pipelines", "--long", "--text").out
    assert packline("pipelines").lines == [one]


# ------------------------------------------------------------------------------------------------ definitions


def change(action, **more):
    return {"key": "deck", "action": action, "diff": "-a\n+b", "triggers": [], "warnings": [], **more}


def applied(*changes):
    return {"result": {"__typename": "ApplyPipelinesSuccess", "changes": [*changes]}}


def test_show_tells_what_was_reused_and_which_workers_had_the_run(packline, server):
    source = {"madeBy": {"runStep": {"run": {"id": "run_0"}}}}
    cost = {"usage": None, "amountUsd": None}

    def detail(key, reuse):
        attempt = {"number": 1, "state": "SUCCEEDED", "startedAt": AT, "endedAt": AT, "models": [], "notes": []}
        attempt |= {"failure": None, "exception": None, "reuse": reuse, "log": {"nodes": []}}
        own = {"packVersion": "1.0.0", "cost": cost, "input": None, "output": None, "artifacts": [artifact()]}
        return step(key, attempts=[attempt], **own)

    steps = [detail("scrape", source), detail("shorten", {"madeBy": None}), detail("render", None)]
    moves = [
        {"at": AT, "worker": "b:2:bb", "previousWorker": "a:1:aa", "lost": True},
        {"at": AT, "worker": "c:3:cc", "previousWorker": "b:2:bb", "lost": False},
    ]
    found = run(inputs={}, output=None, cost=cost, steps=steps, worker="c:3:cc", takeovers=moves)
    server.answers["CliRunDetail"] = {"run": found}

    lines = [line.rstrip() for line in packline("show", "run_1", "--text").out.splitlines()]
    assert "Worker c:3:cc executes it." in lines
    assert any(line.startswith("b:2:bb took over from a:1:aa, which was lost, ") for line in lines)
    assert any(line.startswith("Moved from b:2:bb to c:3:cc ") for line in lines)
    scrape, shorten, render = (next(line for line in lines if name in line) for name in ("scrape", "shorten", "render"))
    assert scrape.endswith("Reused from run_0")
    assert shorten.endswith("Reused from a run that is no longer kept")
    assert "Reused" not in render
    assert [" 0.0 s" in line or " 2.0 s" in line for line in (scrape, render)] == [False, True]

    one = packline("show", "run_1", "--step", "scrape", "--text").out
    assert one.count("Reused from run_0") == 2
    assert "deck.pdf" in one
    assert "0 s" not in one


def test_apply_shows_the_difference_and_asks(packline, server, tmp_path):
    file = tmp_path / "deck.yaml"
    file.write_text("key: deck\n")
    server.answers["CliApply"] = applied(change("UPDATE"))

    asked = packline("apply", "-f", str(file), "--text")
    assert asked.status == 2
    assert "+b" in asked.out
    assert "--yes" in asked.err
    assert [one["dryRun"] for one in server.asked_for("CliApply")] == [True]

    done = packline("apply", "-f", str(file), "--yes", "--text")
    assert done.status == 0
    assert "deck updated." in done.out
    assert [one["dryRun"] for one in server.asked_for("CliApply")] == [True, True, False]


def test_apply_says_what_becomes_of_triggers_and_shows_a_secret_once(packline, server, tmp_path):
    file = tmp_path / "deck.yaml"
    file.write_text("key: deck\n")
    triggers = [
        {"name": "Daily", "action": "KEEP", "triggerId": "trig_1", "secret": None},
        {"name": "Pushes", "action": "CREATE", "triggerId": "trig_2", "secret": "shh"},
        {"name": "Old", "action": "DELETE", "triggerId": "trig_3", "secret": None},
    ]
    server.answers["CliApply"] = applied(change("KEEP", triggers=triggers))
    asked = packline("apply", "-f", str(file), "--text")
    assert "trigger Pushes will be created" in asked.out
    assert "trigger Old will be deleted: the list does not name it" in asked.out
    assert ("Daily" in asked.out, "shh" in asked.out, "2 changes" in asked.err) == (False, False, True)
    done = packline("apply", "-f", str(file), "--yes", "--text")
    assert "Trigger Pushes (trig_2) created.\nSecret: shh\n" in done.out
    assert "Trigger Old deleted." in done.out


def test_applying_what_is_there_changes_nothing(packline, server, tmp_path):
    file = tmp_path / "deck.yaml"
    file.write_text("key: deck\n")
    server.answers["CliApply"] = applied(change("KEEP", diff=""))
    result = packline("apply", "-f", str(file), "-f", str(file), "--text")
    assert result.status == 0
    assert "Nothing to change." in result.out
    assert [one["dryRun"] for one in server.asked_for("CliApply")] == [True]


def test_export_writes_what_apply_reads(packline, server, tmp_path):
    def stored(key):
        return {"key": key, "exportYaml": f"key: {key}\n"}

    server.answers["CliExportAll"] = page("pipelines", stored("a"), stored("b"))
    line = f"# yaml-language-server: $schema={server.url}/schema/pipeline.json\n"
    assert packline("export").out == f"{line}key: a\n---\n{line}key: b\n"
    server.answers["CliExport"] = {"pipeline": stored("a")}
    assert packline("export", "a", "-o", str(tmp_path / "a.yaml")).status == 0
    assert (tmp_path / "a.yaml").read_text() == f"{line}key: a\n"
    server.answers["CliExport"] = {"pipeline": None}
    assert packline("export", "nope").status == 2


GOOD = """\
key: short
name: Short
description: Shortens a page.
steps:
  - {id: scrape, pack: web.scrape, input: {url: "${{ inputs.url }}"}}
"""


def test_check_needs_no_server(packline, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text(GOOD)
    good = packline("check", str(file))
    assert (good.status, good.lines[0]["valid"]) == (0, True)
    assert "url" in good.lines[0]["inputSchema"]["properties"]

    file.write_text(GOOD.replace("web.scrape", "web.scrap"))
    bad = packline("check", str(file), "--text")
    assert bad.status == 2
    assert "short: not valid" in bad.out
    assert "web.scrape" in bad.out

    for text in ("", "a: [\n", "- 1\n"):
        file.write_text(text)
        assert packline("check", str(file)).status == 2
    assert packline("check", str(tmp_path / "none.yaml")).status == 2


MISTAKEN = """\
key: short
name: Short
stepz: []
steps:
  - id: scrape
    pack: web.scrap
    input: {url: "${{ inputs.url }}"}
  - pack: web.scrape
    input: {url: "${{ inputs.url }}"}
    retry: {factor: 2,
            max_attempts: 99}
"""


def test_check_says_where_each_issue_is_and_names_steps_by_id(packline, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text(f"# Tea\n---\n{GOOD}---\n{MISTAKEN}")
    said = packline("check", str(file), "--text").out.splitlines()
    first = GOOD.count("\n") + 3
    at = {line.split(": ", 1)[0]: line.split(": ", 1)[1] for line in said if line.startswith(str(file))}
    assert at == {
        f"{file}:{first + 3}:1": 'error: stepz: The key "stepz" is unknown. Did you mean `steps`?',
        f"{file}:{first + 6}:5": "error: step scrape, pack: There is no pack `web.scrap`. Did you mean `web.scrape`?",
        f"{file}:{first + 8}:5": "error: step 2, id: The step has no id; it must be a lower-case letter followed by at "
        "most 63 lower-case letters, digits, `_` or `-`. For example, `step`.",
        f"{file}:{first + 11}:13": "error: step 2, retry.max_attempts: `max_attempts` must be a whole number from 1 to "
        "10, not 99.",
    }
    assert said[-1] == "short: not valid"
    told = packline("check", str(file)).lines[1]["issues"]
    assert (first + 6, 5, ["steps", "0", "pack"]) in [(one["line"], one["column"], one["path"]) for one in told]

    as_json = tmp_path / "p.json"
    as_json.write_text(json.dumps({"name": "x", "steps": [{"id": "a", "pack": "web.scrap"}]}, indent=1))
    assert f"{as_json}:6:4: error: step a, pack" in packline("check", str(as_json), "--text").out
    file.write_text("a: [\n")
    assert packline("check", str(file)).err.startswith(f"packline: {file}:2:1: The text is not YAML")


def test_check_reads_triggers_too_and_those_of_a_pipeline_elsewhere(packline, tmp_path):
    file = tmp_path / "p.yaml"
    listed = "triggers:\n  - name: Daily\n    schedule:\n      cron: '@daily'\n"
    file.write_text(f"{GOOD}{listed}---\nkey: elsewhere\n{listed}")
    checked = packline("check", str(file), "--text")
    assert (checked.status, checked.out.count(": valid")) == (0, 2), checked.out
    file.write_text(f"{GOOD}---\nkey: elsewhere\n{listed.replace('daily', 'dayly')}")
    checked = packline("check", str(file), "--text")
    line = GOOD.count("\n") + 6
    assert checked.status == 2
    assert f"{file}:{line}:7: error: triggers.0.schedule.cron: There is no schedule `@dayly`." in checked.out
    assert "elsewhere: not valid" in checked.out


def test_check_warns_of_a_reference_without_its_dollar(packline, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text(GOOD.replace("${{ inputs.url }}", "https://a.example/{{ inputs.page }}?q=$${{ inputs.x }}"))
    checked = packline("check", str(file), "--text")
    assert checked.status == 0
    assert checked.out.splitlines()[0] == (
        f"{file}:5:44: warning: step scrape, input.url: `{{{{ inputs.page }}}}` is passed on as text: "
        "references begin with `$`. Write `${{ inputs.page }}` for the value."
    )
    assert checked.out.count("warning:") == 1


MISSPELT = """\
key: misspelt
nmae: Misspelt
inputs:
  type: object
  properties:
    url: {type: string, fromat: uri, x-type: link, note: Mine, default: "a", examples: [{tpye: 1}]}
    type: {tpye: string}
  requried: [url]
steps:
  - id: scrape
    pak: web.scrape
    inptu: {url: "${{ inputs.url }}"}
  - {id: solve, agnet: {use: mock, prompt: "${{ inputs.type | default(1) }}", stdout_to: a.txt}, timeout_seconds: 9}
"""


def test_check_says_of_a_misspelt_key_only_that(packline, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text(MISSPELT)
    said = packline("check", str(file), "--text").out.splitlines()
    keyword = "is not a keyword of JSON Schema and has no effect."
    told = {line for line in said if "is unknown" in line or "no effect" in line or "missing" in line}
    assert told == {
        f'{file}:2:1: error: nmae: The key "nmae" is unknown. Did you mean `name`?',
        f'{file}:8:3: warning: inputs.requried: "requried" {keyword} Did you mean `required`?',
        f'{file}:6:25: warning: inputs.properties.url.fromat: "fromat" {keyword} Did you mean `format`?',
        f'{file}:7:12: warning: inputs.properties.type.tpye: "tpye" {keyword} Did you mean `type`?',
        f'{file}:11:5: error: step scrape, pak: The key "pak" is unknown. Did you mean `pack`?',
        f'{file}:12:5: error: step scrape, inptu: The key "inptu" is unknown. Did you mean `input`?',
        f'{file}:13:17: error: step solve, agnet: The key "agnet" is unknown. Did you mean `agent`?',
    }


def test_check_says_that_a_valid_pipeline_cannot_run_on_the_server(packline, server, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text(GOOD)
    lack = {"kind": "CREDENTIAL", "name": "shop.key", "steps": ["scrape"], "message": "It needs `shop.key`."}
    issue = {"path": ["steps", "0", "pack"], "argument": None, "rule": "practice", "severity": "WARNING"}
    issue |= {"message": "It is for practice.", "hint": None, "hintParts": None}
    found = {"valid": True, "issues": [issue], "inputSchema": {}, "preflight": {"missing": [lack]}}
    server.answers["CliCheck"] = {"checkPipeline": found}
    checked = packline("check", str(file), "--text")
    assert checked.status == 0
    assert checked.out.splitlines() == [
        f"{file}:5:18: warning: step scrape, pack: It is for practice.",
        "missing credential shop.key (steps: scrape): It needs `shop.key`.",
        f"short: valid, but it cannot run on {server.url}",
    ]
    (line,) = packline("check", str(file)).lines
    assert (line["server"], line["missing"]) == (server.url, [lack])
    server.answers["CliCheck"] = {"checkPipeline": {**found, "preflight": {"missing": []}}}
    assert f"short: valid, and it can run on {server.url}" in packline("check", str(file), "--text").out
    gone = {**lack, "kind": "PACK", "name": "web.scrape"}
    unknown = {**issue, "rule": "unknown_pack", "severity": "ERROR", "message": "There is no pack `web.scrape`."}
    twice = {**found, "valid": False, "issues": [unknown], "preflight": {"missing": [gone]}}
    server.answers["CliCheck"] = {"checkPipeline": twice}
    assert packline("check", str(file), "--text").out.count("web.scrape") == 1
    local = packline("check", str(file), "--local", "--text").out
    assert local == "short: valid; no server was asked whether it can run\n"


def test_check_knows_tools_and_profiles_and_says_what_only_a_server_knows(packline, tmp_path):
    file = tmp_path / "p.json"
    block = {"use": {"env": "TEAM", "default": "mock", "map": {"own": "team"}}, "prompt": "x", "stdout_to": "a.txt"}
    block |= {"tools": ["get_run"], "credentials": {"TOKEN": "github.token"}}
    steps = [{"id": "a", "timeout_seconds": 5, "agent": block}]
    file.write_text(json.dumps({"key": "x", "name": "x", "steps": steps}))
    good = packline("check", str(file))
    told = {issue["rule"]: issue for issue in good.lines[0]["issues"]}
    assert (good.status, good.lines[0]["valid"]) == (0, True)
    assert told["unknown_profile"]["message"] == "The settings of this machine declare no agent profile `team`."
    assert "credentials (github.token)" in told["not_checked_here"]["message"]
    assert {told[rule]["severity"] for rule in ("unknown_profile", "not_checked_here")} == {"warning"}

    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "packline.toml").write_text('[agents.team]\ncommand = ["team"]\n')
    block["tools"] = ["get_runs"]
    file.write_text(json.dumps({"key": "x", "name": "x", "steps": steps}))
    bad = packline("check", str(file))
    told = {issue["rule"]: issue for issue in bad.lines[0]["issues"]}
    assert (bad.status, bad.lines[0]["valid"]) == (2, False)
    assert "unknown_profile" not in told
    assert told["unknown_tool"]["path"] == ["steps", "0", "agent", "tools", "0"]
    assert "get_run" in told["unknown_tool"]["hint"]


# ------------------------------------------------------------------------------------------------ tokens


def token(**more):
    return {
        "id": "tok_1",
        "name": "ci",
        "beginning": "pkl_abcd",
        "scopes": ["READ", "RUN"],
        "createdAt": AT,
        "expiresAt": None,
        "lastUsedAt": None,
        "revokedAt": None,
        "caller": {"id": "call_1", "name": "Ada", "subject": "ada"},
        "madeBy": None,
        **more,
    }


def test_a_new_token_is_shown_once(packline, server):
    made = {"__typename": "CreateTokenSuccess", "plaintext": "pkl_secret", "token": token()}
    server.answers["CliCreateToken"] = {"result": made}
    result = packline("token", "create", "ci", "--scope", "read, run,read", "--days", "2", "--text")
    assert result.out.startswith("pkl_secret\n")
    (asked,) = server.asked_for("CliCreateToken")
    assert asked["scopes"] == ["READ", "RUN"]
    assert asked["expiresAt"] is not None
    assert packline("token", "create", "ci", "--scope", "root").status == 2


def test_tokens_are_listed_without_those_that_ended(packline, server):
    nodes = [token(), token(id="tok_2", revokedAt=AT), token(id="tok_3", expiresAt="2020-01-01T00:00:00.000Z")]
    server.answers["CliTokens"] = page("callers", {"id": "call_1", "tokens": {"nodes": nodes}})
    assert [line["id"] for line in packline("token", "list").lines] == ["tok_1"]
    everything = packline("token", "list", "--all", "--text").out
    assert "revoked" in everything
    assert "expired" in everything


def test_admission_is_paused_and_the_pause_is_ended(packline, server):
    counts = {"queuedRuns": 3, "runningRuns": 1}
    paused = {"admissionPause": {"at": AT, "by": "olga", "reason": "new disk"}, **counts}
    server.answers["CliSetAdmission"] = {"result": {"__typename": "SetAdmissionSuccess", "server": paused}}
    assert packline("pause", "--reason", "new disk", "--text").out == "Admission is paused: 3 queued, 1 in progress.\n"
    assert server.asked_for("CliSetAdmission")[0] == {"paused": True, "reason": "new disk"}
    ended = {"admissionPause": None, **counts}
    server.answers["CliSetAdmission"] = {"result": {"__typename": "SetAdmissionSuccess", "server": ended}}
    assert packline("unpause", "--text").out == "Runs are admitted: 3 queued, 1 in progress.\n"
    assert packline("unpause", "--json").lines[-1] == {"type": "admission", **ended}


def test_a_run_can_be_started_later(packline, server):
    for given, said in (("tomorrow", "is not a time"), ("2030-01-31T06:00", "has no time zone")):
        refused = packline("run", "deck", "--start-at", given)
        assert (refused.status, said in refused.err) == (2, True)


def test_a_token_is_revoked(packline, server):
    server.answers["CliRevokeToken"] = {"result": {"__typename": "RevokeTokenSuccess", "token": token(revokedAt=AT)}}
    assert packline("token", "revoke", "tok_1", "--text").out == "ci (tok_1) is revoked.\n"


def test_a_login_link_is_made(packline, server):
    assert "/login#pkl_x" in packline("token", "login-link", "--text").out


# ------------------------------------------------------------------------------------------------ reaching


def test_no_server_ends_with_4(packline, monkeypatch):
    result = packline("runs", "--server", "http://127.0.0.1:1")
    assert result.status == 4
    assert result.err.startswith("packline: No server answers at http://127.0.0.1:1 (connection refused). Start one ")
    monkeypatch.setattr("app.cli.base.client._PAUSES", (0.0,))
    monkeypatch.setattr("app.cli.base.client.RECONNECT_SECONDS", -1.0)
    lost = Client(Target("http://127.0.0.1:1", None, ""))
    with pytest.raises(CliError, match=r"No server answers at http://127.0.0.1:1 \(connection refused\)"):
        next(lost.follow(documents.RUN_EVENTS, "runEvents", {"id": "run_1"}, after=None))


def test_what_the_server_refuses_ends_with_2_even_if_it_may_work_later(packline, server):
    server.answers["CliRerunPreview"] = rerun_preview()
    server.answers["CliRerunRun"] = problem("UnavailableProblem", "UNAVAILABLE", retryable=True)
    assert packline("rerun", "run_1").status == 2


def test_a_wrong_token_says_where_it_came_from(packline, server, monkeypatch):
    server.tokens = {"right"}
    assert "does not accept the token of PACKLINE_TOKEN" in packline("runs").err
    monkeypatch.delenv("PACKLINE_TOKEN")
    assert "requires a token" in packline("runs").err


def test_something_else_answers(packline, server):
    result = packline("runs", "--server", f"{server.url}/elsewhere")
    assert result.status == 4
    assert "Is it a Packline server?" in result.err


@pytest.mark.parametrize(
    "address", ["ftp://x", "http://", "::", "http://[::1", "http://a:99999", "http://a\u2100b.com"]
)
def test_addresses_that_are_none(packline, monkeypatch, address):
    assert packline("runs", "--server", address).status == 2
    monkeypatch.setenv("PACKLINE_SERVER", address)
    result = packline("runs")
    assert result.status == 2
    assert f"`{address}` is not a server address. Write it as http://127.0.0.1:8420." in result.err


def test_the_servers_own_token_goes_to_this_machine_only(tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    (data / "cli-token").write_text("pkl_own\n")
    (data / "cli-address").write_text("http://127.0.0.1:9999\n")
    assert Target.find() == Target("http://127.0.0.1:9999", "pkl_own", str(data / "cli-token"))
    assert Target.find("http://localhost:1").token == "pkl_own"
    assert Target.find("https://pack.example").token is None
    monkeypatch.setenv("PACKLINE_TOKEN", "pkl_mine")
    assert Target.find("https://pack.example").token == "pkl_mine"


# ------------------------------------------------------------------------------------------------ this machine


def test_migrate_makes_the_database_and_then_finds_it(packline, tmp_path):
    first = packline("migrate")
    assert (first.status, first.lines[0]["before"]) == (0, None)
    again = packline("migrate", "--text")
    assert "has the schema of this release" in again.out
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_backup_and_restore(packline, tmp_path):
    assert packline("backup", str(tmp_path / "b.tar")).status == 2
    packline("migrate")
    key = tmp_path / "data" / "vault.key"
    key.touch(0o600)
    made = packline("backup", str(tmp_path / "b.tar"))
    assert made.lines[0]["type"] == "backup"
    assert f"Keep a copy of {key} in another place." in made.err
    assert "exists" in packline("backup", str(tmp_path / "b.tar")).err
    restored = packline("restore", str(tmp_path / "b.tar"), "--data-dir", str(tmp_path / "other"), "--text")
    assert restored.status == 0
    assert f"copy their vault.key to {tmp_path / 'other' / 'vault.key'}" in restored.err
    assert re.search(r"as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]+", restored.out)
    assert (tmp_path / "other" / "packline.db").is_file()
    assert packline("restore", str(tmp_path / "b.tar"), "--data-dir", str(tmp_path / "other")).status == 2


def test_postgres_is_backed_up_with_its_own_tools(packline, monkeypatch):
    monkeypatch.setenv("PACKLINE_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert "pg_dump" in packline("backup", "x.tar").err
    database = [line for line in packline("doctor").lines if line["what"] == "database"]
    assert [(line["state"], line["vital"]) for line in database] == [("missing", True)]
    assert "PACKLINE_DATABASE_URL" in database[0]["message"]


def healthy(**more):
    state = {"version": "0.1.0", "accepting": True, "packSources": [], "health": [], **more}
    return {"server": state, "viewer": {"name": "Ada", "subject": "ada", "scopes": []}, "modelRoles": []}


def in_catalog(name, *missing):
    return {"id": name, "availability": {"usable": not missing, "missing": [*missing]}}


def lack(kind, name, message, advice):
    return {"kind": kind, "name": name, "steps": [], "message": message, "hintParts": hint(advice)}


def test_workers_are_listed_with_the_queue(packline, server):
    worker = {
        "name": "web-1:4711:ab12",
        "machine": "web-1:/data",
        "release": "0.1.0",
        "startedAt": AT,
        "lastSeenAt": AT,
    }
    offers = ["@web-1:/data", "gpu", "pack:garden.water@1"]
    worker |= {"alive": True, "offers": offers, "lanes": 64, "running": 3, "draining": False}
    lost = {**worker, "name": "web-2:12:cd34", "alive": False}
    need = {"needs": ["chromium"], "runs": 2, "oldestQueuedAt": AT, "workers": [], "missing": ["chromium"]}
    waiting = [need, {**need, "needs": ["gpu"], "runs": 1, "workers": ["web-1:4711:ab12"], "missing": []}]
    queue = {"queuedRuns": 2, "oldestQueuedAt": AT}
    server.answers["CliWorkers"] = {"workers": [worker, lost], "server": queue, "queue": waiting}

    lines = packline("workers", "--text").out.splitlines()
    assert lines[1].split()[:6] == ["web-1:4711:ab12", "alive", "3", "of", "64", "0.1.0"]
    assert lines[2].split()[:3] == ["web-2:12:cd34", "not", "seen"]
    assert lines[3].startswith("2 runs are queued, the oldest for ")
    assert lines[4:] == [
        "  2 runs need chromium: no living worker offers chromium.",
        "  1 run needs gpu: served by web-1:4711:ab12.",
    ]
    long = packline("workers", "--long", "--text").out
    assert "gpu" in long.partition("runs are queued")[0]
    assert "garden.water" not in long
    assert packline("workers").lines == [
        {"type": "worker", **worker},
        {"type": "worker", **lost},
        {"type": "queue", **queue, "byNeed": waiting},
    ]


def test_doctor_says_what_works(packline, server):
    writer = [
        {
            "key": "openai:gpt-5-mini",
            "availability": {"usable": False, "missing": [{"message": "No key.", "hint": "Set it."}]},
        },
        {"key": "ollama:qwen3", "availability": {"usable": True, "missing": []}},
    ]
    health = [{"name": "store", "ok": False, "message": "The disk is full."}]
    roles = [{"role": "writer", "chain": writer}, {"role": "image", "chain": []}]
    server.answers["CliServer"] = {**healthy(health=health), "modelRoles": roles}
    server.answers["CliCatalog"] = page("catalog", in_catalog("web.scrape"))
    result = packline("doctor")
    found = {line["what"]: line for line in result.lines}
    assert {name: found[name]["state"] for name in ("packs", "server", "models of image", "store")} == {
        "packs": "works",
        "server": "works",
        "models of image": "not_set_up",
        "store": "missing",
    }
    replaced = "openai:gpt-5-mini (cannot be used: No key. Set it.), then ollama:qwen3. ollama:qwen3 is used instead."
    assert (found["models of writer"]["state"], found["models of writer"]["message"]) == ("missing", replaced)
    assert [line["what"] for line in result.lines if line["vital"]] == ["store"]
    assert result.status == 1


def test_doctor_counts_as_unusable_what_the_list_of_packs_does(packline, server):
    ffmpeg = lack("SERVICE", "ffmpeg", "ffmpeg is not on PATH.", "Install ffmpeg.")
    github = lack("CREDENTIAL", "github", "There is no credential `github`.", "Store it.")
    granted = lack("CREDENTIAL", "github", "The credential `github` is not granted to a.four.", "Grant it.")
    writer = lack("MODEL", "writer", "There is no key for openai:x.", "Store it.")
    image = lack("MODEL", "image", "No model serves `image`.", "Set one.")
    packs = [in_catalog("a.one", ffmpeg), in_catalog("a.two", ffmpeg, github), in_catalog("a.three", writer, image)]
    server.answers["CliCatalog"] = page("catalog", *packs, in_catalog("a.four", granted), in_catalog("a.five"))
    role = {"role": "writer", "chain": [{"key": "openai:x", "availability": {"usable": False, "missing": [writer]}}]}
    role["chain"][0]["availability"]["missing"][0]["hint"] = "Store it."
    programs = {"name": "programs", "ok": False, "message": "a.one cannot run on this server. Install ffmpeg."}
    server.answers["CliServer"] = {**healthy(health=[programs]), "modelRoles": [role, {"role": "image", "chain": []}]}
    result = packline("doctor")
    found = {line["what"]: (line["state"], line["message"]) for line in result.lines}
    assert found["packs"] == ("works", "5 loaded, 1 can run on this server")
    assert [line["what"] for line in result.lines].count("credential github") == 1
    assert found["credential github"][1].endswith("Needed by a.two, a.four.")
    assert found["service ffmpeg"] == ("missing", "ffmpeg is not on PATH. Install ffmpeg. Needed by a.one, a.two.")
    assert found["credential github"][0] == "not_set_up"
    assert found["models of image"][0] == "not_set_up"
    assert found["models of image"][1].endswith("Needed by a.three.")
    assert found["models of writer"] == (
        "missing",
        "openai:x (cannot be used: There is no key for openai:x. Store it.). No model of this role can be used. "
        "Needed by a.three.",
    )
    assert "programs" not in found, "said once"
    assert result.status == 0, "Packline works, these packs do not"
    text = packline("doctor", "--text").out
    assert "✗ service ffmpeg" in text
    assert "○ credential github" in text
    assert "✓ packs" in text


def test_doctor_reports_what_packs_lack_here_without_a_server(packline, monkeypatch):
    from runner.packs.availability import Requirement

    ffmpeg = Requirement("service", "ffmpeg", (), "ffmpeg is not on PATH.", Hint("Install ffmpeg."))
    monkeypatch.setattr(
        "runner.packs.availability.pack_requirements", lambda pack, check: [ffmpeg] if pack.name == "web.scrape" else []
    )
    found = {line["what"]: line for line in packline("doctor", "--server", "http://127.0.0.1:1").lines}
    assert found["server"]["state"] == "not_set_up"
    assert found["service ffmpeg"]["state"] == "missing"
    assert found["service ffmpeg"]["message"] == "ffmpeg is not on PATH. Install ffmpeg. Needed by web.scrape."


def test_doctor_reports_services_whose_address_is_not_set(packline, monkeypatch, tmp_path):
    declared = pack_source("garden.moisture").replace("PackContext, pack", "PackContext, pack, service_address", 1)
    declared = declared.replace("repeatable=True", 'repeatable=True, services=[service_address("garden")]')
    folder = write_pack_folder(tmp_path / "mine", {"garden/moisture.py": declared})
    monkeypatch.setenv("PACKLINE_PACK_PATH", str(folder))
    found = {line["what"]: line for line in packline("doctor", "--server", "http://127.0.0.1:1").lines}
    assert found["service garden"]["state"] == "missing"
    assert "PACKLINE_SERVICE_GARDEN_URL" in found["service garden"]["message"]
    monkeypatch.setenv("PACKLINE_SERVICE_GARDEN_URL", "http://127.0.0.1:9099")
    found = {line["what"]: line for line in packline("doctor", "--server", "http://127.0.0.1:1").lines}
    assert "service garden" not in found


def test_doctor_reports_packs_that_were_not_loaded_and_the_vault_once(packline, server):
    vault = {"name": "vault key", "ok": False, "message": "The vault is locked."}
    packs = {"name": "packs", "ok": False, "message": "1 pack loaded; 2 failed, first packs/a.py"}
    lost = [{"origin": f"packs/{name}.py", "message": "SyntaxError"} for name in "ab"]
    server.answers["CliServer"] = healthy(health=[vault, packs], packSources=[{"loadErrors": lost}])
    server.answers["CliCatalog"] = page("catalog", in_catalog("web.scrape"))
    lines = packline("doctor").lines
    assert [line["message"] for line in lines if line["what"] == "vault key"] == [vault["message"]]
    assert [line["message"] for line in lines if line["what"] == "packs"] == [
        "packs/a.py could not be loaded: SyntaxError",
        "packs/b.py could not be loaded: SyntaxError",
        "1 loaded, 1 can run on this server",
    ]


def test_doctor_finds_the_page_where_it_is_served_from(packline, monkeypatch, tmp_path):
    monkeypatch.setattr("app.http.pages.BUILT_PAGE", tmp_path)

    def page():
        lines = packline("doctor", "--server", "http://127.0.0.1:1").lines
        return next(line["state"] for line in lines if line["what"] == "web page")

    assert page() == "not_set_up"
    (tmp_path / "index.html").write_text("<!doctype html>")
    assert page() == "works"


@pytest.mark.postgres
def test_doctor_reports_a_queue_that_is_not_whole(packline, monkeypatch):
    with ready_database() as url:
        monkeypatch.setenv("PACKLINE_DATABASE_URL", url)
        found = {line["what"]: line for line in packline("doctor", "--server", "http://127.0.0.1:1").lines}
        assert found["database"]["state"] == "works"
        with psycopg.connect(url) as connection:
            connection.execute("DROP TABLE procrastinate_events")
        result = packline("doctor", "--server", "http://127.0.0.1:1")
        found = {line["what"]: line for line in result.lines}
        assert found["database"]["state"] == "missing"
        assert "lacks procrastinate_events of its queue" in found["database"]["message"]
        assert result.status == 1


def test_doctor_says_one_thing_of_the_data_folder(packline, tmp_path):
    (tmp_path / "data").mkdir(mode=0o755, exist_ok=True)
    (tmp_path / "data").chmod(0o755)
    lines = packline("doctor", "--server", "http://127.0.0.1:1").lines
    (folder,) = (line for line in lines if line["what"] == "data folder")
    assert folder["state"] == "missing"
    assert "chmod 700" in folder["message"]


def test_doctor_goes_on_without_a_server(packline):
    result = packline("doctor", "--server", "http://127.0.0.1:1", "--text")
    assert result.status == 0
    assert "none is running here" in result.out


def test_doctor_tells_of_agents_and_how_far_they_are_kept_apart(packline, tmp_path):
    (tmp_path / "data").mkdir(exist_ok=True)
    tables = '[agents.gone]\ncommand = ["no-such-agent"]\n[agents.here]\ncommand = ["sh", "-c", "cat"]\n'
    (tmp_path / "data" / "packline.toml").write_text(tables)
    found = {line["what"]: line for line in packline("doctor", "--server", "http://127.0.0.1:1").lines}
    assert "agents get isolation" in found["agent isolation"]["message"]
    assert found["agent gone"]["state"] == "missing"
    assert "`no-such-agent`" in found["agent gone"]["message"]
    assert (found["agent here"]["state"], found["agent here"]["message"]) == ("works", "sh -c cat")


def test_doctor_knows_the_database_of_a_newer_release(packline, tmp_path):
    assert packline("migrate").status == 0
    with closing(sqlite3.connect(tmp_path / "data" / "packline.db")) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
        raw.commit()
    result = packline("doctor", "--server", "http://127.0.0.1:1")
    (found,) = (line for line in result.lines if line["what"] == "database")
    assert (found["state"], found["vital"]) == ("missing", True)
    assert "newer release" in found["message"]


def test_wrong_settings_are_explained(packline, monkeypatch):
    monkeypatch.setenv("PACKLINE_PORT", "x")
    result = packline("up")
    assert result.status == 2
    assert "PACKLINE_PORT is `x`" in result.err


# ------------------------------------------------------------------------------------------------ the program


def test_help_names_the_exit_statuses_and_every_command(packline):
    text = packline("--help").out
    refused = "2 wrong usage, or the command was refused, even if it may work later"
    for word in ("0 done", refused, "130 interrupted", *COMMANDS):
        assert word in " ".join(text.split())


COMMANDS = ("up", "run", "watch", "resume", "rerun", "cancel", "runs", "show", "transcript", "check", "apply", "export")
COMMANDS += ("pipelines", "packs", "token", "workers", "doctor", "migrate", "backup", "restore")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(packline, command):
    result = packline(command, "--help")
    assert result.status == 0
    assert "..." not in packline("--help").out.partition(f"  {command} ")[2].partition("\n")[0]


@pytest.mark.parametrize(
    ("arguments", "option", "said"),
    [
        (("runs", "--limit", "0"), "--limit", "`0` is not a whole number from 1 to 10,000."),
        (("runs", "--limit", "abc"), "--limit", "`abc` is not a whole number from 1 to 10,000."),
        (("pipelines", "--limit", "1.5"), "--limit", "`1.5` is not a whole number from 1 to 10,000."),
        (("artifact", "text", "art_1", "--offset", "-1"), "--offset", "`-1` is not a whole number from 0."),
        (("transcript", "run_1", "--attempt", "x"), "--attempt", "`x` is not a whole number from 1."),
        (("run", "deck", "--deadline", "nan"), "--deadline", "`nan` is not a number from 0.001 to 86,400."),
        (("token", "create", "ci", "--days", "0"), "--days", "`0` is not a number from 0.001 to 36,500."),
    ],
)
def test_a_number_that_is_none_is_named_with_what_is_allowed(packline, arguments, option, said):
    refused = packline(*arguments)
    assert (refused.status, refused.err.splitlines()[-1]) == (2, f"Error: Invalid value for '{option}': {said}")


def test_no_number_is_refused_in_the_words_of_a_library():
    """Each option that takes a number has a parser of ours, which says what is allowed."""
    for command in every_command(tree):
        for name, hint in get_type_hints(command.callback, include_extras=True).items():
            taken, option = get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, None)
            if {int, float} & {taken, *get_args(taken)}:
                assert option.parser is not None, (command.name, name)


def every_command(group):
    for command in group.commands.values():
        yield from every_command(command) if hasattr(command, "commands") else [command]


def test_a_port_that_is_none_is_explained_as_every_setting(packline):
    refused = packline("up", "--port", "abc")
    assert (refused.status, refused.err) == (
        2,
        "packline: --port is `abc`: it must be a whole number. "
        "Correct it, or leave it out to use the default `8420`.\n",
    )


def test_wrong_usage_ends_with_2(packline):
    assert packline("no-such-command").status == 2
    assert packline("run").status == 2


def test_help_imports_nothing_heavy():
    script = (
        "import sys; sys.argv = ['packline', '--help']\n"
        "from app.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'pydantic_settings', 'httpx2', 'sqlalchemy', 'rich', 'starlette', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == "[]\n"


def test_output_that_is_cut_off_is_no_error(server, tmp_path):
    server.answers["CliRuns"] = page("runs", *[run(title="x" * 2000)] * 100)
    script = "from app.cli import main; main()"
    environment = {"PACKLINE_SERVER": server.url, "PACKLINE_TOKEN": "t", "PACKLINE_DATA_DIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script, "runs"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert json.loads(process.stdout.readline())["id"] == "run_1"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 1
