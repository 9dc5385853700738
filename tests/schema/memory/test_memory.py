"""Memory through the front door: what is never learned, never lost, and what a lost key leaves."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import audit_rows, command, look, ran, refusals, save, start, step
from tests.support.pack_harness import load_pack
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.vaults import SECRET, put
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

ENTRIES = """query ($caller: ID, $scope: MemoryScope! = "all") {
    memoryEntries(caller: $caller, scope: $scope, first: 100) {
        totalCount nodes { id target outcome failureCode readable isStep learned { field value } run { id } } } }"""
DEFAULTS = """query { myDefaults { locked unreadable learningPaused
    packs { target uses values { field value count pinned } } pipelines { target uses values { field value } } } }"""


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def it(tmp_path: Path, bench: Workbench) -> AsyncIterator[Product]:
    async with product(tmp_path, [*bench.packs, load_pack("memory/forget.py")]) as running:
        yield running


async def entries(it: Product, **variables: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await it.query(ENTRIES, variables))["memoryEntries"]["nodes"]
    return found


async def defaults(it: Product) -> dict[str, Any]:
    found: dict[str, Any] = (await it.query(DEFAULTS))["myDefaults"]
    return found


async def styled(it: Product, **given: str) -> dict[str, Any]:
    answer = await command(it, "runPack", pack="test.style", input=given, waitSeconds=20)
    assert answer["__typename"] == "StartRunSuccess", answer
    run: dict[str, Any] = answer["run"]
    return run


async def forget(it: Product, scope: str, token: str | None = None, *, dry_run: bool = False) -> dict[str, Any]:
    return await it.mutate(
        f"""mutation ($scope: MemoryScope!, $dryRun: Boolean!) {{ forgetMemory(scope: $scope, dryRun: $dryRun) {{
            __typename ... on ForgetMemorySuccess {{ scope rows }} {refusals("forgetMemory")} }} }}""",
        {"scope": scope, "dryRun": dry_run},
        token=token,
    )


def on_disk(it: Product) -> bytes:
    """Everything the database file holds of memory."""
    with closing(sqlite3.connect(it.folder / "packline.db")) as raw:
        tables = ("memory_entry", "memory_state", "default_override", "audit")
        return json.dumps([raw.execute(f"SELECT * FROM {name}").fetchall() for name in tables]).encode()


async def test_what_must_never_be_learned_is_not(it: Product) -> None:
    await put(it, "key", "generic", {"secret": SECRET})
    for unfit in (
        SECRET,
        f"the {SECRET} persona",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "see https://example.org/private",
        "www.example.org",
        "example.com/people",
        "two\nlines",
        "tab\tbed",
        "x" * 101,
        "   ",
    ):
        assert (await styled(it, persona=unfit, text="title and text are nobody's habit"))["state"] == "SUCCEEDED"
    found = await entries(it)
    assert len(found) == 10
    assert [entry["learned"] for entry in found] == [[]] * 10
    assert [entry["target"] for entry in (await defaults(it))["packs"]] == ["test.style"]


async def test_learned_values_are_sealed_at_rest(it: Product) -> None:
    await styled(it, persona="executive of Acme", text="1")
    await styled(it, persona="executive of Acme", text="2")
    await it.mutate(
        """mutation { setDefault(target: "test.style", field: AUDIENCE, value: "the board of Acme") {
            __typename ... on Problem { message } } }"""
    )
    packs = (await defaults(it))["packs"]
    assert {value["field"]: value["value"] for value in packs[0]["values"]} == {
        "PERSONA": "executive of Acme",
        "AUDIENCE": "the board of Acme",
    }
    assert b"Acme" not in on_disk(it)


async def test_a_restart_loses_and_doubles_nothing(tmp_path: Path, bench: Workbench) -> None:
    async with product(tmp_path, bench.packs) as it:
        for number in range(5):
            await styled(it, persona="executive", text=str(number))
    async with product(tmp_path, bench.packs) as it:
        assert len(await entries(it)) == 5
    async with product(tmp_path, bench.packs) as it:
        assert len(await entries(it)) == 5
        assert (await defaults(it))["packs"][0]["values"][0]["count"] == 5


async def test_a_lost_key_is_said_plainly_and_forgetting_still_works(tmp_path: Path, bench: Workbench) -> None:
    async with product(tmp_path, bench.packs) as it:
        await styled(it, persona="executive", text="1")
        await styled(it, persona="executive", text="2")
        assert (await defaults(it))["packs"][0]["values"][0]["value"] == "executive"
        (it.folder / "vault.key").unlink()
    async with product(tmp_path, bench.packs) as it:
        told = await defaults(it)
        assert "locked" in told["locked"]
        assert (told["unreadable"], [entry["uses"] for entry in told["packs"]]) == (2, [2])
        assert [entry["values"] for entry in told["packs"]] == [[]]
        assert [(entry["readable"], entry["learned"]) for entry in await entries(it)] == [(False, [])] * 2
        pin = await it.mutate(
            f"""mutation {{ setDefault(target: "test.style", field: PERSONA, value: "x") {{
                __typename {refusals("setDefault")} }} }}"""
        )
        assert pin["__typename"] == "UnavailableProblem"
        run = await styled(it, persona="executive", text="3")
        assert run["state"] == "SUCCEEDED", "memory never fails a run"
        assert len(await entries(it)) == 3
        assert (await forget(it, "all"))["rows"] == 3
        assert await entries(it) == []


async def test_a_clock_that_was_set_back_loses_nothing_and_breaks_nothing(tmp_path: Path, bench: Workbench) -> None:
    async with product(tmp_path, bench.packs) as it:
        runs = [await styled(it, persona=persona, text=persona) for persona in ("early", "late", "late")]
        await defaults(it)
    with closing(sqlite3.connect(it.folder / "packline.db")) as raw, raw:
        # One ended before it began; two in a future that the clock came back from. None was taken up before the stop.
        raw.execute("DELETE FROM memory_entry")
        raw.execute(
            "UPDATE memory_state SET revision = revision + 1, removed = revision + 1, counts = NULL, counted = NULL"
        )
        raw.execute("UPDATE run SET memory_due = 1, memory_epoch = NULL")
        for run, moved in zip(runs, ("-1 hours", "+40 days", "+40 days"), strict=True):
            text = "strftime('%Y-%m-%d %H:%M:%f000', ended_at, ?)"
            raw.execute(f"UPDATE run SET ended_at = {text} WHERE id = ?", (moved, run["id"]))
    async with product(tmp_path, bench.packs) as it:
        assert len(await entries(it)) == 3
        (told,) = (await defaults(it))["packs"]
        assert (told["uses"], [value["value"] for value in told["values"]]) == (3, ["late"])
        await styled(it, persona="late", text="now")
        assert (await defaults(it))["packs"][0]["values"][0]["count"] == 3
        assert (await forget(it, "all"))["rows"] == 4
        assert (await defaults(it))["packs"] == []


async def test_the_pack_forgets_its_callers_rows_and_nothing_else(it: Product) -> None:
    mine = await styled(it, persona="executive", text="1")
    token = await it.token_for("somebody", "READ", "RUN")
    other = await command(it, "runPack", token, pack="test.style", input={"persona": "engineer"}, waitSeconds=20)
    await put(it, "key", "generic", {"secret": SECRET})

    counted = await command(it, "runPack", pack="memory.forget", input={"dry_run": True}, waitSeconds=20)
    assert counted["run"]["output"]["json"] == {"scope": "all", "rows": 1, "forgotten": False}
    bad = await command(it, "runPack", pack="memory.forget", input={"scope": "everything"}, waitSeconds=20)
    assert (bad["run"]["failure"]["code"], bad["run"]["failure"]["field"]) == ("INVALID_INPUT", "scope")
    done = await command(it, "runPack", pack="memory.forget", input={"scope": "pack:test.style"}, waitSeconds=20)
    assert done["run"]["output"]["json"] == {"scope": "pack:test.style", "rows": 1, "forgotten": True}

    assert {entry["target"] for entry in await entries(it)} == {"memory.forget"}
    assert await look(it, mine["id"])
    assert await look(it, other["run"]["id"])
    assert len((await it.query(ENTRIES, token=token))["memoryEntries"]["nodes"]) == 1
    assert (await it.query("{ credentials { nodes { key } } }"))["credentials"]["nodes"] == [{"key": "key"}]
    told = [row["detail"] for row in await audit_rows(it, "forget_memory")]
    assert [(row["scope"], row["rows"], row["dry_run"]) for row in told] == [
        ("pack:test.style", 1, False),
        ("all", 1, True),
    ]


async def test_forgetting_while_a_run_is_under_way_leaves_that_runs_outcome(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("echo", "test.echo", text="hi"), step("wait", "test.slow", text="hi"))
    started = await start(it, "slow")
    await bench.started.wait()
    await styled(it, persona="executive", text="1")
    assert (await forget(it, "all"))["rows"] == 1
    bench.release.set()
    await eventually(lambda: _has_ended(it, started["run"]["id"]))
    assert {entry["run"]["id"] for entry in await entries(it)} == {started["run"]["id"]}


async def _has_ended(it: Product, run_id: str) -> bool:
    return (await look(it, run_id))["endedAt"] is not None


async def test_cancelled_and_timed_out_runs_leave_rows_and_teach_nothing(it: Product) -> None:
    await save(it, "slow", step("wait", "test.slow", text="hi"))
    late = await ran(it, "slow", deadlineSeconds=0.2)
    started = await start(it, "slow", force=True)
    await command(it, "cancelRun", id=started["run"]["id"])
    await eventually(lambda: _has_ended(it, started["run"]["id"]))
    found = {(entry["run"]["id"], entry["isStep"]): entry for entry in await entries(it)}
    assert (found[late["id"], False]["outcome"], found[late["id"], False]["failureCode"]) == ("FAILED", "TIMEOUT")
    assert found[started["run"]["id"], False]["outcome"] == "CANCELLED"
    assert [entry["learned"] for entry in found.values()] == [[]] * len(found)


async def test_deleting_a_run_leaves_what_it_taught(it: Product) -> None:
    run = await styled(it, persona="executive", text="1")
    await styled(it, persona="executive", text="2")
    assert len(await entries(it)) == 2
    assert (await command(it, "deleteRun", id=run["id"]))["__typename"] == "DeleteSuccess"
    assert sorted(str(entry["run"] and entry["run"]["id"]) for entry in await entries(it))[0] == "None"
    assert (await defaults(it))["packs"][0]["values"][0]["count"] == 2


async def test_a_run_tells_what_was_taken_from_memory(it: Product) -> None:
    style = step("style", "test.style", text="a", persona="${{ inputs.persona }}", audience="${{ inputs.audience }}")
    await save(it, "deck", style)
    fill = """mutation ($inputs: JSON!, $taken: [LearnedField!]!) {
        runPipeline(pipeline: "deck", inputs: $inputs, fromMemory: $taken) {
            __typename ... on StartRunSuccess { run { fromMemory { field value } inputs } }
            ... on InvalidProblem { issues { path message } } } }"""
    inputs = {"persona": "executive", "audience": "the board"}
    taken = await it.mutate(fill, {"inputs": inputs, "taken": ["PERSONA"]})
    assert taken["run"]["fromMemory"] == [{"field": "PERSONA", "value": "executive"}]
    plain = await it.mutate(fill, {"inputs": {**inputs, "persona": "me"}, "taken": []})
    assert plain["run"]["fromMemory"] == []
    refused = await it.mutate(fill, {"inputs": inputs, "taken": ["THEME"]})
    assert [issue["path"] for issue in refused["issues"]] == [["inputs", "theme"]]


async def test_defaults_never_reach_a_run_by_themselves(it: Product, bench: Workbench) -> None:
    await save(it, "deck", step("style", "test.style", text="a", persona="${{ inputs.persona? }}"))
    for number in range(3):
        await ran(it, "deck", {"persona": "executive"}, title=str(number))
    assert (await defaults(it))["pipelines"][0]["values"][0]["value"] == "executive"
    run = await ran(it, "deck", {})
    assert run["inputs"] == {}
    assert bench.calls_of("test.style")[-1].input["persona"] is None


async def test_a_token_that_may_only_read_looks_and_cannot_forget(it: Product) -> None:
    token = await it.token_for("reader", "READ")
    assert (await it.query(DEFAULTS, token=token))["myDefaults"]["packs"] == []
    assert (await forget(it, "all", token))["__typename"] == "ForbiddenProblem"
