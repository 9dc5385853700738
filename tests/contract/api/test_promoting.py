"""Runs and chains of pack calls become pipelines that do the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import step
from tests.support.surfaces import states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def called(api: Api, pack: str, **given: Any) -> dict[str, Any]:
    run: dict[str, Any] = (await api.me.call("run_pack", pack=pack, input=given, waitSeconds=10))["run"]
    assert run["endedAt"], run
    return run


@states("promote_run", "run_pack", "create_pipeline", "run_pipeline")
async def test_a_chain_of_calls_becomes_a_pipeline_that_runs(api: Api) -> None:
    first = await called(api, "test.echo", text=f"a text that is handed on, by {api.subject}")
    await called(api, "test.echo", text="something else, which leads nowhere")
    second = await called(api, "test.style", text=first["output"]["json"]["text"], persona="executive")
    last = await called(api, "test.echo", text=f"As was said: {second['output']['json']['text']}")

    made = await api.me.call("promote_run", id=last["id"], name=f"Said again by {api.subject}")

    assert [run["id"] for run in made["madeFrom"]] == [first["id"], second["id"], last["id"]]
    assert made["check"] == {"valid": True, "issues": []}
    assert [one["pack"] for one in made["document"]["steps"]] == ["test.echo", "test.style", "test.echo"]
    assert made["document"]["inputs"]["properties"]["persona"]["default"] == "executive"
    saved = await api.me.call("create_pipeline", definition={"yaml": made["yaml"]})
    key = saved["pipeline"]["key"]
    run = (await api.me.call("run_pipeline", pipeline=key, inputs={"text": "another"}, waitSeconds=10))["run"]
    assert (run["state"], run["output"]["json"]["text"]) == ("SUCCEEDED", "As was said: another")

    chosen = await api.me.call("promote_run", id=last["id"], include=[second["id"]])
    assert [made_from["id"] for made_from in chosen["madeFrom"]] == [second["id"], last["id"]]
    unknown = await api.refusal("promote_run", id=last["id"], include=["run_01J00000000000000000000000"])
    assert unknown.code == "INVALID"
    assert (await api.refusal("promote_run", id=last["id"], name="")).code == "INVALID"


@states("promote_run", "run_pack", "create_pipeline", "run_pipeline")
async def test_a_short_value_of_the_call_right_before_is_handed_on(api: Api) -> None:
    counted = await called(api, "test.progress", count=3)
    last = await called(api, "test.echo", text=counted["output"]["json"]["text"])

    made = await api.me.call("promote_run", id=last["id"], name=f"Counted by {api.subject}")

    assert [run["id"] for run in made["madeFrom"]] == [counted["id"], last["id"]]
    assert [one["input"] for one in made["document"]["steps"]] == [
        {"count": "${{ inputs.count }}"},
        {"text": "${{ steps.progress.output.text }}"},
    ]
    key = (await api.me.call("create_pipeline", definition={"yaml": made["yaml"]}))["pipeline"]["key"]
    run = (await api.me.call("run_pipeline", pipeline=key, inputs={"count": 5}, waitSeconds=10))["run"]
    assert (run["state"], run["output"]["json"]["text"]) == ("SUCCEEDED", "5")


@states("promote_run", "run_pipeline", "create_pipeline", "run_pack")
async def test_a_run_of_a_pipeline_is_proposed_with_its_inputs_as_defaults(api: Api) -> None:
    declared = {"type": "object", "properties": {"text": {"type": "string", "description": "What to say."}}}
    await api.save(step("say", "test.echo", text="${{ inputs.text }}"), inputs=declared)
    run = (await api.me.call("run_pipeline", pipeline=api.key, inputs={"text": "tea"}, waitSeconds=10))["run"]

    made = await api.me.call("promote_run", id=run["id"])

    assert made["document"]["inputs"]["properties"]["text"]["default"] == "tea"
    assert "key" not in made["document"]
    assert made["check"]["valid"]
    failed = await called(api, "test.fail")
    assert (await api.refusal("promote_run", id=failed["id"])).code == "WRONG_STATE"
    other = await api.as_caller("other", "READ", "WRITE")
    with pytest.raises(Exception, match="NOT_FOUND"):
        await other.call("promote_run", id=run["id"])


@states("promote_run", "run_pipeline", "create_pipeline")
async def test_what_was_chosen_among_inputs_is_no_default_beside_the_other_choice(api: Api) -> None:
    text = {"type": "string"}
    declared = {
        "type": "object",
        "oneOf": [{"required": ["spoken"]}, {"required": ["written"]}],
        "properties": {"spoken": text, "written": text, "tone": text},
    }
    said = '${{ inputs.spoken | default("") }}${{ inputs.written | default("") }}'
    await api.save(step("say", "test.echo", text=said), inputs=declared)
    given = {"spoken": "tea", "tone": "warm"}
    run = (await api.me.call("run_pipeline", pipeline=api.key, inputs=given, waitSeconds=10))["run"]

    made = await api.me.call("promote_run", id=run["id"], name=f"Chosen by {api.subject}")

    properties = made["document"]["inputs"]["properties"]
    assert properties["spoken"] == {**text, "examples": ["tea"]}
    assert properties["tone"]["default"] == "warm"
    key = (await api.me.call("create_pipeline", definition={"yaml": made["yaml"]}))["pipeline"]["key"]
    other = (await api.me.call("run_pipeline", pipeline=key, inputs={"written": "milk"}, waitSeconds=10))["run"]
    assert (other["state"], other["output"]["json"]["text"]) == ("SUCCEEDED", "milk")
