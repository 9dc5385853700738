"""Going on with a run and running it again from a step: sessions, and inputs given for a step."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from strawberry.utils.str_converters import to_snake_case

from store.files.artifacts import find_artifact
from store.runs.sessions import live_sessions
from tests.support.front_door import step
from tests.support.surfaces import states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def run_of(api: Api, **inputs: Any) -> dict[str, Any]:
    run: dict[str, Any] = (
        await api.me.call("run_pipeline", pipeline=api.key, inputs=inputs, waitSeconds=20, idempotencyKey=api.key)
    )["run"]
    return run


async def preview(api: Api, run: dict[str, Any], operation: str = "preview_resume", **how: Any) -> dict[str, Any]:
    """What a resume or re-run would do, by step."""
    told = await api.me.call(operation, id=run["id"], **how)
    assert told["allowed"] is True, told["issues"]
    return {entry["key"]: entry for entry in told["steps"]}


def actions(steps: dict[str, Any]) -> dict[str, str]:
    return {key: entry["action"] for key, entry in steps.items()}


async def resumed(api: Api, run: dict[str, Any], **how: Any) -> dict[str, Any]:
    answer: dict[str, Any] = (await api.me.call("resume_run", id=run["id"], waitSeconds=20, **how))["run"]
    return answer


def attempts(run: dict[str, Any]) -> dict[str, int]:
    return {each["key"]: len(each["attempts"]) for each in run["steps"]}


def fared(run: dict[str, Any]) -> dict[str, str]:
    return {each["key"]: each["state"] for each in run["steps"]}


async def update(api: Api, *steps: dict[str, Any]) -> None:
    await api.me.call(
        "update_pipeline",
        pipeline=api.key,
        change={"document": {"key": api.key, "name": api.key, "steps": list(steps)}},
        ifVersion=1,
    )


async def lose_session(api: Api, place: int) -> None:
    """The machine lost the workspace that the step called at a place used."""
    session = api.bench.log[place].session_id
    assert session is not None
    folder = api.house.product.services.engine.resources.sessions_folder
    await asyncio.to_thread(shutil.rmtree, folder / session)


async def lose_file(api: Api, run: dict[str, Any], key: str) -> None:
    """The content of what a step made is gone from the disk."""
    (made,) = next(each for each in run["steps"] if each["key"] == key)["artifacts"]
    found = await find_artifact(api.house.product.services.store, made["id"])
    assert found is not None
    blobs: Any = api.house.product.services.engine.resources.blobs
    blobs.path(found.digest).unlink()


# -------------------------------------------------------------------------------------------------- sessions


OPEN = step("o", "test.session", text="${{ inputs.words }}")
USE = step("m", "test.session_use")


@pytest.mark.parametrize("how", ["failed", "cancelled", "running"])
@states("preview_rerun", "rerun_run", "run_pipeline")
async def test_a_rerun_from_a_step_makes_a_session_of_its_own(api: Api, how: str) -> None:
    held = step("hold", "test.slow") if how in ("cancelled", "running") else step("hold", "test.switch")
    await api.save(OPEN, USE, held)
    if how == "failed":
        run = await run_of(api, words="tea")
        assert run["state"] == "FAILED"
    else:
        run = (await api.me.call("run_pipeline", pipeline=api.key, inputs={"words": "tea"}))["run"]
        await api.bench.started.wait()
        if how == "cancelled":
            await api.me.call("cancel_run", id=run["id"])
            assert (await api.me.call("wait_run", id=run["id"], waitSeconds=20))["run"]["state"] == "CANCELLED"

    assert actions(await preview(api, run, "preview_rerun", fromStep="m")) == {
        "o": "RUN_AGAIN",
        "m": "RUN",
        "hold": "RUN",
    }
    api.bench.failing = False
    api.bench.release.set()
    again = (await api.me.call("rerun_run", id=run["id"], fromStep="m", waitSeconds=20))["run"]
    assert (again["state"], again["failure"]) == ("SUCCEEDED", None)
    first, second = (call.session_id for call in api.bench.calls_of("test.session_use"))
    assert None is not first != second is not None, "two runs never work in one workspace"
    assert api.bench.calls("test.session") == 2


@states("rerun_run", "run_pipeline")
async def test_a_rerun_cannot_name_the_session_of_the_run_whose_output_it_reuses(api: Api) -> None:
    await api.save(OPEN, step("m", "test.session_use", _session_id="${{ inputs.session }}"))
    run = await run_of(api, words="tea", session="none")
    store = api.house.product.services.store
    (session,) = await live_sessions(store, run["id"])
    again = (await api.me.call("rerun_run", id=run["id"], fromStep="m", inputs={"session": session}, waitSeconds=20))[
        "run"
    ]
    assert (again["state"], again["failure"]["code"]) == ("FAILED", "SESSION_UNAVAILABLE"), again["output"]


@states("preview_rerun", "rerun_run", "run_pipeline")
async def test_a_rerun_that_needs_no_session_reuses_its_producer_until_a_step_does(api: Api) -> None:
    await api.save(OPEN, step("gate", "test.switch"))
    run = await run_of(api, words="tea")
    assert actions(await preview(api, run, "preview_rerun", fromStep="gate")) == {"o": "REUSE", "gate": "RUN"}
    again = (await api.me.call("rerun_run", id=run["id"], fromStep="gate", waitSeconds=20))["run"]
    assert again["state"] == "FAILED"

    await update(api, OPEN, step("gate", "test.switch"), USE)
    api.bench.failing = False
    steps = await preview(api, again, definition="CURRENT")
    assert actions(steps) == {"o": "RUN_AGAIN", "gate": "RUN", "m": "RUN"}
    assert (await resumed(api, again, definition="CURRENT"))["output"]["json"]["text"] == "tea"


@states("preview_resume", "resume_run", "run_pipeline")
async def test_a_session_that_a_step_names_is_made_again_when_it_is_gone(api: Api) -> None:
    await api.save(
        step("o1", "test.session", text="first"),
        step("u1", "test.session_use"),
        step("o2", "test.session", text="second"),
        step("u2", "test.session_use"),
        step("gate", "test.switch"),
        step("m", "test.session_use", _session_id="${{ steps.o1.output._session_id }}"),
    )
    run = await run_of(api)
    await lose_session(api, place=1)
    api.bench.failing = False

    expected = {"o1": "RUN_AGAIN", "u1": "RUN_AGAIN", "o2": "REUSE", "u2": "REUSE", "gate": "RUN", "m": "RUN"}
    assert actions(await preview(api, run)) == expected
    run = await resumed(api, run)
    assert (run["state"], run["output"]["json"]["text"]) == ("SUCCEEDED", "first")
    assert attempts(run) == {"o1": 2, "u1": 2, "o2": 1, "u2": 1, "gate": 2, "m": 1}


@states("preview_resume", "resume_run", "run_pipeline")
async def test_what_succeeded_is_kept_when_a_step_before_it_fails_as_it_runs_again(api: Api) -> None:
    await api.save(
        step("o", "test.session", text="${{ inputs.words }}"),
        step("sent", "test.external", times=0, text="${{ steps.o.output.session_id }}"),
        step("hold", "test.slow"),
        step("m", "test.session_use", text="fail"),
    )
    api.bench.failing = False
    run = (await api.me.call("run_pipeline", pipeline=api.key, inputs={"words": "fail"}))["run"]
    await api.bench.started.wait()
    api.bench.failing = True
    api.bench.release.set()
    run = (await api.me.call("wait_run", id=run["id"], waitSeconds=20))["run"]
    await lose_session(api, place=3)
    expected = {"o": "RUN_AGAIN", "sent": "REUSE", "hold": "REUSE", "m": "RUN"}
    assert actions(await preview(api, run)) == expected
    run = await resumed(api, run)
    assert fared(run) == {"o": "FAILED", "sent": "SUCCEEDED", "hold": "SUCCEEDED", "m": "PENDING"}

    assert actions(await preview(api, run)) == {**expected, "o": "RUN"}
    other = await api.refusal("resume_run", id=run["id"], stepInput={"text": "other"})
    assert other.details["issues"][0]["rule"] == "output_already_read", "`sent` was made from what `o` gave"
    api.bench.failing = False
    run = await resumed(api, run)
    assert run["state"] == "SUCCEEDED"
    assert attempts(run) == {"o": 3, "sent": 1, "hold": 1, "m": 2}
    assert api.bench.calls("test.external") == 1


@states("preview_rerun", "rerun_run", "run_pipeline")
async def test_a_rerun_of_a_rerun_knows_who_used_the_session(api: Api) -> None:
    await api.save(OPEN, step("u", "test.session_use"), step("m", "test.session_use"), step("gate", "test.switch"))
    run = await run_of(api, words="tea")
    run = (await api.me.call("rerun_run", id=run["id"], fromStep="gate", waitSeconds=20))["run"]
    assert attempts(run) == {"o": 1, "u": 1, "m": 1, "gate": 1}
    assert actions(await preview(api, run, "preview_rerun", fromStep="m")) == {
        "o": "RUN_AGAIN",
        "u": "RUN_AGAIN",
        "m": "RUN",
        "gate": "RUN",
    }


@states("preview_resume", "resume_run", "preview_rerun", "rerun_run", "run_pipeline")
async def test_a_session_that_a_step_names_by_another_output_is_made_again(api: Api) -> None:
    await api.save(
        OPEN,
        step("passed", "test.echo", text="${{ steps.o.output.session_id }}"),
        step("on", "test.echo", text="${{ steps.passed.output.text }}"),
        step("gate", "test.switch"),
        step("m", "test.session_use", _session_id="${{ steps.on.output.text }}"),
    )
    run = await run_of(api, words="tea")
    api.bench.failing = False
    expected = {"o": "RUN_AGAIN", "passed": "RUN_AGAIN", "on": "RUN_AGAIN", "gate": "RUN", "m": "RUN"}
    assert actions(await preview(api, run, "preview_rerun", fromStep="gate")) == expected
    again = (await api.me.call("rerun_run", id=run["id"], fromStep="gate", waitSeconds=20))["run"]
    assert (again["state"], again["output"]["json"]["text"]) == ("SUCCEEDED", "tea")

    assert actions(await preview(api, run))["o"] == "REUSE", "its session lives"
    session = next(each for each in run["steps"] if each["key"] == "on")["output"]["json"]["text"]
    folder = api.house.product.services.engine.resources.sessions_folder
    await asyncio.to_thread(shutil.rmtree, folder / session)
    assert actions(await preview(api, run)) == expected
    run = await resumed(api, run)
    assert (run["state"], run["output"]["json"]["text"]) == ("SUCCEEDED", "tea")


@states("run_pipeline")
async def test_no_step_works_without_the_session_it_names(api: Api) -> None:
    await api.save(OPEN, step("m", "test.session_use", _session_id="${{ inputs.session }}"))
    for number, named in enumerate(("sess_nope", "")):
        inputs = {"words": "tea", "session": named}
        key = f"{api.key}-{number}"
        call = api.me.call("run_pipeline", pipeline=api.key, inputs=inputs, waitSeconds=20, idempotencyKey=key)
        run = (await call)["run"]
        assert (run["state"], run["failure"]["code"]) == ("FAILED", "SESSION_UNAVAILABLE")
    assert api.bench.calls("test.session_use") == 0
    told = await api.me.call(
        "check_pipeline",
        definition={"document": {"name": "x", "steps": [OPEN, step("m", "test.session_use", _session_id="sess_1")]}},
    )
    assert [issue["rule"] for issue in told["issues"]] == ["fixed_session"]


@states("preview_resume", "resume_run", "run_pipeline")
async def test_a_given_input_leaves_a_step_in_the_session_it_names(api: Api) -> None:
    await api.save(
        step("o1", "test.session", text="first"),
        step("o2", "test.session", text="second"),
        step("m", "test.session_use", text="fail", _session_id="${{ steps.o1.output._session_id }}"),
    )
    run = await run_of(api)
    first = api.bench.log[2].session_id
    assert actions(await preview(api, run, stepInput={"text": "fail"})) == {"o1": "REUSE", "o2": "REUSE", "m": "RUN"}
    run = await resumed(api, run, stepInput={"text": "fail"})
    assert api.bench.log[3].session_id == first

    await lose_session(api, place=3)
    api.bench.failing = False
    for given in ({"text": "go"}, {"text": "go", "_session_id": first}):
        steps = await preview(api, run, stepInput=given)
        assert actions(steps) == {"o1": "RUN_AGAIN", "o2": "REUSE", "m": "RUN"}
    run = await resumed(api, run, stepInput={"text": "go", "_session_id": first})
    assert (run["state"], run["output"]["json"]["text"]) == ("SUCCEEDED", "first")


@states("preview_resume", "resume_run", "run_pipeline")
async def test_a_step_that_runs_again_works_in_the_session_left_before_it(api: Api) -> None:
    await api.save(
        step("o1", "test.session", text="first"),
        step("u1", "test.session_use", text="keep"),
        step("o2", "test.session", text="second"),
        step("c", "test.switch", text="${{ steps.u1.output.text }}"),
    )
    run = await run_of(api)
    await lose_file(api, run, "u1")
    api.bench.failing = False

    assert actions(await preview(api, run)) == {"o1": "REUSE", "u1": "RUN_AGAIN", "o2": "REUSE", "c": "RUN"}
    run = await resumed(api, run)
    assert run["state"] == "SUCCEEDED"
    made = await api.me.call("artifact_text", id=run["output"]["json"]["text"])
    assert made["text"] == "first"


@states("preview_resume", "resume_run", "run_pipeline")
async def test_an_input_taken_from_what_was_shown_gets_the_session_made_again(api: Api) -> None:
    await api.save(OPEN, step("m", "test.session_use", text="fail"))
    run = await run_of(api, words="tea")
    session = api.bench.log[1].session_id
    await lose_session(api, place=1)

    steps = await preview(api, run, stepInput={"text": "go", "_session_id": session})
    assert actions(steps) == {"o": "RUN_AGAIN", "m": "RUN"}
    for other in ("sess_elsewhere", 7, [session], {"id": session}):
        foreign = await api.refusal("resume_run", id=run["id"], stepInput={"text": "go", "_session_id": other})
        argument, *inside = foreign.details["issues"][0]["path"]
        assert (foreign.code, to_snake_case(argument), inside) == ("INVALID", "step_input", ["_session_id"])
    run = await resumed(api, run, stepInput={"text": "go", "_session_id": session})
    assert (run["state"], run["output"]["json"]["text"]) == ("SUCCEEDED", "tea")
    assert None is not api.bench.log[-1].session_id != session


# ------------------------------------------------------------------------------------------------ step inputs


GATE = step("m", "test.switch", text="${{ inputs.words }}", retry={"max_attempts": 1})


def chosen(steps: dict[str, Any], key: str = "m") -> tuple[str, Any]:
    """Where a step's input would come from, and what it would be."""
    return steps[key]["inputSource"], steps[key]["input"]["json"]


async def repaired(api: Api, *steps: dict[str, Any]) -> dict[str, Any]:
    """A run whose step `m` failed, was given the input `repaired` in a resume, and failed again."""
    await api.save(*(steps or (GATE,)))
    run = await run_of(api, words="tea", other="x")
    assert chosen(await preview(api, run)) == ("DEFINITION", {"text": "tea"})
    assert chosen(await preview(api, run, stepInput={"text": "repaired"})) == ("STEP_INPUT", {"text": "repaired"})
    run = await resumed(api, run, stepInput={"text": "repaired"})
    assert (run["state"], api.bench.log[-1].input["text"]) == ("FAILED", "repaired")
    return run


@pytest.mark.parametrize(
    ("how", "source", "text"),
    [
        pytest.param({}, "EARLIER_STEP_INPUT", "repaired", id="nothing"),
        pytest.param({"stepInput": {"text": "again"}}, "STEP_INPUT", "again", id="another"),
        pytest.param({"stepInput": None}, "DEFINITION", "tea", id="null"),
        pytest.param({"inputs": {"words": "milk"}}, "DEFINITION", "milk", id="an input it reads"),
        pytest.param({"inputs": {"other": "y"}}, "EARLIER_STEP_INPUT", "repaired", id="an input it does not read"),
        pytest.param({"stepInput": {"text": "a"}, "inputs": {"words": "b"}}, "STEP_INPUT", "a", id="both"),
    ],
)
@states("preview_resume", "resume_run", "run_pipeline")
async def test_the_latest_choice_of_a_steps_input_wins(api: Api, how: dict[str, Any], source: str, text: str) -> None:
    run = await repaired(api, GATE, step("end", "test.echo", text="${{ inputs.other }}"))
    assert chosen(await preview(api, run, **how)) == (source, {"text": text})
    api.bench.failing = False
    run = await resumed(api, run, **how)
    assert run["state"] == "SUCCEEDED"
    assert [call.input["text"] for call in api.bench.calls_of("test.switch")][-1] == text


@pytest.mark.parametrize(
    ("gate", "source", "text"),
    [
        pytest.param(GATE, "EARLIER_STEP_INPUT", "repaired", id="the step is the same"),
        pytest.param({**GATE, "input": {"text": "new"}}, "DEFINITION", "new", id="the step is another"),
    ],
)
@states("update_pipeline", "preview_resume", "resume_run", "run_pipeline")
async def test_another_definition_of_the_step_wins_over_an_earlier_input(
    api: Api, gate: dict[str, Any], source: str, text: str
) -> None:
    end = step("end", "test.echo", text="${{ inputs.other }}")
    run = await repaired(api, GATE, end)
    await update(api, gate, end, step("last", "test.echo", text="${{ inputs.words }}"))
    assert chosen(await preview(api, run, definition="CURRENT")) == (source, {"text": text})
    api.bench.failing = False
    run = await resumed(api, run, definition="CURRENT")
    assert (run["state"], api.bench.calls_of("test.switch")[-1].input["text"]) == ("SUCCEEDED", text)


@states("update_pipeline", "preview_resume", "resume_run", "run_pipeline")
async def test_a_step_input_goes_to_the_failed_step_wherever_that_stands(api: Api) -> None:
    await api.save(GATE)
    run = await run_of(api, words="tea")
    await update(api, step("before", "test.artifact", name="x.txt"), GATE)
    how = {"definition": "CURRENT", "stepInput": {"text": "mine"}}
    steps = await preview(api, run, **how)
    assert chosen(steps) == ("STEP_INPUT", {"text": "mine"})
    assert chosen(steps, "before")[0] == "DEFINITION"
    bad = await api.refusal("resume_run", id=run["id"], **{**how, "stepInput": {"name": "of the other step"}})
    assert bad.code == "INVALID", "it is held to what the failed step takes"
    api.bench.failing = False
    run = await resumed(api, run, **how)
    assert (run["state"], run["output"]["json"]["text"]) == ("SUCCEEDED", "mine")


@states("update_pipeline", "preview_resume", "resume_run", "run_pipeline")
async def test_null_drops_what_was_given_to_a_later_step_as_well(api: Api) -> None:
    await api.save(GATE)
    run = await run_of(api, words="tea")
    await update(api, step("before", "test.fail", code="invalid_input"), GATE)
    run = await resumed(api, run, definition="CURRENT", stepInput={"text": "mine"})
    assert fared(run) == {"before": "FAILED", "m": "PENDING"}
    assert chosen(await preview(api, run)) == ("EARLIER_STEP_INPUT", {"text": "mine"})
    assert chosen(await preview(api, run, stepInput=None)) == ("DEFINITION", {"text": "tea"})


@states("update_pipeline", "resume_run", "run_pipeline")
async def test_a_step_input_for_a_step_that_the_definition_lost_is_refused(api: Api) -> None:
    await api.save(GATE)
    run = await run_of(api, words="tea")
    await update(api, step("other", "test.switch", text="x"))
    refused = await api.refusal("resume_run", id=run["id"], definition="CURRENT", stepInput={"text": "mine"})
    assert (refused.code, refused.details["issues"][0]["rule"]) == ("INVALID", "unknown_step")
    assert "`m`" in refused.message


@states("update_pipeline", "preview_resume", "resume_run", "run_pipeline")
async def test_a_definition_that_lost_the_failed_step_and_changed_one_before_it_is_refused(api: Api) -> None:
    run = await repaired(api, step("before", "test.echo", text="${{ inputs.other }}"), GATE)
    await update(api, step("before", "test.echo", text="y"), step("other", "test.switch", text="x"))
    told = await api.me.call("preview_resume", id=run["id"], definition="CURRENT")
    assert (told["allowed"], told["issues"][0]["rule"]) == (False, "definition_changed")
    steps = {entry["key"]: entry for entry in told["steps"]}
    assert chosen(steps) == ("EARLIER_STEP_INPUT", {"text": "repaired"}), "an input that was given is always shown"
    refused = await api.refusal("resume_run", id=run["id"], definition="CURRENT", stepInput={"text": "mine"})
    assert (refused.code, refused.details["issues"][0]["rule"]) == ("INVALID", "definition_changed")


@states("resume_run", "rerun_run", "preview_rerun", "run_pipeline")
async def test_a_repeated_step_of_a_rerun_gets_the_input_it_succeeded_with(api: Api) -> None:
    await api.save(step("o", "test.session", text="fail"), USE)
    run = await run_of(api)
    run = await resumed(api, run, stepInput={"text": "repaired"})
    assert (run["state"], run["output"]["json"]["text"]) == ("SUCCEEDED", "repaired")
    assert chosen(await preview(api, run, "preview_rerun"), "o") == ("DEFINITION", {"text": "fail"})
    steps = await preview(api, run, "preview_rerun", fromStep="m")
    assert actions(steps) == {"o": "RUN_AGAIN", "m": "RUN"}
    assert chosen(steps, "o") == ("EARLIER_STEP_INPUT", {"text": "repaired"})
    again = (await api.me.call("rerun_run", id=run["id"], fromStep="m", waitSeconds=20))["run"]
    assert (again["state"], again["output"]["json"]["text"]) == ("SUCCEEDED", "repaired")


@states("preview_resume", "update_pipeline", "run_pipeline")
async def test_a_failed_step_with_effects_is_known_to_have_been_tried_in_another_definition(api: Api) -> None:
    await api.save(step("send", "test.external", times=1, code="invalid_input"))
    run = await run_of(api)
    await update(api, step("before", "test.echo", text="x"), step("send", "test.external", times=1, text="new"))
    steps = await preview(api, run, definition="CURRENT")
    assert {key: entry["mayRepeatEffects"] for key, entry in steps.items()} == {"before": False, "send": True}


# ------------------------------------------------------------------------------------------------------ titles


@states("list_runs", "resume_run", "run_pipeline")
async def test_a_title_made_from_an_input_changes_with_it(api: Api) -> None:
    await api.save(step("gate", "test.switch", text="${{ inputs.words }}"))
    run = await run_of(api, words="tea")
    assert (run["state"], run["title"]) == ("FAILED", f"{api.key}: tea")
    run = await resumed(api, run, inputs={"words": "coffee"})
    assert run["title"] == f"{api.key}: coffee"
    assert [each["id"] for each in await found(api, "coffee")] == [run["id"]]
    assert await found(api, "tea") == []


async def found(api: Api, words: str) -> list[dict[str, Any]]:
    told = await api.me.call("list_runs", filter={"text": words})
    nodes: list[dict[str, Any]] = told["nodes"]
    return nodes
