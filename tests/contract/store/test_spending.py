"""What runs and their steps spent on models, over both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.runs.spending import NOTHING, RunSpending, Spending, spending_of_runs
from store.runs.unit_types import GoOn, Spent, Succeed
from store.states import StepState
from tests.support.rows import caller
from tests.support.runs import expire_lease, submitted, working

if TYPE_CHECKING:
    from store.database.engine import Store

UNKNOWN = Spending(None, None, None)


async def test_a_run_and_its_steps_spent_what_their_attempts_did(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    run_id = (await submitted(store, ada.id, steps=2)).run_id
    worker = await working(store, run_id)
    await worker.start()
    first, second = worker.claim.steps[0].id, worker.claim.steps[1].id
    await worker.settle(GoOn(worker.next_start(), StepState.PENDING, 0.5), spent=Spent(1, 2, None, "[]"))
    assert await spending_of_runs(store, [run_id]) == {
        run_id: RunSpending(Spending(1, 2, None), {first: Spending(1, 2, None)})
    }

    await expire_lease(store, run_id)
    worker = await working(store, run_id, owner="another")  # which finds the second step's attempt lost
    await worker.start(1)
    await worker.settle(Succeed(), spent=Spent(10, 20, 30, "[]"))

    quiet = (await submitted(store, ada.id, steps=1)).run_id
    assert await spending_of_runs(store, [run_id, quiet], visible_to=ada.id) == {
        run_id: RunSpending(UNKNOWN, {first: Spending(1, 2, None), second: UNKNOWN}),
        quiet: RunSpending(NOTHING, {}),
    }
    assert await spending_of_runs(store, [run_id], visible_to=bob.id) == {run_id: RunSpending(NOTHING, {})}
