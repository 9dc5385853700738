"""Whether a time is over is told by the store's clock, which may differ from the machine's and may be set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest

from store.database.dialects import Sql
from store.database.engine import open_store
from store.memory.agent_results import find_result, put_result
from store.memory.pack_cache import get_cached, put_cached
from store.runs.claim import due
from store.runs.commands import request_cancel
from store.runs.sessions import end_expired_sessions, start_session
from store.runs.unit_types import Claim, NotClaimed, Refusal, Wait
from store.states import AttemptState, RunState
from tests.support.clocks import steered_clock
from tests.support.databases import ready_database, sqlite_store
from tests.support.rows import caller, run
from tests.support.runs import LEASE, claimed, submitted, working

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from store.database.engine import Store
    from tests.support.clocks import Clock

MINUTE_OF_DAY = 1 / 24 / 60


@pytest.fixture(params=[0, *(pytest.param(hours, marks=pytest.mark.postgres) for hours in (-2, 2))])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """SQLite, which goes by the machine's clock, and PostgreSQL servers whose clocks are hours behind and ahead."""
    if not request.param:
        async with sqlite_store(tmp_path) as opened:
            yield opened
        return
    with ready_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS "
                f"$$ SELECT pg_catalog.clock_timestamp() + interval '{request.param} hours' $$".encode()
            )
            name = connection.info.dbname
            connection.execute(f"ALTER DATABASE {name} SET search_path = public, pg_catalog".encode())
        opened = await open_store(url, tmp_path, migrate=False)
        try:
            now = await opened.write(lambda conn: conn.now())
            away = now - datetime.now(UTC) - timedelta(hours=request.param)
            assert abs(away) < timedelta(minutes=30), "the clock was not set"
            yield opened
        finally:
            await opened.close()


@pytest.mark.parametrize(("minutes", "over"), [(-10, False), (-20, True)])
async def test_a_failed_runs_session_ends_when_it_was_idle_for_its_time(store: Store, minutes: int, over: bool) -> None:
    ada = await caller(store)
    then = await store.write(lambda conn: conn.now()) + timedelta(minutes=minutes)
    run_id = await run(store, ada.id, then, state="failed", ended_at=then)
    await store.write(start_session, session_id="sess_1", run_id=run_id, step_id="s", machine="here")
    assert await store.write(end_expired_sessions, "here", idle_seconds=900) == frozenset(), "it was used just now"
    used = Sql("UPDATE session SET last_used_at = :at")
    await store.write(lambda conn: conn.run(used, {"at": then}))
    assert await store.write(end_expired_sessions, "here", idle_seconds=900) == ({"sess_1"} if over else set())


@pytest.mark.parametrize(("minutes", "kept"), [(1, True), (-1, False)])
async def test_a_kept_value_is_found_until_its_time_is_over(store: Store, minutes: int, kept: bool) -> None:
    ada = await caller(store)
    await store.write(put_cached, caller_id=ada.id, pack="p", key="k", value="1", ttl_seconds=minutes * 60)
    assert await get_cached(store, ada.id, "p", "k") == ("1" if kept else None)
    days = minutes * MINUTE_OF_DAY
    await store.write(put_result, caller_id=ada.id, key="k", attempt_id="att_1", output="2", files=(), keep_days=days)
    found = await find_result(store, ada.id, "k")
    assert (found and found.output) == ("2" if kept else None)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def steered(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Clock]]:
    with steered_clock(request.param) as clock:
        (tmp_path / "data").mkdir()
        opened = await open_store(clock.database_url, tmp_path / "data", migrate=request.param == "sqlite")
        try:
            yield opened, clock
        finally:
            await opened.close()


async def test_a_clock_set_back_lets_no_gone_worker_hold_a_run_for_longer_than_a_lease(
    steered: tuple[Store, Clock],
) -> None:
    store, clock = steered
    ada = await caller(store)
    taken, cancelled = [(await submitted(store, ada.id, 1)).run_id for _ in range(2)]
    for run_id in (taken, cancelled):
        await (await working(store, run_id)).start()
    clock.set(hours=-1)
    assert await store.write(due, LEASE) == [], "its worker may be alive"
    assert (await claimed(store, taken, owner="w2")).reason is Refusal.HELD  # type: ignore[union-attr]
    clock.set(seconds=LEASE + 1)
    assert [found.run_id for found in await store.write(due, LEASE)] == [taken, cancelled]
    assert isinstance(await claimed(store, taken, owner="w2"), Claim)
    assert await store.write(request_cancel, cancelled, None) is RunState.CANCELLED


async def test_a_clock_set_back_leaves_a_living_worker_its_run(steered: tuple[Store, Clock]) -> None:
    store, clock = steered
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 2)).run_id)
    await worker.start()
    clock.set(hours=-1)
    assert await store.write(due, LEASE) == []
    clock.set(seconds=LEASE - 1)
    assert (await worker.go_on()).started
    assert await store.write(due, LEASE) == []


async def test_whoever_has_waited_need_not_wait_until_the_clock_is_there_again(steered: tuple[Store, Clock]) -> None:
    store, clock = steered
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    waits = await worker.settle(Wait(60, "once more"), AttemptState.FAILED)
    assert waits.not_before is not None
    clock.set(hours=-1)
    (found,) = await store.write(due, LEASE)
    assert (found.wait_seconds, found.not_before) == (60, waits.not_before), "no longer than at first"
    for waited_for in (None, waits.not_before - timedelta(seconds=1)):
        refused = await claimed(store, made.run_id, waited_for=waited_for)
        assert isinstance(refused, NotClaimed)
        assert refused.reason is Refusal.LATER
    assert isinstance(await claimed(store, made.run_id, waited_for=waits.not_before), Claim)
