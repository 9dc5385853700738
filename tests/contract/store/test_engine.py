"""What `Store.write`, `snapshot`, `read` and `wakes` promise, over both databases."""

from __future__ import annotations

import asyncio
import gc
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, text

from store.database.dialects import Sql, instant
from store.database.errors import StoreClosedError, StoreError
from store.database.wakes import EVERYTHING, Topic
from store.models.callers import CALLER
from tests.support.heard import Heard
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from store.database.dialects import Connection, Row
    from store.database.engine import Store

ADD = Sql("INSERT INTO caller (id, subject, name, created_at) VALUES (:id, :subject, :name, :now)")
SEEN = Sql("SELECT created_at FROM caller WHERE id = :id")
PERCENT = Sql("SELECT count(*) FROM caller WHERE name LIKE '100%' AND id = :id")


def add(conn: Connection, number: int, *, wake: bool = False) -> int:
    conn.run(ADD, {"id": f"call_{number}", "subject": f"s{number}", "name": "100% name", "now": conn.now()})
    if wake:
        conn.wake(Topic.TOKEN_REVOKED, f"{number}")
    return number


def add_then_fail(conn: Connection, number: int) -> int:
    add(conn, number, wake=True)
    raise LookupError(f"unit {number} fails after writing")


async def ids(store: Store) -> set[str]:
    return set((await store.read(select(CALLER.c.id))).scalars())


async def test_a_write_answers_after_commit_and_is_read_by_the_next_read(store: Store):
    for number in range(20):
        assert await store.write(add, number) == number
        assert f"call_{number}" in await ids(store)


async def test_of_64_units_at_once_only_the_failing_ones_leave_nothing(store: Store):
    async def one(number: int) -> object:
        return await store.write(add_then_fail if number % 8 == 3 else add, number)

    answers = await asyncio.gather(*map(one, range(64)), return_exceptions=True)

    failed = {number for number, answer in enumerate(answers) if isinstance(answer, BaseException)}
    assert failed == set(range(3, 64, 8))
    assert all(isinstance(answers[number], LookupError) for number in failed)
    assert await ids(store) == {f"call_{number}" for number in range(64) if number not in failed}


async def test_a_unit_that_breaks_a_constraint_fails_alone(store: Store):
    await store.write(add, 1)
    answers = await asyncio.gather(*(store.write(add, n) for n in (1, 2, 3)), return_exceptions=True)
    assert isinstance(answers[0], StoreError)
    assert answers[1:] == [2, 3]
    assert await ids(store) == {"call_1", "call_2", "call_3"}


async def test_a_unit_that_forgets_a_parameter_fails_alone(store: Store):
    broken = store.write(lambda conn: conn.run(ADD, {"id": "x"}))
    answers = await asyncio.gather(store.write(add, 1), broken, store.write(add, 2), return_exceptions=True)
    assert isinstance(answers[1], StoreError)
    assert [answers[0], answers[2]] == [1, 2]


async def test_watchers_are_woken_after_commit_and_never_for_what_failed(store: Store):
    heard = Heard(store)
    with pytest.raises(LookupError):
        await store.write(add_then_fail, 1)
    await store.write(add, 2, wake=True)
    await heard.until((Topic.TOKEN_REVOKED, "2"))
    assert "call_2" in await ids(store)
    assert (Topic.TOKEN_REVOKED, "1") not in heard.wakes


async def test_an_instant_without_a_zone_is_refused(store: Store):
    def naive(conn: Connection) -> None:
        conn.run(ADD, {"id": "call_1", "subject": "s", "name": "n", "now": datetime(2026, 1, 1)})  # noqa: DTZ001

    with pytest.raises(ValueError, match="no time zone"):
        await store.write(naive)
    assert await ids(store) == set()


async def test_an_instant_comes_back_as_it_went_in_by_both_ways(store: Store):
    moment = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC)

    def write(conn: Connection) -> datetime | None:
        conn.run(ADD, {"id": "call_1", "subject": "s", "name": "n", "now": moment})
        row = conn.one(SEEN, {"id": "call_1"})
        assert row is not None
        return instant(row[0])

    assert await store.write(write) == moment
    read = (await store.read(select(CALLER.c.created_at))).scalar_one()
    assert read == moment
    assert read.utcoffset() is not None


async def test_values_of_a_row_go_by_the_names_of_their_columns(store: Store):
    twice = Sql("SELECT caller.name, caller.id AS caller_id, count(*), count(*) FROM caller GROUP BY name, id")

    def write(conn: Connection) -> list[Row]:
        conn.run(ADD, {"id": "call_1", "subject": "s", "name": "Ada", "now": conn.now()})
        one = conn.one(twice)
        assert one is not None
        return [one, *conn.all(twice)]

    rows = await store.write(write)
    rows += [*await store.rows(twice), *await store.rows(twice, few=True)]
    assert [(row.name, row.caller_id) for row in rows] == [("Ada", "call_1")] * 4
    assert rows == [("Ada", "call_1", 1, 1)] * 4, "without a name of its own, a column has its place"
    assert await store.rows(Sql("SELECT id FROM caller WHERE id = 'x'")) == []


async def test_percent_signs_and_many_and_counts(store: Store):
    def write(conn: Connection) -> tuple[int, int, list[tuple[object, ...]]]:
        conn.many(ADD, [{"id": f"call_{n}", "subject": f"s{n}", "name": "100%", "now": conn.now()} for n in range(3)])
        conn.many(ADD, [])
        row = conn.one(PERCENT, {"id": "call_1"})
        assert row is not None
        changed = conn.run(Sql("UPDATE caller SET name = 'x' WHERE id <> :id"), {"id": "call_0"})
        return row[0], changed, conn.all(Sql("SELECT id, name FROM caller ORDER BY id"))

    assert await store.write(write) == (1, 2, [("call_0", "100%"), ("call_1", "x"), ("call_2", "x")])


async def test_the_clock_of_a_unit_is_aware_and_about_now(store: Store):
    before, now, again = await store.write(lambda conn: (datetime.now(UTC), conn.now(), conn.now()))
    assert now.tzinfo is not None
    assert abs((now - before).total_seconds()) < 5
    if store.dialect == "postgresql":
        assert now == again, "one transaction has one time"


async def test_a_cancelled_caller_does_not_undo_the_unit(store: Store):
    task = asyncio.ensure_future(store.write(add, 1))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await store.write(add, 2)

    async def both() -> bool:
        return await ids(store) == {"call_1", "call_2"}

    await eventually(both)


async def test_a_unit_that_fails_after_its_caller_was_cancelled_is_no_unheard_error(store: Store):
    unheard: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: unheard.append(context))
    go, done = threading.Event(), threading.Event()

    def fail(_conn: Connection) -> None:
        try:
            go.wait(60)
            raise LookupError("nobody waits for this")
        finally:
            done.set()

    task = asyncio.ensure_future(store.write(fail))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    go.set()
    await eventually(done.is_set)
    await store.close()
    gc.collect()
    assert unheard == []


async def test_close_finishes_what_was_accepted_and_refuses_more(store: Store):
    pending = [asyncio.ensure_future(store.write(add, number)) for number in range(10)]
    await asyncio.sleep(0)
    await store.close()
    assert [await each for each in pending] == list(range(10))
    with pytest.raises(StoreClosedError):
        await store.write(add, 11)
    with pytest.raises(StoreClosedError):
        await store.read(text("SELECT 1"))
    await store.close()


async def test_close_finishes_the_reads_under_way_and_leaves_no_connection_open(store: Store):
    pending = [asyncio.create_task(store.read(text("SELECT 1"))) for _ in range(10)]
    pending += [asyncio.create_task(store.read(text("SELECT 1"))) for _ in range(3)]
    await asyncio.sleep(0)
    for each in pending[10:]:
        each.cancel()
    await store.close()
    assert [(await each).all() for each in pending[:10]] == [[(1,)]] * 10
    assert all(each.cancelled() for each in pending[10:])
    del pending, each
    gc.collect()  # a connection that was not closed says so, which fails this test


async def test_reads_under_way_are_counted(store: Store):
    reads = [asyncio.create_task(ids(store)) for _ in range(20)]
    most = 0
    while not all(read.done() for read in reads):
        most = max(most, store.reading)
        await asyncio.sleep(0)
    assert most > 0
    await eventually(lambda: store.reading == 0)


async def test_a_read_cannot_write(store: Store):
    with pytest.raises(Exception, match=r"read-?only"):
        await store.read(text("DELETE FROM caller"))


async def test_a_snapshot_sees_one_instant_and_cannot_write(store: Store):
    await store.write(add, 1)
    loop = asyncio.get_running_loop()

    def count(conn: Connection) -> int:
        return len(conn.all(Sql("SELECT id FROM caller")))

    def look(conn: Connection) -> tuple[int, int]:
        before = count(conn)
        asyncio.run_coroutine_threadsafe(store.write(add, 2), loop).result(60)
        return before, count(conn)

    assert await store.snapshot(look) == (1, 1)
    assert await store.snapshot(count) == 2
    with pytest.raises(StoreError, match=r"read-?only"):
        await store.snapshot(add, 3)
    assert await store.snapshot(count) == 2


async def test_a_listener_that_fails_keeps_nobody_from_hearing(store: Store):
    calls: list[str] = []

    def broken(id: str) -> None:
        calls.append(id)
        raise RuntimeError("it cannot listen")

    store.wakes.listen(Topic.VAULT, broken)
    heard = Heard(store)
    for id in ("first", "second"):
        assert await store.write(lambda conn, id=id: conn.wake(Topic.VAULT, id)) is None
        await heard.until((Topic.VAULT, id))
        assert id in calls


async def test_a_listener_hears_of_its_topic_alone(store: Store):
    ended: list[str] = []
    store.wakes.listen(Topic.RUN_ENDED, ended.append)
    heard = Heard(store)

    def unit(conn: Connection) -> None:
        conn.wake(Topic.RUN, "run_1")
        conn.wake(Topic.RUN_ENDED, "run_2")

    await store.write(unit)
    await heard.until((Topic.RUN, "run_1"), (Topic.RUN_ENDED, "run_2"))
    assert [id for id in ended if id != EVERYTHING] == ["run_2"], "PostgreSQL's connection may say everything meanwhile"


async def test_what_nobody_waits_for_is_not_published(store: Store):
    told: list[str] = []
    store.wakes.listen(Topic.RUN, told.append, {"watched"}.__contains__)
    ended: list[str] = []
    store.wakes.listen(Topic.RUN_ENDED, ended.append)
    for id in ("unwatched", "watched"):
        await store.write(lambda conn, id=id: conn.wake(Topic.RUN, id))
    await store.write(lambda conn: conn.wake(Topic.RUN_ENDED, "last"))
    await eventually(lambda: "last" in ended)
    assert [id for id in told if id != EVERYTHING] == ["watched"], "PostgreSQL's connection may say everything"
