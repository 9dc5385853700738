"""Live events through the front door: sockets and streams, from any position, through reconnects and restarts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import runner.running.progress
from packline import PackContext, pack
from resolvers.runs import watching
from schema.base.cursors import EVENTS, LOG_LINES, OUTPUT
from tests.support.front_door import command, look, ran, save, start, step
from tests.support.graphql_client import PATIENCE_SECONDS, OperationFailed
from tests.support.packs import Echoed, Text, Workbench
from tests.support.page_documents import page_document
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from schema.runs.events import RunEvent
    from store.runs.events import EventRecord
    from tests.support.product import Product

EVENTS_OF = """
    subscription ($id: ID!, $after: Cursor) { runEvents(id: $id, after: $after) {
        __typename
        ... on RunEventBatch { live cursor events {
            __typename sequence cursor at run { id }
            ... on RunStateChanged { previousRunState runState reason }
            ... on StepStateChanged { previousStepState stepState runStep { key } }
            ... on AttemptStateChanged { attemptState attempt { number } }
            ... on StepProgressed { milestone { fraction message } runStep { key } }
            ... on ArtifactChanged { artifactStatus artifact { name } } } }
        ... on RunEventGap { cursor missed run { id state } }
        ... on RunEventsEnd { cursor run { id state resumeCount } } } }
"""
CHANGES = """
    subscription ($filter: RunFilter) { runChanges(filter: $filter) {
        runs { id title state } deletedIds more } }
"""
OUTPUT_OF = """
    subscription ($id: ID!, $after: Cursor) { attemptOutput(id: $id, after: $after) {
        __typename
        ... on AttemptOutputBatch { live cursor lines { at level text } }
        ... on AttemptOutputEnd { cursor attempt { id state } } } }
"""


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def it(tmp_path: Path, bench: Workbench) -> AsyncIterator[Product]:
    async with product(tmp_path, bench.packs) as running:
        yield running


async def watched(it: Product, run_id: str, after: str | None = None) -> list[dict[str, Any]]:
    """Every message until the server completes."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [message async for message in it.subscribe(EVENTS_OF, {"id": run_id, "after": after})]


def events_in(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for message in messages for event in message.get("events", ())]


def told(event: dict[str, Any]) -> str:
    """An event in one line."""
    match event["__typename"]:
        case "RunStateChanged":
            return f"run {event['runState']}"
        case "StepStateChanged":
            return f"{event['runStep']['key']} {event['stepState']}"
        case "AttemptStateChanged":
            return f"attempt {event['attempt']['number']} {event['attemptState']}"
        case "StepProgressed":
            return f"{event['runStep']['key']} at {event['milestone']['fraction']:.0%}"
        case _:
            return f"artifact {event['artifact']['name']} {event['artifactStatus']}"


async def test_a_run_is_told_from_its_first_event_to_its_end(it: Product) -> None:
    await save(it, "two", step("a", "test.artifact", name="a.txt"), step("b", "test.progress", count=1))
    run = await ran(it, "two")

    messages = await watched(it, run["id"])

    events = events_in(messages)
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    assert [told(event) for event in events] == [
        "run QUEUED",
        "run RUNNING",
        "a RUNNING",
        "attempt 1 RUNNING",
        "artifact a.txt STORED",
        "attempt 1 SUCCEEDED",
        "a SUCCEEDED",
        "b RUNNING",
        "attempt 1 RUNNING",
        "b at 100%",
        "attempt 1 SUCCEEDED",
        "b SUCCEEDED",
        "run SUCCEEDED",
    ]
    assert events[0]["previousRunState"] is None
    assert all(event["run"]["id"] == run["id"] for event in events)
    assert messages[-1]["__typename"] == "RunEventsEnd"
    assert messages[-1]["run"]["state"] == "SUCCEEDED"
    assert messages[-1]["cursor"] == events[-1]["cursor"] == run["eventCursor"]


async def test_a_run_is_told_while_it_goes_on(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"))
    run = (await start(it, "slow"))["run"]
    seen: list[dict[str, Any]] = []

    async with asyncio.timeout(PATIENCE_SECONDS):
        async for message in it.subscribe(EVENTS_OF, {"id": run["id"]}):
            seen.append(message)
            if any(told(event) == "attempt 1 RUNNING" for event in message.get("events", ())):
                bench.release.set()

    assert any(message.get("live") for message in seen)
    assert told(events_in(seen)[-1]) == "run SUCCEEDED"
    assert [event["sequence"] for event in events_in(seen)] == list(range(1, len(events_in(seen)) + 1))


async def test_what_batches_tell_of_a_run_and_its_steps_keeps_the_page_of_the_run_true(
    it: Product, bench: Workbench
) -> None:
    await save(
        it,
        "page",
        step("wait", "test.slow"),
        step("file", "test.artifact", name="a.txt"),
        step("tell", "test.progress", count=3),
        step("fail", "test.switch", text="no"),
        step("never", "test.echo", text="x"),
    )
    run_id = (await start(it, "page"))["run"]["id"]
    await bench.started.wait()
    shown = (await it.query(page_document("RunPage"), {"id": run_id}))["run"]
    steps = {step["id"]: step for step in shown["steps"]}
    bench.release.set()

    async with asyncio.timeout(PATIENCE_SECONDS):
        async for message in it.subscribe(page_document("RunEvents"), {"id": run_id, "after": shown["eventCursor"]}):
            shown |= message.get("run", {})
            ids = [step["id"] for step in message.get("changedSteps", ())]
            assert len(ids) == len(set(ids))
            for changed in (
                *message.get("changedSteps", ()),
                *(e.get("runStep", {}) for e in message.get("events", ())),
            ):
                if changed:
                    steps[changed["id"]] |= changed

    now = (await it.query(page_document("RunPage"), {"id": run_id}))["run"]
    assert now["state"] == "FAILED"
    assert list(steps.values()) == now["steps"]
    derived = {"steps", "currentStep", "workSeconds"}  # the page makes the latter two from the steps
    assert {**shown, **dict.fromkeys(derived)} == {**now, **dict.fromkeys(derived)}


async def test_a_batch_names_the_steps_that_its_events_changed_and_no_other(it: Product) -> None:
    await save(it, "three", *(step(key, "test.echo", text="x") for key in ("a", "b", "c")))
    run = await ran(it, "three")
    document = """subscription ($id: ID!, $after: Cursor) { runEvents(id: $id, after: $after) {
        ... on RunEventBatch { run { state } changedSteps { key state } events { cursor } } } }"""

    async def batch(after: str | None) -> dict[str, Any]:
        async for message in it.subscribe(document, {"id": run["id"], "after": after}):
            assert isinstance(message, dict)
            return message
        raise AssertionError("nothing was told")

    everything = await batch(None)
    assert everything["run"] == {"state": "SUCCEEDED"}
    assert everything["changedSteps"] == [{"key": key, "state": "SUCCEEDED"} for key in ("a", "b", "c")]
    last_four = await batch(everything["events"][-6]["cursor"])
    assert [step["key"] for step in last_four["changedSteps"]] == ["c"]
    end = await batch(everything["events"][-2]["cursor"])
    assert end["changedSteps"] == []


async def test_server_sent_events_tell_the_same(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="x"))
    run = await ran(it, "echo")
    frames = [frame async for frame in it.admin.stream(EVENTS_OF, {"id": run["id"]})]
    told_here = [data["data"]["runEvents"] for name, data in frames if name == "next" and data is not None]
    assert told_here == await watched(it, run["id"])
    assert frames[-1][0] == "complete"

    cursor = events_in(told_here)[3]["cursor"]
    frames = [frame async for frame in it.admin.stream(EVENTS_OF, {"id": run["id"], "after": cursor})]
    rest = [data["data"]["runEvents"] for name, data in frames if name == "next" and data is not None]
    assert events_in(rest) == events_in(told_here)[4:]


async def test_a_reader_goes_on_after_any_position(it: Product) -> None:
    await save(it, "echo", step("a", "test.echo", text="x"), step("b", "test.echo", text="y"))
    run = await ran(it, "echo")
    everything = events_in(await watched(it, run["id"]))
    for position in (1, 5, len(everything)):
        messages = await watched(it, run["id"], everything[position - 1]["cursor"])
        assert events_in(messages) == everything[position:]
        assert messages[-1]["__typename"] == "RunEventsEnd"
        assert messages[-1]["cursor"] == everything[-1]["cursor"]


async def test_what_is_read_with_a_run_joins_what_is_watched_after_it(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"))
    run = (await start(it, "slow"))["run"]
    await bench.started.wait()
    page = "events(first: 500) { nodes { sequence } }"
    read = await look(it, run["id"], select=page)
    bench.release.set()
    after = events_in(await watched(it, run["id"], read["eventCursor"]))
    sequences = [event["sequence"] for event in (*read["events"]["nodes"], *after)]
    assert sequences == list(range(1, len(sequences) + 1))


async def test_a_reader_reconnects_without_a_gap_or_a_repeat(it: Product, bench: Workbench) -> None:
    await save(
        it, "slow", step("a", "test.progress", count=3), step("b", "test.slow"), step("c", "test.echo", text="x")
    )
    run = (await start(it, "slow"))["run"]
    seen: list[dict[str, Any]] = []
    cursor = None
    for _ in range(3):  # drops its connection after the first message each time
        async with it.socket() as socket, asyncio.timeout(PATIENCE_SECONDS):
            async for payload in socket.subscribe(EVENTS_OF, {"id": run["id"], "after": cursor}):
                message = payload["data"]["runEvents"]
                seen += message.get("events", ())
                cursor = message["cursor"]
                break
        if "b RUNNING" in {told(event) for event in seen}:
            bench.release.set()  # nothing more is told until then
    bench.release.set()
    seen += events_in(await watched(it, run["id"], cursor))
    assert [event["sequence"] for event in seen] == list(range(1, len(seen) + 1))
    assert told(seen[-1]) == "run SUCCEEDED"


async def test_a_restart_of_the_server_loses_and_repeats_nothing(tmp_path: Path, bench: Workbench) -> None:
    seen: list[dict[str, Any]] = []
    cursor = None
    async with product(tmp_path, bench.packs, shutdown_grace_seconds=0) as it:
        await save(it, "slow", step("a", "test.echo", text="x"), step("b", "test.slow"))
        run = (await start(it, "slow"))["run"]
        await bench.started.wait()
        async with it.socket() as socket, asyncio.timeout(PATIENCE_SECONDS):
            async for payload in socket.subscribe(EVENTS_OF, {"id": run["id"]}):
                message = payload["data"]["runEvents"]
                seen += message["events"]
                cursor = message["cursor"]
                if "b RUNNING" in {told(event) for event in message["events"]}:
                    break
    bench.release.set()
    async with product(tmp_path, bench.packs) as it:
        messages = await watched(it, run["id"], cursor)
        seen += events_in(messages)
        assert messages[-1]["run"]["state"] == "SUCCEEDED"
        assert [event["sequence"] for event in seen] == list(range(1, len(seen) + 1))
        assert "attempt 1 LOST" in {told(event) for event in seen}
        assert bench.calls("test.echo") == 1  # its success was recorded; it does not run again


async def test_a_resume_adds_events_after_the_end(it: Product, bench: Workbench) -> None:
    await save(it, "switch", step("only", "test.switch"))
    run = await ran(it, "switch")
    first = await watched(it, run["id"])
    assert (first[-1]["run"]["state"], first[-1]["run"]["resumeCount"]) == ("FAILED", 0)

    bench.failing = False
    await command(it, "resumeRun", id=run["id"], waitSeconds=20)

    more = await watched(it, run["id"], first[-1]["cursor"])
    sequences = [event["sequence"] for event in (*events_in(first), *events_in(more))]
    assert sequences == list(range(1, len(sequences) + 1))
    assert (told(events_in(more)[0]), events_in(more)[0]["previousRunState"]) == ("run QUEUED", "FAILED")
    assert (more[-1]["run"]["state"], more[-1]["run"]["resumeCount"]) == ("SUCCEEDED", 1)
    whole = await watched(it, run["id"])
    assert events_in(whole) == [*events_in(first), *events_in(more)]
    assert [message["__typename"] for message in whole].count("RunEventsEnd") == 1


async def test_positions_that_do_not_fit_are_told(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="x"))
    run, other = await ran(it, "echo"), await ran(it, "echo")
    for cursor in (other["eventCursor"], "nonsense", OUTPUT.encode((run["id"], 1))):
        with pytest.raises((OperationFailed, AssertionError), match="INVALID"):
            await watched(it, run["id"], cursor)
    with pytest.raises((OperationFailed, AssertionError), match="NOT_FOUND"):
        await watched(it, "run_01J00000000000000000000000")
    # A position that was never reached, as after a restored backup: the reader is told to read again.
    ahead = await watched(it, run["id"], EVENTS.encode((run["id"], 10_000)))
    assert [message["__typename"] for message in ahead] == ["RunEventGap", "RunEventsEnd"]
    assert (ahead[0]["cursor"], ahead[0]["missed"]) == (run["eventCursor"], None)
    assert ahead[0]["run"] == {"id": run["id"], "state": "SUCCEEDED"}


async def test_many_watch_one_run(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"))
    run = (await start(it, "slow"))["run"]
    readers = [asyncio.create_task(watched(it, run["id"])) for _ in range(10)]
    await bench.started.wait()
    bench.release.set()
    everything = [events_in(messages) for messages in await asyncio.gather(*readers)]
    assert all(events == everything[0] for events in everything)


async def test_an_event_is_answered_for_each_of_its_readers(
    it: Product, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same document with the same variables, asked by callers who may do different things with the run."""
    document = """
        subscription ($id: ID!, $kinds: Boolean!) { runEvents(id: $id) {
            ... on RunEventBatch { events {
                sequence kind: __typename @include(if: $kinds) ... on RunStateChanged { run { state actions } } } }
            ... on RunEventsEnd { run { state actions } } } }
    """
    callers = {
        "anna": (await it.token_for("anna", "READ", "RUN"), ["RERUN"]),
        "eve": (await it.token_for("eve", "OBSERVE"), []),
        "boss": (None, ["RERUN", "PROMOTE", "DELETE"]),
    }
    from schema import subscription  # here, since `schema.build` has to come first

    made: list[int] = []
    event_of = subscription.event_of

    def noted(record: EventRecord) -> RunEvent:
        made.append(record.sequence)
        return event_of(record)

    monkeypatch.setattr(subscription, "event_of", noted)
    await save(it, "slow", step("only", "test.slow"))
    run = (await start(it, "slow", token=callers["anna"][0]))["run"]

    begun = asyncio.Barrier(13)  # all readers and this test: what comes behind it is told to all of them alike

    async def read(token: str | None, kinds: bool) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        async with asyncio.timeout(PATIENCE_SECONDS):
            async for message in it.subscribe(document, {"id": run["id"], "kinds": kinds}, token=token):
                messages.append(message)
                if len(messages) == 1:
                    await begun.wait()
        return messages

    asked = [(caller, kinds) for caller in callers for kinds in (True, False) for _ in range(2)]
    await bench.started.wait()
    readers = [asyncio.create_task(read(callers[caller][0], kinds)) for caller, kinds in asked]
    async with asyncio.timeout(PATIENCE_SECONDS):
        await begun.wait()
    bench.release.set()
    for (caller, kinds), messages in zip(asked, await asyncio.gather(*readers), strict=True):
        told = events_in(messages)
        assert [event["sequence"] for event in told] == list(range(1, len(told) + 1))
        assert {"kind" in event for event in told} == {kinds}
        ended = {"state": "SUCCEEDED", "actions": callers[caller][1]}
        assert (told[-1]["run"], messages[-1]["run"]) == (ended, ended), caller
        assert made.count(told[-1]["sequence"]) == len(asked), "each reader's message is its own"


# -- lists -------------------------------------------------------------------------------------------------


class Changes:
    """A subscription to `runChanges`, read message by message."""

    def __init__(self, messages: AsyncIterator[Any]) -> None:
        self._messages = messages

    async def next(self) -> Any:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await anext(self._messages)

    async def until(self, run_id: str, state: str) -> None:
        """Reads until a run was told in a state."""
        while not any(run["id"] == run_id and run["state"] == state for run in (await self.next())["runs"]):
            pass


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are told at once instead of once a second."""
    monkeypatch.setattr(watching, "CHANGES_SECONDS", 0.01)


async def opened(it: Product, token: str | None = None, **wanted: Any) -> Changes:
    changes = Changes(it.subscribe(CHANGES, {"filter": wanted}, token=token))
    assert await changes.next() == {"runs": [], "deletedIds": [], "more": False}
    return changes


async def test_a_list_is_told_at_most_once_a_second(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
    changes = await opened(it)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    first = await ran(it, "echo", {"text": "1"})
    await changes.next()
    rest = [await ran(it, "echo", {"text": f"{number}"}) for number in range(2, 6)]
    await changes.until(rest[-1]["id"], "SUCCEEDED")
    assert loop.time() - begun >= 0.9
    assert first["state"] == "SUCCEEDED"


@pytest.mark.usefixtures("quick")
async def test_a_list_is_told_of_runs_that_appear_change_and_go(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow"))
    changes = await opened(it)
    run = (await start(it, "slow"))["run"]
    await changes.until(run["id"], "RUNNING")
    bench.release.set()
    await changes.until(run["id"], "SUCCEEDED")
    await command(it, "deleteRun", id=run["id"])
    while run["id"] not in (await changes.next())["deletedIds"]:
        pass


@pytest.mark.usefixtures("quick")
async def test_a_list_is_told_of_what_leaves_it(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}"))
    run = (await start(it, "slow", {"text": "tea"}))["run"]
    await bench.started.wait()
    changes = await opened(it, states=["QUEUED", "RUNNING"])  # it matched before anybody watched
    bench.release.set()
    await changes.until(run["id"], "SUCCEEDED")
    # Once told it is out of the list for good.
    await command(it, "deleteRun", id=run["id"])
    bench.release.clear()
    other = (await start(it, "slow", {"text": "coffee"}))["run"]
    await changes.until(other["id"], "RUNNING")
    bench.release.set()


@pytest.mark.usefixtures("quick")
async def test_a_filtered_list_is_told_of_nothing_else(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="x"))
    await save(it, "fail", step("only", "test.fail"))
    changes = await opened(it, states=["FAILED"], pipelines=["fail"])
    await ran(it, "echo")
    failed = await ran(it, "fail")
    message = await changes.next()
    assert [run["id"] for run in message["runs"]] == [failed["id"]]


@pytest.mark.usefixtures("quick")
async def test_what_a_later_rerun_settles_leaves_the_list_of_what_needs_attention(
    it: Product, bench: Workbench
) -> None:
    await save(it, "switch", step("only", "test.switch"))
    failed = await ran(it, "switch")
    again = (await command(it, "rerunRun", id=failed["id"], waitSeconds=20))["run"]
    changes = await opened(it, needsAttention=True)
    bench.failing = False
    await command(it, "rerunRun", id=again["id"], waitSeconds=20)
    left = {run["id"] for run in (await changes.next())["runs"]}
    while not left >= {failed["id"], again["id"]}:
        left |= {run["id"] for run in (await changes.next())["runs"]}


@pytest.mark.usefixtures("quick")
async def test_callers_are_told_of_their_own_runs_alone(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="x"))
    token = await it.token_for("ben", "RUN", "READ", "WRITE")
    older = await ran(it, "echo", token=token)
    mine, all_of_them = await opened(it, token), await opened(it)
    theirs = await ran(it, "echo")
    await all_of_them.until(theirs["id"], "SUCCEEDED")
    own = await ran(it, "echo", token=token)
    told_ids = set()
    while own["id"] not in told_ids:
        told_ids |= {run["id"] for run in (await mine.next())["runs"]}
    assert told_ids == {own["id"]}
    await all_of_them.until(own["id"], "SUCCEEDED")

    await command(it, "deleteRun", id=theirs["id"])
    await command(it, "deleteRun", token, id=older["id"])  # never told here, but it may be on the list
    gone: set[str] = set()
    while older["id"] not in gone:
        gone |= set((await mine.next())["deletedIds"])
    assert gone == {older["id"]}


# -- output ------------------------------------------------------------------------------------------------


async def output(it: Product, attempt_id: str, after: str | None = None) -> list[dict[str, Any]]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [message async for message in it.subscribe(OUTPUT_OF, {"id": attempt_id, "after": after})]


async def test_a_log_is_told_from_any_line_to_its_end(it: Product) -> None:
    run = (await command(it, "runPack", pack="test.progress", input={"count": 4}, waitSeconds=20))["run"]
    attempt = run["steps"][0]["attempts"][0]["id"]

    messages = await output(it, attempt)
    lines = [line for message in messages for line in message.get("lines", ())]
    assert [line["text"] for line in lines] == ["did 1", "did 2", "did 3", "did 4"]
    assert {line["level"] for line in lines} == {"INFO"}
    assert messages[-1]["__typename"] == "AttemptOutputEnd"
    assert messages[-1]["attempt"] == {"id": attempt, "state": "SUCCEEDED"}
    assert [message["__typename"] for message in await output(it, attempt, messages[-1]["cursor"])] == [
        "AttemptOutputEnd"
    ]
    rest = await output(it, attempt, OUTPUT.encode((attempt, 2, 0)))
    assert [line["text"] for message in rest for line in message.get("lines", ())] == ["did 3", "did 4"]

    data = await it.query(
        """query ($id: ID!) { node(id: $id) { ... on Attempt {
            log(first: 2) { nodes { text } pageInfo { hasNextPage endCursor } } tail: log(last: 1) { nodes { text } }
            runStep { key } } } }""",
        {"id": attempt},
    )
    node = data["node"]
    assert [line["text"] for line in node["log"]["nodes"]] == ["did 1", "did 2"]
    assert node["log"]["pageInfo"]["hasNextPage"] is True
    assert (node["tail"]["nodes"], node["runStep"]) == ([{"text": "did 4"}], {"key": "call"})
    more = await it.query(
        "query ($id: ID!, $after: Cursor) "
        "{ node(id: $id) { ... on Attempt { log(after: $after) { nodes { text } } } } }",
        {"id": attempt, "after": node["log"]["pageInfo"]["endCursor"]},
    )
    assert [line["text"] for line in more["node"]["log"]["nodes"]] == ["did 3", "did 4"]


async def test_a_log_is_searched_and_read_from_a_line_on(it: Product) -> None:
    run = (await command(it, "runPack", pack="test.progress", input={"count": 12}, waitSeconds=20))["run"]
    attempt = run["steps"][0]["attempts"][0]["id"]
    query = """query ($id: ID!, $filter: LogLineFilter, $from: Int, $after: Cursor) { node(id: $id) { ... on Attempt {
        log(filter: $filter, fromLine: $from, after: $after) {
            totalCount nodes { number text } pageInfo { endCursor } } } } }"""

    async def lines(**given: Any) -> list[int]:
        log = (await it.query(query, {"id": attempt, **given}))["node"]["log"]
        wanted = given.get("filter")
        assert log["totalCount"] == (12 if wanted is None else len(log["nodes"]))
        return [line["number"] for line in log["nodes"]]

    assert await lines() == [*range(1, 13)]
    assert await lines(**{"from": 11}) == [11, 12]
    assert await lines(**{"from": 13}) == []
    assert await lines(filter={"text": "DID 1"}) == [1, 10, 11, 12]
    assert await lines(filter={"levels": ["ERROR"]}) == []
    for given, said in (
        ({"from": 0}, "`fromLine` is 0; lines are numbered from 1."),
        ({"from": 2, "after": LOG_LINES.encode((1,))}, "Pass `after` or `fromLine`, not both."),
        ({"filter": {"text": "x" * 1001}}, "A filter has 1001 characters; the limit is 1000."),
    ):
        answer = await it.answer(query, {"id": attempt, **given})
        assert [error["message"] for error in answer.errors] == [said]


async def test_a_log_is_told_live(tmp_path: Path, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner.running.progress, "LOG_SECONDS", 0.01)

    @pack("test.chatty", version="1.0.0", effects="none", repeatable=True)
    async def chatty(ctx: PackContext, given: Text) -> Echoed:
        """Says one thing, and another once it is released."""
        ctx.log("before", "warning")
        bench.started.set()
        await bench.release.wait()
        ctx.log("after\nand more")
        return Echoed(text=given.text)

    async with product(tmp_path, [chatty]) as it:
        run = (await command(it, "runPack", pack="test.chatty", input={}))["run"]
        await bench.started.wait()
        attempt = (await look(it, run["id"]))["steps"][0]["attempts"][0]["id"]
        lines: list[tuple[str, str]] = []
        async with it.socket() as socket, asyncio.timeout(PATIENCE_SECONDS):
            async for payload in socket.subscribe(OUTPUT_OF, {"id": attempt}):
                message = payload["data"]["attemptOutput"]
                lines += [(line["level"], line["text"]) for line in message["lines"]]
                break
        assert lines == [("WARNING", "before")]
        assert message["live"] is True
        bench.release.set()
        rest = await output(it, attempt, message["cursor"])
        lines += [(line["level"], line["text"]) for part in rest for line in part.get("lines", ())]
        assert lines == [("WARNING", "before"), ("INFO", "after"), ("INFO", "and more")]
        assert rest[-1]["attempt"]["state"] == "SUCCEEDED"


async def test_output_of_nothing_is_told(it: Product) -> None:
    run = (await command(it, "runPack", pack="test.echo", input={}, waitSeconds=20))["run"]
    attempt = run["steps"][0]["attempts"][0]["id"]
    with pytest.raises((OperationFailed, AssertionError), match="NOT_FOUND"):
        await output(it, "att_01J00000000000000000000000")
    with pytest.raises((OperationFailed, AssertionError), match="INVALID"):
        await output(it, attempt, EVENTS.encode((run["id"], 1)))
