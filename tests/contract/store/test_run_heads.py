"""Single runs say the same as lists of them, over both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from store.runs.heads import find_run_by_id
from store.runs.reads import find_runs
from store.runs.start_reads import find_earlier_start
from tests.support.rows import START, caller, run

if TYPE_CHECKING:
    from store.database.engine import Store


async def test_a_key_finds_its_callers_run_alone(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    mine = await run(store, ada.id, idempotency_key="k", request_digest="d")
    assert await find_earlier_start(store, ada.id, "k") == (mine, "d", START, False)
    assert await find_earlier_start(store, bob.id, "k") is None
    assert await find_earlier_start(store, ada.id, "other") is None


async def test_one_run_is_the_same_read_either_way(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    plain = await run(store, ada.id, number=1, state="queued")
    later = START + timedelta(seconds=1)
    full = await run(
        store,
        ada.id,
        number=2,
        state="failed",
        force=True,
        failure='{"code":"timeout"}',
        not_before=later,
        lease_until=later,
        acknowledged_at=later,
        deadline_at=later,
        cancel_requested=True,
    )
    for run_id in (plain, full):
        assert {run_id: await find_run_by_id(store, run_id)} == await find_runs(store, [run_id])
        assert await find_run_by_id(store, run_id, visible_to=ada.id) is not None
        assert await find_run_by_id(store, run_id, visible_to=bob.id) is None
    assert await find_run_by_id(store, "run_nobody") is None
