"""Callers, tokens, the audit and the server: what the operations on them promise."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from store.runs.budgets import add_spending
from tests.support.front_door import step
from tests.support.surfaces import Refused, states

if TYPE_CHECKING:
    from store.database.dialects import Connection
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


@states(
    "disable_caller", "enable_caller", "callers", "create_trigger", "pause_trigger", "trigger", "run_pack", "get_run"
)
async def test_nothing_happens_in_the_name_of_a_disabled_caller(api: Api) -> None:
    await api.save(step("say", "test.echo", text="hi"))
    hourly, paused = [
        (await api.me.call("create_trigger", pipeline=api.key, name=name, schedule={"cron": "@hourly"}))["trigger"]
        for name in ("Hourly", "Paused")
    ]
    await api.me.call("pause_trigger", id=paused["id"])
    slow = [(await api.me.call("run_pack", pack="test.slow", input={"text": text}))["run"] for text in "abc"]
    await api.bench.started.wait()
    other = api.speaking(await api.house.product.token_for(api.subject, "READ"))
    (mine,) = (await api.admin.call("callers", filter={"text": api.subject, "disabled": False}))["nodes"]
    assert mine["lastSeenAt"] is not None

    disabled = await api.admin.call("disable_caller", caller=api.subject)

    assert (disabled["pausedTriggers"], disabled["cancelledRuns"]) == (1, 2)
    for speaker in (api.me, other):
        with pytest.raises(Refused):
            await speaker.call("viewer")
    ended = [await api.admin.call("wait_run", id=run["id"], waitSeconds=20) for run in slow[:2]]
    assert [each["run"]["state"] for each in ended] == ["CANCELLED", "CANCELLED"]
    queued = await api.admin.call("get_run", id=slow[2]["id"])
    assert (queued["state"], queued["wait"]["message"]) == ("QUEUED", "waits until its caller is enabled")
    held = await api.admin.call("trigger", id=hourly["id"])
    assert (held["enabled"], held["attention"]) == (False, f"Its owner {api.subject} is disabled.")
    for operation in ("resume_trigger", "fire_trigger"):
        with pytest.raises(Refused, match="is disabled"):
            await api.admin.call(operation, id=hourly["id"])
    with pytest.raises(Refused, match="is disabled"):
        await api.admin.call("create_token", name="new", subject=api.subject, scopes=["READ"])
    assert (await api.admin.call("disable_caller", caller=mine["id"]))["pausedTriggers"] == 0, "twice is once"

    api.bench.release.set()
    enabled = await api.admin.call("enable_caller", caller=mine["id"])

    assert (enabled["caller"]["disabledAt"], enabled["resumedTriggers"]) == (None, 1)
    assert (await api.me.call("wait_run", id=slow[2]["id"], waitSeconds=20))["run"]["state"] == "SUCCEEDED"
    again = await api.me.call("trigger", id=hourly["id"])
    assert (again["enabled"], again["attention"], again["nextAt"]) == (True, None, hourly["nextAt"])
    assert (await api.me.call("trigger", id=paused["id"]))["enabled"] is False
    rows = (await api.admin.call("audit", filter={"actions": ["disable_caller", "enable_caller"]}, first=50))["nodes"]
    mine_only = [row["action"] for row in rows if row["target"] == {"id": mine["id"]}]
    assert mine_only == ["enable_caller", "disable_caller", "disable_caller"]


@states("create_token", "revoke_token", "disable_caller", "callers")
async def test_tokens_name_their_maker_and_those_for_others_are_listed_when_it_is_disabled(api: Api) -> None:
    maker, other = f"{api.subject}-manager", f"{api.subject}-other"
    manager = await api.as_caller("manager", "MANAGE")
    for name, subject in (("own", None), ("given", other), ("ended", other)):
        made = await manager.call("create_token", name=name, subject=subject, scopes=["READ"])
    await manager.call("revoke_token", id=made["token"]["id"])
    given = await manager.call("create_token", name="last", subject=other, scopes=["READ"])

    disabled = await api.admin.call("disable_caller", caller=maker)
    assert disabled["tokensForOthers"] == [{"name": name, "caller": {"subject": other}} for name in ("last", "given")]
    assert (await api.speaking(given["plaintext"]).call("viewer"))["subject"] == other, "it keeps working"
    (listed,) = (await api.admin.call("callers", filter={"text": other}))["nodes"]
    assert [token["madeBy"] for token in listed["tokens"]["nodes"]] == [{"subject": maker}] * 3


@states("disable_caller", "enable_caller")
async def test_nobody_disables_themselves_or_the_administrator(api: Api) -> None:
    manager = await api.as_caller("manager", "MANAGE")
    with pytest.raises(Refused, match=r"FORBIDDEN.*yourself"):
        await manager.call("disable_caller", caller=f"{api.subject}-manager")
    with pytest.raises(Refused, match=r"FORBIDDEN.*administrator"):
        await manager.call("disable_caller", caller="admin")
    with pytest.raises(Refused, match="NOT_FOUND"):
        await manager.call("disable_caller", caller="call_01J00000000000000000000000")
    with pytest.raises(Refused, match="NOT_FOUND"):
        await manager.call("enable_caller", caller="nobody")
    assert (await api.refusal("disable_caller", caller="admin")).code == "FORBIDDEN"


@states("spending", "budgets")
async def test_callers_see_what_they_spent_and_observers_what_all_did(api: Api) -> None:
    store = api.house.product.services.store
    spender = await api.as_caller("spender", "READ")
    (found,) = (await api.admin.call("callers", filter={"text": f"{api.subject}-spender"}))["nodes"]
    for month, cost in (("2020-01", 3_000_000), ("2020-01", None)):
        await store.write(_spend, found["id"], month, cost)
    spent = (await spender.call("spending", month="2020-01"))["nodes"]
    assert spent == [
        {
            "month": "2020-01",
            "tokens": 200,
            "amountUsd": 3.0,
            "unpricedCalls": 1,
            "caller": {"subject": f"{api.subject}-spender"},
        }
    ]
    await store.write(_spend, (await api.me.call("viewer"))["id"], "2020-01", 5_000_000)
    assert (await spender.call("spending", month="2020-01"))["totalCount"] == 1
    everybody = [row["caller"]["subject"] for row in (await api.admin.call("spending", month="2020-01"))["nodes"]]
    assert [each for each in everybody if each.startswith(api.subject)] == [api.subject, f"{api.subject}-spender"]
    assert (await spender.call("spending"))["nodes"] == []
    assert (await spender.call("budgets")) == []
    with pytest.raises(Refused, match="INVALID"):
        await spender.call("spending", month="January")


def _spend(conn: Connection, caller_id: str, month: str, cost_micros: int | None) -> None:
    """Counts a call of 100 tokens in a month that has passed."""
    now = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    with patch.object(type(conn), "now", lambda _: now):
        add_spending(conn, caller_id, None, tokens=100, cost_micros=cost_micros)


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


@states("server")
async def test_only_operators_read_where_things_are_and_how_many(api: Api) -> None:
    checks = {check["name"]: check["message"] for check in (await api.me.call("server"))["health"]}
    assert set(checks.values()) == {"Works."}, "no path, bucket, count or name"
    shown = {check["name"]: check["message"] for check in (await api.admin.call("server"))["health"]}
    assert checks.keys() == shown.keys()
    assert "/blobs" in shown["artifacts"]
    assert "credentials" in shown["vault key"]


@states("set_admission", "server", "run_pack", "wait_run")
async def test_an_operator_pauses_admission_and_ends_the_pause(api: Api) -> None:
    assert (await api.refusal("set_admission", paused=True)).code == "FORBIDDEN"
    paused = (await api.admin.call("set_admission", paused=True, reason="new disk"))["server"]["admissionPause"]
    try:
        assert (paused["by"], paused["reason"]) == ("admin", "new disk")
        run = (await api.me.call("run_pack", pack="test.echo", input={"text": "later"}))["run"]
        assert run["state"] == "QUEUED"
        checks = {check["name"]: check for check in (await api.me.call("server"))["health"]}
        assert checks["admission"] == {"name": "admission", "ok": False, "message": "Paused: no new run starts."}
    finally:
        ended = await api.admin.call("set_admission", paused=False)
    assert ended["server"]["admissionPause"] is None
    assert (await api.me.call("wait_run", id=run["id"], waitSeconds=20))["run"]["state"] == "SUCCEEDED"
