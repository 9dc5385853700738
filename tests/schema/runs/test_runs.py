"""Runs as callers see them: looked at, waited for, listed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from runner.failures import FAILURE_WORDS, WHO_CAN_FIX, Failure, FailureCode
from schema.base.cursors import RUNS
from store.database.dialects import Sql
from store.models.runs import RUN as RUN_TABLE
from tests.support.front_door import (
    RUN,
    command,
    ended,
    look,
    ran,
    save,
    start,
    statements,
    step,
    until_state,
)
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def it(tmp_path: Path, bench: Workbench) -> AsyncIterator[Product]:
    async with product(tmp_path, bench.packs) as running:
        yield running


async def test_a_run_is_told_whole_once_it_has_succeeded(it: Product) -> None:
    pipeline = await save(
        it,
        "two-steps",
        step("first", "test.echo", text="${{ inputs.text }}"),
        step("second", "test.artifact", name="tea.txt", content="${{ steps.first.output.text }}"),
    )

    answer = await start(it, "two-steps", {"text": "tea"}, wait=20)

    assert (answer["__typename"], answer["coalesced"], answer["replayed"]) == ("StartRunSuccess", False, False)
    run = answer["run"]
    assert run["id"].startswith("run_")
    assert run["title"] == "Two steps: tea"
    assert (run["state"], run["progress"], run["cause"], run["resumeCount"]) == ("SUCCEEDED", 1.0, "PERSON", 0)
    assert run["pipeline"] == {"id": pipeline, "key": "two-steps"}
    assert run["version"]["number"] == 1
    assert run["pack"] is None
    assert run["caller"]["id"].startswith("call_")
    assert run["inputs"] == {"text": "tea"}
    assert run["failure"] is None
    assert run["currentStep"] is None
    assert run["createdAt"] <= run["startedAt"] <= run["endedAt"] < run["deadlineAt"]
    assert run["actions"] == ["RERUN", "PROMOTE", "DELETE"]
    first, second = run["steps"]
    assert (first["key"], first["state"], first["packVersion"]) == ("first", "SUCCEEDED", "1.0.0")
    assert first["input"]["json"] == {"text": "tea"}
    assert first["output"]["json"] == {"text": "tea", "call": 1}
    assert [(attempt["number"], attempt["state"]) for attempt in first["attempts"]] == [(1, "SUCCEEDED")]
    assert [artifact["name"] for artifact in second["artifacts"]] == ["tea.txt"]
    assert run["output"]["json"] == second["output"]["json"]
    assert await look(it, run["id"]) == run


async def test_a_start_answers_at_once_and_a_wait_may_run_out(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"))

    run = (await start(it, "slow"))["run"]

    assert run["state"] in {"QUEUED", "RUNNING"}
    await bench.started.wait()
    wait = "query ($id: ID!) { waitRun(id: $id, waitSeconds: 0) { timedOut cursor run { state } } }"
    early = (await it.query(wait, {"id": run["id"]}))["waitRun"]
    assert (early["timedOut"], early["run"]["state"]) == (True, "RUNNING")
    bench.release.set()
    assert (await ended(it, run["id"]))["state"] == "SUCCEEDED"
    late = (await it.query(wait, {"id": run["id"]}))["waitRun"]
    assert late["timedOut"] is False


async def test_a_wait_for_a_change_answers_at_the_change(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"))
    run = (await start(it, "slow"))["run"]
    await bench.started.wait()
    now = await look(it, run["id"])

    bench.release.set()
    data = await it.query(
        "query ($id: ID!, $after: Cursor) { waitRun(id: $id, untilChange: true, after: $after) { timedOut cursor } }",
        {"id": run["id"], "after": now["eventCursor"]},
    )

    assert data["waitRun"]["timedOut"] is False
    assert data["waitRun"]["cursor"] != now["eventCursor"]


async def test_waits_out_of_range_and_for_nothing_are_told(it: Product) -> None:
    nobody = "run_01J00000000000000000000000"
    assert (await it.query(f'{{ waitRun(id: "{nobody}") {{ timedOut }} }}'))["waitRun"] is None
    assert (await it.query(f'{{ run(id: "{nobody}") {{ id }} }}'))["run"] is None
    refused = await it.answer(f'{{ waitRun(id: "{nobody}", waitSeconds: 51) {{ timedOut }} }}')
    assert refused.codes == ["INVALID"]
    assert "0 to 50" in refused.errors[0]["message"]


async def test_a_queued_run_tells_how_many_are_ahead(tmp_path: Path, bench: Workbench) -> None:
    async with product(tmp_path, bench.packs, caller_concurrent_runs=1) as it:
        await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}"))
        await start(it, "slow", {"text": "held"})
        await bench.started.wait()
        queued = [(await start(it, "slow", {"text": f"{number}"}))["run"]["id"] for number in range(3)]
        token = await it.token_for("ben", "RUN", "READ")
        other = (await command(it, "runPack", token, pack="test.echo", input={"text": "mine"}, waitSeconds=20))["run"]

        waits = [(await look(it, run_id))["wait"] for run_id in queued]

        assert [wait["reason"] for wait in waits] == ["SLOT"] * 3
        assert [wait["message"] for wait in waits] == ["starts next", "1 run of yours ahead", "2 runs of yours ahead"]
        assert all(wait["until"] is None for wait in waits)
        assert other["state"] == "SUCCEEDED"
        bench.release.set()
        assert [(await ended(it, run_id))["wait"] for run_id in queued] == [None] * 3


async def test_a_retry_is_waited_for_in_the_open(it: Product, bench: Workbench) -> None:
    retry = {"max_attempts": 3, "initial_seconds": 600, "max_seconds": 600}
    await save(it, "flaky", step("only", "test.flaky", times=1, retry=retry))
    before = datetime.now(UTC)

    run = await until_state(it, (await start(it, "flaky"))["run"]["id"], "WAITING")

    for wait in (run["wait"], run["steps"][0]["wait"]):
        assert (wait["reason"], wait["message"]) == ("RETRY", "retry 2 of 3")
        until = datetime.fromisoformat(wait["until"]) - before
        assert timedelta(minutes=7) < until < timedelta(minutes=13)
    assert run["steps"][0]["state"] == "WAITING"
    assert run["steps"][0]["failure"]["code"] == "UPSTREAM_UNAVAILABLE"
    assert [attempt["state"] for attempt in run["steps"][0]["attempts"]] == ["FAILED"]
    assert run["actions"] == ["CANCEL", "RERUN"]


_RETRIED = {"timeout", "rate_limited", "session_unavailable", "upstream_unavailable"}


async def test_a_failure_says_what_sort_of_thing_to_do(it: Product) -> None:
    for code in FailureCode:
        given = {"code": code.value, "message": f"{code.value} as told.", "retry_after_seconds": 7}
        run_id = (await command(it, "runPack", pack="test.fail", input=given))["run"]["id"]
        run = await (until_state(it, run_id, "WAITING") if code.value in _RETRIED else ended(it, run_id))

        assert run["steps"][0]["failure"] == {"code": code.name, "message": f"{code.value} as told."}
        if code.value in _RETRIED:
            continue
        failure = run["failure"]
        assert run["state"] == "FAILED"
        assert (failure["code"], failure["class"]) == (code.name, Failure(code, "").failure_class.name)
        assert failure["cause"] == FAILURE_WORDS[code].cause
        assert failure["remedy"] == FAILURE_WORDS[code].remedy.name
        assert failure["fixableBy"] == WHO_CAN_FIX[FAILURE_WORDS[code].remedy]
        assert (failure["hint"], failure["retryable"]) == ("Ask for another code.", False)
        assert (failure["stepKey"], failure["safeToRepeat"]) == ("call", True)
        assert run["actions"] == ["RESUME", "RERUN", "ACKNOWLEDGE", "DELETE"]


async def test_outside_effects_are_not_safe_to_repeat(it: Product) -> None:
    answer = await command(it, "runPack", pack="test.external", input={"times": 1}, waitSeconds=20)
    assert answer["run"]["failure"]["safeToRepeat"] is False
    keyed = await command(it, "runPack", pack="test.keyed", input={"times": 9, "code": "not_found"}, waitSeconds=20)
    assert keyed["run"]["failure"]["safeToRepeat"] is True


async def test_long_values_are_cut_to_what_was_asked_for(it: Product) -> None:
    await save(it, "long", step("only", "test.echo", text="${{ inputs.text }}"))
    run = await ran(it, "long", {"text": "x" * 5000})

    data = await it.query(
        """query ($id: ID!) { run(id: $id) {
            whole: output(limitBytes: 6000) { json text nextOffset sizeBytes }
            cut: output(limitBytes: 5000) { json text nextOffset sizeBytes }
            steps {
                tiny: input(limitBytes: 10) { json text nextOffset }
                attempts { input(limitBytes: 10) { text } output { json } } } } }
        """,
        {"id": run["id"]},
    )
    whole, cut = data["run"]["whole"], data["run"]["cut"]
    assert whole["json"]["text"] == "x" * 5000
    assert (whole["text"], whole["nextOffset"]) == (None, None)
    assert (cut["json"], len(cut["text"]), cut["nextOffset"]) == (None, 5000, 5000)
    assert cut["sizeBytes"] == whole["sizeBytes"] > 5000
    tiny = {"json": None, "text": '{"text":"x', "nextOffset": 10}
    attempt = {"input": {"text": tiny["text"]}, "output": {"json": whole["json"]}}
    assert data["run"]["steps"] == [{"tiny": tiny, "attempts": [attempt]}]


async def test_a_long_value_is_read_in_parts_of_whole_characters(it: Product) -> None:
    await save(it, "long", step("only", "test.echo", text="${{ inputs.text }}"))
    run = await ran(it, "long", {"text": "süß, 茶, 🍵 " * 5})
    document = """query ($id: ID!, $offset: Long, $limit: Int) { run(id: $id) {
        output(offset: $offset, limitBytes: $limit) { json text nextOffset sizeBytes } } }"""

    async def part(offset: int, limit: int) -> Any:
        return (await it.query(document, {"id": run["id"], "offset": offset, "limit": limit}))["run"]["output"]

    for limit in (1, 7, 20):
        read, offset = "", 0
        while offset is not None:
            found = await part(offset, limit)
            assert 0 < len(found["text"].encode()) <= max(limit, 4)
            read, offset = read + found["text"], found["nextOffset"]
        assert json.loads(read) == run["output"]["json"]
        assert len(read.encode()) == found["sizeBytes"]
    assert await part(10_000, 7) == {"json": None, "text": "", "nextOffset": None, "sizeBytes": len(read.encode())}
    for offset, limit in ((-1, 7), (0, 0), (0, (1 << 20) + 1)):
        refused = await it.answer(document, {"id": run["id"], "offset": offset, "limit": limit})
        assert refused.codes == ["INVALID"]


async def test_lists_are_filtered(it: Product, bench: Workbench) -> None:
    echo = await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
    await save(it, "switch", step("only", "test.switch", text="${{ inputs.text }}"))
    token = await it.token_for("ben", "RUN", "READ")
    good = await ran(it, "echo", {"text": "good tea"})
    bad = await ran(it, "switch", {"text": "bad tea"})
    bens = await ran(it, "echo", {"text": "coffee"}, token=token)
    call = (await command(it, "runPack", pack="test.echo", input={"text": "direct"}, waitSeconds=20))["run"]
    again = (await command(it, "rerunRun", id=bad["id"], waitSeconds=20))["run"]
    runs = [again, call, bens, bad, good]

    async def listed(**wanted: object) -> list[dict[str, object]]:
        data = await it.query(
            "query ($filter: RunFilter) { runs(filter: $filter) { totalCount nodes { id } } }", {"filter": wanted}
        )
        found = [node["id"] for node in data["runs"]["nodes"]]
        assert data["runs"]["totalCount"] == len(found)
        return [run for run in runs if run["id"] in found] if set(found) <= {run["id"] for run in runs} else found

    assert await listed() == runs
    assert await listed(states=["FAILED"]) == [again, bad]
    assert await listed(states=["SUCCEEDED"], pipelines=["echo"]) == [bens, good]
    assert await listed(pipelines=[echo, "switch"]) == [again, bens, bad, good]
    assert await listed(pipelines=["nothing"]) == []
    assert await listed(packs=["test.echo"]) == [call]
    assert await listed(callers=[bens["caller"]["id"]]) == [bens]
    assert await listed(causes=["RERUN"]) == [again]
    assert await listed(causes=["PERSON", "RERUN"]) == runs
    assert await listed(rerunOf=bad["id"]) == [again]
    assert await listed(text="TEA good") == [good]
    assert await listed(text="switch is off") == [again, bad]
    assert await listed(states=[]) == []
    assert await listed(createdFrom=call["createdAt"]) == [again, call]
    assert await listed(createdBefore=bens["createdAt"]) == [bad, good]
    assert await listed(needsAttention=True) == [again, bad]
    assert await listed(needsAttention=False) == [call, bens, good]

    await command(it, "acknowledgeRun", id=again["id"])
    assert await listed(needsAttention=True) == [bad]
    bench.failing = False
    runs.insert(0, (await command(it, "rerunRun", id=again["id"], waitSeconds=20))["run"])
    assert await listed(needsAttention=True) == []  # a re-run of its re-run has succeeded


async def test_pages_go_both_ways(it: Product) -> None:
    made = []
    for number in range(5):
        answer = await command(it, "runPack", pack="test.echo", input={"text": f"{number}"}, waitSeconds=20)
        made.insert(0, answer["run"]["id"])

    async def page(arguments: str) -> tuple[list[str], dict[str, object]]:
        data = await it.query(
            f"{{ runs({arguments}) {{ edges {{ cursor node {{ id }} }} nodes {{ id }} "
            "pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"
        )
        edges = data["runs"]["edges"]
        assert [edge["node"] for edge in edges] == data["runs"]["nodes"]
        info = data["runs"]["pageInfo"]
        if edges:
            assert (info["startCursor"], info["endCursor"]) == (edges[0]["cursor"], edges[-1]["cursor"])
        return [edge["node"]["id"] for edge in edges], info

    first, info = await page("first: 2")
    assert (first, info["hasNextPage"], info["hasPreviousPage"]) == (made[:2], True, False)
    second, info = await page(f'first: 2, after: "{info["endCursor"]}"')
    assert (second, info["hasNextPage"], info["hasPreviousPage"]) == (made[2:4], True, True)
    rest, end = await page(f'first: 2, after: "{info["endCursor"]}"')
    assert (rest, end["hasNextPage"]) == (made[4:], False)
    back, info = await page(f'last: 2, before: "{end["startCursor"]}"')
    assert (back, info["hasNextPage"], info["hasPreviousPage"]) == (made[2:4], True, True)
    last, info = await page("last: 2")
    assert (last, info["hasNextPage"], info["hasPreviousPage"]) == (made[3:], False, True)
    assert (await page("first: 0"))[0] == []


async def test_cursors_of_something_else_are_refused(it: Product) -> None:
    run = (await command(it, "runPack", pack="test.echo", input={}, waitSeconds=20))["run"]
    other = (await command(it, "runPack", pack="test.echo", input={"text": "2"}, waitSeconds=20))["run"]
    foreign = RUNS.encode((run["id"],))
    for field, cursor in (
        ("runs", run["eventCursor"]),
        ("artifacts", foreign),
        ("runs", "nonsense"),
        ("waitRun", foreign),
        ("waitRun", other["eventCursor"]),
    ):
        arguments = f'after: "{cursor}"' + (f', id: "{run["id"]}", waitSeconds: 0' if field == "waitRun" else "")
        select = "timedOut" if field == "waitRun" else "nodes { id }"
        answer = await it.answer(f"{{ {field}({arguments}) {{ {select} }} }}")
        assert answer.codes == ["INVALID"], (field, cursor, answer.body)
    inside = f'{{ run(id: "{run["id"]}") {{ events(after: "{other["eventCursor"]}") {{ nodes {{ sequence }} }} }} }}'
    assert (await it.answer(inside)).codes == ["INVALID"]


async def test_both_ends_at_once_and_too_large_pages_are_refused(it: Product) -> None:
    for arguments in ("first: 1, last: 1", "first: 101", "first: -1"):
        assert (await it.answer(f"{{ runs({arguments}) {{ nodes {{ id }} }} }}")).codes == ["INVALID"]


async def test_the_history_is_paged_with_the_cursors_of_the_stream(it: Product) -> None:
    run = (await command(it, "runPack", pack="test.echo", input={}, waitSeconds=20))["run"]

    async def page(arguments: str) -> list[dict[str, object]]:
        data = await it.query(
            f"query ($id: ID!) {{ run(id: $id) {{ events({arguments}) {{ nodes {{ __typename sequence cursor "
            "run { id } ... on RunStateChanged { previousRunState runState } } } } }",
            run,
        )
        nodes: list[dict[str, object]] = data["run"]["events"]["nodes"]
        return nodes

    events = await page("first: 500")
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["__typename"] == "RunStateChanged"
    assert (events[0]["previousRunState"], events[0]["runState"]) == (None, "QUEUED")
    assert events[-1]["runState"] == "SUCCEEDED"
    assert events[-1]["cursor"] == run["eventCursor"]
    assert await page(f'first: 2, after: "{events[1]["cursor"]}"') == events[2:4]
    assert await page(f'last: 2, before: "{events[4]["cursor"]}"') == events[2:4]


async def test_a_look_at_a_run_reads_the_attempts_of_its_steps_together(it: Product) -> None:
    await save(it, "three", *(step(name, "test.echo", text="${{ inputs.text }}") for name in ("a", "b", "c")))
    run = await ran(it, "three", {"text": "t"})
    query = "query ($id: ID!) { run(id: $id) { pipeline { key } steps { key packVersion artifacts { id } } } }"
    with statements() as seen:
        data = await it.query(query, {"id": run["id"]})
    assert [one["packVersion"] for one in data["run"]["steps"]] == ["1.0.0"] * 3
    read = [statement.partition(" FROM ")[2].split()[0] for statement in seen if "memory_due" not in statement]
    assert sorted(read) == ["artifact", "attempt", "pipeline", "run", "run_step"]


async def test_a_clock_set_back_makes_no_time_negative(it: Product) -> None:
    await save(it, "one", step("only", "test.echo", text="t"))
    run = await ran(it, "one", {})
    earlier = Sql("UPDATE attempt SET ended_at = :at WHERE run_id = :id")
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    await it.services.store.write(lambda conn: conn.run(earlier, {"at": hour_ago, "id": run["id"]}))
    data = await it.query("query ($id: ID!) { run(id: $id) { workSeconds } }", {"id": run["id"]})
    assert data["run"]["workSeconds"] == 0


async def test_a_long_list_takes_a_fixed_number_of_statements(it: Product, bench: Workbench) -> None:
    await save(it, "one", step("only", "test.echo", text="${{ inputs.text }}"))
    await save(it, "two", step("a", "test.artifact"), step("b", "test.switch", text="${{ inputs.text }}"))
    query = f'{{ runs(first: 100) {{ nodes {{ {RUN} workSeconds step(key: "a") {{ key }} }} }} }}'

    async def remembered() -> bool:
        return not (await it.services.store.read(select(RUN_TABLE.c.id).where(RUN_TABLE.c.memory_due))).all()

    async def counted() -> int:
        await eventually(remembered)  # memory takes up what has ended by itself, beside requests
        with statements() as seen:
            await it.query(query)
        return len([statement for statement in seen if "memory_due" not in str(statement)])

    for number in range(2):
        await ran(it, "one", {"text": f"{number}"})
        await ran(it, "two", {"text": f"{number}"})
    few = await counted()
    for number in range(2, 12):
        await ran(it, "one", {"text": f"{number}"})
        await ran(it, "two", {"text": f"{number}"})
    assert await counted() == few
    # runs, the two pipelines each by itself, inputs, callers, versions; steps, milestones, artifacts; attempts by step
    # and by id, and the outputs of those
    assert few == 12


async def test_queued_runs_of_a_list_are_placed_by_one_statement(tmp_path: Path, bench: Workbench) -> None:
    async with product(tmp_path, bench.packs, caller_concurrent_runs=1) as it:
        await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}"))
        for number in range(6):
            await start(it, "slow", {"text": f"{number}"})
        await bench.started.wait()
        with statements() as seen:
            data = await it.query("{ runs { nodes { wait { message } } } }")
        assert [node["wait"] and node["wait"]["message"] for node in data["runs"]["nodes"]] == [
            *(f"{number} runs of yours ahead" for number in (4, 3, 2)),
            "1 run of yours ahead",
            "starts next",
            None,
        ]
        assert len([statement for statement in seen if "memory_due" not in str(statement)]) == 2
        bench.release.set()


async def test_the_list_itself_is_one_statement(it: Product) -> None:
    await command(it, "runPack", pack="test.echo", input={}, waitSeconds=20)
    with statements() as seen:
        await it.query("{ runs(first: 100) { nodes { id title state createdAt progress } } }")
    assert len(seen) == 1


async def test_the_quick_list_tells_the_same_as_the_whole_one(it: Product) -> None:
    await command(it, "runPack", pack="test.fail", input={}, waitSeconds=20)
    for number in range(3):
        await command(it, "runPack", pack="test.echo", input={"text": f"{number}"}, waitSeconds=20)
    token = await it.token_for("ben", "RUN", "READ")
    await command(it, "runPack", token, pack="test.echo", input={}, waitSeconds=20)
    await save(it, "one", step("only", "test.echo", text="${{ inputs.text }}"))
    await ran(it, "one", {"text": "tea"})
    nested = "pipeline { key } pack { name } failure { code message }"
    quick = "id title state cause clientName createdAt startedAt endedAt deadlineAt progress resumeCount acknowledgedAt"

    for arguments in ("first: 100", "first: 2", "last: 2"):
        for asker in (None, token):
            data = await it.query(
                f"""query ($more: Boolean!) {{
                    whole: runs({arguments}) {{
                        nodes {{ {quick} {nested} inputs }} pageInfo {{ endCursor }} totalCount }}
                    quick: runs({arguments}) {{ nodes {{ {quick} {nested} }} pageInfo {{ endCursor }} totalCount }}
                    edges: runs({arguments}) {{ edges {{ node {{ ...Head }} cursor }} }}
                    typed: runs({arguments}) {{ nodes {{ __typename ... on Run {{ number: resumeCount }} }} }}
                    both: runs({arguments}) {{ nodes {{ id }} edges {{ node {{ inputs @include(if: $more) }} }} }} }}
                fragment Head on Run {{ {quick} ... on Node {{ id }} }}""",
                {"more": False},
                token=asker,
            )
            told = [
                {name: value for name, value in node.items() if name != "inputs"} for node in data["whole"]["nodes"]
            ]
            assert told == data["quick"]["nodes"]
            whole = [{name: node[name] for name in quick.split()} for node in told]
            assert whole == [edge["node"] for edge in data["edges"]["edges"]]
            assert data["whole"]["pageInfo"] == data["quick"]["pageInfo"]
            assert data["whole"]["totalCount"] == data["quick"]["totalCount"]
            assert data["typed"]["nodes"] == [{"__typename": "Run", "number": 0} for _ in whole]
            assert [node["id"] for node in data["both"]["nodes"]] == [node["id"] for node in whole]
