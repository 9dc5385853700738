"""Audit, sessions, cache and logs, over both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from store.access.audit import AuditFilter, append_audit, count_audit, find_audit, list_audit
from store.database.dialects import Sql
from store.database.paging import PageWindow
from store.maintenance.retention import sweep_audit
from store.memory.pack_cache import get_cached, put_cached, sweep_cache
from store.runs import logs
from store.runs.logs import CUT, LogQuery, append_log_lines, count_log, list_log
from store.runs.sessions import (
    end_expired_sessions,
    end_sessions_of_run,
    ended_or_unknown,
    find_sessions,
    live_sessions,
    start_session,
    touch_session,
)
from tests.support.rows import START, attempt, caller, run, step

if TYPE_CHECKING:
    from store.database.engine import Store


# ------------------------------------------------------------------------------------------------ audit


async def test_audit_is_filtered_and_newest_first(store: Store):
    first = await store.write(append_audit, actor_id="call_a", action="start_run", accepted=True, target_id="run_1")
    await store.write(append_audit, actor_id=None, action="sign_in", accepted=False, detail='{"from":"Berlin"}')
    third = await store.write(append_audit, actor_id="call_b", action="forget", accepted=True, on_behalf_of="call_a")

    async def ids(wanted: AuditFilter) -> list[str]:
        rows = await list_audit(store, wanted, PageWindow())
        assert await count_audit(store, wanted) == len(rows)
        return [row.action for row in rows]

    assert sorted(await ids(AuditFilter())) == ["forget", "sign_in", "start_run"]
    assert await ids(AuditFilter(actor_ids=("call_a", "call_b"), actions=("forget",))) == ["forget"]
    assert await ids(AuditFilter(text="BERLIN")) == ["sign_in"]
    said = orjson.dumps({"title": 'Say "Hello" 100%', "list": [1, "c:\\x"]}).decode()
    await store.write(append_audit, actor_id=None, action="say", accepted=True, detail=said)
    for words in ('"', '"hello"', "100%", "c:\\x", "SAY title"):
        assert await ids(AuditFilter(text=words)) == ["say"], words
    for marks in ("{", ",", "}", "say {", "1_0%", '":"'):
        assert await ids(AuditFilter(text=marks)) == [], marks
    await store.write(lambda conn: conn.run(Sql("DELETE FROM audit WHERE action = 'say'")))
    now = datetime.now(UTC)
    assert await ids(AuditFilter(created_before=now - timedelta(hours=1))) == []
    assert len(await ids(AuditFilter(created_from=now - timedelta(hours=1)))) == 3
    found = await find_audit(store, [first, third])
    assert found[first].target_id == "run_1"
    assert found[third].on_behalf_of == "call_a"


async def test_audit_goes_after_its_time(store: Store):
    old = await store.write(append_audit, actor_id=None, action="old", accepted=True)
    await store.write(append_audit, actor_id=None, action="new", accepted=True)
    past = Sql("UPDATE audit SET at = :at WHERE id = :id")
    await store.write(lambda conn: conn.run(past, {"at": START - timedelta(days=400), "id": old}))
    assert await store.write(sweep_audit, keep_days=365) == 1
    assert await store.write(sweep_audit, keep_days=365) == 0


# ------------------------------------------------------------------------------------------------ sessions


async def test_a_session_is_live_on_its_machine_until_it_ends(store: Store):
    ada = await caller(store)
    run_id = await run(store, ada.id, state="running")
    for name in ("sess_1", "sess_2"):
        await store.write(start_session, session_id=name, run_id=run_id, step_id="s", machine="here")
    assert await live_sessions(store, run_id) == {"sess_1": "here", "sess_2": "here"}
    assert await store.write(touch_session, "sess_1")
    end = Sql("UPDATE session SET ended_at = last_used_at WHERE id = 'sess_1'")
    await store.write(lambda conn: conn.run(end))
    assert not await store.write(touch_session, "sess_1")
    assert (await find_sessions(store, ["sess_1"]))["sess_1"].ended_at is not None
    assert await ended_or_unknown(store, ["sess_1", "sess_2", "sess_x"]) == {"sess_1", "sess_x"}
    assert await store.write(end_sessions_of_run, run_id) == {"sess_2"}


@pytest.mark.parametrize(
    ("state", "ended_minutes_ago", "used_minutes_ago", "expired"),
    [
        ("running", None, 60, False),
        ("queued", None, 60, False),
        ("failed", 5, 60, False),
        ("failed", 20, 20, True),
        ("cancelled", 20, 5, False),
        ("succeeded", 1, 1, True),
    ],
)
async def test_sessions_expire_when_their_run_is_over_and_idle(
    store: Store, state: str, ended_minutes_ago: int | None, used_minutes_ago: int, expired: bool
):
    ada = await caller(store)
    now = await store.write(lambda conn: conn.now())
    ended = None if ended_minutes_ago is None else now - timedelta(minutes=ended_minutes_ago)
    run_id = await run(store, ada.id, now - timedelta(hours=2), state=state, ended_at=ended)
    await store.write(start_session, session_id="sess_1", run_id=run_id, step_id="s", machine="here")
    used = Sql("UPDATE session SET last_used_at = :at")
    await store.write(lambda conn: conn.run(used, {"at": now - timedelta(minutes=used_minutes_ago)}))
    assert await store.write(end_expired_sessions, "elsewhere", idle_seconds=900) == frozenset()
    assert await store.write(end_expired_sessions, "here", idle_seconds=900) == ({"sess_1"} if expired else set())
    assert await live_sessions(store, run_id) == ({} if expired else {"sess_1": "here"})


# ------------------------------------------------------------------------------------------------ cache


async def test_a_cached_value_is_its_callers_until_its_time_is_over(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    for value in ("1", "2"):
        await store.write(put_cached, caller_id=ada.id, pack="web.search", key="q", value=value, ttl_seconds=60)
    assert await get_cached(store, ada.id, "web.search", "q") == "2"
    assert await get_cached(store, bob.id, "web.search", "q") is None
    assert await get_cached(store, ada.id, "web.scrape", "q") is None
    await store.write(put_cached, caller_id=ada.id, pack="web.search", key="q", value="3", ttl_seconds=-1)
    assert await get_cached(store, ada.id, "web.search", "q") is None
    assert await store.write(sweep_cache) == 1
    await store.write(put_cached, caller_id=ada.id, pack="p", key="k", value="x", ttl_seconds=-1)
    assert await store.write(sweep_cache) == 1
    assert await store.write(sweep_cache) == 0


# ------------------------------------------------------------------------------------------------ logs


async def log_of(store: Store, attempt_id: str, **window: object) -> list[str]:
    rows = await list_log(store, attempt_id, PageWindow(**window))  # type: ignore[arg-type]
    return [row.text for row in rows]


async def test_log_lines_are_numbered_and_paged(store: Store):
    ada = await caller(store)
    run_id = await run(store, ada.id)
    made = await attempt(store, run_id, await step(store, run_id))
    assert await store.write(append_log_lines, made, [(START, "info", "one"), (START, "error", "two")]) == 2
    assert await store.write(append_log_lines, made, []) == 0
    assert await store.write(append_log_lines, made, [(START, "info", "bad \0 and \ud800")]) == 1
    assert await log_of(store, made) == ["one", "two", "bad \ufffd and ?"]
    assert await log_of(store, made, after=(1,), limit=5) == ["two", "bad \ufffd and ?"]
    assert await log_of(store, made, limit=1, reverse=True) == ["two", "bad \ufffd and ?"]


async def test_a_log_is_searched_by_text_and_level(store: Store):
    ada = await caller(store)
    run_id = await run(store, ada.id)
    made = await attempt(store, run_id, await step(store, run_id))
    said = [("info", "Read 50% of a_b"), ("warning", "ÄRGER with the disk"), ("error", "read nothing"), ("debug", "x")]
    await store.write(append_log_lines, made, [(START, level, text) for level, text in said])
    # As older versions stored it: the pack's own word.
    await store.write(lambda conn: conn.run(Sql("UPDATE log_line SET level = 'Notice' WHERE sequence = 4")))

    async def found(**wanted: Any) -> list[int]:
        query = LogQuery(**wanted)
        rows = await list_log(store, made, PageWindow(limit=10), query)
        assert await count_log(store, made, query) == len(rows)
        return [row.sequence for row in rows]

    assert await found() == [1, 2, 3, 4]
    assert await found(text="READ") == [1, 3]
    assert await found(text="ÄRGER With") == [2]
    assert await found(text="50% OF a_") == [1]
    assert await found(text="%") == [1], "a sign of patterns is a sign"
    assert await found(levels=("info",)) == [1, 4]
    assert await found(levels=("warning", "error")) == [2, 3]
    assert await found(text="read", levels=("error",)) == [3]
    assert await found(levels=()) == []
    rows = await list_log(store, made, PageWindow(after=(1,), limit=1), LogQuery(levels=("info", "error")))
    assert [row.sequence for row in rows] == [3, 4]


@pytest.mark.parametrize(("lines", "size"), [(5, 10_000), (10_000, 30)])
async def test_a_log_ends_with_one_line_that_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch, lines: int, size: int
):
    monkeypatch.setattr(logs, "MAX_LINES", lines)
    monkeypatch.setattr(logs, "MAX_BYTES", size)
    ada = await caller(store)
    run_id = await run(store, ada.id)
    made = await attempt(store, run_id, await step(store, run_id))
    three = [(START, "info", "sechs6")] * 3
    assert await store.write(append_log_lines, made, three) == 3
    assert await store.write(append_log_lines, made, three) == 2
    assert await store.write(append_log_lines, made, three) == 0
    assert await log_of(store, made) == [*["sechs6"] * 5, CUT]
