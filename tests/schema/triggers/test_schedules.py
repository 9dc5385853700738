"""Schedules over GraphQL: created, fired, paused, caught up with."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import pytest

from resolvers.triggers import firing
from store.access.callers import vouch_for
from store.states import RunCause
from tests.support.clocks import Clock, steered_clock
from tests.support.front_door import refusals, save, start, statements, step
from tests.support.packs import Workbench
from tests.support.product import Product, product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from resolvers.context import Context
    from resolvers.runs.starts import PreparedRun

_TRIGGER = "id name enabled attention nextAt lastAt version owner { id } pipeline { key }"
_FIRINGS = """query ($id: ID!) { trigger(id: $id) { enabled attention nextAt firings(first: 100) { totalCount nodes {
    outcome reason scheduledAt run { id cause state caller { id } inputs } } } } }"""

_WAIT = "query ($id: ID!) { run(id: $id) { wait { message } } }"


class Scene(NamedTuple):
    """A product whose store goes by a clock of the test's."""

    it: Product
    clock: Clock
    bench: Workbench


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    bench = Workbench()
    with steered_clock(request.param) as clock:
        async with AsyncExitStack() as stack:
            it = await stack.enter_async_context(product(tmp_path, bench.packs, database_url=clock.database_url))
            await save(it, "echo", step("only", "test.echo", text="${{ inputs.at }}"))
            await save(it, "slow", step("only", "test.slow"))
            yield Scene(it, clock, bench)


async def create(
    it: Product, pipeline: str = "echo", *, token: str | None = None, inputs: Any = None, **schedule: Any
) -> dict[str, Any]:
    if inputs is None:
        inputs = {"at": "${{ trigger.scheduled_at }}"} if pipeline == "echo" else {}
    return await it.mutate(
        f"""mutation ($pipeline: ID!, $schedule: ScheduleInput!, $inputs: JSON) {{
            createTrigger(pipeline: $pipeline, name: "Nightly", schedule: $schedule, inputs: $inputs) {{
            __typename ... on TriggerSuccess {{ trigger {{ {_TRIGGER} }} }} {refusals("createTrigger")} }} }}""",
        {"pipeline": pipeline, "schedule": schedule, "inputs": inputs},
        token=token,
    )


async def act(it: Product, field: str, trigger_id: str, *, token: str | None = None) -> dict[str, Any]:
    success = {
        "deleteTrigger": "... on DeleteSuccess { deletedId }",
        "fireTrigger": "... on FireTriggerSuccess { run { id cause } }",
    }.get(field, f"... on TriggerSuccess {{ trigger {{ {_TRIGGER} }} }}")
    return await it.mutate(
        f"mutation ($id: ID!) {{ {field}(id: $id) {{ __typename {success} {refusals(field)} }} }}",
        {"id": trigger_id},
        token=token,
    )


async def firings(it: Product, trigger_id: str, count: int) -> list[dict[str, Any]]:
    """The firings once there are so many, the oldest first."""

    async def found() -> list[dict[str, Any]]:
        listed = (await it.query(_FIRINGS, {"id": trigger_id}))["trigger"]["firings"]["nodes"]
        return sorted(listed, key=lambda one: one["scheduledAt"] or "") if len(listed) >= count else []

    return await eventually(found)


async def test_a_schedule_starts_runs_as_its_owner(scene: Scene) -> None:
    token = await scene.it.token_for("ada", "READ", "RUN", "WRITE")
    made = await create(scene.it, token=token, intervalSeconds=1)
    trigger = made["trigger"]
    assert trigger["enabled"]
    one, two, *_ = await firings(scene.it, trigger["id"], 2)
    apart = datetime.fromisoformat(two["scheduledAt"]) - datetime.fromisoformat(one["scheduledAt"])
    assert apart == timedelta(seconds=1)
    assert one["outcome"] == "FIRED"
    assert one["run"]["cause"] == "SCHEDULE"
    assert one["run"]["caller"] == trigger["owner"]
    given = datetime.fromisoformat(one["run"]["inputs"]["at"])
    assert given == datetime.fromisoformat(one["scheduledAt"])


async def test_a_paused_schedule_does_not_fire_for_what_passed(scene: Scene) -> None:
    trigger = (await create(scene.it, cron="@yearly"))["trigger"]
    paused = (await act(scene.it, "pauseTrigger", trigger["id"]))["trigger"]
    assert (paused["enabled"], paused["nextAt"], paused["attention"]) == (False, None, None)
    resumed = (await act(scene.it, "resumeTrigger", trigger["id"]))["trigger"]
    assert (resumed["enabled"], resumed["nextAt"]) == (True, trigger["nextAt"])


async def test_what_a_downtime_left_is_caught_up_with_and_recorded(scene: Scene) -> None:
    trigger = (await create(scene.it, intervalSeconds=3600))["trigger"]
    scene.clock.set(hours=5.5)
    # The scheduler waits for the next firing by the old clock; a change of any trigger wakes it.
    await create(scene.it, cron="@yearly")
    found = await firings(scene.it, trigger["id"], 5)
    assert [one["outcome"] for one in found] == ["MISSED"] * 4 + ["FIRED"]


async def test_a_run_that_has_not_ended_lets_the_next_instant_be_skipped(scene: Scene) -> None:
    trigger = (await create(scene.it, "slow", intervalSeconds=1))["trigger"]
    one, two, *_ = await firings(scene.it, trigger["id"], 2)
    assert (one["outcome"], two["outcome"], two["run"]) == ("FIRED", "SKIPPED", None)
    assert one["run"]["id"] in two["reason"]
    scene.bench.release.set()


async def test_cancel_previous_cancels_the_run_that_has_not_ended(scene: Scene) -> None:
    trigger = (await create(scene.it, "slow", intervalSeconds=1, overlap="CANCEL_PREVIOUS"))["trigger"]
    one, two, *_ = await firings(scene.it, trigger["id"], 2)
    assert (one["outcome"], two["outcome"]) == ("FIRED", "FIRED")
    assert one["run"]["state"] in ("CANCELLING", "CANCELLED")
    scene.bench.release.set()


async def test_queue_lets_one_run_wait_for_the_last_one_whatever_the_pipeline_allows(scene: Scene) -> None:
    await save(scene.it, "wide", step("only", "test.slow"), concurrency={"limit": 5})
    trigger = (await create(scene.it, "wide", intervalSeconds=1, overlap="QUEUE"))["trigger"]
    found = await firings(scene.it, trigger["id"], 3)
    assert [one["outcome"] for one in found[:3]] == ["FIRED", "FIRED", "SKIPPED"]
    assert [one["run"]["state"] for one in found[:2]] == ["RUNNING", "QUEUED"]
    waits = await scene.it.query(_WAIT, {"id": found[1]["run"]["id"]})
    assert "the last run of its trigger" in waits["run"]["wait"]["message"]
    await act(scene.it, "pauseTrigger", trigger["id"])
    scene.bench.release.set()

    async def ended() -> bool:
        found = await scene.it.query(_FIRINGS, {"id": trigger["id"]})
        states = {one["run"]["state"] for one in found["trigger"]["firings"]["nodes"] if one["run"] is not None}
        return states == {"SUCCEEDED"}

    assert await eventually(ended)


async def test_a_run_that_began_while_an_instant_was_prepared_overlaps_with_it(scene: Scene) -> None:
    begun = []
    prepare = firing.prepare_firing

    async def prepare_and_start(context: Context, *given: Any, **more: Any) -> PreparedRun:
        prepared = await prepare(context, *given, **more)
        if context.cause is RunCause.SCHEDULE and scheduled.is_set() and not begun:
            begun.append((await context.services.engine.submit(prepared.new)).run_id)
        return prepared

    scheduled = asyncio.Event()
    with patch.object(firing, "prepare_firing", prepare_and_start):
        trigger = (await create(scene.it, "slow", intervalSeconds=1))["trigger"]
        scheduled.set()
        one, *_ = await firings(scene.it, trigger["id"], 1)
    assert (one["outcome"], one["reason"]) == ("SKIPPED", f"Run {begun[0]} has not ended.")
    scene.bench.release.set()


async def test_all_missed_instants_start_one_after_the_other_even_if_overlaps_are_skipped(scene: Scene) -> None:
    trigger = (await create(scene.it, "slow", intervalSeconds=3600, catchUp="ALL"))["trigger"]
    scene.clock.set(hours=3.5)
    await create(scene.it, cron="@yearly")  # wakes the scheduler
    found = await firings(scene.it, trigger["id"], 3)
    assert [one["outcome"] for one in found] == ["FIRED"] * 3
    assert [one["run"]["state"] for one in found] == ["RUNNING", "QUEUED", "QUEUED"]
    scene.bench.release.set()


async def test_an_instant_that_has_fired_is_passed_over_after_the_clock_was_set_back(scene: Scene) -> None:
    trigger = (await create(scene.it, cron="* * * * * *", overlap="CANCEL_PREVIOUS"))["trigger"]
    before = await firings(scene.it, trigger["id"], 2)
    scene.clock.set(seconds=-3)
    await scene.it.mutate(
        'mutation ($id: ID!) { updateTrigger(id: $id, name: "Again") { __typename } }', {"id": trigger["id"]}
    )
    after = await firings(scene.it, trigger["id"], len(before) + 2)
    instants = [datetime.fromisoformat(one["scheduledAt"]) for one in after]
    assert len(set(instants)) == len(instants)


async def test_a_trigger_first_fires_after_it_was_saved_by_the_clock_of_the_store(scene: Scene) -> None:
    scene.clock.set(days=3)
    trigger = (await create(scene.it, cron="@daily"))["trigger"]
    assert datetime.fromisoformat(trigger["nextAt"]) > datetime.now(UTC) + timedelta(days=3)


async def test_a_bug_in_a_firing_is_recorded_and_the_schedule_goes_on(scene: Scene) -> None:
    trigger = (await create(scene.it, intervalSeconds=1))["trigger"]
    with patch.object(firing, "prepare_firing", side_effect=KeyError("a bug")):
        found = await firings(scene.it, trigger["id"], 1)
    assert found[-1]["outcome"] == "FAILED"
    assert "bug" in found[-1]["reason"]
    assert (await firings(scene.it, trigger["id"], len(found) + 1))[-1]["outcome"] == "FIRED"


async def test_a_schedule_that_cannot_be_computed_is_paused(scene: Scene) -> None:
    with patch.object(firing, "plan_due", side_effect=KeyError("no such zone")):
        trigger = (await create(scene.it, intervalSeconds=1))["trigger"]
        (one,) = await firings(scene.it, trigger["id"], 1)
    found = (await scene.it.query(_FIRINGS, {"id": trigger["id"]}))["trigger"]
    assert (one["outcome"], found["enabled"], found["attention"]) == ("FAILED", False, one["reason"])


async def test_a_full_queue_refuses_what_is_caught_up_with_but_no_instant_on_time(tmp_path: Path) -> None:
    bench = Workbench()
    with steered_clock("sqlite") as clock:
        async with product(tmp_path, bench.packs, queue_limit=1, caller_concurrent_runs=1) as it:
            await save(it, "echo", step("only", "test.echo"))
            await save(it, "slow", step("only", "test.slow"))
            missed = (await create(it, "slow", intervalSeconds=3600, catchUp="ALL"))["trigger"]
            clock.set(hours=3.5)
            punctual = (await create(it, "echo", inputs={}, intervalSeconds=1))["trigger"]
            found = await firings(it, missed["id"], 3)
            assert [one["outcome"] for one in found] == ["FIRED", "FIRED", "REFUSED"]
            assert "1 runs of its owner's triggers are queued" in found[2]["reason"]
            (fired, *_) = await firings(it, punctual["id"], 1)
            assert (fired["outcome"], fired["run"]["state"]) == ("FIRED", "QUEUED")
            by_hand = await act(it, "fireTrigger", punctual["id"])
            assert (by_hand["code"], "runs of your triggers" in by_hand["message"]) == ("LIMITED", True)
            assert (await start(it, "echo", {}))["run"]["state"] == "QUEUED", "its owner starts runs nevertheless"
            bench.release.set()


async def test_a_trigger_of_a_deleted_pipeline_is_paused_and_listed(scene: Scene) -> None:
    trigger = (await create(scene.it, cron="@yearly"))["trigger"]
    await scene.it.mutate(
        'mutation { deletePipeline(pipeline: "echo", confirmKey: "echo") { __typename ... on Problem { message } } }'
    )
    found = await scene.it.query("{ triggers(needsAttention: true) { nodes { id attention enabled } } }")
    attention = "The pipeline echo is deleted."
    assert found["triggers"]["nodes"] == [{"id": trigger["id"], "attention": attention, "enabled": False}]
    resumed = await act(scene.it, "resumeTrigger", trigger["id"])
    assert (resumed["code"], attention in resumed["message"]) == ("CONFLICT", True)


async def test_a_trigger_whose_owner_lost_run_is_paused(scene: Scene) -> None:
    token = await scene.it.token_for("eve", "READ", "RUN", "WRITE")
    trigger = (await create(scene.it, token=token, intervalSeconds=1))["trigger"]
    await firings(scene.it, trigger["id"], 1)
    tokens = await scene.it.query(
        "query ($id: ID!) { node(id: $id) { ... on Caller { tokens { nodes { id } } } } }",
        {"id": trigger["owner"]["id"]},
    )
    (held,) = tokens["node"]["tokens"]["nodes"]
    await scene.it.mutate("mutation ($id: ID!) { revokeToken(id: $id) { __typename } }", {"id": held["id"]})

    async def attention() -> Any:
        return (await scene.it.query(_FIRINGS, {"id": trigger["id"]}))["trigger"]["attention"]

    reason = await eventually(attention)
    assert "no longer has a token with the `run` scope" in reason


async def test_a_trigger_whose_owner_the_provider_vouches_for_outlives_its_tokens(scene: Scene) -> None:
    token = await scene.it.token_for("trent", "READ", "RUN", "WRITE")
    trigger = (await create(scene.it, token=token, cron="@yearly"))["trigger"]
    tokens = await scene.it.query(
        "query ($id: ID!) { node(id: $id) { ... on Caller { tokens { nodes { id } } } } }",
        {"id": trigger["owner"]["id"]},
    )
    (held,) = tokens["node"]["tokens"]["nodes"]
    await scene.it.mutate("mutation ($id: ID!) { revokeToken(id: $id) { __typename } }", {"id": held["id"]})
    refused = await act(scene.it, "fireTrigger", trigger["id"])
    assert "no longer has a token with the `run` scope" in refused["message"]
    await scene.it.services.store.write(vouch_for, "trent", "Trent")
    fired = await act(scene.it, "fireTrigger", trigger["id"])
    assert fired["__typename"] == "FireTriggerSuccess"


async def test_the_administrator_keeps_its_triggers_without_a_token(scene: Scene) -> None:
    await scene.it.token_for("admin", "READ", "RUN")
    tokens = await scene.it.query("{ viewer { tokens { nodes { id } } } }")
    for held in tokens["viewer"]["tokens"]["nodes"]:
        await scene.it.mutate("mutation ($id: ID!) { revokeToken(id: $id) { __typename } }", {"id": held["id"]})
    assert (await create(scene.it, cron="@yearly"))["trigger"]["enabled"]


async def test_a_trigger_can_be_fired_at_once_and_deleted(scene: Scene) -> None:
    trigger = (await create(scene.it, cron="@yearly"))["trigger"]
    fired = await act(scene.it, "fireTrigger", trigger["id"])
    (one,) = await firings(scene.it, trigger["id"], 1)
    assert (one["outcome"], one["scheduledAt"], one["run"]["id"]) == ("FIRED", None, fired["run"]["id"])
    assert (await act(scene.it, "deleteTrigger", trigger["id"]))["deletedId"] == trigger["id"]
    gone = await act(scene.it, "deleteTrigger", trigger["id"])
    assert gone["code"] == "NOT_FOUND"


async def test_a_run_leads_to_its_trigger_and_a_pipeline_to_its_triggers(scene: Scene) -> None:
    trigger = (await create(scene.it, cron="@yearly"))["trigger"]
    await create(scene.it, "slow", cron="@yearly")
    run = (await act(scene.it, "fireTrigger", trigger["id"]))["run"]
    found = await scene.it.query(
        """query ($run: ID!) { run(id: $run) { trigger { id name }
            pipeline { triggers(first: 5) { totalCount nodes { id } } } } }""",
        {"run": run["id"]},
    )
    assert found["run"]["trigger"] == {"id": trigger["id"], "name": "Nightly"}
    assert found["run"]["pipeline"]["triggers"] == {"totalCount": 1, "nodes": [{"id": trigger["id"]}]}
    observer = await scene.it.token_for("watcher", "READ")
    seen = await scene.it.query('{ pipeline(id: "echo") { triggers { totalCount } } }', token=observer)
    assert seen["pipeline"]["triggers"]["totalCount"] == 0


async def test_a_preview_names_the_instants_that_a_saved_schedule_fires_at(scene: Scene) -> None:
    ask = "query ($schedule: ScheduleInput!, $count: Int) { previewSchedule(schedule: $schedule, count: $count) {"
    ask += " nextFirings issues { path rule } } }"

    async def preview(count: int = 5, **schedule: Any) -> dict[str, Any]:
        return (await scene.it.query(ask, {"schedule": schedule, "count": count}))["previewSchedule"]

    tokyo = {"cron": "30 6 * * MON-FRI", "timeZone": "Asia/Tokyo"}
    saved = (await create(scene.it, **tokyo))["trigger"]
    asked = await scene.it.query("query ($id: ID!) { trigger(id: $id) { nextFirings } }", {"id": saved["id"]})
    assert await preview(**tokyo) == {"nextFirings": asked["trigger"]["nextFirings"], "issues": []}
    minutes = await preview(intervalSeconds=60, count=100)
    first, second, *_ = [datetime.fromisoformat(each) for each in minutes["nextFirings"]]
    assert (second - first, len(minutes["nextFirings"])) == (timedelta(minutes=1), 20)
    assert await preview(count=-1, cron="@daily") == {"nextFirings": [], "issues": []}
    wrong = await preview(cron="@daily", timeZone="Mars/Olympus")
    assert wrong == {"nextFirings": [], "issues": [{"path": ["schedule", "timeZone"], "rule": "unknown_zone"}]}


async def test_a_list_shows_the_last_firing_of_each_trigger_with_one_read(scene: Scene) -> None:
    fired = (await create(scene.it, cron="@yearly"))["trigger"]["id"]
    silent = (await create(scene.it, cron="@yearly"))["trigger"]["id"]
    await act(scene.it, "fireTrigger", fired)
    last = (await act(scene.it, "fireTrigger", fired))["run"]["id"]
    list_them = "{ triggers { nodes { id lastFiring { outcome run { id } } } } }"
    with statements() as seen:
        nodes = (await scene.it.query(list_them))["triggers"]["nodes"]
    assert {each["id"]: each["lastFiring"] for each in nodes} == {
        fired: {"outcome": "FIRED", "run": {"id": last}},
        silent: None,
    }
    assert len([one for one in seen if "JOIN firing" in one]) <= 1  # on PostgreSQL none is seen


async def test_others_neither_see_nor_change_a_trigger(scene: Scene) -> None:
    trigger = (await create(scene.it, cron="@yearly"))["trigger"]
    other = await scene.it.token_for("mallory", "READ", "RUN", "WRITE")
    assert (await scene.it.query(_FIRINGS, {"id": trigger["id"]}, token=other))["trigger"] is None
    assert (await scene.it.query("{ triggers { totalCount } }", token=other))["triggers"]["totalCount"] == 0
    for field in ("pauseTrigger", "resumeTrigger", "fireTrigger", "deleteTrigger"):
        assert (await act(scene.it, field, trigger["id"], token=other))["code"] == "NOT_FOUND"


async def test_on_anothers_pipeline_the_version_is_pinned(scene: Scene) -> None:
    token = await scene.it.token_for("bob", "READ", "RUN", "WRITE")
    theirs = (await create(scene.it, token=token, cron="@yearly"))["trigger"]
    own = (await create(scene.it, cron="@yearly"))["trigger"]
    assert (theirs["version"], own["version"]) == (1, None)

    await save(scene.it, "echo", step("only", "test.echo", text="${{ inputs.at }}!"))

    async def pinned(trigger: dict[str, Any], version: int | None, token: str | None = None) -> dict[str, Any]:
        return await scene.it.mutate(
            f"""mutation ($id: ID!, $version: Int) {{ updateTrigger(id: $id, version: $version) {{
                __typename ... on TriggerSuccess {{ trigger {{ version }} }} {refusals("updateTrigger")} }} }}""",
            {"id": trigger["id"], "version": version},
            token=token,
        )

    assert (await pinned(theirs, None, token))["trigger"]["version"] == 2
    assert (await pinned(own, 1))["trigger"]["version"] == 1
    assert (await pinned(own, None))["trigger"]["version"] is None
    assert (await pinned(own, 9))["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"cron": "0 0 30 2 *"}, "0 0 30 2 *"),
        ({"cron": "@daily", "timeZone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"cron": "@daily", "inputs": {"art": "x"}}, "art"),
        ({"cron": "@daily", "inputs": {"at": "${{ inputs.at }}"}}, "begins with `trigger`"),
        ({"cron": "@daily", "inputs": {"at": "${{ trigger.scheduled }}"}}, "scheduled"),
    ],
)
async def test_a_trigger_that_cannot_work_is_refused(scene: Scene, given: dict[str, Any], says: str) -> None:
    refused = await create(scene.it, **given)
    assert refused["code"] == "INVALID"
    assert says in refused["message"]
