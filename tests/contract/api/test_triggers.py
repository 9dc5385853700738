"""Triggers: saved, changed, paused, fired and deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.front_door import step
from tests.support.surfaces import states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


@states(
    "create_trigger", "update_trigger", "pause_trigger", "resume_trigger", "fire_trigger", "delete_trigger", "trigger",
    "triggers",
)  # fmt: skip
async def test_a_trigger_lives_from_its_creation_to_its_end(api: Api) -> None:
    definition = {"key": api.key, "name": api.key, "steps": [step("say", "test.echo", text="x")]}
    await api.me.call("create_pipeline", definition={"document": definition})
    made = await api.me.call("create_trigger", pipeline=api.key, name="Yearly", schedule={"cron": "@yearly"})
    trigger = made["trigger"]
    assert (trigger["enabled"], trigger["schedule"]) == (True, {"cron": "@yearly", "overlap": "SKIP"})

    renamed = await api.me.call("update_trigger", id=trigger["id"], name="Each year")
    assert renamed["trigger"]["name"] == "Each year"
    paused = await api.me.call("pause_trigger", id=trigger["id"])
    assert (paused["trigger"]["enabled"], paused["trigger"]["nextAt"]) == (False, None)
    resumed = await api.me.call("resume_trigger", id=trigger["id"])
    assert resumed["trigger"]["nextAt"] == trigger["nextAt"]

    fired = await api.me.call("fire_trigger", id=trigger["id"])
    now = await api.me.call("trigger", id=trigger["id"])
    assert now["firings"]["nodes"] == [{"outcome": "FIRED", "run": {"id": fired["run"]["id"]}}]
    listed = await api.me.call("triggers", pipeline=api.key)
    assert [each["id"] for each in listed["nodes"]] == [trigger["id"]]
    assert (await api.me.call("delete_trigger", id=trigger["id"]))["deletedId"] == trigger["id"]
    assert await api.me.call("trigger", id=trigger["id"]) is None
