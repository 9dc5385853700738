"""Starting runs through the front door: what is checked, what is found again, what is refused."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from unittest.mock import AsyncMock

import pytest

from packline import Missing, Pack, PackContext, Service, pack
from store.database.errors import StoreError, StoreFullError, StoreUncertainError
from store.runs import reads as run_reads
from tests.support.front_door import audit_rows, command, ended, look, ran, save, start, statements, step
from tests.support.packs import Echoed, Text, Workbench
from tests.support.product import product

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


async def _count(it: Product) -> int:
    return int((await it.query("{ runs { totalCount } }"))["runs"]["totalCount"])


async def test_the_same_start_twice_is_one_run(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}"))
    first = await start(it, "slow", {"text": "tea"})
    again = await start(it, "slow", {"text": "tea"})
    other = await start(it, "slow", {"text": "coffee"})

    assert (first["coalesced"], again["coalesced"], other["coalesced"]) == (False, True, False)
    assert again["run"]["id"] == first["run"]["id"] != other["run"]["id"]
    bench.release.set()
    await ended(it, first["run"]["id"])
    later = await start(it, "slow", {"text": "tea"}, wait=20)
    assert later["coalesced"] is False
    assert later["run"]["id"] != first["run"]["id"]


async def test_a_start_that_is_not_waited_for_tells_the_run_it_stored_without_reading_it_again(
    it: Product, bench: Workbench
) -> None:
    await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}"))
    with statements() as seen:
        found = (await start(it, "slow", {"text": "tea"}))["run"]
    assert run_reads._ONE_RUN.sqlite not in seen
    assert found["state"] in ("QUEUED", "RUNNING")
    with statements() as seen:
        now = (await start(it, "slow", {"text": "tea"}, wait=1))["run"]
    assert run_reads._ONE_RUN.sqlite in seen
    moves = {"state", "startedAt", "endedAt", "progress", "actions"}
    assert {name: value for name, value in now.items() if name not in moves} == {
        name: value for name, value in found.items() if name not in moves
    }
    bench.release.set()


async def test_starts_at_the_same_moment_are_one_run(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}"))
    answers = await asyncio.gather(*(start(it, "slow", {"text": "tea"}) for _ in range(8)))
    assert len({answer["run"]["id"] for answer in answers}) == 1
    assert sum(not answer["coalesced"] for answer in answers) == 1
    bench.release.set()


async def test_other_callers_and_versions_do_not_share_a_run(it: Product, bench: Workbench) -> None:
    await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}"))
    token = await it.token_for("ben", "RUN", "READ")
    mine, theirs = await start(it, "slow", {"text": "tea"}), await start(it, "slow", {"text": "tea"}, token=token)
    await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}!"))
    newer = await start(it, "slow", {"text": "tea"})
    older = await start(it, "slow", {"text": "tea"}, version=1)

    assert not theirs["coalesced"]
    assert not newer["coalesced"]
    assert (older["coalesced"], older["run"]["id"]) == (True, mine["run"]["id"])
    assert newer["run"]["version"]["number"] == 2
    bench.release.set()


async def test_a_run_keeps_its_version_whatever_is_saved_meanwhile(it: Product, bench: Workbench) -> None:
    await save(
        it, "notes", step("hold", "test.slow"), step("gate", "test.switch"), step("say", "test.echo", text="old")
    )
    run = (await start(it, "notes"))["run"]
    await bench.started.wait()
    await save(it, "notes", step("say", "test.echo", text="new"))
    bench.release.set()
    failed = await ended(it, run["id"])
    assert (failed["failure"]["stepKey"], failed["version"]["number"]) == ("gate", 1)

    bench.failing = False
    resumed = (await command(it, "resumeRun", id=run["id"], waitSeconds=20))["run"]
    again = (await command(it, "rerunRun", id=run["id"], waitSeconds=20))["run"]
    for kept in (resumed, again):
        assert (kept["output"]["json"]["text"], kept["version"]["number"]) == ("old", 1)
    assert (await ran(it, "notes"))["output"]["json"]["text"] == "new"


async def test_the_key_of_a_deleted_run_starts_no_second_one(it: Product, bench: Workbench) -> None:
    await save(it, "echo", step("only", "test.echo", text="tea"))
    first = await start(it, "echo", idempotencyKey="k1", wait=20)
    await command(it, "deleteRun", id=first["run"]["id"])
    again = await start(it, "echo", idempotencyKey="k1", wait=20)
    assert (again["__typename"], again["current"]) == ("ConflictProblem", None)
    assert first["run"]["id"] in again["message"]
    assert "new key" in again["hint"]
    assert bench.calls("test.echo") == 1
    assert (await start(it, "echo", idempotencyKey="k2", wait=20))["run"]["state"] == "SUCCEEDED"


async def test_a_start_whose_run_is_deleted_while_it_waits_is_a_conflict(
    it: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(it, "echo", step("only", "test.echo", text="tea"))
    engine = it.services.engine
    wait_ended = engine.wait_ended

    async def wait_and_delete(run_id: str, seconds: float, **how: bool) -> bool:
        """Another caller deletes the run before the waiting one reads it."""
        over = await wait_ended(run_id, seconds, **how)
        await command(it, "deleteRun", id=run_id)
        return over

    monkeypatch.setattr(engine, "wait_ended", wait_and_delete)
    for keys in ({}, {"idempotencyKey": "k1"}):
        gone = await start(it, "echo", wait=20, **keys)
        assert (gone["__typename"], gone["current"]) == ("ConflictProblem", None)
        assert "was deleted before" in gone["message"]


async def test_an_idempotency_key_finds_its_run_in_any_state(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
    first = await start(it, "echo", {"text": "tea"}, idempotencyKey="k1", wait=20)
    again = await start(it, "echo", {"text": "tea"}, idempotencyKey="k1")
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert again["run"] == first["run"]
    told = [row["detail"] for row in await audit_rows(it, "run_pipeline")]
    assert [(row["run"], row["replayed"]) for row in told] == [(first["run"]["id"], True), (first["run"]["id"], False)]

    clash = await start(it, "echo", {"text": "coffee"}, idempotencyKey="k1")
    assert (clash["__typename"], clash["code"]) == ("ConflictProblem", "CONFLICT")
    assert clash["current"] == {"__typename": "Run", "id": first["run"]["id"]}
    assert "k1" in clash["message"]
    refused = (await audit_rows(it, "run_pipeline"))[0]
    assert (refused["accepted"], refused["detail"]["current"]) == (False, first["run"]["id"])

    # What has changed since does not matter to a repeated request.
    await save(it, "echo", step("only", "test.echo", text="${{ inputs.topic }}"))
    assert (await start(it, "echo", {"text": "tea"}, idempotencyKey="k1"))["run"]["id"] == first["run"]["id"]
    assert await _count(it) == 1

    token = await it.token_for("ben", "RUN", "READ")
    theirs = await start(it, "echo", {"topic": "tea"}, idempotencyKey="k1", token=token, wait=20)
    assert theirs["replayed"] is False


async def test_pack_calls_and_reruns_have_keys_too(it: Product) -> None:
    call = await command(it, "runPack", pack="test.echo", input={"text": "1"}, idempotencyKey="k1", waitSeconds=20)
    again = await command(it, "runPack", pack="test.echo", input={"text": "1"}, idempotencyKey="k1")
    assert (again["replayed"], again["run"]["id"]) == (True, call["run"]["id"])
    clash = await command(it, "runPack", pack="test.echo", input={"text": "2"}, idempotencyKey="k1")
    assert clash["__typename"] == "ConflictProblem"
    rerun = await command(it, "rerunRun", id=call["run"]["id"], idempotencyKey="k2", waitSeconds=20)
    assert (await command(it, "rerunRun", id=call["run"]["id"], idempotencyKey="k2"))["run"] == rerun["run"]
    clash = await command(it, "rerunRun", id=call["run"]["id"], idempotencyKey="k1")
    assert clash["__typename"] == "ConflictProblem"


async def test_a_dry_run_checks_everything_and_starts_nothing(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
    fine = await start(it, "echo", {"text": "tea"}, dryRun=True, idempotencyKey="k1")
    assert (fine["__typename"], fine["run"]) == ("StartRunSuccess", None)
    assert (await start(it, "echo", {"tekst": "tea"}, dryRun=True))["__typename"] == "InvalidProblem"
    called = await command(it, "runPack", pack="test.echo", input={}, dryRun=True)
    assert (called["__typename"], called["run"]) == ("StartRunSuccess", None)
    assert await _count(it) == 0


async def test_input_issues_name_the_field_and_the_nearest_name(it: Product) -> None:
    await save(
        it,
        "typed",
        step("only", "test.echo", text="${{ inputs.topic }} ${{ inputs.count }}"),
        inputs={
            "type": "object",
            "required": ["topic"],
            "properties": {"topic": {"type": "string"}, "count": {"type": "integer", "default": 1}},
        },
    )
    refused = await start(it, "typed", {"topik": "tea", "count": "many"})
    assert (refused["__typename"], refused["code"], refused["retryable"]) == ("InvalidProblem", "INVALID", False)
    assert refused["summary"] == "The inputs do not fit pipeline typed"
    assert refused["message"] == f"{refused['summary']}: {refused['issues'][0]['message']}"
    issues = {(*issue["path"],): issue for issue in refused["issues"]}
    assert set(issues) == {("inputs", "topik"), ("inputs", "topic"), ("inputs", "count")}
    assert issues["inputs", "topik"]["hint"] == "Did you mean `topic`?"
    assert issues["inputs", "topic"]["rule"] == "required"
    assert all(issue["severity"] == "ERROR" for issue in issues.values())
    assert await _count(it) == 0

    run = await ran(it, "typed", {"topic": "tea"})
    assert run["inputs"] == {"topic": "tea", "count": 1}
    assert run["output"]["json"]["text"] == "tea 1"


@pytest.mark.parametrize("inputs", [[], "text", 1])
async def test_inputs_that_are_no_object_are_refused(inputs: object, it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
    run = await ran(it, "echo", {"text": "tea"})
    for field, given in (
        ("runPipeline", {"pipeline": "echo", "inputs": inputs}),
        ("runPack", {"pack": "test.echo", "input": inputs}),
        ("rerunRun", {"id": run["id"], "inputs": inputs}),
        ("resumeRun", {"id": run["id"], "inputs": inputs}),
    ):
        refused = await command(it, field, **given)
        assert refused["__typename"] == "InvalidProblem", refused
        assert "object" in refused["message"]
    preview = await it.answer(
        "query ($id: ID!, $inputs: JSON) { run(id: $id) { resumePreview(inputs: $inputs) { allowed } } }",
        {"id": run["id"], "inputs": inputs},
    )
    assert preview.data["run"]["resumePreview"] is None  # it succeeded


async def test_pack_input_is_checked(it: Product) -> None:
    refused = await command(it, "runPack", pack="test.flaky", input={"times": "no", "txt": ""})
    issues = {issue["path"][-1]: issue for issue in refused["issues"]}
    assert [issue["path"][0] for issue in refused["issues"]] == ["input", "input"]
    assert issues["txt"]["hint"] == "Did you mean `text`?"
    assert issues["txt"]["message"] == "`txt` is not a known field."
    assert '`times` is "no"' in issues["times"]["message"]
    assert "at times: " in refused["message"]
    assert await _count(it) == 0


@pytest.mark.parametrize(
    ("pack", "field", "value"),
    [
        ("test.flaky", "times", "0"),
        ("test.fail", "retry_after_seconds", "0.01"),
        ("test.fail", "retry_after_seconds", "NaN"),
    ],
)
async def test_pack_input_is_not_coerced(it: Product, pack: str, field: str, value: str) -> None:
    refused = await command(it, "runPack", pack=pack, input={field: value})
    (issue,) = refused["issues"]
    assert (issue["path"], issue["severity"]) == (["input", field], "ERROR")
    assert value in issue["message"]
    steps = [{"id": "a", "pack": pack, "input": {field: value}}]
    checked = await it.query(
        "query ($document: JSON!) { checkPipeline(definition: {document: $document}) { issues { rule path } } }",
        {"document": {"key": "same", "name": "Same", "steps": steps}},
    )
    literal = next(each for each in checked["checkPipeline"]["issues"] if each["path"][-1] == field)
    assert literal["rule"] == issue["rule"], "as a step's literal is refused"
    assert await _count(it) == 0


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (StoreFullError("The disk is full: the change was not recorded. Free space and try again."), True),
        (StoreUncertainError("The connection was lost during COMMIT."), False),
    ],
)
async def test_a_store_that_cannot_be_used_is_named_and_nothing_is_started(
    it: Product, monkeypatch: pytest.MonkeyPatch, error: StoreError, retryable: bool
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(it.services.store, "write_few", AsyncMock(side_effect=error))
        answer = await it.answer('mutation { runPack(pack: "test.echo", input: {text: "x"}) { __typename } }')
    (said,) = answer.errors
    assert said["message"] == str(error)
    assert said["extensions"] == {"code": "UNAVAILABLE", "retryable": retryable}
    assert await _count(it) == 0


async def test_a_placeholder_is_no_input(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
    refused = await start(it, "echo", {"text": "{{ REPO_URL }}"})
    assert refused["issues"][0]["path"] == ["inputs", "text"]
    assert "REPO_URL" in refused["issues"][0]["message"]
    assert (await ran(it, "echo", {"text": "see {{REPO_URL}}"}))["state"] == "SUCCEEDED"
    called = await command(it, "runPack", pack="test.echo", input={"text": "{{REPO_URL}}"})
    assert (called["__typename"], called["issues"][0]["rule"]) == ("InvalidProblem", "placeholder")


async def test_what_does_not_exist_is_told_with_the_nearest_name(it: Product) -> None:
    await save(it, "grounded-deck", step("only", "test.echo", text="x"))
    missing = await start(it, "grounded-dek")
    assert (missing["__typename"], missing["ref"]) == ("NotFoundProblem", "grounded-dek")
    assert missing["suggestion"] == "grounded-deck"
    version = await start(it, "grounded-deck", version=7)
    assert version["__typename"] == "NotFoundProblem"
    assert version["hint"] == "Its only version is 1."
    unknown = await command(it, "runPack", pack="test.ecko", input={})
    assert (unknown["__typename"], unknown["suggestion"]) == ("NotFoundProblem", "test.echo")


async def test_arguments_out_of_range_are_all_told(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="x"))
    refused = await start(it, "echo", wait=51, deadlineSeconds=0.0, title=" ", idempotencyKey="x" * 201)
    paths = {issue["path"][0] for issue in refused["issues"]}
    assert paths == {"waitSeconds", "deadlineSeconds", "title", "idempotencyKey"}
    assert await _count(it) == 0


async def test_title_and_deadline_are_as_the_caller_wants(it: Product) -> None:
    await save(it, "slow", step("only", "test.slow"), deadline_seconds=900)
    run = (await start(it, "slow", title="My title", deadlineSeconds=0.05))["run"]
    over = await ended(it, run["id"])
    assert over["title"] == "My title"
    assert (over["state"], over["failure"]["code"]) == ("FAILED", "TIMEOUT")
    assert [attempt["number"] for attempt in over["steps"][0]["attempts"]] == [1]  # never retried


async def test_what_is_missing_here_is_told_before_anything_runs(tmp_path: Path, bench: Workbench) -> None:
    calls: list[str] = []

    @pack(
        "test.needy",
        version="1.0.0",
        effects="none",
        repeatable=True,
        services=[Service("frobnicator", lambda: Missing("There is no frobnicator.", "Install one."))],
    )
    async def needy(ctx: PackContext, given: Text) -> Echoed:
        """Needs what is not there."""
        calls.append(given.text)
        return Echoed(text=given.text)

    packs: list[Pack] = [*bench.packs, needy]
    async with product(tmp_path, packs) as it:
        await save(
            it,
            "needy",
            step("first", "test.echo", text="x"),
            step("second", "test.needy"),
            step("third", "test.needy"),
            step("fourth", "test.keyed"),
        )
        refused = await start(it, "needy")
        assert (refused["__typename"], refused["code"], refused["retryable"]) == (
            "UnavailableProblem",
            "UNAVAILABLE",
            True,
        )
        assert refused["missing"] == [
            {
                "kind": "SERVICE",
                "name": "frobnicator",
                "steps": ["second", "third"],
                "message": "There is no frobnicator.",
                "hint": "Install one.",
            }
        ]
        assert (await command(it, "runPack", pack="test.needy", input={}))["missing"][0]["name"] == "frobnicator"
        run = (await command(it, "runPack", pack="test.echo", input={}, waitSeconds=20))["run"]

    async with product(tmp_path, [pack for pack in bench.packs if pack.name != "test.keyed"]) as it:
        refused = await start(it, "needy")
        assert {(lack["kind"], lack["name"]) for lack in refused["missing"]} == {
            ("PACK", "test.needy"),
            ("PACK", "test.keyed"),
        }
        assert await _count(it) == 1
        assert (await look(it, run["id"]))["state"] == "SUCCEEDED"
    assert calls == []


async def test_a_full_queue_refuses_and_says_so(tmp_path: Path, bench: Workbench) -> None:
    async with product(tmp_path, bench.packs, caller_concurrent_runs=1, queue_limit=2) as it:
        await save(it, "slow", step("only", "test.slow", text="${{ inputs.text }}"))
        await start(it, "slow", {"text": "held"})
        await bench.started.wait()
        for number in range(2):
            assert (await start(it, "slow", {"text": f"{number}"}))["__typename"] == "StartRunSuccess"

        refused = await start(it, "slow", {"text": "one more"})

        assert (refused["__typename"], refused["code"], refused["retryable"]) == ("LimitedProblem", "LIMITED", True)
        assert refused["retryAfterSeconds"] > 0
        assert (await start(it, "slow", {"text": "0"}))["coalesced"] is True
        bench.release.set()


async def test_starts_of_a_deleted_pipeline_are_refused_and_its_runs_stay(it: Product) -> None:
    await save(it, "echo", step("only", "test.echo", text="x"))
    run = await ran(it, "echo")
    await it.mutate('mutation { deletePipeline(pipeline: "echo", confirmKey: "echo") { __typename } }')
    assert (await start(it, "echo"))["__typename"] == "NotFoundProblem"
    kept = await look(it, run["id"])
    assert kept["pipeline"]["key"] == "echo"
    again = await command(it, "rerunRun", id=run["id"], waitSeconds=20)
    assert again["run"]["state"] == "SUCCEEDED"
    assert (again["run"]["pipeline"]["key"], again["run"]["version"]) == ("echo", run["version"])
    told = "The pipeline echo is deleted; the run's own version is used."
    assert [(issue["severity"], issue["message"]) for issue in again["warnings"]] == [("WARNING", told)]
    preview = """query ($id: ID!) { run(id: $id) {
        rerunPreview { allowed issues { severity rule message } }
        later: rerunPreview(definition: CURRENT) { allowed issues { severity rule } } } }"""
    previewed = (await it.query(preview, {"id": run["id"]}))["run"]
    assert previewed["rerunPreview"]["allowed"]
    assert [issue["message"] for issue in previewed["rerunPreview"]["issues"]] == [told]
    assert not previewed["later"]["allowed"]
    refused = await command(it, "rerunRun", id=run["id"], definition="CURRENT", waitSeconds=20)
    assert [issue["rule"] for issue in refused["issues"]] == ["pipeline_deleted"]


async def test_a_failed_run_of_a_deleted_pipeline_is_resumed(it: Product) -> None:
    await save(it, "failing", step("only", "test.fail"))
    run = await ran(it, "failing")
    await it.mutate('mutation { deletePipeline(pipeline: "failing", confirmKey: "failing") { __typename } }')
    preview = "query ($id: ID!) { run(id: $id) { resumePreview { allowed issues { rule } } } }"
    previewed = (await it.query(preview, {"id": run["id"]}))["run"]["resumePreview"]
    assert (previewed["allowed"], [issue["rule"] for issue in previewed["issues"]]) == (True, ["pipeline_deleted"])
    again = await command(it, "resumeRun", id=run["id"], stepInput={"code": "not_found"}, waitSeconds=20)
    assert again["run"]["failure"]["code"] == "NOT_FOUND"


async def test_force_takes_nothing_from_the_caches_of_packs(tmp_path: Path) -> None:
    made: list[str] = []

    @pack("test.cached", version="1.0.0", effects="none", repeatable=True)
    async def cached(ctx: PackContext, input: Text) -> Text:
        """Makes its answer once an hour."""

        async def make() -> str:
            made.append(input.text)
            return f"{input.text} {len(made)}"

        return Text(text=str(await ctx.cached("answer", 3600, make)))

    async with product(tmp_path, [cached]) as it:
        await save(it, "answer", step("a", "test.cached", text="tea"))
        runs = [await ran(it, "answer") for _ in range(2)]
        forced = await ran(it, "answer", force=True)
        again = await command(it, "rerunRun", id=forced["id"], force=True, waitSeconds=20)
        runs += [forced, again["run"], await ran(it, "answer")]
    assert [run["output"]["json"]["text"] for run in runs] == ["tea 1", "tea 1", "tea 2", "tea 3", "tea 3"]


@pack(
    "test.needy",
    version="1.0.0",
    effects="none",
    repeatable=True,
    services=[Service("printer", lambda: Missing("There is no printer.", "Plug one in."))],
)
async def needy(ctx: PackContext, input: Text) -> Echoed:
    """Needs what is not here."""
    return Echoed(text=input.text)


async def test_wrong_inputs_and_what_is_missing_are_told_in_one_answer(tmp_path: Path) -> None:
    async with product(tmp_path, [needy]) as it:
        await save(it, "print", step("only", "test.needy", text="${{ inputs.text }}"))
        refused = await start(it, "print", {"tekst": "tea"})
        called = await command(it, "runPack", pack="test.needy", input={"tekst": "tea"})
    for answer, wrong in ((refused, "undeclared_input"), (called, "unknown_field")):
        assert answer["__typename"] == "InvalidProblem"
        assert {wrong, "missing_service"} <= {issue["rule"] for issue in answer["issues"]}


async def test_a_forced_pack_call_passes_over_the_cache(tmp_path: Path) -> None:
    numbers = iter(range(10))

    @pack("test.drawn", version="1.0.0", effects="none", repeatable=True)
    async def draw(ctx: PackContext, input: Text) -> Echoed:
        async def make() -> str:
            return str(next(numbers))

        return Echoed(text=str(await ctx.cached("number", 60, make)))

    async with product(tmp_path, [draw]) as it:

        async def drawn(**more: object) -> str:
            call = await command(it, "runPack", pack="test.drawn", input={"text": "x"}, waitSeconds=20, **more)
            return str((await look(it, call["run"]["id"], select="output { json }"))["output"]["json"]["text"])

        assert [await drawn(), await drawn(), await drawn(force=True), await drawn()] == ["0", "0", "1", "1"]
