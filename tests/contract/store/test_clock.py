"""Whether a time is over is told by the store's clock, which may differ from the machine's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest

from store.agent_results import find_result, put_result
from store.cache import get_cached, put_cached
from store.dialects import Sql
from store.engine import open_store
from store.sessions import end_expired_sessions, start_session
from tests.support.databases import ready_database, sqlite_store
from tests.support.rows import caller, run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from store.engine import Store

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
