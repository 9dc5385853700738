from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.gateway.budgets import Budget, BudgetLimits, BudgetSpentError
from runner.gateway.uses import ModelUse
from store.database.dialects import Sql
from store.runs.budgets import Amount, spent_so_far
from store.runs.commands import remove_run
from tests.support.rows import caller, run

if TYPE_CHECKING:
    from store.database.engine import Store


async def test_calls_under_way_together_exceed_a_budget_only_by_themselves(store: Store):
    ada = await caller(store)
    warnings: list[str] = []
    limits = BudgetLimits(caller_month_tokens=10)
    budgets = [Budget(store, limits, ada.id, None, warnings.append) for _ in range(3)]
    await asyncio.gather(*(budget.require() for budget in budgets))
    await asyncio.gather(*(budget.spend(ModelUse("own:small", 4, 5)) for budget in budgets))
    for budget in budgets:
        with pytest.raises(BudgetSpentError, match="27 of 10 tokens"):
            await budget.require()
    assert len(warnings) == 1, "only the call that crosses 80% warns"


async def test_spending_is_counted_by_run_caller_and_month(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    run_id = await run(store, ada.id)
    for owner, of_run, cost in ((ada, run_id, 7), (ada, None, None), (bob, None, 11)):
        await Budget(store, BudgetLimits(), owner.id, of_run).spend(ModelUse("own:small", 1, 2, cost))
    spent = await store.snapshot(lambda conn: spent_so_far(conn, ada.id, run_id))
    assert spent == (Amount(3, 7), Amount(6, 7), Amount(9, 18))
    unpriced = Sql("SELECT unpriced_calls FROM caller_spending ORDER BY cost_micros")
    assert await store.write(lambda conn: [row.unpriced_calls for row in conn.all(unpriced)]) == [1, 0]

    await store.write(remove_run, run_id)
    spent = await store.snapshot(lambda conn: spent_so_far(conn, ada.id, run_id))
    assert spent == (Amount(), Amount(6, 7), Amount(9, 18)), "a deleted run was paid for all the same"
