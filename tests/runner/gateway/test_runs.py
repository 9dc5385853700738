"""Models in runs, through the front door: every scripted fault, what is retried, and what it cost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel, Field

from packline import ModelNeed, PackContext, pack
from tests.support.front_door import look, ran, save, start, step
from tests.support.model_server import KEY, ModelServer, model_server
from tests.support.product import Product, product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path
    from typing import Any

    from packline import Pack

pytestmark = pytest.mark.slow

PROMPT = "Heat pumps work below freezing. A study of 550 homes found it. Prices fell by 18 per cent."
SPENT = """
    cost { usage { input output } amountUsd }
    steps { cost { usage { input output } amountUsd }
        attempts { state models cost { usage { input output } amountUsd } failure { code retryAfterSeconds } } }
"""
NOTHING = {"usage": {"input": 0, "output": 0}, "amountUsd": 0.0}
UNKNOWN = {"usage": None, "amountUsd": None}
ONCE = {"max_attempts": 1}


class Wanted(BaseModel):
    text: str = Field(max_length=10_000)
    model: str | None = None
    role: str = "writer"
    structured: bool = False
    fail: bool = False
    hang: bool = False


class Written(BaseModel):
    text: str
    model: str


class Note(BaseModel):
    title: str = Field(max_length=80)
    points: list[str] = Field(min_length=1)


def make_packs(hanging: asyncio.Event) -> Sequence[Pack]:
    async def write(ctx: PackContext, input: Wanted) -> Written:
        """Has the writer write."""
        if input.structured:
            note = await ctx.models.structured(input.role, Note, input.text, model=input.model)
            result = Written(text=note.value.title, model=note.model)
        else:
            answer = await ctx.models.text(input.role, input.text, model=input.model)
            result = Written(text=answer.text, model=answer.model)
        if input.hang:
            hanging.set()
            await asyncio.Event().wait()
        if input.fail:
            raise ValueError("after the model was paid")
        return result

    async def may(ctx: PackContext, input: Wanted) -> Written:
        """Writes when there is a writer."""
        return Written(text=input.text, model=str(ctx.models.missing("writer") is None))

    common: dict[str, Any] = {"version": "1.0.0", "effects": "none", "repeatable": True}
    return (
        pack("test.write", models=[ModelNeed("writer")], cost="One writer call.", **common)(write),
        pack("test.may", models=[ModelNeed("writer", required=False)], **common)(may),
    )


@pytest.fixture
def hanging() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running


@pytest.fixture
async def it(tmp_path: Path, server: ModelServer, hanging: asyncio.Event) -> AsyncIterator[Product]:
    settings = server.settings(writer=["openai:gpt-4o-mini"])
    async with product(tmp_path, make_packs(hanging), model_call_seconds=20, **settings) as running:
        await save(
            running,
            "write",
            step(
                "write",
                "test.write",
                text="${{ inputs.text }}",
                model="${{ inputs.model? }}",
                structured="${{ inputs.structured | default(false) }}",
                fail="${{ inputs.fail | default(false) }}",
                hang="${{ inputs.hang | default(false) }}",
                retry=ONCE,
            ),
        )
        yield running


async def write(it: Product, **inputs: Any) -> Any:
    run = await ran(it, "write", {"text": PROMPT, **inputs})
    return await look(it, run["id"], select=SPENT)


def only(run: Any) -> Any:
    [attempt] = run["steps"][0]["attempts"]
    return attempt


async def test_a_run_tells_who_answered_and_what_it_cost(it: Product, server: ModelServer) -> None:
    run = await write(it)
    assert run["state"] == "SUCCEEDED"
    assert run["output"]["json"]["model"] == "openai:gpt-4o-mini"
    attempt = only(run)
    assert attempt["models"] == ["openai:gpt-4o-mini"]
    usage, amount = attempt["cost"]["usage"], attempt["cost"]["amountUsd"]
    assert usage["input"] > 0 < usage["output"]
    assert amount == pytest.approx((usage["input"] * 0.15 + usage["output"] * 0.6) / 1e6, abs=1e-6)
    assert run["cost"] == run["steps"][0]["cost"] == attempt["cost"]
    assert server.asked[0].prompt == PROMPT


FAULTS = {
    "limited": ("RATE_LIMITED", 7.0, 0),
    "limited-plain": ("RATE_LIMITED", None, 0),
    "flaky": ("RATE_LIMITED", 0.0, 0),
    "down": ("UPSTREAM_UNAVAILABLE", None, 0),
    "overloaded": ("UPSTREAM_UNAVAILABLE", None, 0),
    "slow": ("TIMEOUT", None, 0),
    "dropped": ("UPSTREAM_UNAVAILABLE", None, 0),
    "garbled": ("UPSTREAM_UNAVAILABLE", None, 0),
    "cut": ("INVALID_OUTPUT", None, 1),
    "filtered": ("POLICY_DENIED", None, 1),
    "empty": ("INVALID_OUTPUT", None, 1),
    "unknown": ("INVALID_INPUT", None, 0),
    "refused": ("CREDENTIAL_INVALID", None, 0),
    "forbidden": ("CREDENTIAL_INVALID", None, 0),
    "bad-request": ("INVALID_INPUT", None, 0),
    "unpaid": ("QUOTA_EXCEEDED", None, 0),
    "over-quota": ("QUOTA_EXCEEDED", None, 0),
    "misfit": ("INVALID_OUTPUT", None, 2),
}


async def test_every_fault_fails_its_run_with_its_code(
    tmp_path: Path, server: ModelServer, hanging: asyncio.Event
) -> None:
    roles = {fault.replace("-", "_"): [f"openai:{fault}"] for fault in FAULTS}
    settings = server.settings(writer=["good"], **roles)
    async with product(tmp_path, make_packs(hanging), model_call_seconds=10, **settings) as it:
        await asyncio.gather(*(_fails(it, server, fault) for fault in FAULTS if fault != "slow"))
        server.late_seconds = 10  # by itself: time passes for all
        await _fails(it, server, "slow")


async def _fails(it: Product, server: ModelServer, fault: str) -> None:
    given = {"text": PROMPT, "role": fault.replace("-", "_"), "structured": fault == "misfit"}
    await save(it, fault, step("write", "test.write", **given, retry=ONCE))
    run = await look(it, (await ran(it, fault))["id"], select=SPENT)
    code, wait, paid = FAULTS[fault]
    assert (run["state"], run["failure"]["code"], run["failure"]["stepKey"]) == ("FAILED", code, "write"), fault
    attempt = only(run)
    assert (attempt["failure"]["code"], attempt["failure"]["retryAfterSeconds"]) == (code, wait), fault
    assert attempt["models"] == [f"openai:{fault}"] * paid, "what was answered was paid for, useful or not"
    if paid:
        assert attempt["cost"]["usage"]["input"] > 0, fault
        assert attempt["cost"]["amountUsd"] is None, fault
    else:
        assert attempt["cost"] == NOTHING, fault
    assert server.count(fault) == max(1, paid), fault


@pytest.mark.parametrize("fault", ["misfit-once", "broken-once"])
async def test_the_repair_turn_is_paid_for(it: Product, server: ModelServer, fault: str) -> None:
    run = await write(it, structured=True, model=f"openai:{fault}")
    attempt = only(run)
    assert run["state"] == "SUCCEEDED"
    assert attempt["models"] == [f"openai:{fault}"] * 2
    assert len(server.asked) == 2


async def test_the_next_model_answers_and_what_is_to_mend_is_a_warning(it: Product) -> None:
    run = await write(it, model="openai:refused")
    assert only(run)["models"] == ["openai:gpt-4o-mini"]
    [warning] = run["steps"][0]["warnings"]
    assert "openai:refused" in warning
    assert "openai:gpt-4o-mini" not in warning


async def test_the_runner_repeats_what_passes(tmp_path: Path, server: ModelServer, hanging: asyncio.Event) -> None:
    async with product(tmp_path, make_packs(hanging), **server.settings(writer=["flaky"])) as it:
        retry = {"max_attempts": 3, "initial_seconds": 0.01, "max_seconds": 0.01, "jitter": 0}
        await save(it, "write", step("write", "test.write", text=PROMPT, retry=retry))
        run = await ran(it, "write")
        run = await look(it, run["id"], select=SPENT)
        attempts = run["steps"][0]["attempts"]
        assert run["state"] == "SUCCEEDED"
        assert [attempt["state"] for attempt in attempts] == ["FAILED", "FAILED", "SUCCEEDED"]
        assert [attempt["models"] for attempt in attempts] == [[], [], ["openai:flaky"]]
        assert run["cost"]["usage"] == attempts[2]["cost"]["usage"]


async def test_a_handler_that_fails_afterwards_has_spent_it_all_the_same(it: Product) -> None:
    attempt = only(await write(it, fail=True))
    assert attempt["failure"]["code"] == "HANDLER_FAILED"
    assert attempt["models"] == ["openai:gpt-4o-mini"]
    assert attempt["cost"]["amountUsd"] > 0


async def test_a_cancelled_attempt_has_spent_it_all_the_same(it: Product, hanging: asyncio.Event) -> None:
    run = (await start(it, "write", {"text": PROMPT, "hang": True}))["run"]
    await hanging.wait()
    running = await look(it, run["id"], select=SPENT)
    assert only(running)["cost"] == UNKNOWN
    await it.query("mutation ($id: ID!) { cancelRun(id: $id) { __typename } }", {"id": run["id"]})
    data = await it.query(
        f"query ($id: ID!) {{ waitRun(id: $id, waitSeconds: 20) {{ run {{ state {SPENT} }} }} }}", {"id": run["id"]}
    )
    cancelled = data["waitRun"]["run"]
    assert cancelled["state"] == "CANCELLED"
    assert only(cancelled)["models"] == ["openai:gpt-4o-mini"]
    assert cancelled["cost"]["amountUsd"] > 0


async def test_an_unknown_part_makes_the_sum_unknown(it: Product) -> None:
    await save(
        it,
        "two",
        step("known", "test.write", text=PROMPT),
        step("untold", "test.write", text=PROMPT, model="openai:uncounted"),
        step("none", "test.may", text=PROMPT),
    )
    run = await look(it, (await ran(it, "two"))["id"], select=SPENT)
    known, untold, none = (each["cost"] for each in run["steps"])
    assert known["amountUsd"] > 0
    assert untold == run["cost"] == UNKNOWN
    assert none == NOTHING


async def test_a_list_of_runs_reads_their_costs_at_once(it: Product) -> None:
    for number in range(3):
        await write(it, text=f"{PROMPT} Number {number}.")
    data = await it.query("{ runs { nodes { cost { amountUsd } steps { cost { amountUsd } } } } }")
    nodes = data["runs"]["nodes"]
    assert len(nodes) == 3
    assert all(node["cost"] == node["steps"][0]["cost"] for node in nodes)
    amounts = sorted(node["cost"]["amountUsd"] for node in nodes)
    assert amounts[0] > 0
    usage = "usage { runs medianCostUsd }"
    data = await it.query(f'{{ pack(id: "test.write") {{ {usage} }} pipeline(id: "write") {{ {usage} }} }}')
    assert data["pack"]["usage"] == data["pipeline"]["usage"] == {"runs": 3, "medianCostUsd": amounts[1]}


async def test_a_key_of_the_environment_is_masked(
    tmp_path: Path, server: ModelServer, hanging: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with product(tmp_path, make_packs(hanging), **server.settings(writer=["good"])) as it:
        await save(it, "write", step("write", "test.write", text=f"The key is {KEY} and a secret."))
        run = await ran(it, "write")
        assert server.asked[0].key == KEY
        assert "secret" in run["output"]["json"]["text"]
        assert KEY not in str(run)


async def test_without_a_model_nothing_is_started_or_spent(
    tmp_path: Path, server: ModelServer, hanging: asyncio.Event
) -> None:
    async with product(tmp_path, make_packs(hanging)) as it:
        await save(it, "write", step("write", "test.write", text=PROMPT))
        answer = await start(it, "write")
        assert (answer["__typename"], answer["code"]) == ("UnavailableProblem", "UNAVAILABLE")
        [missing] = answer["missing"]
        assert (missing["kind"], missing["name"], missing["steps"]) == ("MODEL", "writer", ["write"])
        assert "PACKLINE_MODEL_WRITER" in missing["hint"]
        data = await it.query('{ pack(id: "test.write") { availability { usable missing { kind name } } } }')
        assert data["pack"]["availability"] == {"usable": False, "missing": [{"kind": "MODEL", "name": "writer"}]}
        await save(it, "may", step("may", "test.may", text=PROMPT))
        assert (await ran(it, "may"))["output"]["json"]["model"] == "False"
    assert server.asked == []


@pytest.mark.parametrize("fallback", [True, False])
async def test_a_model_that_has_no_key_is_a_warning_on_the_step(
    tmp_path: Path, server: ModelServer, hanging: asyncio.Event, monkeypatch: pytest.MonkeyPatch, *, fallback: bool
) -> None:
    """Whether the next model takes over, or the pack goes on without any."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chain = ("openai:gpt-5-mini", "own:good") if fallback else ("openai:gpt-5-mini",)
    own = {"own": server.providers()["own"]}
    async with product(tmp_path, make_packs(hanging), model_providers=own, model_roles={"writer": chain}) as it:
        await save(it, "write", step("write", "test.write" if fallback else "test.may", text=PROMPT))
        run = await look(it, (await ran(it, "write"))["id"], select="steps { warnings attempts { models } }")
    assert run["state"] == "SUCCEEDED"
    [written] = run["steps"]
    assert written["attempts"][0]["models"] == (["own:good"] if fallback else [])
    [warning] = written["warnings"]
    lacking = "There is no key for openai:gpt-5-mini."
    if fallback:
        assert warning == f"{lacking} The next model of the role `writer` was asked."
    else:
        assert warning.startswith(f"No model of the role `writer` can be used. {lacking} Store a key with ")
