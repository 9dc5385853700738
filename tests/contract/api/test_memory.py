"""Memory and defaults: what is taken up, learned, settled and forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import step
from tests.support.surfaces import states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def styled(api: Api, **given: str) -> dict[str, Any]:
    """A call of the pack that is told how its reader likes it."""
    run: dict[str, Any] = (await api.me.call("run_pack", pack="test.style", input=given, waitSeconds=10))["run"]
    assert run["endedAt"], run
    return run


async def entries(api: Api, **arguments: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.me.call("memory_entries", first=50, **arguments))["nodes"]
    return found


def values(defaults: dict[str, Any], target: str) -> dict[str, Any]:
    """What is usual for one target, by field."""
    entry = next(entry for entry in defaults["packs"] + defaults["pipelines"] if entry["target"] == target)
    return {value["field"]: value for value in entry["values"]}


@states("memory_entries", "run_pack", "run_pipeline", "create_pipeline", "pipeline")
async def test_every_outcome_leaves_one_row_and_only_successes_teach(api: Api) -> None:
    declared = {"type": "object", "properties": {"persona": {"type": "string"}, "text": {"type": "string"}}}
    style = step("style", "test.style", text="${{ inputs.text }}", persona="${{ inputs.persona }}", format="deck")
    await api.save(step("say", "test.echo", text="hi"), style, inputs=declared)
    pipeline = (await api.me.call("pipeline", id=api.key))["id"]
    good = await api.me.call(
        "run_pipeline", pipeline=api.key, inputs={"persona": "executive", "text": "a"}, waitSeconds=10
    )
    bad = await api.me.call(
        "run_pipeline", pipeline=api.key, inputs={"persona": "executive", "text": "fail"}, waitSeconds=10
    )
    call = await styled(api, text="b", author="Ada")

    rows = await entries(api)

    told = [(row["target"], row["outcome"], row["failureCode"], row["isStep"], row["run"]["id"]) for row in rows]
    assert sorted(told, key=str) == sorted(
        [
            (pipeline, "SUCCEEDED", None, False, good["run"]["id"]),
            ("test.echo", "SUCCEEDED", None, True, good["run"]["id"]),
            ("test.style", "SUCCEEDED", None, True, good["run"]["id"]),
            (pipeline, "FAILED", "INVALID_INPUT", False, bad["run"]["id"]),
            ("test.echo", "SUCCEEDED", None, True, bad["run"]["id"]),
            ("test.style", "FAILED", "INVALID_INPUT", True, bad["run"]["id"]),
            ("test.style", "SUCCEEDED", None, False, call["id"]),
        ],
        key=str,
    )
    learned = {
        (row["run"]["id"], row["target"]): {value["field"]: value["value"] for value in row["learned"]} for row in rows
    }
    assert learned[good["run"]["id"], pipeline] == {"PERSONA": "executive"}
    assert learned[good["run"]["id"], "test.style"] == {"PERSONA": "executive", "FORMAT": "deck"}
    assert learned[call["id"], "test.style"]["AUTHOR"] == "Ada"
    assert learned[bad["run"]["id"], pipeline] == learned[bad["run"]["id"], "test.style"] == {}
    assert [row["at"] for row in rows] == sorted((row["at"] for row in rows), reverse=True)
    assert {row["run"]["id"] for row in await entries(api, scope=f"pipeline:{pipeline}")} == {
        good["run"]["id"],
        bad["run"]["id"],
    }
    page = await api.me.call("memory_entries", first=3)
    rest = await api.me.call("memory_entries", first=50, after=page["pageInfo"]["endCursor"])
    assert [row["id"] for row in page["nodes"] + rest["nodes"]] == [row["id"] for row in rows]
    assert page["totalCount"] == 7


@states("my_defaults", "set_default", "set_learning", "run_pack")
async def test_a_habit_is_learned_pinned_excluded_and_learned_again(api: Api) -> None:
    for persona in ("engineer", "executive", "executive"):
        await styled(api, persona=persona, text=persona)

    persona = values(await api.me.call("my_defaults"), "test.style")["PERSONA"]
    assert (persona["value"], persona["count"], persona["others"]) == ("executive", 2, ["engineer"])
    assert 0.5 < persona["share"] < 1
    assert not persona["pinned"]

    pinned = await api.me.call("set_default", target="test.style", field="PERSONA", value="student")
    persona = values(pinned["defaults"], "test.style")["PERSONA"]
    assert (persona["value"], persona["count"], persona["pinned"]) == ("student", 0, True)
    assert persona["others"] == ["executive", "engineer"]

    excluded = await api.me.call("set_default", target="test.style", field="PERSONA", rule="EXCLUDED")
    persona = values(excluded["defaults"], "test.style")["PERSONA"]
    assert (persona["value"], persona["excluded"], persona["others"]) == (None, True, [])

    back = await api.me.call("set_default", target="test.style", field="PERSONA", rule="LEARNED")
    assert values(back["defaults"], "test.style")["PERSONA"]["value"] == "executive"
    kept = await api.me.call("set_default", target="test.style", field="PERSONA")
    assert values(kept["defaults"], "test.style")["PERSONA"]["pinned"]

    assert (await api.me.call("set_learning", paused=True))["defaults"]["learningPaused"]
    await styled(api, audience="press", text="1")
    await styled(api, audience="press", text="2")
    assert "AUDIENCE" not in values(await api.me.call("my_defaults"), "test.style")
    assert not (await api.me.call("set_learning", paused=False))["defaults"]["learningPaused"]
    await styled(api, audience="press", text="3")
    await styled(api, audience="press", text="4")
    alone = await api.me.call("my_defaults", target="test.style")
    assert values(alone, "test.style")["AUDIENCE"]["count"] == 2

    assert (await api.refusal("set_default", target="test.nothing", field="PERSONA", value="x")).code == "NOT_FOUND"
    for unfit in ("", "x" * 101, "two\nlines", "see https://example.org"):
        assert (await api.refusal("set_default", target="test.style", field="PERSONA", value=unfit)).code == "INVALID"
    assert (await api.refusal("set_default", target="test.echo", field="THEME")).code == "INVALID"


@states("forget_memory", "memory_entries", "resume_run", "get_run", "run_pipeline", "create_pipeline")
async def test_what_is_forgotten_returns_only_by_a_new_outcome(api: Api) -> None:
    await api.save(step("say", "test.echo", text="hi"), step("style", "test.style", text="fail"))
    failed = (await api.me.call("run_pipeline", pipeline=api.key, inputs={}, waitSeconds=10))["run"]
    await styled(api, text="x")
    assert len(await entries(api)) == 4
    run_row = next(row for row in await entries(api) if row["run"]["id"] == failed["id"] and not row["isStep"])

    scope = f"entry:{run_row['id']}"
    assert (await api.me.call("forget_memory", scope=scope, dryRun=True))["rows"] == 3
    assert len(await entries(api)) == 4
    assert (await api.me.call("forget_memory", scope=scope))["rows"] == 3
    assert (await api.refusal("forget_memory", scope=scope)).code == "NOT_FOUND"
    assert [row["target"] for row in await entries(api)] == ["test.style"]
    assert await api.me.call("get_run", id=failed["id"])

    api.bench.failing = False
    resumed = (await api.me.call("resume_run", id=failed["id"], waitSeconds=10))["run"]
    assert resumed["state"] == "SUCCEEDED"

    back = [(row["target"], row["outcome"]) for row in await entries(api) if row["run"]["id"] == failed["id"]]
    assert sorted(outcome for _, outcome in back) == ["SUCCEEDED", "SUCCEEDED"]
    assert "test.echo" not in [target for target, _ in back], "its success was forgotten, and it did not run again"

    assert (await api.me.call("forget_memory", scope="pack:test.style"))["rows"] == 2
    assert (await api.me.call("forget_memory", scope="packs"))["rows"] == 0
    assert (await api.me.call("forget_memory", scope="pipelines"))["rows"] == 1
    everything = await api.me.call("forget_memory", scope="all")
    assert (everything["rows"], everything["defaults"]["packs"]) == (0, [])
    for unknown in ("", "ALL", "pack:", "run:x", "entry:", "everything", "pack: x", "all packs", "x" * 5000):
        assert (await api.refusal("forget_memory", scope=unknown)).code == "INVALID"


@states("forget_memory", "my_defaults", "memory_entries", "set_default", "set_learning", "audit", "viewer")
async def test_memory_is_its_callers_own_and_an_administrator_acts_for_it(api: Api) -> None:
    await styled(api, persona="executive", text="1")
    await styled(api, persona="executive", text="2")
    other = await api.as_caller("other", "READ", "RUN", "OBSERVE")
    me = (await api.me.call("viewer"))["id"]

    assert (await other.call("memory_entries", first=5))["nodes"] == []
    assert (await other.call("forget_memory", scope="all"))["rows"] == 0
    for operation, more in (
        ("my_defaults", {}),
        ("memory_entries", {"first": 5}),
        ("forget_memory", {"scope": "all"}),
        ("set_default", {"target": "test.style", "field": "PERSONA", "value": "x"}),
        ("set_learning", {"paused": True}),
    ):
        with pytest.raises(Exception, match="FORBIDDEN"):
            await other.call(operation, caller=me, **more)
    entry = (await entries(api))[0]["id"]
    with pytest.raises(Exception, match="NOT_FOUND"):
        await other.call("forget_memory", scope=f"entry:{entry}")

    seen = await api.admin.call("my_defaults", caller=me)
    assert (seen["caller"]["subject"], values(seen, "test.style")["PERSONA"]["value"]) == (api.subject, "executive")
    assert (await api.admin.call("forget_memory", scope="all", caller=me))["rows"] == 2
    assert await entries(api) == []
    with pytest.raises(Exception, match="NOT_FOUND"):
        await api.admin.call("my_defaults", caller="call_01J00000000000000000000000")
    rows = (await api.admin.call("audit", filter={"actions": ["forget_memory"], "text": me.lower()}, first=5))["nodes"]
    assert [(row["accepted"], row["detail"]["rows"]) for row in rows if row["accepted"]] == [(True, 2)]
