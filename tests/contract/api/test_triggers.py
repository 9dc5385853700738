"""Triggers: saved, changed, paused, fired and deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    with pytest.raises(Refused, match="no delivery"):
        await api.me.call("replay_firing", id=firing["id"])
