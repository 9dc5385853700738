"""What an agent's answer comes to: whole or refused, failed when it says so, at a cost it told or that is unknown."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from runner.agents.results import SHORTENED
from tests.schema.runs.test_agent_steps import ATTEMPT, program, run, text_of
from tests.support.product import Product, product

if TYPE_CHECKING:
    from pathlib import Path


async def output_of(it: Product, started: dict[str, Any]) -> Any:
    """The whole output of a succeeded run's only step."""
    found = started["run"]
    assert (found["state"], found["failure"]) == ("SUCCEEDED", None)
    query = "query($id: ID!) { run(id: $id) { steps { output(limitBytes: 1048576) { json } } } }"
    return (await it.query(query, {"id": found["id"]}))["run"]["steps"][0]["output"]["json"]


@pytest.mark.parametrize(("kind", "characters"), [("raw", 250_000), ("claude", 900_000)])
async def test_an_answer_is_whole_up_to_what_an_output_holds(tmp_path: Path, kind: str, characters: int) -> None:
    stream = "raw" if kind == "raw" else "claude"
    async with product(tmp_path, agents={"long": program("say_much", str(characters), kind, stream=stream)}) as it:
        text = (await output_of(it, await run(it, {"use": "long"})))["text"]

    assert (len(text), text[-3:]) == (characters, "end")


@pytest.mark.parametrize("kind", ["raw", "claude"])
async def test_an_answer_that_does_not_fit_is_refused_or_kept_by_stdout_to(tmp_path: Path, kind: str) -> None:
    characters = 1_200_000
    async with product(tmp_path, agents={"long": program("say_much", str(characters), kind, stream=kind)}) as it:
        refused = (await run(it, {"use": "long"}))["run"]
        kept = await run(it, {"use": "long", "stdout_to": "all.txt"}, key="kept")
        text = (await output_of(it, kept))["text"]

    assert refused["state"] == "FAILED"
    failure = refused["failure"]
    assert failure["code"] == "RESOURCE_EXHAUSTED"
    assert ("1,200,000 characters" if kind == "raw" else "more than 1,048,576 bytes") in failure["message"]
    assert "`stdout_to`" in failure["hint"]
    step = kept["run"]["steps"][0]
    assert step["artifacts"][0]["sizeBytes"] >= characters
    assert "`all.txt`" in step["warnings"][0]
    assert len(text) < 200_000
    assert text.endswith("… (shortened)")
    assert f"first {len(text) - len(SHORTENED):,} characters" in step["warnings"][0]


async def test_json_that_was_cut_is_not_blamed_on_the_agent(tmp_path: Path) -> None:
    agents = {
        "long": program("say_much", "300000", "json"),
        "longer": program("say_much", "600000", "json"),
        "longest": program("say_much", "1200000", "json"),
    }
    schema = {"output_schema": {"type": "string"}}
    async with product(tmp_path, agents=agents) as it:
        whole = await output_of(it, await run(it, {"use": "long", **schema}))
        twice = (await run(it, {"use": "longer", **schema}, key="twice"))["run"]
        cut = (await run(it, {"use": "longest", "stdout_to": "a.json", **schema}, key="cut"))["run"]

    assert len(whole["data"]) == 300_000
    assert [one["failure"]["code"] for one in (twice, cut)] == ["RESOURCE_EXHAUSTED"] * 2
    assert "600,002 characters" in twice["failure"]["message"]


FAILURES: dict[str, list[dict[str, Any]]] = {
    "claude": [{"type": "result", "subtype": "error_max_turns", "is_error": True, "result": "The end of my rope."}],
    "codex": [
        {"type": "error", "message": "Lost."},
        {"type": "turn.failed", "error": {"message": "The end of my rope."}},
    ],
    "gemini": [{"type": "result", "status": "error", "error": {"type": "X", "message": "The end of my rope."}}],
    "opencode": [{"type": "error", "error": {"name": "X", "data": {"message": "The end of my rope."}}}],
}
OVERCOME: dict[str, list[dict[str, Any]]] = {
    "claude": [
        {"type": "user", "message": {"content": [{"type": "tool_result", "is_error": True, "content": "No file."}]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done."},
    ],
    "codex": [
        {"type": "error", "message": "Reconnecting... 1/5"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {}},
    ],
    "gemini": [
        {"type": "error", "severity": "error", "message": "A tool failed."},
        {"type": "message", "role": "assistant", "content": "Done."},
        {"type": "result", "status": "success"},
    ],
    "opencode": [
        {"type": "error", "error": {"name": "X", "data": {"message": "Overloaded."}}},
        {"type": "text", "part": {"text": "Done."}},
        {"type": "step_finish", "part": {"tokens": {}}},
    ],
}


async def test_a_stream_without_an_answer_is_told(tmp_path: Path) -> None:
    agents = {"other": program("say", "Not JSON.", stream="claude"), "plain": program("say", "")}
    async with product(tmp_path, agents=agents) as it:
        silent = await run(it, {"use": "other"})
        plain = await run(it, {"use": "plain"}, key="plain")

    assert [text_of(silent), text_of(plain)] == ["", ""]
    warnings = [[each for each in one["run"]["steps"][0]["warnings"] if "stream" in each] for one in (silent, plain)]
    assert [len(each) for each in warnings] == [1, 0]
    assert 'stream = "claude"' in warnings[0][0]


@pytest.mark.parametrize("stream", FAILURES)
async def test_a_stream_that_says_it_failed_is_a_failure_whatever_the_exit_code(tmp_path: Path, stream: str) -> None:
    def prints(events: list[dict[str, Any]]) -> dict[str, Any]:
        return program("say", "".join(json.dumps(event) + "\n" for event in events), stream=stream)

    async with product(tmp_path, agents={"bad": prints(FAILURES[stream]), "good": prints(OVERCOME[stream])}) as it:
        failed = (await run(it, {"use": "bad"}))["run"]
        succeeded = await run(it, {"use": "good"}, key="good")

    assert (failed["state"], failed["failure"]["code"]) == ("FAILED", "HANDLER_FAILED")
    assert "reported a failure: The end of my rope." in failed["failure"]["message"]
    assert text_of(succeeded) == "Done."


async def test_a_result_is_made_anew_once_the_script_of_its_profile_has_changed(tmp_path: Path) -> None:
    script = tmp_path / "stream.py"
    profile = {"command": [sys.executable, "-I", str(script)]}
    agent = {"use": "scripted", "cache": True, "stdout_to": "said.txt"}
    said = []
    async with product(tmp_path, agents={"scripted": profile}) as it:
        for key, word in (("one", "fine"), ("two", "fine"), ("three", "changed")):
            script.write_text(f"print('{word}')")
            found = await run(it, agent, key=key)
            attempt = (await it.query(ATTEMPT, {"id": found["run"]["id"]}))["run"]["steps"][0]["attempts"][0]
            said.append((text_of(found), attempt["cacheReceipt"] is not None))

    assert said == [("fine\n", False), ("fine\n", True), ("changed\n", False)]


async def test_what_a_program_does_not_tell_of_its_cost_is_not_known(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"silent": program("tell"), "told": program("claude", stream="claude")}) as it:
        runs = [(await run(it, {"use": use}, key=f"ask_{use}"))["run"]["id"] for use in ("silent", "told", "mock")]
        query = "query($id: ID!) { run(id: $id) { cost { amountUsd usage { input output } } } }"
        costs = [(await it.query(query, {"id": run_id}))["run"]["cost"] for run_id in runs]
        attempt = (await it.query(ATTEMPT, {"id": runs[0]}))["run"]["steps"][0]["attempts"][0]

    nothing = {"amountUsd": None, "usage": None}
    assert costs[0] == attempt["cost"] == nothing
    assert costs[1] == {"amountUsd": 0.0042, "usage": {"input": 120, "output": 30}}
    assert costs[2] == {"amountUsd": 0.0, "usage": {"input": 0, "output": 0}}, "a mock asks no model"


async def test_a_resume_says_that_the_profile_has_changed_since_the_step_was_tried(tmp_path: Path) -> None:
    script = tmp_path / "stream.py"
    script.write_text("raise SystemExit(3)")
    profile: dict[str, Any] = {"command": [sys.executable, "-I", str(script)]}
    query = "query($id: ID!) { run(id: $id) { resumePreview { allowed issues { rule severity message } } } }"

    async def preview(it: Product) -> dict[str, Any]:
        found = (await it.query(query, {"id": failed}))["run"]["resumePreview"]
        assert found["allowed"]
        return dict((issue["rule"], issue["message"]) for issue in found["issues"])

    async with product(tmp_path, agents={"scripted": profile}) as it:
        failed = (await run(it, {"use": "scripted", "effects": "none"}))["run"]["id"]
        assert await preview(it) == {}
        script.write_text("print('fine')")
        other_script = await preview(it)
    changed = {**profile, "command": [*profile["command"], "--more"], "variables": {"MORE": "1"}}
    async with product(tmp_path, agents={"scripted": changed}) as it:
        other_profile = await preview(it)

    began = "The agent profile `scripted` has changed since the last attempt of step draft: "
    assert other_script == {"profile_changed": f"{began}a file it names."}
    everything = "its command line, a file it names, its network, isolation, variables or credentials."
    assert other_profile == {"profile_changed": began + everything}
