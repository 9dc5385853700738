"""Triggers: saved, changed, paused, fired and deleted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import step
from tests.support.surfaces import Refused, states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


@states(
    "create_trigger", "update_trigger", "pause_trigger", "resume_trigger", "fire_trigger", "delete_trigger", "trigger",
    "triggers", "preview_schedule",
)  # fmt: skip
async def test_a_trigger_lives_from_its_creation_to_its_end(api: Api) -> None:
    definition = {"key": api.key, "name": api.key, "steps": [step("say", "test.echo", text="x")]}
    await api.me.call("create_pipeline", definition={"document": definition})
    made = await api.me.call("create_trigger", pipeline=api.key, name="Yearly", schedule={"cron": "@yearly"})
    trigger = made["trigger"]
    assert (trigger["enabled"], trigger["schedule"]) == (True, {"cron": "@yearly", "overlap": "SKIP"})

    preview = await api.me.call("preview_schedule", schedule={"cron": "@yearly"}, count=2)
    assert (preview["nextFirings"][0], len(preview["nextFirings"]), preview["issues"]) == (trigger["nextAt"], 2, [])
    never = await api.me.call("preview_schedule", schedule={"cron": "0 9 31 2 *"})
    assert (never["nextFirings"], [issue["rule"] for issue in never["issues"]]) == ([], ["never_fires"])

    renamed = await api.me.call("update_trigger", id=trigger["id"], name="Each year")
    assert renamed["trigger"]["name"] == "Each year"
    paused = await api.me.call("pause_trigger", id=trigger["id"])
    assert (paused["trigger"]["enabled"], paused["trigger"]["nextAt"]) == (False, None)
    resumed = await api.me.call("resume_trigger", id=trigger["id"])
    assert resumed["trigger"]["nextAt"] == trigger["nextAt"]

    fired = await api.me.call("fire_trigger", id=trigger["id"])
    now = await api.me.call("trigger", id=trigger["id"])
    (firing,) = now["firings"]["nodes"]
    assert (firing["outcome"], firing["run"]["id"]) == ("FIRED", fired["run"]["id"])
    listed = await api.me.call("triggers", pipeline=api.key)
    assert [each["id"] for each in listed["nodes"]] == [trigger["id"]]
    assert (await api.me.call("delete_trigger", id=trigger["id"]))["deletedId"] == trigger["id"]
    assert await api.me.call("trigger", id=trigger["id"]) is None


@states("create_pipeline", "create_trigger")
async def test_a_trigger_fires_by_a_schedule_or_when_runs_end(api: Api) -> None:
    for key in (api.key, f"{api.key}-notify"):
        definition = {"key": key, "name": key, "steps": [step("say", "test.echo", text="x")]}
        await api.me.call("create_pipeline", definition={"document": definition})
    create = partial(api.me.call, "create_trigger", pipeline=f"{api.key}-notify", name="Failures")
    made = (await create(runEnded={"states": ["FAILED", "CANCELLED"], "pipelines": [api.key]}))["trigger"]
    assert (made["kind"], made["runEnded"]["runsOf"]) == ("RUN_ENDED", "OWNER")
    assert made["runEnded"]["pipelines"] == [{"key": api.key}]
    for fires_by in ({}, {"schedule": {"cron": "@daily"}, "runEnded": {"states": ["FAILED"]}}):
        with pytest.raises(Refused, match="either by a schedule or when runs end") as refused:
            await create(**fires_by)
        assert refused.value.code == "INVALID"
    with pytest.raises(Refused, match="does not end running"):
        await create(runEnded={"states": ["RUNNING"]})


@states("create_pipeline", "delete_pipeline", "create_trigger", "update_trigger", "resume_trigger")
async def test_a_trigger_of_a_deleted_pipeline_follows_its_key_or_is_pointed_elsewhere(api: Api) -> None:
    def definition(key: str = api.key) -> dict[str, Any]:
        return {"document": {"key": key, "name": key, "steps": [step("say", "test.echo", text="x")]}}

    await api.me.call("create_pipeline", definition=definition())
    create = partial(api.me.call, "create_trigger", pipeline=api.key, schedule={"cron": "@yearly"})
    made = [(await create(name=name, version=1))["trigger"]["id"] for name in ("First", "Second")]
    await api.me.call("delete_pipeline", pipeline=api.key, confirmKey=api.key)
    gone = await api.refusal("resume_trigger", id=made[0])
    assert (gone.code, f"The pipeline {api.key} is deleted" in str(gone)) == ("CONFLICT", True)

    other = await api.as_caller("other", "READ", "WRITE", "RUN")
    await other.call("create_pipeline", definition=definition())
    assert (await api.refusal("resume_trigger", id=made[0])).code == "CONFLICT", "another caller has the key now"
    pointed = (await api.me.call("update_trigger", id=made[0], pipeline=api.key))["trigger"]
    assert (pointed["enabled"], pointed["pipeline"]["key"], pointed["version"]) == (False, api.key, 1)
    assert (await api.me.call("resume_trigger", id=made[0]))["trigger"]["enabled"]
    await other.call("delete_pipeline", pipeline=api.key, confirmKey=api.key)

    again = (await api.me.call("create_pipeline", definition=definition()))["pipeline"]
    for trigger in made:
        resumed = (await api.me.call("resume_trigger", id=trigger))["trigger"]
        found = (resumed["enabled"], resumed["attention"], resumed["pipeline"]["id"], resumed["version"])
        assert found == (True, None, again["id"], None)


@states("create_trigger", "update_trigger")
async def test_a_trigger_swaps_what_it_starts_and_what_it_waits_for_and_may_wait_for_what_is_gone(api: Api) -> None:
    def key(name: str) -> str:
        return f"{api.key}-{name}"

    def after(name: str) -> dict[str, Any]:
        return {"runEnded": {"states": ["FAILED"], "pipelines": [key(name)]}}

    for name in ("one", "two", "gone"):
        definition = {"key": key(name), "name": name, "steps": [step("say", "test.echo", text="x")]}
        await api.me.call("create_pipeline", definition={"document": definition})
    create, update = partial(api.me.call, "create_trigger"), partial(api.me.call, "update_trigger")
    made = (await create(pipeline=key("one"), name="After", **after("two")))["trigger"]
    assert (await api.refusal("update_trigger", id=made["id"], pipeline=key("two"))).code == "INVALID"
    swapped = (await update(id=made["id"], pipeline=key("two"), **after("one")))["trigger"]
    assert swapped["pipeline"]["key"] == key("two")

    waits = (await create(pipeline=key("one"), name="Waits", **after("gone")))["trigger"]
    await api.me.call("delete_pipeline", pipeline=key("gone"), confirmKey=key("gone"))
    pointed = (await update(id=waits["id"], pipeline=key("two")))["trigger"]
    assert pointed["pipeline"]["key"] == key("two")


@states("create_webhook", "update_webhook", "rotate_webhook_secret", "replay_firing")
async def test_a_webhook_has_an_address_and_a_secret(api: Api) -> None:
    definition = {"key": api.key, "name": api.key, "steps": [step("say", "test.echo", text="x")]}
    await api.me.call("create_pipeline", definition={"document": definition})
    made = await api.me.call("create_webhook", pipeline=api.key, name="Pushes", preset="GITHUB", events=["push"])
    trigger = made["trigger"]
    assert (trigger["kind"], trigger["schedule"], trigger["webhook"]["preset"]) == ("WEBHOOK", None, "GITHUB")
    rotated = await api.me.call("rotate_webhook_secret", id=trigger["id"])
    assert rotated["secret"] != made["secret"]
    assert rotated["trigger"]["webhook"]["previousSecretUntil"] is not None
    changed = await api.me.call("update_webhook", id=trigger["id"], events=[])
    assert changed["trigger"]["webhook"]["events"] == []
    await api.me.call("fire_trigger", id=trigger["id"])
    (firing,) = (await api.me.call("trigger", id=trigger["id"]))["firings"]["nodes"]
    refused = await api.refusal("create_webhook", pipeline=api.key, name="Pushes", preset="GITHUB", events=[""])
    assert [issue["path"] for issue in refused.details["issues"]] == [["events", "0"]]
    with pytest.raises(Refused, match="no delivery"):
        await api.me.call("replay_firing", id=firing["id"])
