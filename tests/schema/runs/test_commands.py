"""Commands on runs through the front door: resume, re-run, cancel, acknowledge, delete."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from packline import Pack, PackContext, PackError, pack
from resolvers.runs.runs import delete_one_run
from schema.runs import commands as run_commands
from tests.support.front_door import command, ended, look, ran, save, start, step, until_state
from tests.support.packs import Text, Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

_PREVIEW = """
    resumePreview(stepInput: $stepInput, inputs: $inputs, definition: $definition) {
        allowed definitionChanged issues { path argument rule severity message hint }
        steps { key action reason effects mayRepeatEffects runStep { key state } }
    }
"""

_REUSED = """
query ($id: ID!) {
  run(id: $id) {
    artifacts { totalCount nodes { id run { id } } }
    steps {
      artifacts { id }
      attempts { artifacts { id } reuse { madeBy { id runStep { key run { id } } } } }
    }
  }
}
"""


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def it(tmp_path: Path, bench: Workbench) -> AsyncIterator[Product]:
    async with product(tmp_path, bench.packs) as running:
        yield running


async def preview(
    it: Product, run_id: str, *, step_input: Any = None, inputs: Any = None, definition: str = "OF_RUN"
) -> Any:
    """What `resumePreview` answers."""
    data = await it.query(
        "query ($id: ID!, $stepInput: JSON, $inputs: JSON, $definition: DefinitionChoice!) "
        f"{{ run(id: $id) {{ {_PREVIEW} }} }}",
        {"id": run_id, "stepInput": step_input, "inputs": inputs, "definition": definition},
    )
    return data["run"]["resumePreview"]


async def three_steps(it: Product, key: str = "three") -> None:
    """A pipeline whose second step fails until the test says otherwise."""
    await save(
        it,
        key,
        step("first", "test.echo", text="${{ inputs.topic }}"),
        step("second", "test.switch", text="${{ steps.first.output.text }} and ${{ inputs.more }}"),
        step("third", "test.echo", text="${{ steps.second.output.text }}"),
        inputs={
            "type": "object",
            "required": ["topic"],
            "properties": {"topic": {"type": "string"}, "more": {"type": "string", "default": "milk"}},
        },
    )


# -- resume ------------------------------------------------------------------------------------------------


async def test_a_failed_run_goes_on_where_it_failed(it: Product, bench: Workbench) -> None:
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea"})
    assert (run["state"], run["failure"]["stepKey"], run["currentStep"]["key"]) == ("FAILED", "second", "second")

    plan = await preview(it, run["id"])
    assert (plan["allowed"], plan["definitionChanged"], plan["issues"]) == (True, False, [])
    assert [(part["key"], part["action"]) for part in plan["steps"]] == [
        ("first", "REUSE"),
        ("second", "RUN"),
        ("third", "RUN"),
    ]
    assert plan["steps"][1]["runStep"] == {"key": "second", "state": "FAILED"}
    assert (await look(it, run["id"])) == run  # a preview changes nothing

    bench.failing = False
    resumed = await command(it, "resumeRun", id=run["id"], waitSeconds=20)

    assert resumed["__typename"] == "RunSuccess"
    after = resumed["run"]
    assert (after["id"], after["state"], after["resumeCount"]) == (run["id"], "SUCCEEDED", 1)
    assert after["failure"] is None
    assert after["output"]["json"]["text"] == "tea and milk"
    assert bench.calls("test.echo") == 2  # first once, third once
    assert [attempt["state"] for attempt in after["steps"][1]["attempts"]] == ["FAILED", "SUCCEEDED"]
    assert after["steps"][0]["attempts"] == run["steps"][0]["attempts"]


async def test_a_resumed_step_shows_no_progress_of_an_earlier_attempt(tmp_path: Path) -> None:
    again, release = asyncio.Event(), asyncio.Event()

    @pack("test.reporting", version="1.0.0", effects="none", repeatable=True)
    async def reporting(ctx: PackContext, given: Text) -> Text:
        if ctx.attempt_number == 1:
            ctx.progress(0.6, "almost done")
            raise PackError("invalid_input", "Not like this.")
        again.set()
        await release.wait()
        return given

    async with product(tmp_path, [reporting]) as it:
        select = "query ($id: ID!) { run(id: $id) { steps { state progress milestones { message } } } }"
        run = await ran(it, await save(it, "one", step("only", "test.reporting", text="tea")))
        (failed,) = (await it.query(select, {"id": run["id"]}))["run"]["steps"]
        assert failed == {"state": "FAILED", "progress": 0.6, "milestones": [{"message": "almost done"}]}
        await command(it, "resumeRun", id=run["id"])
        await again.wait()
        (running,) = (await it.query(select, {"id": run["id"]}))["run"]["steps"]
        assert running == {"state": "RUNNING", "progress": None, "milestones": []}
        release.set()
        await until_state(it, run["id"], "SUCCEEDED")


async def test_the_failed_steps_input_can_be_changed(it: Product, bench: Workbench) -> None:
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea"})
    refused = await preview(it, run["id"], step_input={"txt": 1})
    assert refused["allowed"] is False
    assert refused["issues"][0]["path"] == ["stepInput", "txt"]
    assert refused["issues"][0]["hint"] == "Did you mean `text`?"
    wrong = await command(it, "resumeRun", id=run["id"], stepInput={"txt": 1})
    assert (wrong["__typename"], wrong["issues"]) == ("InvalidProblem", refused["issues"])
    assert (await preview(it, run["id"], step_input="text"))["issues"][0]["rule"] == "wrong_type"

    bench.failing = False
    assert (await preview(it, run["id"], step_input={"text": "cocoa"}))["allowed"] is True
    after = (await command(it, "resumeRun", id=run["id"], stepInput={"text": "cocoa"}, waitSeconds=20))["run"]

    assert after["output"]["json"]["text"] == "cocoa"
    assert after["steps"][1]["input"]["json"] == {"text": "cocoa"}
    assert after["inputs"] == {"topic": "tea", "more": "milk"}


async def test_inputs_that_no_succeeded_step_has_read_can_be_changed(it: Product, bench: Workbench) -> None:
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea"})

    refused = await preview(it, run["id"], inputs={"topic": "coffee"})
    assert refused["allowed"] is False
    assert [(issue["path"], issue["rule"]) for issue in refused["issues"]] == [
        (["inputs", "topic"], "input_already_read")
    ]
    wrong = await command(it, "resumeRun", id=run["id"], inputs={"topic": "coffee"})
    assert wrong["issues"] == refused["issues"]
    unknown = await preview(it, run["id"], inputs={"moar": "x"})
    assert unknown["issues"][0]["hint"] == "Did you mean `more`?"
    assert (await preview(it, run["id"], inputs={"topic": "tea"}))["allowed"] is True  # no change at all

    bench.failing = False
    after = (await command(it, "resumeRun", id=run["id"], inputs={"more": "sugar"}, waitSeconds=20))["run"]
    assert after["inputs"] == {"topic": "tea", "more": "sugar"}
    assert after["output"]["json"]["text"] == "tea and sugar"
    assert bench.calls("test.echo") == 2


async def test_an_input_taken_away_falls_back_to_its_default(it: Product, bench: Workbench) -> None:
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea", "more": "rum"})
    bench.failing = False
    after = (await command(it, "resumeRun", id=run["id"], inputs={"more": None}, waitSeconds=20))["run"]
    assert after["inputs"] == {"topic": "tea", "more": "milk"}
    assert after["output"]["json"]["text"] == "tea and milk"


async def test_a_resume_may_go_on_with_the_current_definition(it: Product, bench: Workbench) -> None:
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea"})
    schema = {"type": "object", "properties": {"topic": {"type": "string"}, "rest": {"type": "string"}}}
    await save(
        it,
        "three",
        step("first", "test.echo", text="${{ inputs.topic }}"),
        step("second", "test.echo", text="new ${{ steps.first.output.text }}"),
        step("fourth", "test.echo", text="${{ steps.second.output.text }} with ${{ inputs.rest }}"),
        inputs={**schema, "required": ["topic", "rest"]},
    )

    assert (await preview(it, run["id"]))["definitionChanged"] is True
    lacking = await preview(it, run["id"], definition="CURRENT")
    assert lacking["allowed"] is False
    assert {(*issue["path"],) for issue in lacking["issues"]} >= {("inputs", "rest")}
    plan = await preview(it, run["id"], definition="CURRENT", inputs={"rest": "care", "more": None})
    assert plan["allowed"] is True, plan
    assert [(part["key"], part["action"]) for part in plan["steps"]] == [
        ("first", "REUSE"),
        ("second", "RUN"),
        ("fourth", "RUN"),
    ]
    assert plan["steps"][2]["runStep"] is None

    resumed = await command(
        it, "resumeRun", id=run["id"], definition="CURRENT", inputs={"rest": "care", "more": None}, waitSeconds=20
    )

    after = resumed["run"]
    assert (after["state"], after["version"]["number"]) == ("SUCCEEDED", 2)
    assert [part["key"] for part in after["steps"]] == ["first", "second", "fourth"]
    assert after["output"]["json"]["text"] == "new tea with care"


async def test_the_current_definition_is_refused_when_a_succeeded_step_differs(it: Product) -> None:
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea"})
    await save(it, "three", step("first", "test.echo", text="${{ inputs.topic }}!"), step("second", "test.echo"))

    plan = await preview(it, run["id"], definition="CURRENT", inputs={"more": None})
    assert plan["allowed"] is False
    assert plan["issues"][0]["rule"] == "definition_changed"
    refused = await command(it, "resumeRun", id=run["id"], definition="CURRENT", inputs={"more": None})
    assert (refused["__typename"], refused["issues"]) == ("InvalidProblem", plan["issues"])


async def test_only_failed_and_cancelled_runs_are_resumed(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"))
    run = (await start(it, "slow"))["run"]
    await bench.started.wait()
    refused = await command(it, "resumeRun", id=run["id"])
    assert (refused["__typename"], refused["code"]) == ("WrongStateProblem", "WRONG_STATE")
    assert refused["run"] == {"id": run["id"], "state": "RUNNING"}
    assert refused["actions"] == ["CANCEL", "RERUN"]
    assert await preview(it, run["id"]) is None
    bench.release.set()
    done = await ended(it, run["id"])
    refused = await command(it, "resumeRun", id=done["id"])
    assert (refused["__typename"], refused["run"]["state"]) == ("WrongStateProblem", "SUCCEEDED")
    missing = await command(it, "resumeRun", id="run_01J00000000000000000000000")
    assert missing["__typename"] == "NotFoundProblem"


async def test_a_cancelled_run_can_be_resumed(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("first", "test.echo", text="x"), step("second", "test.slow"))
    run = (await start(it, "slow"))["run"]
    await bench.started.wait()
    await command(it, "cancelRun", id=run["id"])
    assert (await ended(it, run["id"]))["state"] == "CANCELLED"

    bench.release.set()
    after = (await command(it, "resumeRun", id=run["id"], waitSeconds=20))["run"]
    assert after["state"] == "SUCCEEDED"
    assert [attempt["state"] for attempt in after["steps"][1]["attempts"]] == ["CANCELLED", "SUCCEEDED"]


async def test_repeated_outside_effects_are_told_before(it: Product) -> None:
    await save(it, "sends", step("send", "test.external", times=1, code="not_found"))
    run = await ran(it, "sends")
    plan = await preview(it, run["id"])
    assert (plan["steps"][0]["effects"], plan["steps"][0]["mayRepeatEffects"]) == ("EXTERNAL", True)
    assert (plan["allowed"], plan["issues"][0]["severity"], plan["issues"][0]["rule"]) == (
        True,
        "WARNING",
        "may_repeat_effects",
    )


async def test_a_session_is_used_again_or_made_anew(tmp_path: Path, bench: Workbench) -> None:
    async with product(tmp_path, bench.packs) as it:
        await save(
            it,
            "cloned",
            step("clone", "test.session", text="kept"),
            step("switch", "test.switch"),
            step("read", "test.session_use"),
        )
        run = await ran(it, "cloned")
        assert run["steps"][0]["session"]["alive"] is True
        plan = await preview(it, run["id"])
        assert plan["allowed"] is True, plan
        assert [part["action"] for part in plan["steps"]] == ["REUSE", "RUN", "RUN"]

        for folder in (it.folder / "sessions").iterdir():
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
        plan = await preview(it, run["id"])
        assert plan["allowed"] is True
        assert [part["action"] for part in plan["steps"]] == ["RUN_AGAIN", "RUN", "RUN"]
        assert "session" in plan["steps"][0]["reason"]

        bench.failing = False
        after = (await command(it, "resumeRun", id=run["id"], waitSeconds=20))["run"]
        assert (after["state"], after["output"]["json"]["text"]) == ("SUCCEEDED", "kept")
        assert len(after["steps"][0]["attempts"]) == 2


async def test_a_step_with_effects_is_not_repeated_for_a_session_that_is_gone(tmp_path: Path, bench: Workbench) -> None:
    sent: list[str] = []

    @pack("test.sends", version="1.0.0", effects="external", repeatable=True, uses_session=True)
    async def sends(ctx: PackContext, given: Text) -> Text:
        """Sends what lies in the session."""
        sent.append(ctx.run_id)
        return Text(text="sent")

    async with product(tmp_path, [*bench.packs, sends]) as it:
        await save(
            it,
            "sending",
            step("clone", "test.session", text="kept"),
            step("send", "test.sends"),
            step("switch", "test.switch"),
            step("read", "test.session_use"),
        )
        run = await ran(it, "sending")
        assert (await preview(it, run["id"]))["allowed"] is True
        shutil.rmtree(it.folder / "sessions")

        plan = await preview(it, run["id"])
        (wrong,) = plan["issues"]
        assert (plan["allowed"], wrong["path"], wrong["rule"]) == (False, ["steps", "send"], "session_unavailable")
        refused = await command(it, "resumeRun", id=run["id"])
        assert (refused["__typename"], refused["issues"]) == ("InvalidProblem", plan["issues"])
        assert len(sent) == 1


async def test_a_pack_that_is_gone_keeps_a_run_from_going_on(tmp_path: Path, bench: Workbench) -> None:
    async with product(tmp_path, bench.packs) as it:
        await three_steps(it)
        run = await ran(it, "three", {"topic": "tea"})
    async with product(tmp_path, [pack for pack in bench.packs if pack.name != "test.switch"]) as it:
        plan = await preview(it, run["id"])
        assert plan["allowed"] is False
        assert "unavailable" in {issue["rule"] for issue in plan["issues"]}
        refused = await command(it, "resumeRun", id=run["id"])
        assert refused["__typename"] == "UnavailableProblem"
        assert (refused["missing"][0]["kind"], refused["missing"][0]["steps"]) == ("PACK", ["second"])


async def test_a_single_pack_call_is_resumed_like_any_run(it: Product, bench: Workbench) -> None:
    run = (await command(it, "runPack", pack="test.switch", input={"text": "tea"}, waitSeconds=20))["run"]
    assert run["pack"] == {"name": "test.switch"}
    bench.failing = False
    after = (await command(it, "resumeRun", id=run["id"], inputs={"text": "cocoa"}, waitSeconds=20))["run"]
    assert (after["state"], after["output"]["json"]["text"]) == ("SUCCEEDED", "cocoa")


# -- re-run ------------------------------------------------------------------------------------------------


async def test_a_rerun_is_a_new_run_with_the_changes_alone_given(it: Product, bench: Workbench) -> None:
    bench.failing = False
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea", "more": "rum"})

    same = await command(it, "rerunRun", id=run["id"], waitSeconds=20)
    changed = await command(it, "rerunRun", id=run["id"], inputs={"topic": "coffee", "more": None}, waitSeconds=20)

    assert (same["coalesced"], same["replayed"]) == (False, False)
    assert same["run"]["id"] != run["id"]
    assert (same["run"]["rerunOf"], same["run"]["cause"]) == ({"id": run["id"]}, "RERUN")
    assert (same["run"]["inputs"], same["run"]["title"]) == (run["inputs"], run["title"])
    assert changed["run"]["inputs"] == {"topic": "coffee", "more": "milk"}
    assert changed["run"]["title"] == "Three: coffee"
    assert changed["run"]["output"]["json"]["text"] == "coffee and milk"
    refused = await command(it, "rerunRun", id=run["id"], inputs={"topic": None})
    assert refused["issues"][0]["path"] == ["inputs", "topic"]


async def test_reruns_never_share_a_run(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"))
    run = (await start(it, "slow"))["run"]
    again = [(await command(it, "rerunRun", id=run["id"]))["run"]["id"] for _ in range(2)]
    assert len({run["id"], *again}) == 3
    bench.release.set()
    for run_id in again:
        assert (await ended(it, run_id))["state"] == "SUCCEEDED"


async def test_a_rerun_from_a_step_reuses_what_lies_before(it: Product, bench: Workbench) -> None:
    bench.failing = False
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea"})
    calls = len(bench.log)

    again = (await command(it, "rerunRun", id=run["id"], fromStep="third", waitSeconds=20))["run"]

    assert again["state"] == "SUCCEEDED"
    assert len(bench.log) == calls + 1
    assert [part["state"] for part in again["steps"]] == ["SUCCEEDED"] * 3
    assert [part["input"] for part in again["steps"][:2]] == [part["input"] for part in run["steps"][:2]]
    assert again["steps"][0]["output"] == run["steps"][0]["output"]
    read = await command(it, "rerunRun", id=run["id"], fromStep="second", inputs={"topic": "coffee"})
    assert [issue["rule"] for issue in read["issues"]] == ["input_already_read"]
    near = await command(it, "rerunRun", id=run["id"], fromStep="thrid")
    assert near["issues"][0]["hint"] == "Did you mean `third`?"
    await command(it, "deleteRun", id=run["id"])
    kept = await look(it, again["id"])
    assert [part["input"] for part in kept["steps"][:2]] == [None, None], "it was the deleted run's"
    assert kept["steps"][0]["output"] == run["steps"][0]["output"]


async def test_a_reused_step_leads_to_where_it_ran_and_to_the_files_made_there(it: Product, bench: Workbench) -> None:
    await save(
        it, "two", step("make", "test.artifact", name="tea.txt", content="tea"), step("say", "test.echo", text="done")
    )
    run = await ran(it, "two")
    made = next(part for part in run["steps"] if part["key"] == "make")
    again = (await command(it, "rerunRun", id=run["id"], fromStep="say", waitSeconds=20))["run"]
    third = (await command(it, "rerunRun", id=again["id"], fromStep="say", waitSeconds=20))["run"]

    for run_id in (again["id"], third["id"]):
        found = (await it.query(_REUSED, {"id": run_id}))["run"]
        reused, own = found["steps"]
        assert own["attempts"][0]["reuse"] is None
        (attempt,) = reused["attempts"]
        source = attempt["reuse"]["madeBy"]
        assert (source["id"], source["runStep"]["key"]) == (made["attempts"][0]["id"], "make")
        assert source["runStep"]["run"]["id"] == run["id"]
        (file,) = found["artifacts"]["nodes"]
        assert file["run"]["id"] == run["id"]
        assert found["artifacts"]["totalCount"] == 1
        assert [one["id"] for one in reused["artifacts"]] == [one["id"] for one in attempt["artifacts"]] == [file["id"]]
        assert own["artifacts"] == []

    await command(it, "deleteRun", id=run["id"])
    kept = (await it.query(_REUSED, {"id": third["id"]}))["run"]
    assert kept["steps"][0]["attempts"][0]["reuse"] == {"madeBy": None}
    assert len(kept["steps"][0]["artifacts"]) == len(kept["artifacts"]["nodes"]) == 1


async def test_a_rerun_is_previewed_like_a_resume(it: Product, bench: Workbench) -> None:
    bench.failing = False
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea"})
    calls = len(bench.log)

    async def seen(arguments: str) -> Any:
        asked = "allowed steps {key action} issues {rule}"
        query = f"query($id: ID!) {{run(id: $id) {{rerunPreview{arguments} {{{asked}}}}}}}"
        return (await it.query(query, {"id": run["id"]}))["run"]["rerunPreview"]

    whole = await seen("")
    assert whole["allowed"]
    assert [part["action"] for part in whole["steps"]] == ["RUN", "RUN", "RUN"]
    late = await seen('(fromStep: "third")')
    assert [part["action"] for part in late["steps"]] == ["REUSE", "REUSE", "RUN"]
    read = await seen('(fromStep: "second", inputs: {topic: "coffee"})')
    assert not read["allowed"]
    assert "input_already_read" in [issue["rule"] for issue in read["issues"]]
    wrong = await seen("(inputs: {topic: 7})")
    assert not wrong["allowed"]
    assert len(bench.log) == calls


async def test_a_rerun_cannot_start_behind_the_failure(it: Product) -> None:
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea"})
    refused = await command(it, "rerunRun", id=run["id"], fromStep="third")
    assert refused["issues"][0]["rule"] == "step_not_succeeded"


async def test_a_rerun_may_take_the_current_definition(it: Product, bench: Workbench) -> None:
    bench.failing = False
    await three_steps(it)
    run = await ran(it, "three", {"topic": "tea"})
    await save(it, "three", step("first", "test.echo", text="just ${{ inputs.topic }}"))
    of_run = (await command(it, "rerunRun", id=run["id"], waitSeconds=20))["run"]
    current = await command(it, "rerunRun", id=run["id"], definition="CURRENT", inputs={"more": None}, waitSeconds=20)
    assert (of_run["version"]["number"], of_run["output"]["json"]["text"]) == (1, "tea and milk")
    assert (current["run"]["version"]["number"], current["run"]["output"]["json"]["text"]) == (2, "just tea")


# -- cancel ------------------------------------------------------------------------------------------------


async def test_a_running_run_is_cancelled(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"), step("never", "test.echo", text="x"))
    run = (await start(it, "slow"))["run"]
    await bench.started.wait()

    answer = await command(it, "cancelRun", id=run["id"], reason="changed my mind")

    assert answer["__typename"] == "RunSuccess"
    assert answer["run"]["state"] in {"CANCELLING", "CANCELLED"}
    after = await ended(it, run["id"])
    assert (after["state"], bench.cancelled) == ("CANCELLED", 1)
    assert [part["state"] for part in after["steps"]] == ["CANCELLED", "PENDING"]
    assert after["actions"] == ["RESUME", "RERUN", "DELETE"]
    assert (await command(it, "cancelRun", id=run["id"]))["__typename"] == "RunSuccess"  # idempotent
    events = await it.query(
        "query ($id: ID!) { run(id: $id) { events(last: 5) { nodes { ... on RunStateChanged { reason } } } } }",
        {"id": run["id"]},
    )
    reasons = [event.get("reason") for event in events["run"]["events"]["nodes"]]
    assert "changed my mind" in reasons


async def test_a_run_that_is_deleted_right_after_a_command_is_not_found(
    it: Product, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(it, "quick", step("only", "test.echo", text="hello"))
    run = await ran(it, "quick")

    async def acknowledge_late(context: Any, *, id: str, acknowledged: bool) -> str:
        return await delete_one_run(context, id=id)

    monkeypatch.setattr(run_commands, "acknowledge_run", acknowledge_late)
    answer = await command(it, "acknowledgeRun", id=run["id"])
    assert answer["__typename"] == "NotFoundProblem"


async def test_queued_and_waiting_runs_are_cancelled_at_once(tmp_path: Path, bench: Workbench) -> None:
    async with product(tmp_path, bench.packs, caller_concurrent_runs=1) as it:
        retry = {"max_attempts": 2, "initial_seconds": 600, "max_seconds": 600}
        await save(it, "flaky", step("only", "test.flaky", times=1, retry=retry))
        waiting = (await start(it, "flaky"))["run"]["id"]
        await until_state(it, waiting, "WAITING")
        await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}"))
        await start(it, "slow", {"text": "held"})
        await bench.started.wait()
        queued = (await start(it, "slow", {"text": "queued"}))["run"]["id"]
        for run_id in (waiting, queued):
            answer = await command(it, "cancelRun", id=run_id)
            assert answer["run"]["state"] == "CANCELLED"
            assert answer["run"]["wait"] is None
        bench.release.set()
        assert bench.calls("test.slow") == 1


async def test_unknown_and_final_are_told_apart(it: Product) -> None:
    run = (await command(it, "runPack", pack="test.echo", input={}, waitSeconds=20))["run"]
    final = await command(it, "cancelRun", id=run["id"])
    assert (final["__typename"], final["run"]["state"]) == ("WrongStateProblem", "SUCCEEDED")
    assert final["actions"] == ["RERUN", "PROMOTE", "DELETE"]
    unknown = await command(it, "cancelRun", id="run_01J00000000000000000000000")
    assert (unknown["__typename"], unknown["ref"]) == ("NotFoundProblem", "run_01J00000000000000000000000")


# -- acknowledge, delete -----------------------------------------------------------------------------------


async def test_a_failure_is_dealt_with(it: Product) -> None:
    failed = (await command(it, "runPack", pack="test.fail", input={}, waitSeconds=20))["run"]
    fine = (await command(it, "runPack", pack="test.echo", input={}, waitSeconds=20))["run"]

    async def attention() -> list[str]:
        data = await it.query("{ runs(filter: {needsAttention: true}) { nodes { id } } }")
        return [node["id"] for node in data["runs"]["nodes"]]

    assert await attention() == [failed["id"]]
    marked = (await command(it, "acknowledgeRun", id=failed["id"]))["run"]
    assert marked["acknowledgedAt"] is not None
    assert "ACKNOWLEDGE" not in marked["actions"]
    assert await attention() == []
    assert (await command(it, "acknowledgeRun", id=failed["id"], acknowledged=False))["run"]["acknowledgedAt"] is None
    assert await attention() == [failed["id"]]
    refused = await command(it, "acknowledgeRun", id=fine["id"])
    assert (refused["__typename"], refused["run"]["state"]) == ("WrongStateProblem", "SUCCEEDED")


async def test_a_run_is_deleted_with_what_it_produced(it: Product, bench: Workbench) -> None:
    await save(it, "files", step("a", "test.artifact", name="a.txt"), step("b", "test.artifact", name="b.txt"))
    run = await ran(it, "files")
    first, second = (part["artifacts"][0]["id"] for part in run["steps"])
    await command(it, "pinArtifact", id=second)

    gone = await command(it, "deleteRun", id=run["id"])

    assert gone == {"__typename": "DeleteSuccess", "deletedId": run["id"]}
    assert await look(it, run["id"]) is None
    ids = [run["id"], run["steps"][0]["id"], run["steps"][0]["attempts"][0]["id"], first, second]
    nodes = (await it.query("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ids}))["nodes"]
    assert nodes == [None, None, None, None, {"id": second}]
    kept = (await it.query("{ artifacts { nodes { id pinned run { id } producedBy { id } } } }"))["artifacts"]["nodes"]
    assert kept == [{"id": second, "pinned": True, "run": None, "producedBy": None}]
    assert (await command(it, "deleteRun", id=run["id"]))["__typename"] == "NotFoundProblem"

    held = (await command(it, "runPack", pack="test.slow", input={}))["run"]
    await bench.started.wait()
    refused = await command(it, "deleteRun", id=held["id"])
    assert (refused["__typename"], refused["hint"]) == ("WrongStateProblem", "Cancel it first.")
    bench.release.set()


async def test_commands_of_one_operation_see_each_other(it: Product) -> None:
    failed = (await command(it, "runPack", pack="test.fail", input={}, waitSeconds=20))["run"]
    data = await it.query(
        """mutation ($id: ID!) {
            on: acknowledgeRun(id: $id) { ... on RunSuccess { run { acknowledgedAt } } }
            off: acknowledgeRun(id: $id, acknowledged: false) { ... on RunSuccess { run { acknowledgedAt } } }
            refused: cancelRun(id: $id) { ... on WrongStateProblem { run { acknowledgedAt } actions } } }""",
        {"id": failed["id"]},
    )
    assert data["refused"] == {
        "run": {"acknowledgedAt": None},
        "actions": ["RESUME", "RERUN", "ACKNOWLEDGE", "DELETE"],
    }
    assert data["on"]["run"]["acknowledgedAt"] is not None
    assert data["off"]["run"]["acknowledgedAt"] is None


async def test_the_preview_tells_when_the_packs_version_is_gone(tmp_path: Path) -> None:
    def moving(version: str) -> Pack:
        @pack("test.moving", version=version, effects="none", repeatable=True)
        async def moved(ctx: PackContext, input: Text) -> Text:
            """Fails in its first version."""
            if version == "1.0.0":
                raise PackError("invalid_input", "Not yet.")
            return input

        return moved

    async with product(tmp_path, [moving("1.0.0")]) as it:
        await save(it, "move", step("a", "test.moving", text="x"))
        run = await ran(it, "move")
        assert run["state"] == "FAILED"
    async with product(tmp_path, [moving("2.0.0")]) as it:
        plan = await preview(it, run["id"])
        assert not plan["allowed"]
        assert "Version 1.0.0 of pack test.moving is not installed" in next(
            issue["message"] for issue in plan["issues"] if issue["rule"] == "unavailable"
        )
        assert (await command(it, "resumeRun", id=run["id"]))["__typename"] == "UnavailableProblem"
    async with product(tmp_path, [moving("1.1.0")]) as it:
        assert (await preview(it, run["id"]))["allowed"]
        await command(it, "resumeRun", id=run["id"], waitSeconds=20)
        assert (await look(it, run["id"]))["state"] == "SUCCEEDED"


async def test_true_and_1_are_two_values_and_1_and_1_0_are_one(it: Product) -> None:
    declared = {"type": "object", "properties": {"flag": {}, "code": {"type": "string"}}}
    failing = step("a", "test.fail", code="${{ inputs.code }}", message="It is ${{ inputs.flag }}.")
    await save(it, "flags", failing, inputs=declared)
    run = await ran(it, "flags", {"flag": True, "code": "invalid_input"})
    assert run["failure"]["message"] == "It is true."
    for given, said in ((1, "It is 1."), (1.0, "It is 1."), (False, "It is false.")):
        resumed = await command(it, "resumeRun", id=run["id"], inputs={"flag": given}, waitSeconds=20)
        assert resumed["run"]["failure"]["message"] == said
