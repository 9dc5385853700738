"""What only PostgreSQL does: lost connections, clashes, and wake-ups from other processes."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from threading import Barrier
from typing import TYPE_CHECKING

import orjson
import psycopg
import pytest
from sqlalchemy import select, text

from store.database import postgres_wakes, postgres_writer
from store.database.dialects import Sql
from store.database.engine import Connections, open_store
from store.database.errors import StoreError
from store.database.postgres_queue import RunQueue
from store.database.wakes import EVERYTHING, Topic
from store.models.callers import CALLER
from tests.support.databases import ready_database, server_url
from tests.support.heard import Heard
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.postgres import PostgresStore

pytestmark = pytest.mark.postgres

ADD = Sql("INSERT INTO caller (id, subject, name, created_at) VALUES (:id, :id, 'n', :now)")
RENAME = Sql("UPDATE caller SET name = name || :more WHERE id = :id")
PID = Sql("SELECT pg_backend_pid()")


@pytest.fixture
def url() -> Iterator[str]:
    with ready_database() as ready:
        yield ready


@pytest.fixture
async def pair(url: str, tmp_path: Path) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Two processes' worth of stores on one database."""
    async with AsyncExitStack() as stack:
        stores = []
        for _ in range(2):
            opened = await open_store(url, tmp_path, migrate=False)
            stack.push_async_callback(opened.close)
            stores.append(opened)
        async with asyncio.timeout(60):
            for opened in stores:
                await opened.listening.connected.wait()  # type: ignore[attr-defined]
        yield stores[0], stores[1]  # type: ignore[misc]


def add(conn: Connection, name: str) -> str:
    conn.run(ADD, {"id": name, "now": conn.now()})
    conn.wake(Topic.TOKEN_REVOKED, name)
    return name


def kill(pid: int) -> None:
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))


async def names(opened: PostgresStore) -> dict[str, str]:
    return {row[0]: row[1] for row in await opened.read(select(CALLER.c.id, CALLER.c.name))}


async def test_a_backend_killed_in_the_middle_of_a_unit_costs_a_retry_and_writes_once(
    pair: tuple[PostgresStore, PostgresStore],
):
    opened, _ = pair
    killed: list[int] = []

    def unit(conn: Connection) -> str:
        add(conn, "a")
        if not killed:
            (pid,) = conn.one(PID) or (0,)
            killed.append(pid)
            kill(pid)
        return add(conn, "b")

    assert await opened.write(unit) == "b"
    assert await names(opened) == {"a": "n", "b": "n"}


async def test_a_backend_killed_while_idle_is_not_noticed(pair: tuple[PostgresStore, PostgresStore]):
    opened, _ = pair
    (pid,) = await opened.write(lambda conn: conn.one(PID)) or (0,)
    ((reader,),) = await opened.rows(PID)
    kill(pid)
    kill(reader)
    assert await names(opened) == {}
    assert await opened.write(add, "a") == "a"


async def test_a_restart_of_the_database_is_not_noticed_however_many_connections_it_ends(
    pair: tuple[PostgresStore, PostgresStore],
):
    opened, _ = pair
    async with AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(opened._readers.connect()) for _ in range(5)]
        pids = [(await reader.exec_driver_sql("SELECT pg_backend_pid()")).scalar_one() for reader in readers]
    together = Barrier(5)  # so that each has a connection of its own

    def pid_of(conn: Connection) -> int:
        together.wait(60)
        (pid,) = conn.one(PID) or (0,)
        return pid

    pids += await asyncio.gather(*(opened.write(pid_of) for _ in range(5)))
    assert len(set(pids)) == 10
    for pid in pids:
        kill(pid)
    assert await names(opened) == {}
    assert await opened.write(add, "a") == "a"


async def test_a_read_that_is_cut_off_runs_again(pair: tuple[PostgresStore, PostgresStore]):
    opened, _ = pair
    ((pid,),) = await opened.rows(PID)
    kill(pid)
    assert (await opened.read(text("SELECT 1"))).all() == [(1,)]
    ((pid,),) = await opened.rows(PID)
    long = f"SELECT pg_backend_pid(), pg_sleep(CASE pg_backend_pid() WHEN {pid} THEN 60 ELSE 0 END)"
    cut_off = asyncio.create_task(opened.read(text(long)))
    await eventually(lambda: sleeps(pid))
    kill(pid)
    ((again, _),) = await cut_off
    assert again != pid
    kill(again)
    assert (await opened.read(text("SELECT 2"))).all() == [(2,)]
    assert (await opened.read(select(CALLER.c.id))).all() == []


async def sleeps(pid: int) -> bool:
    """Whether a backend sleeps now."""
    async with await psycopg.AsyncConnection.connect(server_url(), autocommit=True) as connection:
        found = await connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'", (pid,)
        )
        return await found.fetchone() is not None


async def test_a_connection_lost_during_commit_is_told_and_not_repeated(
    pair: tuple[PostgresStore, PostgresStore], url: str
):
    """COMMIT runs a deferred trigger that ends its own backend: the client cannot know how it went."""
    opened, _ = pair
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            """CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END$$"""
        )
        connection.execute(
            """CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON caller DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.id = 'fatal') EXECUTE FUNCTION die()"""
        )
    ran: list[str] = []

    def unit(conn: Connection) -> None:
        ran.append("once")
        add(conn, "fatal")

    with pytest.raises(StoreError, match="during COMMIT"):
        await opened.write(unit)
    assert ran == ["once"]
    assert await opened.write(add, "a") == "a"


async def test_what_a_frozen_process_has_locked_is_freed_and_its_unit_runs_again(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(postgres_writer, "IDLE_IN_TRANSACTION_SECONDS", 0.1)
    opened = await open_store(url, tmp_path, migrate=False)
    await opened.write(add, "a")
    tries: list[str] = []

    def freezes(conn: Connection) -> None:
        conn.run(RENAME, {"id": "a", "more": "!"})
        tries.append("held")
        if len(tries) == 1:
            # As if stopped between two statements: nothing comes from here until another one has had the row.
            with psycopg.connect(url, autocommit=True) as other:
                other.execute("SET lock_timeout = '60s'")
                other.execute("UPDATE caller SET name = 'other' WHERE id = 'a'")
            monkeypatch.setattr(postgres_writer, "IDLE_IN_TRANSACTION_SECONDS", 60.0)  # of the next connection
        conn.one(PID)

    await opened.write(freezes)
    assert (await opened.read(select(CALLER.c.name))).all() == [("other!",)]
    assert len(tries) == 2
    await opened.close()


async def test_units_that_deadlock_both_succeed(pair: tuple[PostgresStore, PostgresStore]):
    first, second = pair
    await first.write(lambda conn: [add(conn, "a"), add(conn, "b")])
    tries: list[str] = []
    together = Barrier(2)

    def rename(order: str) -> object:
        def unit(conn: Connection) -> None:
            is_first = order not in tries
            tries.append(order)
            conn.run(Sql("SET LOCAL deadlock_timeout = '20ms'"))
            conn.run(RENAME, {"id": order[0], "more": order})
            if is_first:
                together.wait(60)  # both hold one row and want the other's
            conn.run(RENAME, {"id": order[1], "more": order})

        return unit

    await asyncio.gather(first.write(rename("ab")), second.write(rename("ba")))  # type: ignore[arg-type]
    assert len(tries) == 3, "the one that was chosen as the victim ran again"
    found = await names(first)
    assert {"".join(sorted(name[1:])) for name in found.values()} == {"aabb"}


async def test_other_processes_are_woken_and_the_own_one_hears_it_once(pair: tuple[PostgresStore, PostgresStore]):
    first, second = (Heard(store) for store in pair)
    a = (Topic.TOKEN_REVOKED, "a")
    await pair[0].write(add, "a")
    await second.until(a)
    # What comes back over the wire is dropped: the other's next wake-up comes after it.
    await pair[1].write(lambda conn: conn.wake(Topic.VAULT, "b"))
    await first.until(a, (Topic.VAULT, "b"))
    assert [first.wakes.count(a), second.wakes.count(a)] == [1, 1]


async def test_after_each_reconnect_everything_may_have_changed(pair: tuple[PostgresStore, PostgresStore]):
    first, second = pair
    heard = Heard(second)
    pids: set[int] = set()
    for round_ in range(3):
        pid = second.listening.backend_pid
        assert pid is not None
        pids.add(pid)
        heard.wakes.clear()
        kill(pid)
        await heard.until(*((topic, EVERYTHING) for topic in Topic))
        await first.write(add, f"after-{round_}")
        await heard.until((Topic.TOKEN_REVOKED, f"after-{round_}"))
    assert len(pids) == 3, "each was a connection of its own"


async def test_a_transaction_that_is_rolled_back_wakes_no_other_process(pair: tuple[PostgresStore, PostgresStore]):
    heard = Heard(pair[1])

    def fails(conn: Connection) -> None:
        add(conn, "never")
        raise LookupError

    with pytest.raises(LookupError):
        await pair[0].write(fails)
    with pytest.raises(StoreError):
        await pair[0].write(lambda conn: [add(conn, "twice"), add(conn, "twice")])
    await pair[0].write(add, "after")
    await heard.until((Topic.TOKEN_REVOKED, "after"))
    assert [wake for wake in heard.wakes if wake[1] in {"never", "twice"}] == []


@pytest.mark.parametrize("topic", [Topic.RUN, Topic.RUN_CANCELLING], ids=lambda topic: topic.value)
async def test_many_wake_ups_at_once_reach_the_other_process_whatever_fits_into_a_payload(
    pair: tuple[PostgresStore, PostgresStore], topic: Topic
):
    heard = Heard(pair[1])
    ids = [f"{number:0100}" for number in range(500)]  # six payloads

    def unit(conn: Connection) -> None:
        for id in ids:
            conn.wake(topic, id)

    await pair[0].write(unit)
    await heard.until(*((topic, id) for id in ids))
    assert sorted(id for woken, id in heard.wakes if woken is topic and id != EVERYTHING) == ids


async def test_more_wake_ups_than_are_kept_become_everything(pair: tuple[PostgresStore, PostgresStore]):
    heard = Heard(pair[1])

    def unit(conn: Connection) -> None:
        for number in range(postgres_wakes.MOST_IDS + 1):
            conn.wake(Topic.RUN, f"run_{number}")
        conn.wake(Topic.VAULT, "another topic")

    await pair[0].write(unit)
    await heard.until((Topic.VAULT, "another topic"))
    assert set(heard.wakes) - {(topic, EVERYTHING) for topic in Topic} == {(Topic.VAULT, "another topic")}
    await heard.until((Topic.RUN, EVERYTHING))


def test_a_payload_is_as_long_as_postgresql_takes_and_no_longer():
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute("SELECT pg_notify('any', %s)", ("x" * postgres_wakes.MOST_BYTES,))
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute("SELECT pg_notify('any', %s)", ("x" * (postgres_wakes.MOST_BYTES + 1),))
    wakes = [(Topic.RUN, f"é{number}") for number in range(2000)]
    found = list(postgres_wakes.payloads(wakes))
    assert [tuple(wake) for payload in found for wake in orjson.loads(payload)] == wakes
    sizes = [len(payload.encode()) for payload in found]
    assert max(sizes) <= postgres_wakes.MOST_BYTES
    assert min(sizes[:-1]) > postgres_wakes.MOST_BYTES - 20
    assert list(postgres_wakes.payloads([])) == []


async def test_a_wake_up_outlives_the_connection_that_was_to_send_it(pair: tuple[PostgresStore, PostgresStore]):
    first, second = pair
    heard = Heard(second)
    await first.write(add, "before")
    await heard.until((Topic.TOKEN_REVOKED, "before"))
    for round_ in range(3):
        pid = first.listening.sender.backend_pid
        assert pid is not None
        kill(pid)
        await first.write(add, f"after-{round_}")
        await heard.until((Topic.TOKEN_REVOKED, f"after-{round_}"))
        assert first.listening.sender.backend_pid != pid


async def test_closing_sends_what_was_committed_last(pair: tuple[PostgresStore, PostgresStore]):
    heard = Heard(pair[1])
    for number in range(20):  # so that the last ones come in the pause after a batch
        await pair[0].write(add, f"last-{number}")
    await pair[0].close()
    await heard.until(*((Topic.TOKEN_REVOKED, f"last-{number}") for number in range(20)))


async def test_closing_does_not_wait_for_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_wakes, "FLUSH_SECONDS", 0.1)
    url = "postgresql://nobody@127.0.0.1:1/none"
    backend = postgres_wakes.PostgresBackend(url, RunQueue(url))
    await backend.connect()
    backend.announce([(Topic.RUN, "run_1")])
    async with asyncio.timeout(60):
        await backend.disconnect()


async def test_a_failed_statement_is_told_without_its_values(pair: tuple[PostgresStore, PostgresStore]):
    opened, _ = pair
    with pytest.raises(StoreError, match="does not exist") as refused:
        await opened.write(lambda conn: conn.one(Sql("SELECT * FROM nowhere WHERE x = :x"), {"x": "hush"}))
    assert "hush" not in str(refused.value)


async def test_a_server_that_is_away_is_told_at_opening(tmp_path: Path):
    with pytest.raises(StoreError, match="cannot be reached"):
        await open_store("postgresql://nobody@127.0.0.1:1/none", tmp_path, migrate=True)


async def test_machines_are_told_apart_and_processes_of_one_are_not(
    pair: tuple[PostgresStore, PostgresStore], url: str, tmp_path: Path
):
    assert pair[0].machine == pair[1].machine
    elsewhere = await open_store(url, tmp_path / "elsewhere", migrate=False)
    assert elsewhere.machine != pair[0].machine, "another data folder holds other sessions"
    await elsewhere.close()
    assert ":" in pair[0].machine


async def test_a_worker_hears_cancels_and_not_what_others_watch(
    pair: tuple[PostgresStore, PostgresStore], url: str, tmp_path: Path
):
    worker = await open_store(url, tmp_path, migrate=False, watches=False)
    heard: list[tuple[Topic, str]] = []
    cancelled = asyncio.Event()
    worker.wakes.listen(Topic.RUN, lambda id: heard.append((Topic.RUN, id)))

    def cancel(id: str) -> None:
        heard.append((Topic.RUN_CANCELLING, id))
        if id == "run_1":
            cancelled.set()

    worker.wakes.listen(Topic.RUN_CANCELLING, cancel)
    async with asyncio.timeout(60):
        await worker.listening.connected.wait()  # type: ignore[attr-defined]
        await pair[0].write(lambda conn: conn.wake(Topic.RUN, "run_1"))
        await pair[0].write(lambda conn: conn.wake(Topic.RUN_CANCELLING, "run_1"))
        await cancelled.wait()
    assert [wake for wake in heard if wake[1] != EVERYTHING] == [(Topic.RUN_CANCELLING, "run_1")]
    await worker.close()


async def test_no_more_connections_are_opened_than_the_settings_say(url: str, tmp_path: Path):
    opened = await open_store(url, tmp_path, migrate=False, connections=Connections(write=2, read=3))
    slow = Sql("SELECT pg_sleep(0.05)")
    await asyncio.gather(
        *(opened.write(lambda conn: conn.one(slow)) for _ in range(8)), *(opened.rows(slow) for _ in range(8))
    )
    names = await opened.rows(
        Sql("SELECT application_name AS name FROM pg_stat_activity WHERE datname = current_database()")
    )
    counted = Counter(row.name for row in names)
    assert (counted["packline"], counted["packline-read"] <= 3) == (2, True)
    await opened.close()
