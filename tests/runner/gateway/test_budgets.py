"""Budgets of models, through the front door: what is counted, warned about and refused."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from packline import ModelNeed, PackContext, pack
from runner.gateway.budgets import Budget, BudgetSpentError
from runner.gateway.providers import Price
from tests.support.databases import ready_database
from tests.support.front_door import look, ran, save, step
from tests.support.model_server import model_server
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.model_server import ModelServer
    from tests.support.product import Product

PRICES = {"own:small": {"input": 100.0, "output": 100.0}}
RUN = "state failure { code message hint } cost { usage { input output } amountUsd } steps { warnings }"
SPENDING = "{ spending { totalCount nodes { caller { subject } tokens amountUsd unpricedCalls } } }"
BUDGETS = "{ budgets { setting ofCaller limitUsd spentUsd limitTokens spentTokens nearlySpent message } }"


class Calls(BaseModel):
    calls: int = 1


class Done(BaseModel):
    text: str


@pack("test.writes", version="1.0.0", effects="none", repeatable=True, models=[ModelNeed("writer")], cost="Some calls.")
async def writes(ctx: PackContext, input: Calls) -> Done:
    """Calls the writer some times, one call after the other."""
    for _ in range(input.calls):
        answer = await ctx.models.text("writer", "Write a line.")
    return Done(text=answer.text)


PACKS = [writes]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running


async def calls(it: Product, number: int, *, token: str | None = None) -> Any:
    if (await it.query('{ pipeline(id: "calls") { id } }'))["pipeline"] is None:
        await save(it, "calls", step("write", "test.writes", calls="${{ inputs.calls }}", retry={"max_attempts": 1}))
    run = await ran(it, "calls", {"calls": number}, token=token)
    return await look(it, run["id"], select=RUN)


@pytest.mark.parametrize("database_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_calls_are_counted_warned_about_and_refused(
    tmp_path: Path, server: ModelServer, database_url: str
) -> None:
    settings = {**server.settings(writer=["own:small", "openai:gpt-4o-mini"]), "model_prices": PRICES}
    with ready_database() if database_url == "postgresql" else nullcontext("sqlite") as url:
        await _counted(tmp_path, server, settings, url)


async def _counted(tmp_path: Path, server: ModelServer, settings: dict[str, Any], url: str) -> None:
    async with product(tmp_path, PACKS, database_url=url, **settings) as it:
        one = await calls(it, 1)
        tokens = sum(one["cost"]["usage"].values())
        assert one["cost"]["amountUsd"] == pytest.approx(tokens * 100 / 1e6), "the price of the settings"
        (spent,) = (await it.query(SPENDING))["spending"]["nodes"]
        assert spent == {
            "caller": {"subject": "admin"},
            "tokens": tokens,
            "amountUsd": pytest.approx(tokens * 100 / 1e6),
            "unpricedCalls": 0,
        }
        assert (await it.query(BUDGETS))["budgets"] == []

    asked = len(server.asked)
    limits = {"budget_run_tokens": 5 * tokens, "budget_caller_month_usd": 12 * tokens * 100 / 1e6}
    async with product(tmp_path, PACKS, database_url=url, **settings, **limits) as it:
        within = await calls(it, 4)
        assert within["state"] == "SUCCEEDED"
        (warning,) = within["steps"][0]["warnings"]
        assert warning.startswith(f"80% of the budget of this run is spent: {4 * tokens:,} of {5 * tokens:,} tokens.")

        beyond = await calls(it, 6)
        assert (beyond["state"], beyond["failure"]["code"]) == ("FAILED", "QUOTA_EXCEEDED")
        assert "the budget of this run is spent" in beyond["failure"]["message"]
        assert "PACKLINE_BUDGET_RUN_TOKENS" in beyond["failure"]["hint"]
        assert not any("next model" in warning for warning in beyond["steps"][0]["warnings"])
        assert len(server.asked) == asked + 4 + 5, "neither model of the role was asked once it was spent"

        (budget,) = (await it.query(BUDGETS))["budgets"]
        assert (budget["ofCaller"], budget["nearlySpent"], budget["limitTokens"]) == (True, True, None)
        assert budget["spentUsd"] == pytest.approx(10 * tokens * 100 / 1e6), "those before the restart too"
        third = await calls(it, 3)
        assert (third["state"], third["failure"]["code"]) == ("FAILED", "QUOTA_EXCEEDED")
        assert "its caller this month" in third["failure"]["message"]
        ada = await it.token_for("ada", "READ", "RUN")
        assert (await calls(it, 1, token=ada))["state"] == "SUCCEEDED", "another caller has a budget of its own"
        assert [row["caller"]["subject"] for row in (await it.query(SPENDING, token=ada))["spending"]["nodes"]] == [
            "ada"
        ]
        everybody = (await it.query(SPENDING))["spending"]
        assert [row["caller"]["subject"] for row in everybody["nodes"]] == ["admin", "ada"]


async def test_a_spent_budget_refuses_every_kind_of_call(tmp_path: Path, server: ModelServer) -> None:
    settings = {**server.settings(writer=["own:small"]), "model_prices": PRICES}
    async with product(tmp_path, PACKS, budget_month_tokens=1, **settings) as it:
        assert (await calls(it, 1))["state"] == "SUCCEEDED", "the call that exceeds it was allowed before"
        refused = await calls(it, 1)
        assert (refused["state"], refused["failure"]["code"]) == ("FAILED", "QUOTA_EXCEEDED")
        assert "all callers this month" in refused["failure"]["message"]
        await save(it, "said", {"id": "said", "agent": {"use": "mock", "prompt": "Say something."}})
        said = await look(it, (await ran(it, "said"))["id"], select=RUN)
        assert (said["state"], said["failure"]["code"]) == ("FAILED", "QUOTA_EXCEEDED")

        asked = len(server.asked)
        me = (await it.query("{ viewer { id } }"))["viewer"]["id"]
        budget = Budget(it.services.store, it.services.limits.budgets, me)
        gateway = server.gateway(writer=["good"], image=["good"], voice=["good"])
        models = gateway.attempt(budget=budget)
        for call in (models.text("writer", "x"), models.image("x", width=64, height=64), models.speak("x")):
            with pytest.raises(BudgetSpentError):
                await call
        assert len(server.asked) == asked

        mine = await it.token_for("ada", "READ")
        assert (await it.query(BUDGETS, token=mine))["budgets"] == [], "what all spend needs `observe`"
        malformed = await it.answer('{ spending(month: "2026-13") { totalCount } }')
        assert malformed.codes == ["INVALID"]


@pytest.mark.parametrize(
    ("counts", "micros"), [((1_000, 0, 0), 2_000), ((1_000, 10, 400), 1_200 + 400 + 50), ((5, 0, 9), 5)]
)
def test_cached_tokens_have_a_price_of_their_own(counts: tuple[int, int, int], micros: int) -> None:
    assert Price(input=2.0, output=5.0, cached=1.0).cost_micros(*counts) == micros
