"""Runs: what every operation on them promises."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from runner.failures import FAILURE_WORDS, FailureCode
from tests.support.front_door import step
from tests.support.surfaces import Refused, states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")

ECHO = step("say", "test.echo", text="${{ inputs.words }}")
SLOW = step("hold", "test.slow", text="${{ inputs.words }}")
NOBODY = "run_01J00000000000000000000000"


async def started(api: Api, **inputs: Any) -> dict[str, Any]:
    """A run of the test's pipeline, just started."""
    run: dict[str, Any] = (await api.me.call("run_pipeline", pipeline=api.key, inputs=inputs))["run"]
    return run


async def ended(api: Api, run_id: str) -> dict[str, Any]:
    """A run once it has ended."""
    answer = await api.me.call("wait_run", id=run_id, waitSeconds=20)
    assert answer["timedOut"] is False, answer
    run: dict[str, Any] = answer["run"]
    return run


def attempts(run: dict[str, Any]) -> dict[str, list[str]]:
    return {step["key"]: [attempt["state"] for attempt in step["attempts"]] for step in run["steps"]}


@states("run_pipeline", "wait_run", "get_run")
async def test_a_start_answers_at_once_and_the_run_is_told_whole(api: Api) -> None:
    await api.save(SLOW, step("again", "test.echo", text="${{ steps.hold.output.text }}!"))

    run = await started(api, words="tea")
    assert run["state"] in {"QUEUED", "RUNNING"}
    await api.bench.started.wait()
    early = await api.me.call("wait_run", id=run["id"], waitSeconds=0)
    assert (early["timedOut"], early["run"]["state"]) == (True, "RUNNING")
    waiting = asyncio.create_task(api.me.call("wait_run", id=run["id"], untilChange=True, after=early["cursor"]))
    api.bench.release.set()
    assert (await waiting)["cursor"] != early["cursor"]

    told = await ended(api, run["id"])
    assert (told["state"], told["progress"], told["title"]) == ("SUCCEEDED", 1.0, f"{api.key}: tea")
    assert (told["inputs"], told["output"]["json"]["text"]) == ({"words": "tea"}, "tea!")
    assert (told["caller"]["subject"], told["pipeline"]["key"], told["version"]["number"]) == (api.subject, api.key, 1)
    assert attempts(told) == {"hold": ["SUCCEEDED"], "again": ["SUCCEEDED"]}
    assert await api.me.call("get_run", id=run["id"]) == told
    assert await api.me.call("get_run", id=NOBODY) is None


@states("run_pipeline")
async def test_one_start_is_one_run(api: Api) -> None:
    await api.save(SLOW)

    first, second = await asyncio.gather(
        *(api.me.call("run_pipeline", pipeline=api.key, inputs={"words": "same"}) for _ in range(2))
    )
    assert first["run"]["id"] == second["run"]["id"]
    assert {first["coalesced"], second["coalesced"]} == {False, True}
    api.bench.release.set()
    await ended(api, first["run"]["id"])

    keyed = {"pipeline": api.key, "inputs": {"words": "keyed"}, "idempotencyKey": f"{api.key}-1", "waitSeconds": 20}
    once, twice = await api.me.call("run_pipeline", **keyed), await api.me.call("run_pipeline", **keyed)
    assert (once["run"]["id"], once["replayed"], twice["replayed"]) == (twice["run"]["id"], False, True)
    other = await api.refusal("run_pipeline", **{**keyed, "inputs": {"words": "other"}})
    assert other.code == "CONFLICT"
    assert api.bench.calls("test.slow") == 2


BEYOND = 1 << 53


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (1, 1.0, True),
        ({"deep": [1, {"n": 2.0}]}, {"deep": [1.0, {"n": 2}]}, True),
        (0, -0.0, True),
        (1000, 1e3, True),
        (BEYOND, float(BEYOND), True),
        (BEYOND + 1, float(BEYOND), False),
        (BEYOND + 1, BEYOND, False),
        (1, 1.5, False),
        (1, True, False),
        (1, "1.0", False),
        ("[1.0", "[1", False),
    ],
)
@states("run_pipeline", "cancel_run")
async def test_a_number_is_the_same_however_it_is_written(api: Api, first: Any, second: Any, same: bool) -> None:
    hold = step("hold", "test.slow", text="n: ${{ inputs.n? }}")
    await api.save(hold, inputs={"type": "object", "properties": {"n": {}}})
    started, again = [
        await api.me.call("run_pipeline", pipeline=api.key, inputs={"n": value}) for value in (first, second)
    ]
    assert again["coalesced"] is same
    assert (again["run"]["id"] == started["run"]["id"]) is same
    assert started["run"]["inputs"] == {"n": first}, "what is kept keeps its look"
    for run in {started["run"]["id"], again["run"]["id"]}:
        await api.me.call("cancel_run", id=run)

    pipeline = {"pipeline": api.key, "idempotencyKey": f"{api.key}-n"}
    led = await api.me.call("run_pipeline", **pipeline, inputs={"n": first})
    if same:
        assert (await api.me.call("run_pipeline", **pipeline, inputs={"n": second}))["replayed"] is True
    else:
        assert (await api.refusal("run_pipeline", **pipeline, inputs={"n": second})).code == "CONFLICT"
    await api.me.call("cancel_run", id=led["run"]["id"])


@states("run_pipeline", "list_runs")
async def test_history_is_searched_for_words_and_not_for_the_marks_of_json(api: Api) -> None:
    hold = step("say", "test.echo", text="said: ${{ inputs.given? }}")
    await api.save(hold, inputs={"type": "object", "properties": {"given": {}}})

    async def of(given: Any) -> str:
        run: dict[str, Any] = (await api.me.call("run_pipeline", pipeline=api.key, inputs={"given": given}))["run"]
        return run["id"]

    plain = await of("Green tea, 100%_pure")
    quoted = await of({"deep": ['a "quoted" \\ word\nand Ünïcode', 4217, True, None]})

    async def found(text: str) -> list[str]:
        return [run["id"] for run in (await api.me.call("list_runs", filter={"text": text}))["nodes"]]

    for text, runs in (
        ("green TEA", [plain]),
        ("100%_pure", [plain]),
        ("tea,", [plain]),
        ('"', [quoted]),
        ('"quoted"', [quoted]),
        ("\\", [quoted]),
        ("word and ÜNÏCODE", [quoted]),
        ("4217", [quoted]),
        (api.key, [quoted, plain]),
        *((marks, []) for marks in ("{", "}", "[", '":', "given", "deep", "true", "null", "1%0", "100__pure", "tea/")),
    ):
        assert await found(text) == runs, text


PROPERTIES = {"words": {"type": "string"}, "at": {"type": "string", "format": "email"}}


@states("run_pipeline", "run_pack")
async def test_what_is_wrong_is_refused_before_anything_runs(api: Api) -> None:
    await api.save(ECHO, inputs={"type": "object", "required": ["words"], "properties": PROPERTIES})

    for inputs, rule in (
        ({}, "required"),
        ({"words": "x", "wrods": "y"}, "undeclared"),
        ({"words": "{{WORDS}}"}, "placeholder"),
        ({"words": "https://me:s3cr3t@git.example/a.git"}, "url_credentials"),
        ({"words": "https://me:s3cr3t @git.example/a.git"}, "url_credentials"),
        ({"words": "me:s3cr3t@git.example/a.git"}, "url_credentials"),
        ({"words": "x", "at": "me:s3cr3t@git.example,"}, "format"),
    ):
        refused = await api.refusal("run_pipeline", pipeline=api.key, inputs=inputs)
        assert refused.code == "INVALID", refused
        assert any(rule in issue["rule"] for issue in refused.details["issues"]), refused.details
        assert "s3cr3t" not in f"{refused} {refused.details}"
    for value in (7, " ssh://git:s3cr3t@git.example/a.git"):
        refused = await api.refusal("run_pack", pack="test.echo", input={"text": value})
        assert refused.code == "INVALID"
    assert (await api.refusal("run_pack", pack="test.nothing")).code == "NOT_FOUND"
    dry = await api.me.call("run_pipeline", pipeline=api.key, inputs={"words": "x"}, dryRun=True)
    assert dry["run"] is None
    reader = await api.as_caller("reader", "READ")
    with pytest.raises(Refused) as forbidden:
        await reader.call("run_pipeline", pipeline=api.key, inputs={"words": "x"})
    assert (forbidden.value.code, forbidden.value.details["requires"]) == ("FORBIDDEN", "RUN")
    assert api.bench.log == []


@states("run_pipeline")
async def test_a_retry_that_would_pass_the_deadline_is_not_waited_for(api: Api) -> None:
    await api.save(step("a", "test.fail", code="rate_limited", message="Slow down", retry_after_seconds=40))
    run = (await api.me.call("run_pipeline", pipeline=api.key, deadlineSeconds=30, waitSeconds=20))["run"]
    assert (run["state"], run["failure"]["code"]) == ("FAILED", "RATE_LIMITED")
    told = "Slow down. It was not retried: the wait of 40 s would have passed the run's deadline."
    assert run["failure"]["message"] == told
    assert len(run["steps"][0]["attempts"]) == 1


@states("run_pack")
async def test_a_pack_says_cause_and_remedy_or_packline_does(api: Api) -> None:
    said = {"cause": "The kettle is off.", "hint": "Ask for the kettle.", "remedy": "ask_operator"}
    for given, code, expected in (
        (said, "not_found", (said["cause"], said["hint"], "ASK_OPERATOR")),
        ({"hint": None}, "quota_exceeded", FAILURE_WORDS[FailureCode.QUOTA_EXCEEDED]),
    ):
        failing = {"code": code, "message": "No tea.", **given}
        failure = (await api.me.call("run_pack", pack="test.fail", input=failing, waitSeconds=20))["run"]["failure"]
        cause, hint, remedy = expected
        assert (failure["cause"], failure["hint"], failure["remedy"]) == (cause, hint, remedy.upper())


@states("run_pipeline", "list_runs", "cancel_run", "wait_run")
async def test_a_callers_limit_queues_and_a_list_pages_newest_first(api: Api) -> None:
    await api.save(SLOW)
    runs = [(await started(api, words=words))["id"] for words in ("apple", "banana", "cherry", "damson")]
    await api.bench.started.wait()

    page = await api.me.call("list_runs", first=3)
    assert [run["id"] for run in page["nodes"]] == runs[:0:-1]
    rest = await api.me.call("list_runs", first=3, after=page["pageInfo"]["endCursor"])
    assert ([run["id"] for run in rest["nodes"]], rest["pageInfo"]["hasNextPage"]) == ([runs[0]], False)
    queued = await api.me.call("list_runs", filter={"states": ["QUEUED"]})
    assert len(queued["nodes"]) == 2, "two work at a time"
    last = queued["nodes"][0]["id"]
    assert (await api.me.call("cancel_run", id=last))["run"]["state"] == "CANCELLED"
    api.bench.release.set()
    assert [(await ended(api, run))["state"] for run in runs if run != last] == ["SUCCEEDED"] * 3
    found = await api.me.call("list_runs", filter={"text": "banana", "pipelines": [api.key], "states": ["SUCCEEDED"]})
    assert [run["id"] for run in found["nodes"]] == [runs[1]]
    stranger = await api.as_caller("stranger", "READ")
    assert (await stranger.call("list_runs"))["nodes"] == []


@states("cancel_run", "wait_run", "run_pipeline")
async def test_a_cancel_stops_a_running_step(api: Api) -> None:
    await api.save(SLOW)
    run = await started(api, words="long")
    await api.bench.started.wait()

    stopping = await api.me.call("cancel_run", id=run["id"], reason="enough")
    assert stopping["run"]["state"] in {"CANCELLING", "CANCELLED"}
    told = await ended(api, run["id"])
    assert (told["state"], attempts(told)) == ("CANCELLED", {"hold": ["CANCELLED"]})
    assert (await api.refusal("cancel_run", id=NOBODY)).code == "NOT_FOUND"
    done = (await api.me.call("run_pipeline", pipeline=await api.save(ECHO, key=f"{api.key}-2"), waitSeconds=20))["run"]
    assert (await api.refusal("cancel_run", id=done["id"])).code == "WRONG_STATE"
    stranger = await api.as_caller("stranger", "READ", "RUN")
    with pytest.raises(Refused, match="NOT_FOUND"):
        await stranger.call("cancel_run", id=run["id"])


@states("preview_resume", "resume_run", "acknowledge_run", "run_pipeline", "list_runs")
async def test_a_failed_run_is_resumed_where_it_failed(api: Api) -> None:
    await api.save(ECHO, step("gate", "test.switch", text="${{ steps.say.output.text }}"))
    run = (await api.me.call("run_pipeline", pipeline=api.key, inputs={"words": "tea"}, waitSeconds=20))["run"]
    assert (run["state"], run["failure"]["code"], run["failure"]["class"]) == (
        "FAILED",
        "INVALID_INPUT",
        "CALLER_FIXABLE",
    )
    assert [each["id"] for each in (await api.me.call("list_runs", filter={"needsAttention": True}))["nodes"]] == [
        run["id"]
    ]
    assert (await api.me.call("acknowledge_run", id=run["id"]))["run"]["acknowledgedAt"]
    assert (await api.me.call("list_runs", filter={"needsAttention": True}))["nodes"] == []

    preview = await api.me.call("preview_resume", id=run["id"], stepInput={"text": "coffee"})
    assert preview["allowed"] is True
    assert {entry["key"]: entry["action"] for entry in preview["steps"]} == {"say": "REUSE", "gate": "RUN"}
    api.bench.failing = False
    resumed = (await api.me.call("resume_run", id=run["id"], stepInput={"text": "coffee"}, waitSeconds=20))["run"]

    assert (resumed["id"], resumed["state"], resumed["resumeCount"]) == (run["id"], "SUCCEEDED", 1)
    assert (attempts(resumed), resumed["output"]["json"]["text"]) == (
        {"say": ["SUCCEEDED"], "gate": ["FAILED", "SUCCEEDED"]},
        "coffee",
    )
    assert api.bench.calls("test.echo") == 1
    assert (await api.refusal("resume_run", id=run["id"])).code == "WRONG_STATE"


@states("rerun_run", "preview_rerun", "delete_run", "get_run", "run_pack")
async def test_a_rerun_is_a_new_run_and_a_deleted_run_is_gone(api: Api) -> None:
    await api.save(ECHO, step("again", "test.echo", text="${{ steps.say.output.text }}!"))
    run = (await api.me.call("run_pipeline", pipeline=api.key, inputs={"words": "tea"}, waitSeconds=20))["run"]

    changed = (await api.me.call("rerun_run", id=run["id"], inputs={"words": "milk"}, waitSeconds=20))["run"]
    assert (changed["rerunOf"]["id"], changed["output"]["json"]["text"]) == (run["id"], "milk!")
    calls = api.bench.calls("test.echo")
    preview = await api.me.call("preview_rerun", id=run["id"], fromStep="again")
    assert [(entry["key"], entry["action"]) for entry in preview["steps"]] == [("say", "REUSE"), ("again", "RUN")]
    part = (await api.me.call("rerun_run", id=run["id"], fromStep="again", waitSeconds=20))["run"]
    assert (part["state"], api.bench.calls("test.echo")) == ("SUCCEEDED", calls + 1)
    (reused,) = part["steps"][0]["attempts"]
    assert reused["reuse"]["madeBy"]["runStep"]["run"]["id"] == run["id"], "shown as reused, with the run it comes from"

    assert (await api.me.call("delete_run", id=run["id"]))["deletedId"] == run["id"]
    assert await api.me.call("get_run", id=run["id"]) is None
    assert (await api.me.call("get_run", id=part["id"]))["output"]["json"]["text"] == "tea!"
    single = (await api.me.call("run_pack", pack="test.echo", input={"text": "hi"}, waitSeconds=20))["run"]
    assert (single["pack"]["name"], single["pipeline"], single["output"]["json"]["text"]) == ("test.echo", None, "hi")


@states("run_pipeline", "wait_run")
async def test_what_is_transient_is_tried_again(api: Api) -> None:
    retry = {"max_attempts": 3, "initial_seconds": 0.01, "jitter": 0}
    await api.save(step("call", "test.flaky", times=2, text="at last", retry=retry))

    run = await ended(api, (await started(api))["id"])

    assert (run["state"], run["output"]["json"]["text"]) == ("SUCCEEDED", "at last")
    assert attempts(run) == {"call": ["FAILED", "FAILED", "SUCCEEDED"]}


@states("run_pipeline", "list_artifacts", "get_artifact", "artifact_text", "pin_artifact")
async def test_artifacts_are_listed_read_fetched_and_pinned(api: Api) -> None:
    await api.save(step("make", "test.artifact", name="tea.txt", content="Oolong, gründlich."))
    run = (await api.me.call("run_pipeline", pipeline=api.key, waitSeconds=20))["run"]
    (made,) = run["steps"][0]["artifacts"]

    wanted = {"pipelines": [api.key], "mediaTypes": ["text/*"], "text": "tea"}
    listed = await api.me.call("list_artifacts", filter=wanted)
    assert [artifact["id"] for artifact in listed["nodes"]] == [made["id"]]
    found = await api.me.call("get_artifact", id=made["id"])
    assert (found["name"], found["run"]["id"], found["sizeBytes"]) == ("tea.txt", run["id"], 19)
    text = await api.me.call("artifact_text", id=made["id"], limitBytes=6)
    assert (text["text"], text["nextOffset"]) == ("Oolong", 6)
    fetched = await api.house.product.admin.http.get(api.house.product.url(found["downloadUrl"]))
    assert fetched.text == "Oolong, gründlich."
    assert (await api.me.call("pin_artifact", id=made["id"], pinned=True))["artifact"]["pinned"] is True
    assert [each["id"] for each in (await api.me.call("list_artifacts", filter={"pinned": True}))["nodes"]] == [
        made["id"]
    ]
    stranger = await api.as_caller("stranger", "READ", "RUN")
    assert await stranger.call("get_artifact", id=made["id"]) is None
    with pytest.raises(Refused, match="NOT_FOUND"):
        await stranger.call("pin_artifact", id=made["id"], pinned=True)
