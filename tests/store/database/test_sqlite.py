"""What only the embedded database does: group commit, its failures, one process for one file."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import aiosqlite
import pytest
from sqlalchemy import func, select, text

import store.database.engine
from store.database import sqlite_writer
from store.database.dialects import Sql
from store.database.engine import open_store
from store.database.errors import StoreBusyError, StoreError, StoreFullError
from store.database.wakes import Topic
from store.models.callers import CALLER
from tests.support.databases import sqlite_store
from tests.support.heard import Heard
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.sqlite import SQLiteStore

ADD = Sql("INSERT INTO caller (id, subject, name, created_at) VALUES (:id, :id, :name, :now)")

#: Has its first row after a tenth of a second, and another right after.
SLOW_AND_THEN_SOME = """WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
    SELECT count(*) FROM n UNION ALL SELECT id FROM caller UNION ALL SELECT id FROM caller"""


def add(conn: Connection, name: str, size: int = 1) -> str:
    conn.run(ADD, {"id": name, "name": "x" * size, "now": conn.now()})
    conn.wake(Topic.TOKEN_REVOKED, name)
    return name


async def count(opened: Store) -> int:
    return int((await opened.read(select(func.count()).select_from(CALLER))).scalar_one())


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[SQLiteStore]:
    async with sqlite_store(tmp_path) as opened:
        yield opened  # type: ignore[misc]


class Busy(sqlite3.Connection):
    """A connection that finds the file locked, as in the moment a log is recovered."""

    def execute(self, *_: object) -> sqlite3.Cursor:
        locked = sqlite3.OperationalError("database is locked")
        locked.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise locked


async def test_a_few_rows_are_read_by_another_connection_while_the_one_of_the_loop_is_locked(embedded: SQLiteStore):
    await embedded.write(add, "ada")
    found = [await embedded.rows(Sql("SELECT id FROM caller WHERE id = :id"), {"id": "ada"}, few=True)]
    assert embedded._loop_connection is not None
    embedded._loop_connection.close()
    embedded._loop_connection = Busy(":memory:")
    found.append(await embedded.rows(Sql("SELECT id FROM caller WHERE id = :id"), {"id": "ada"}, few=True))
    assert found == [[("ada",)], [("ada",)]]


async def test_a_reader_who_is_cancelled_leaves_no_view_of_the_database_behind(embedded: SQLiteStore):
    await embedded.write(add, "ada")

    await embedded.read(text("SELECT id FROM caller"))
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            reading = asyncio.create_task(embedded.read(text(SLOW_AND_THEN_SOME)))
            # In the middle of its first row. Sooner or later would show nothing and break nothing.
            await asyncio.sleep(0.03)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        await embedded.write(add, "late")
        await eventually(lambda: everything_is_copied(embedded))
    finally:
        gc.enable()


async def test_a_read_cancelled_while_its_connection_opens_leaves_none_open(
    embedded: SQLiteStore, monkeypatch: pytest.MonkeyPatch
):
    opened: list[aiosqlite.Connection] = []
    opening = asyncio.Event()
    execute = aiosqlite.Connection.execute

    def note(connection: aiosqlite.Connection, statement: str) -> object:
        opened.append(connection)
        opening.set()
        return execute(connection, statement)

    monkeypatch.setattr(aiosqlite.Connection, "execute", note)
    reading = asyncio.create_task(embedded.rows(Sql("SELECT 1")))
    await opening.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await embedded.close()
    with pytest.raises(ValueError, match="no active connection"):
        await execute(opened[0], "SELECT 1")


async def test_a_connection_that_could_not_be_opened_is_opened_by_the_next_read(
    embedded: SQLiteStore, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(embedded, "_path", embedded._path.parent / "missing" / "packline.db")
        with pytest.raises(StoreError, match="unable to open"):
            await embedded.rows(Sql("SELECT 1"))
    assert await embedded.rows(Sql("SELECT 1")) == [(1,)]


async def test_a_cancelled_read_whose_connection_cannot_be_opened_is_no_unexpected_error(
    embedded: SQLiteStore, monkeypatch: pytest.MonkeyPatch
):
    noticed: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: noticed.append(context))
    opening, cancelled = asyncio.Event(), asyncio.Event()

    async def fail(*_: object, **__: object) -> aiosqlite.Connection:
        opening.set()
        await cancelled.wait()
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(aiosqlite, "connect", fail)
    reading = asyncio.create_task(embedded.rows(Sql("SELECT 1")))
    await opening.wait()
    reading.cancel()
    await asyncio.wait([reading])
    cancelled.set()
    await embedded.close()
    gc.collect()
    assert noticed == []


async def everything_is_copied(embedded: SQLiteStore) -> bool:
    """Whether all of the log can be copied into the file, which a reader of what was before keeps from happening."""
    with contextlib.closing(sqlite3.connect(embedded._path)) as other:
        _busy, pages, copied = other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return bool(pages == copied)


async def test_nothing_is_written_by_way_of_a_read_of_a_few_rows(embedded: SQLiteStore):
    with pytest.raises(StoreError, match="readonly"):
        await embedded.rows(ADD, {"id": "ada", "name": "Ada", "now": None}, few=True)


both_ways = pytest.mark.parametrize("way", ["write", "write_few"])


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_WRITE])
@both_ways
async def test_a_full_disk_is_recognised_by_its_code(embedded: SQLiteStore, way: str, code: int):
    def unit(conn: Connection) -> None:
        full = sqlite3.OperationalError("in other words")
        full.sqlite_errorcode = code
        raise full

    with pytest.raises(StoreFullError):
        await getattr(embedded, way)(unit)


class Gate:
    """Holds the writer inside one unit, so that what is queued meanwhile becomes one batch."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def unit(self, conn: Connection) -> None:
        self.entered.set()
        assert self.open.wait(60)

    async def batch(self, opened: Store, way: str, *units: object) -> list[object]:
        held = asyncio.ensure_future(opened.write(self.unit))
        await asyncio.to_thread(self.entered.wait, 60)
        waiting = [asyncio.ensure_future(getattr(opened, way)(unit)) for unit in units]
        await asyncio.sleep(0)
        self.open.set()
        await held
        return await asyncio.gather(*waiting, return_exceptions=True)


@both_ways
async def test_waiting_units_share_one_commit(embedded: SQLiteStore, way: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite_writer, "TURN_SECONDS", 60.0)  # however busy the machine is
    commits = []
    embedded._writer._raw.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    answers = await Gate().batch(embedded, way, *(lambda conn, n=n: add(conn, f"c{n}") for n in range(40)))
    assert answers == [f"c{n}" for n in range(40)]
    assert len(commits) == 2, "the gate's and one for all forty"


@both_ways
async def test_a_failed_commit_reaches_every_unit_of_the_batch_and_nobody_is_woken(
    embedded: SQLiteStore, way: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_writer, "TURN_SECONDS", 60.0)  # however busy the machine is
    heard = Heard(embedded)

    answers = await Gate().batch(
        embedded, way, lambda conn: add(conn, "a"), dangle, lambda conn: add(conn, "b"), lambda conn: add(conn, "c")
    )
    assert len(answers) == 4
    assert all(isinstance(answer, StoreError) for answer in answers), answers
    assert await count(embedded) == 0
    assert await embedded.write(add, "after") == "after"
    await heard.until((Topic.TOKEN_REVOKED, "after"))
    assert heard.wakes == [(Topic.TOKEN_REVOKED, "after")]


async def test_units_on_the_loop_that_have_taken_long_leave_the_others_to_its_next_turn(
    embedded: SQLiteStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_writer, "TURN_SECONDS", -1.0)
    commits = []
    embedded._writer._raw.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)

    def fail(conn: Connection) -> None:
        add(conn, "never")
        raise LookupError("no")

    units = [lambda conn, n=n: add(conn, f"c{n}") for n in range(5)]
    answers = await Gate().batch(embedded, "write_few", *units, fail, lambda conn: add(conn, "last"))
    assert answers[:5] == [f"c{n}" for n in range(5)]
    assert (type(answers[5]), answers[6]) == (LookupError, "last")
    assert len(commits) == 1 + 5 + 1, "the gate's, one for each, and one for those that were tried again by the thread"
    assert await count(embedded) == 6


def dangle(conn: Connection) -> None:
    """Succeeds, and cannot be committed."""
    conn.run(Sql("PRAGMA defer_foreign_keys = ON"))
    conn.run(Sql("INSERT INTO caller_slot (caller_id) VALUES ('nobody')"))


@both_ways
async def test_a_batch_that_cannot_even_be_rolled_back_is_refused_and_the_store_goes_on(
    embedded: SQLiteStore, way: str
):
    def stuck(action: int, said: str | None, *_: object) -> int:
        return sqlite3.SQLITE_DENY if (action, said) == (sqlite3.SQLITE_TRANSACTION, "ROLLBACK") else sqlite3.SQLITE_OK

    raw = embedded._writer._raw
    raw.set_authorizer(stuck)
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        await getattr(embedded, way)(dangle)
    raw.set_authorizer(None)
    assert await getattr(embedded, way)(add, "after") == "after"
    assert await count(embedded) == 1


@both_ways
async def test_a_full_disk_in_the_middle_of_a_batch_fails_all_of_it_and_the_store_goes_on(
    embedded: SQLiteStore, way: str
):
    await embedded.write(add, "first")

    def limit(conn: Connection) -> None:
        (pages,) = conn.one(Sql("PRAGMA page_count")) or (0,)
        conn.one(Sql(f"PRAGMA max_page_count = {pages + 3}"))

    def unlimited(conn: Connection) -> None:
        conn.one(Sql("PRAGMA max_page_count = 1073741823"))

    await embedded.write(limit)
    answers = await Gate().batch(
        embedded,
        way,
        lambda conn: add(conn, "small"),
        lambda conn: add(conn, "huge", 1_000_000),
        lambda conn: add(conn, "late"),
        lambda conn: add(conn, "later"),
    )
    assert isinstance(answers[1], StoreFullError), answers
    everything_failed = all(isinstance(answer, StoreFullError) for answer in answers)
    only_the_huge_one = [answers[0], answers[2], answers[3]] == ["small", "late", "later"]
    assert everything_failed or only_the_huge_one, answers
    left = {row[0] for row in await embedded.read(select(CALLER.c.id))}
    assert left == {"first"} | (set() if everything_failed else {"small", "late", "later"})
    await embedded.write(unlimited)
    assert await embedded.write(add, "huge", 1_000_000) == "huge"


@both_ways
async def test_what_sqlite_rolled_back_by_itself_fails_the_whole_batch(embedded: SQLiteStore, way: str):
    """As a full disk or an I/O error may: the units before have lost their writes, and none may run outside."""
    ran: list[str] = []

    def rolled_back(conn: Connection) -> None:
        conn.run(Sql("ROLLBACK"))
        raise StoreFullError("as if the disk were full")

    def note(conn: Connection) -> None:
        ran.append("ran")
        add(conn, "outside")

    answers = await Gate().batch(embedded, way, lambda conn: add(conn, "lost"), rolled_back, note)
    assert all(isinstance(answer, StoreFullError) for answer in answers), answers
    assert ran == []
    assert await count(embedded) == 0
    assert await embedded.write(add, "after") == "after"


class Trace:
    """What the writer's connection is told, and whether on the event loop's thread."""

    def __init__(self, store: SQLiteStore) -> None:
        self._here = threading.get_ident()
        self.told: list[tuple[str, bool]] = []
        store._writer._raw.set_trace_callback(self._note)

    def _note(self, sql: str) -> None:
        self.told.append((sql.split("(")[0] if sql.startswith("PRAGMA") else sql.split()[0], self._is_here()))

    def _is_here(self) -> bool:
        return threading.get_ident() == self._here

    def of(self, said: str) -> list[bool]:
        return [here for what, here in self.told if what == said]


async def test_a_lonely_unit_of_a_few_rows_stays_on_the_loop_where_the_disk_is_prompt(
    embedded: SQLiteStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_writer, "PROMPT_SECONDS", 60.0)
    trace = Trace(embedded)
    assert await embedded.write_few(add, "ada") == "ada"
    assert trace.told == [("BEGIN", True), ("INSERT", True), ("COMMIT", True)]


async def test_the_commit_of_several_units_waits_in_the_thread(embedded: SQLiteStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite_writer, "PROMPT_SECONDS", 60.0)
    trace = Trace(embedded)
    await asyncio.gather(*(embedded.write_few(add, name) for name in ("ada", "bob")))
    assert trace.told == [("BEGIN", True), ("INSERT", True), ("INSERT", True), ("COMMIT", False)]


async def test_a_slow_disk_is_waited_for_in_the_thread_until_it_is_prompt_again(
    embedded: SQLiteStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_writer, "PROMPT_SECONDS", 60.0)
    for n in range(50):
        await embedded.write_few(add, f"prompt{n}")
    for prompt, name in ((0.0, "slow"), (60.0, "again")):
        monkeypatch.setattr(sqlite_writer, "PROMPT_SECONDS", prompt)
        trace = Trace(embedded)
        for n in range(50):
            await embedded.write_few(add, f"{name}{n}")
        commits = trace.of("COMMIT")
        assert commits == sorted(commits, reverse=name == "slow"), "it changes over once"
        assert commits[0] is (name == "slow")
        assert len(set(commits)) == 2


async def test_the_log_is_copied_into_the_file_by_the_thread(embedded: SQLiteStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite_writer, "PROMPT_SECONDS", 60.0)
    monkeypatch.setattr(sqlite_writer, "CHECKPOINT_PAGES", 4 * (sqlite_writer.COMMIT_PAGES + sqlite_writer.UNIT_PAGES))
    trace = Trace(embedded)
    for n in range(10):
        await embedded.write_few(add, f"c{n}")
    assert trace.of("PRAGMA wal_checkpoint") == [False, False]
    assert trace.of("COMMIT") == [True, True, True, True, False, True, True, True, True, False]


async def test_units_run_in_the_order_they_were_given_whichever_way_they_are_run(embedded: SQLiteStore):
    ran: list[int] = []
    ways = [embedded.write_few, embedded.write, embedded.write_few, embedded.write_few, embedded.write] * 40
    await asyncio.gather(*(way(lambda _, number=number: ran.append(number)) for number, way in enumerate(ways)))
    assert ran == list(range(200))


async def test_a_unit_of_a_few_rows_that_fails_takes_nothing_else_along(embedded: SQLiteStore):
    def fail(conn: Connection) -> None:
        add(conn, "never")
        raise LookupError("no")

    with pytest.raises(LookupError):
        await embedded.write_few(fail)
    answers = await Gate().batch(embedded, "write_few", lambda conn: add(conn, "a"), fail, lambda conn: add(conn, "b"))
    assert [answers[0], type(answers[1]), answers[2]] == ["a", LookupError, "b"]
    assert await count(embedded) == 2


@both_ways
async def test_a_unit_that_runs_out_of_items_fails_alone_and_the_store_goes_on(embedded: SQLiteStore, way: str):
    def exhaust(_: Connection) -> None:
        next(iter(()))

    answers = await Gate().batch(embedded, way, lambda conn: add(conn, "a"), exhaust, lambda conn: add(conn, "b"))
    assert [answers[0], type(answers[1]), answers[2]] == ["a", RuntimeError, "b"]
    async with asyncio.timeout(60):
        assert await getattr(embedded, way)(add, "after") == "after"


@both_ways
async def test_a_unit_in_which_a_native_library_panics_fails_alone_and_the_store_goes_on(
    embedded: SQLiteStore, way: str
):
    class PanicError(BaseException):
        pass

    def panic(conn: Connection) -> None:
        add(conn, "lost")
        raise PanicError

    run = getattr(embedded, way)
    outcomes = await asyncio.gather(run(panic), run(add, "kept"), return_exceptions=True)
    assert [type(outcomes[0]), outcomes[1]] == [PanicError, "kept"]
    assert await count(embedded) == 1


async def test_a_file_that_another_program_has_locked_holds_up_the_write_and_not_the_loop(
    embedded: SQLiteStore, tmp_path: Path
):
    other = sqlite3.connect(tmp_path / "packline.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert embedded._writer._raw.execute("PRAGMA busy_timeout").fetchone()[0] == 0, "nothing waits on the loop"
    waiting = asyncio.ensure_future(embedded.write_few(add, "ada"))
    for _ in range(20):
        await asyncio.sleep(0)  # the loop goes round: it is the thread that waits
    assert not waiting.done()
    other.execute("ROLLBACK")
    other.close()
    assert await waiting == "ada"


async def test_the_data_folder_is_for_its_own_user_alone(tmp_path: Path):
    async with sqlite_store(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0


async def test_a_second_server_on_the_same_folder_is_refused(embedded: SQLiteStore, tmp_path: Path):
    with pytest.raises(StoreBusyError, match="A Packline server"):
        await open_store("sqlite", tmp_path, migrate=True)
    code = (
        "import asyncio, sys; from pathlib import Path; from store.database.engine import open_store\n"
        "from store.database.errors import StoreBusyError\n"
        "try: asyncio.run(open_store('sqlite', Path(sys.argv[1]), migrate=True))\n"
        "except StoreBusyError: sys.exit(7)"
    )
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(tmp_path), cwd=ROOT)
    assert await program.wait() == 7
    await embedded.close()
    reopened = await open_store("sqlite", tmp_path, migrate=False)
    await reopened.close()


ROOT = Path(store.database.engine.__file__).parents[2]

WRITE_FOREVER = """
import asyncio, sys
from pathlib import Path
from store.database.engine import open_store
from store.database.dialects import Sql
ADD = Sql("INSERT INTO caller (id, subject, name, created_at) VALUES (:id, :id, 'n', :now)")
async def main():
    store = await open_store("sqlite", Path(sys.argv[1]), migrate=True)
    async def lane(lane):
        number = 0
        while True:
            name = f"{lane}-{number:06d}"
            await store.write(lambda conn: conn.run(ADD, {"id": name, "now": conn.now()}))
            print(name, flush=True)
            number += 1
    await asyncio.gather(*(lane(n) for n in range(8)))
asyncio.run(main())
"""


def test_kill_9_loses_no_acknowledged_write(tmp_path: Path):
    program = subprocess.Popen(
        [sys.executable, "-c", WRITE_FOREVER, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert program.stdout is not None
    acknowledged = [program.stdout.readline().strip() for _ in range(200)]
    os.kill(program.pid, signal.SIGKILL)
    acknowledged += [line.strip() for line in program.stdout if line.endswith("\n")]
    program.stdout.close()
    program.wait()

    async def present() -> set[str]:
        async with sqlite_store(tmp_path) as opened:
            assert (await opened.read(text("PRAGMA integrity_check"))).all() == [("ok",)]
            return {row[0] for row in await opened.read(select(CALLER.c.id))}

    assert set(acknowledged) <= asyncio.run(present())


async def test_the_url_of_another_kind_of_database_is_refused(tmp_path: Path):
    with pytest.raises(StoreError, match="use `sqlite`"):
        await open_store("mysql://x", tmp_path, migrate=True)
