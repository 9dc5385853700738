"""The quick list says the same as the whole one, over both databases."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

import pytest

from store.paging import PageWindow
from store.run_heads import HEAD_COLUMNS, find_run_by_id, list_heads, list_whole
from store.run_reads import RunFilter, find_runs, list_runs
from store.start_reads import find_earlier_start
from tests.support.rows import START, caller, run

if TYPE_CHECKING:
    from store.engine import Store


async def test_heads_are_the_runs_of_the_whole_list(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    for number, owner in enumerate((ada, bob, ada, ada, bob), 1):
        await run(store, owner.id, number=number, cause="agent", state="failed" if number % 2 else "succeeded")
    columns = sorted(HEAD_COLUMNS)
    middle = (await _ids(store))[2]
    async with store.read() as connection:
        for window in (
            PageWindow(),
            PageWindow(limit=2),
            PageWindow(limit=2, reverse=True),
            PageWindow(after=(middle,)),
            PageWindow(before=(middle,), limit=1),
            PageWindow(before=(middle,), limit=1, reverse=True),
            PageWindow(after=("run_zzz",), before=("run_0",), limit=1),
        ):
            for only in (None, ada.id, "call_nobody"):
                rows = await list_runs(connection, RunFilter(), window, visible_to=only)
                assert await list_whole(store, window, visible_to=only) == rows
                heads = await list_heads(store, columns, window, visible_to=only)
                assert heads == [tuple(getattr(row, column) for column in columns) for row in rows]


async def _ids(store: Store) -> list[str]:
    return [row[0] for row in await list_heads(store, ["id"], PageWindow())]


async def test_instants_are_aware_and_enums_are_enums(store: Store) -> None:
    ada = await caller(store)
    await run(store, ada.id)
    ((created, state),) = await list_heads(store, ["created_at", "state"], PageWindow())
    assert created.tzinfo is UTC
    assert (created, state.name) == (START, state.name)
    with pytest.raises(ValueError, match="inputs"):
        await list_heads(store, ["id", "inputs"], PageWindow())


async def test_a_key_finds_its_callers_run_alone(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    mine = await run(store, ada.id, idempotency_key="k", request_digest="d")
    async with store.read() as connection:
        assert await find_earlier_start(connection, ada.id, "k") == (mine, "d", START, False)
        assert await find_earlier_start(connection, bob.id, "k") is None
        assert await find_earlier_start(connection, ada.id, "other") is None


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
    async with store.read() as connection:
        for run_id in (plain, full):
            assert {run_id: await find_run_by_id(store, run_id)} == await find_runs(connection, [run_id])
            assert await find_run_by_id(store, run_id, visible_to=ada.id) is not None
            assert await find_run_by_id(store, run_id, visible_to=bob.id) is None
        assert await find_run_by_id(store, "run_nobody") is None
