"""Triggers that fire when runs end: whose and which runs, once, with the ended run as context, in bounded chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
import pytest_asyncio

from resolvers.triggers import run_ends
from store.database.dialects import Sql
from store.database.errors import StoreError
from store.triggers.run_ends import CHAIN_MAX
from tests.support.front_door import command, refusals, save, start, step, until_state
from tests.support.packs import Workbench
from tests.support.product import Product, product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio(loop_scope="module")

_TRIGGER = "id kind enabled attention nextAt runEnded { states runsOf pipelines { key } } schedule { cron }"
_FIRINGS = """query ($id: ID!) { trigger(id: $id) { enabled attention firings(first: 100) { nodes {
    id outcome reason endedRun { id }
    run { id cause state caller { subject } inputs pipeline { key } trigger { id } endedRun { id } } } } } }"""
_STARTED = "query ($run: ID!) { runs(filter: {endedRun: $run}) { nodes { id } totalCount } }"
_FIRE = "mutation ($id: ID!) { fireTrigger(id: $id) { __typename ... on Problem { message } } }"
_DEPTH = Sql("SELECT chain_depth FROM run WHERE id = :id")
_REPORT = {"text": "${{ trigger.run.pipeline }} ${{ trigger.run.state }}"}


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
async def it(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    bench = Workbench()
    settings = {"database_url": request.param, "public_url": "https://packline.example"}
    async with product(tmp_path_factory.mktemp("ends"), bench.packs, **settings) as it:
        await save(it, "breaks", step("only", "test.fail"))
        await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
        await save(it, "report", step("only", "test.echo", text="${{ inputs.text }}"))
        yield it


async def create(
    it: Product,
    pipeline: str = "report",
    *,
    token: str | None = None,
    inputs: Any = None,
    states: tuple[str, ...] = ("FAILED",),
    **run_ended: Any,
) -> dict[str, Any]:
    return await it.mutate(
        f"""mutation ($pipeline: ID!, $runEnded: RunEndedInput, $inputs: JSON) {{
            createTrigger(pipeline: $pipeline, name: "After", runEnded: $runEnded, inputs: $inputs) {{
            __typename ... on TriggerSuccess {{ trigger {{ {_TRIGGER} }} }} {refusals("createTrigger")} }} }}""",
        {
            "pipeline": pipeline,
            "runEnded": {"states": list(states), **run_ended},
            "inputs": _REPORT if inputs is None else inputs,
        },
        token=token,
    )


async def delete(it: Product, made: dict[str, Any]) -> None:
    mutation = "mutation ($id: ID!) { deleteTrigger(id: $id) { __typename } }"
    assert await it.mutate(mutation, {"id": made["trigger"]["id"]}) == {"__typename": "DeleteSuccess"}


async def fired(it: Product, made: dict[str, Any], count: int = 1) -> list[dict[str, Any]]:
    """The firings once there are so many, the oldest first."""

    async def found() -> list[dict[str, Any]]:
        nodes = (await it.query(_FIRINGS, {"id": made["trigger"]["id"]}))["trigger"]["firings"]["nodes"]
        return sorted(nodes, key=lambda one: one["id"]) if len(nodes) >= count else []

    return await eventually(found)


async def run(it: Product, pipeline: str, inputs: dict[str, Any] | None = None, **more: Any) -> str:
    """Run a pipeline to its end; returns the run's id."""
    started = await start(it, pipeline, inputs or {}, wait=20, **more)
    found: str = started["run"]["id"]
    return found


async def depth(it: Product, run_id: str) -> int:
    """How many runs before it led to a run through triggers."""
    found: int = (await it.services.store.rows(_DEPTH, {"id": run_id}))[0].chain_depth
    return found


async def test_a_failed_run_starts_a_run_that_knows_it(it: Product) -> None:
    made = await create(
        it,
        pipelines=["breaks"],
        inputs={
            "text": "${{ trigger.run.id }} ${{ trigger.run.pipeline }} ${{ trigger.run.state }} "
            "${{ trigger.run.failure.code }}${{ trigger.run.failure.hint }} ${{ trigger.run.url }}"
        },
    )
    assert made["trigger"]["kind"] == "RUN_ENDED"
    assert made["trigger"]["runEnded"] == {"states": ["FAILED"], "runsOf": "OWNER", "pipelines": [{"key": "breaks"}]}
    assert (made["trigger"]["schedule"], made["trigger"]["nextAt"]) == (None, None)
    ended = await run(it, "breaks")
    await run(it, "echo", {"text": "this one succeeds"})
    (firing,) = await fired(it, made)
    assert (firing["outcome"], firing["run"]["cause"]) == ("FIRED", "RUN_ENDED")
    assert firing["endedRun"] == firing["run"]["endedRun"] == {"id": ended}
    started = await it.query(_STARTED, {"run": ended})
    assert started["runs"] == {"nodes": [{"id": firing["run"]["id"]}], "totalCount": 1}
    assert firing["run"]["trigger"] == {"id": made["trigger"]["id"]}
    text = firing["run"]["inputs"]["text"]
    assert text.startswith(f"{ended} breaks failed ")
    assert text.endswith(f" https://packline.example/runs/{ended}")
    await delete(it, made)


async def test_the_output_of_a_run_is_an_input_of_the_next(it: Product) -> None:
    made = await create(
        it, states=("SUCCEEDED",), pipelines=["echo"], inputs={"text": "${{ trigger.run.output.text }}"}
    )
    await run(it, "echo", {"text": "handed on"})
    (firing,) = await fired(it, made)
    assert firing["run"]["inputs"] == {"text": "handed on"}
    await delete(it, made)


async def test_each_ending_fires_once_and_one_after_a_resume_again(it: Product) -> None:
    made = await create(it, pipelines=["breaks"])
    ended = await run(it, "breaks")
    await fired(it, made)
    resumed = await command(it, "resumeRun", id=ended, waitSeconds=20)
    assert resumed["run"]["state"] == "FAILED"
    firings = await fired(it, made, 2)
    assert [one["outcome"] for one in firings] == ["FIRED", "FIRED"]
    await delete(it, made)


async def test_an_ending_whose_triggers_could_not_be_fired_is_not_lost(it: Product) -> None:
    """As after a crash between the end of the run and the removal of its mark: no firing is lost, none is repeated."""
    made = await create(it, pipelines=["breaks"])
    with patch.object(run_ends, "finish_ended_run", side_effect=StoreError("The store is full.")) as finish:
        await run(it, "breaks")
        await eventually(lambda: finish.call_count >= 2)
    (firing,) = await fired(it, made)
    assert firing["outcome"] == "FIRED"
    await run(it, "breaks")
    assert len(await fired(it, made, 2)) == 2
    await delete(it, made)


async def test_only_the_owners_runs_fire_unless_it_observes(it: Product) -> None:
    ada = await it.token_for("ada", "READ", "RUN", "WRITE")
    refused = await create(it, token=ada, runsOf="ALL")
    assert (refused["__typename"], refused["requires"]) == ("ForbiddenProblem", "OBSERVE")
    own = await create(it, token=ada)
    every = await create(it, runsOf="ALL")
    await run(it, "breaks")  # the administrator's
    await fired(it, every)
    ended = await start(it, "breaks", {}, wait=20, token=ada)
    assert ended["run"]["state"] == "FAILED"
    assert len(await fired(it, every, 2)) == 2
    (firing,) = await fired(it, own)
    assert firing["run"]["caller"]["subject"] == "ada"
    await delete(it, own)
    await delete(it, every)


async def test_an_owner_who_lost_observe_fires_for_no_other_caller(it: Product) -> None:
    ben = await it.token_for("ben", "READ", "RUN", "WRITE", "OBSERVE")
    made = await create(it, token=ben, runsOf="ALL")
    owner = await it.query("{ viewer { id } }", token=ben)
    tokens = "query ($id: ID!) { node(id: $id) { ... on Caller { tokens { nodes { id } } } } }"
    (held,) = (await it.query(tokens, owner["viewer"]))["node"]["tokens"]["nodes"]
    await it.token_for("ben", "READ", "RUN", "WRITE")
    await it.mutate("mutation ($id: ID!) { revokeToken(id: $id) { __typename } }", {"id": held["id"]})
    await run(it, "breaks")
    (firing,) = await fired(it, made)
    assert (firing["outcome"], firing["run"]) == ("REFUSED", None)
    assert "`observe`" in firing["reason"]
    found = (await it.query(_FIRINGS, {"id": made["trigger"]["id"]}))["trigger"]
    assert (found["enabled"], found["attention"]) == (False, firing["reason"])
    await delete(it, made)


async def test_inputs_that_cannot_be_filled_in_are_a_failed_firing(it: Product) -> None:
    made = await create(
        it, states=("SUCCEEDED",), pipelines=["echo"], inputs={"text": "${{ trigger.run.failure.message }}"}
    )
    await run(it, "echo", {"text": "all is well"})
    (firing,) = await fired(it, made)
    assert (firing["outcome"], firing["run"]) == ("FAILED", None)
    assert "${{ trigger.run.failure.message }}" in firing["reason"]
    await delete(it, made)


async def test_a_chain_ends_and_no_trigger_fires_for_its_own_pipeline(it: Product) -> None:
    ping = await create(it, "echo", states=("SUCCEEDED",), pipelines=["report"])
    pong = await create(it, "report", states=("SUCCEEDED",), pipelines=["echo"])
    await run(it, "echo", {"text": "go"})

    async def refusals_of_both() -> list[str]:
        both = [*await fired(it, pong), *await fired(it, ping)]
        return [one["reason"] for one in both if one["outcome"] == "REFUSED"]

    (reason,) = await eventually(refusals_of_both)
    assert "limit" in reason
    firings = [*await fired(it, pong), *await fired(it, ping)]
    assert len([one for one in firings if one["outcome"] == "FIRED"]) == CHAIN_MAX
    own = await create(it, "echo", pipelines=["echo"])
    assert (own["__typename"], own["issues"][0]["rule"]) == ("InvalidProblem", "own_pipeline")
    await delete(it, ping)
    await delete(it, pong)


async def test_a_rerun_keeps_its_place_in_the_chain(it: Product) -> None:
    made = await create(it, states=("SUCCEEDED",), pipelines=["echo"])
    await run(it, "echo", {"text": "go"})
    (firing,) = await fired(it, made)
    await until_state(it, firing["run"]["id"], "SUCCEEDED")
    again = await command(it, "rerunRun", id=firing["run"]["id"], waitSeconds=20)
    assert await depth(it, again["run"]["id"]) == 1
    await delete(it, made)


async def test_a_resumed_run_keeps_its_place_in_the_chain(it: Product) -> None:
    made = await create(it, "breaks", states=("SUCCEEDED",), pipelines=["echo"], inputs={})
    await run(it, "echo", {"text": "go"})
    (firing,) = await fired(it, made)
    await until_state(it, firing["run"]["id"], "FAILED")
    resumed = await command(it, "resumeRun", id=firing["run"]["id"], waitSeconds=20)
    assert (resumed["run"]["state"], await depth(it, firing["run"]["id"])) == ("FAILED", 1)
    await delete(it, made)


async def test_a_trigger_that_reads_the_run_is_not_fired_by_hand(it: Product) -> None:
    made = await create(it)
    refused = await it.mutate(_FIRE, {"id": made["trigger"]["id"]})
    assert refused["__typename"] == "InvalidProblem"
    assert "it is known only when the trigger fires by itself" in refused["message"]
    by_hand = await create(it, inputs={"text": '${{ trigger.run.title | default("by hand") }}'})
    started = await it.mutate(_FIRE, {"id": by_hand["trigger"]["id"]})
    assert started["__typename"] == "FireTriggerSuccess"
    await delete(it, made)
    await delete(it, by_hand)


async def test_what_cannot_fire_is_refused_when_it_is_saved(it: Product) -> None:
    wrong = await create(it, inputs={"text": "${{ trigger.run.code }}"})
    assert wrong["issues"][0]["message"] == "${{ trigger.run.code }}: `trigger.run` has no field `code`."
    wrong = await create(it, inputs={"other": "${{ trigger.run.id }}"})
    assert wrong["__typename"] == "InvalidProblem"
    wrong = await create(it, states=("RUNNING",))
    assert wrong["issues"][0]["rule"] == "not_final"
