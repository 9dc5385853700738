"""Callers, tokens, the audit and the server: what the operations on them promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.front_door import step
from tests.support.surfaces import Refused, states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


@states("create_token", "revoke_token", "callers", "viewer")
async def test_a_token_works_until_it_is_revoked(api: Api) -> None:
    subject = f"{api.subject}-robot"
    made = await api.admin.call("create_token", name="night", subject=subject, scopes=["READ"])
    robot = api.speaking(made["plaintext"])
    assert await robot.call("viewer") == {**made["token"]["caller"], "name": subject, "scopes": ["READ"]}
    (listed,) = (await api.admin.call("callers", filter={"text": subject}))["nodes"]
    assert [token["name"] for token in listed["tokens"]["nodes"]] == ["night"]

    ended = await api.admin.call("revoke_token", id=made["token"]["id"])

    assert ended["token"]["revokedAt"]
    with pytest.raises(Refused):
        await robot.call("viewer")
    assert (await api.refusal("create_token", name="mine", scopes=["MANAGE"])).code == "FORBIDDEN"
    with pytest.raises(Refused, match="NOT_FOUND"):
        await api.admin.call("revoke_token", id="tok_01J00000000000000000000000")


@states("audit", "create_pipeline", "delete_pipeline")
async def test_every_command_leaves_a_row_refused_ones_too(api: Api) -> None:
    await api.save(step("say", "test.echo", text="hi"))
    await api.refusal("delete_pipeline", pipeline=api.key, confirmKey="another")
    me = (await api.me.call("viewer"))["id"]

    rows = (await api.admin.call("audit", filter={"actors": [me]}, first=10))["nodes"]

    assert [(row["action"], row["accepted"]) for row in rows] == [("delete_pipeline", False), ("create_pipeline", True)]
    assert {row["actor"]["subject"] for row in rows} == {api.subject}
    first = await api.admin.call("audit", filter={"actors": [me]}, first=1)
    then = await api.admin.call("audit", filter={"actors": [me]}, first=1, after=first["pageInfo"]["endCursor"])
    assert [page["nodes"][0]["action"] for page in (first, then)] == ["delete_pipeline", "create_pipeline"]
    assert (await api.refusal("audit", first=1)).code == "FORBIDDEN"


@states("drain_worker", "workers")
async def test_operators_drain_a_worker_and_have_it_take_runs_again(api: Api) -> None:
    (worker,) = await api.admin.call("workers")
    drained = await api.admin.call("drain_worker", name=worker["name"])
    assert drained["worker"] == {"name": worker["name"], "draining": True, "running": drained["worker"]["running"]}
    assert (await api.refusal("drain_worker", name=worker["name"])).code == "FORBIDDEN"
    assert not (await api.admin.call("drain_worker", name=worker["name"], draining=False))["worker"]["draining"]


@states("queue", "workers")
async def test_operators_see_who_executes_runs(api: Api) -> None:
    (worker,) = await api.admin.call("workers")
    assert (worker["alive"], worker["running"] <= worker["lanes"]) == (True, True)
    assert (await api.refusal("workers")).code == "FORBIDDEN"
    assert (await api.admin.call("queue")) == []
    assert (await api.refusal("queue")).code == "FORBIDDEN"


@states("server", "settings")
async def test_the_server_tells_of_itself(api: Api) -> None:
    server = await api.me.call("server")
    assert (server["accepting"], server["runLimits"]["concurrentRuns"]) == (True, 2)
    assert {check["ok"] for check in server["health"]} == {True}
    settings = {setting["name"]: setting for setting in await api.admin.call("settings")}
    assert settings["PACKLINE_CALLER_CONCURRENT_RUNS"]["value"] == 2
    assert settings["PACKLINE_BOOTSTRAP_TOKEN"]["value"] is None
    assert (await api.refusal("settings")).code == "FORBIDDEN"


@states("set_admission", "server", "run_pack", "wait_run")
async def test_an_operator_pauses_admission_and_ends_the_pause(api: Api) -> None:
    assert (await api.refusal("set_admission", paused=True)).code == "FORBIDDEN"
    paused = (await api.admin.call("set_admission", paused=True, reason="new disk"))["server"]["admissionPause"]
    try:
        assert (paused["by"], paused["reason"]) == ("admin", "new disk")
        run = (await api.me.call("run_pack", pack="test.echo", input={"text": "later"}))["run"]
        assert run["state"] == "QUEUED"
        checks = {check["name"]: check["ok"] for check in (await api.me.call("server"))["health"]}
        assert checks["admission"] is False
    finally:
        ended = await api.admin.call("set_admission", paused=False)
    assert ended["server"]["admissionPause"] is None
    assert (await api.me.call("wait_run", id=run["id"], waitSeconds=20))["run"]["state"] == "SUCCEEDED"
