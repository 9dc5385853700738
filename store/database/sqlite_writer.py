"""The only connection that writes to the embedded database, and the thread in which it waits for the disk.

Waiting units share one transaction (group commit), and one that fails takes no other along; callers are answered after
COMMIT. With a full fsync per commit this does about three times the runs of one transaction each (`make bench`, row
"throughput").
"""

from __future__ import annotations

import asyncio
import math
import queue
import sqlite3
import threading
import time
from collections import deque
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import structlog

from store.database.engine import StoreClosedError, StoreError
from store.database.sqlite_connection import SQLiteConnection, classified, connect

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.wakes import Wake

T = TypeVar("T")

log = structlog.get_logger(__name__)

#: Units that may share one transaction. Larger batches make the slowest caller wait without saving more commits.
BATCH = 64
#: Units that may wait; beyond it a write is refused instead of growing without bound.
QUEUE_LIMIT = 20_000
#: After so long a batch on the event loop's thread takes up no further unit: the loop has others to serve.
TURN_SECONDS = 0.005
#: How long a batch in the thread waits for another program that has locked the file.
LOCKED_MS = 5000
#: A disk that makes most commits durable within this time is waited for on the event loop's thread: to hand a commit
#: to the other and its end back takes 0.1 to 0.3 ms, and as much CPU.
PROMPT_SECONDS = 0.001
#: What the last commit counts for in the share of prompt ones; at the start the disk counts as prompt.
COMMIT_WEIGHT = 1 / 16
#: Pages of the log after which the thread copies them into the file, and those that a commit and each of its units
#: write by our count (11 for one step's end, 57 for those of 24). It comes before `wal_autocheckpoint`, which would
#: copy within a commit, on the event loop.
CHECKPOINT_PAGES = 3500
COMMIT_PAGES = 9
UNIT_PAGES = 2


class _Job(NamedTuple):
    unit: Callable[[Connection], Any]
    future: asyncio.Future[Any]
    few: bool


class _Answer(NamedTuple):
    job: _Job
    result: Any
    error: BaseException | None


#: Answers of a batch, and what it woke.
_Outcome: TypeAlias = "tuple[list[_Answer], frozenset[Wake]]"


class SQLiteWriter:
    """Runs units in batches, one batch at a time, each in a transaction; `start` opens it, `stop` drains it.

    A batch whose units all touch a few rows runs on the event loop's thread: two threads that hand the GIL to and fro
    around each statement of some microseconds need up to a fifth more CPU for a whole run. Its COMMIT runs there too
    as long as the disk is prompt, otherwise in the writer's thread, as any other batch does from BEGIN to COMMIT.
    """

    def __init__(self, path: Path, wake: Callable[[frozenset[Wake]], None]) -> None:
        self._path = path
        self._wake = wake
        self._waiting: deque[_Job] = deque()
        self._turns: queue.SimpleQueue[Callable[[], _Outcome] | None] = queue.SimpleQueue()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False
        self._prompt_share = 1.0
        self._pages_in_log = 0
        self._thread = threading.Thread(target=self._serve, name="packline-writer", daemon=True)
        #: What the loop calls here belongs to no caller: not to the one whose unit happened to come first.
        self._nobody = Context()

    def start(self) -> None:
        """Opens the connection and starts the thread; units come from the event loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._raw = connect(self._path)
        self._raw.execute("PRAGMA busy_timeout=0")
        self._thread.start()

    def submit(self, unit: Callable[[Connection], T], *, few: bool) -> asyncio.Future[T]:
        """Queues a unit; the future is done after COMMIT or failure."""
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        if len(self._waiting) >= QUEUE_LIMIT:
            raise StoreError(f"More than {QUEUE_LIMIT} writes are waiting: the disk does not keep up. Try again later.")
        future: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append(_Job(unit, future, few))
        if self._idle.is_set():
            self._idle.clear()
            self._loop.call_soon(self._next, context=self._nobody)
        return future

    async def stop(self) -> None:
        """Finishes what is queued and ends the thread."""
        if self._closed:
            return
        self._closed = True
        await self._idle.wait()
        self._turns.put(None)
        while self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, 0.5)
        self._raw.close()

    # ---------------------------------------------------------------------------------- on the event loop's thread

    def _next(self) -> None:
        """Gives the connection to the next batch, from here to `_done`."""
        waiting = self._waiting
        if not waiting:
            self._idle.set()
            return
        batch = [waiting.popleft() for _ in range(min(len(waiting), BATCH))]
        if not all(job.few for job in batch):
            self._turns.put(partial(self._transact, batch))
            return
        try:
            outcome = self._run(batch, guarded=False, until=time.monotonic() + TURN_SECONDS)
        except sqlite3.Error:
            outcome = None  # most likely locked by another program, for which the thread may wait
        if outcome is None:
            self._turns.put(partial(self._transact, batch, is_new=False))
            return
        waiting.extendleft(reversed(batch[len(outcome[0]) :]))
        if not self._raw.in_transaction:
            self._done(*outcome)
        elif self._pages_in_log >= CHECKPOINT_PAGES:
            self._turns.put(partial(self._commit, outcome, with_checkpoint=True))
        elif len(outcome[0]) > 1 or self._prompt_share < 0.5:
            self._turns.put(partial(self._commit, outcome))
        else:
            self._done(*self._commit(outcome))

    def _done(self, answers: list[_Answer], woken: frozenset[Wake]) -> None:
        try:
            for job, result, error in answers:
                if job.future.cancelled():
                    continue
                if error is not None:
                    job.future.set_exception(error)
                else:
                    job.future.set_result(result)
            if woken:
                self._wake(woken)
        finally:
            # After those who were answered: what they write next shares a batch. Whatever went wrong with them, the
            # others are not left waiting for ever.
            self._loop.call_soon(self._next, context=self._nobody)

    # ------------------------------------------------------------------------------------- in the writer's thread

    def _serve(self) -> None:
        while (turn := self._turns.get()) is not None:
            outcome = turn()
            try:
                self._loop.call_soon_threadsafe(self._done, *outcome, context=self._nobody)
            except RuntimeError:  # that loop is gone, and its callers with it
                log.debug("answers for a closed event loop were dropped", count=len(outcome[0]))

    def _transact(self, batch: list[_Job], *, is_new: bool = True) -> _Outcome:
        """Runs a batch in one transaction; the answers hold only once it has committed.

        At first without savepoints, whose two statements are a tenth of what a settle costs. Should a unit of several
        fail, all are rolled back and run again, each in its own savepoint; on PostgreSQL, too, a unit may run twice.

        Args:
            batch: What to run.
            is_new: Whether none of it has been tried before.
        """
        try:
            self._raw.execute(f"PRAGMA busy_timeout={LOCKED_MS}")
            outcome = (self._run(batch, guarded=False) if is_new else None) or self._run(batch, guarded=True)
            assert outcome is not None, "a guarded batch always comes to an end"
        except Exception as error:
            return self._refused([_Answer(job, None, None) for job in batch], error)
        finally:
            self._raw.execute("PRAGMA busy_timeout=0")
        return self._commit(outcome) if self._raw.in_transaction else outcome

    # ----------------------------------------------------------------------------------------------------- in either

    def _commit(self, outcome: _Outcome, *, with_checkpoint: bool = False) -> _Outcome:
        began = time.monotonic()
        try:
            self._raw.execute("COMMIT")
        except Exception as error:
            return self._refused(outcome[0], error)
        is_prompt = time.monotonic() - began < PROMPT_SECONDS
        self._prompt_share += (is_prompt - self._prompt_share) * COMMIT_WEIGHT
        self._pages_in_log += COMMIT_PAGES + UNIT_PAGES * len(outcome[0])
        if with_checkpoint:
            self._pages_in_log = 0
            with suppress(sqlite3.Error):  # what could not be copied now is copied with the next
                self._raw.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return outcome

    def _run(self, batch: list[_Job], *, guarded: bool, until: float = math.inf) -> _Outcome | None:
        """Run the units of a batch up to their COMMIT; None when it was rolled back and has to run guarded.

        When no unit succeeded, the connection may be left outside a transaction, with nothing to commit.

        Args:
            batch: What to run.
            guarded: Whether each unit has its own savepoint.
            until: When to stop, by `time.monotonic`, after the first unit at the earliest: there are fewer answers.
        """
        raw = self._raw
        conn = SQLiteConnection(raw)
        answers: list[_Answer] = []
        if raw.in_transaction:
            raw.execute("ROLLBACK")  # what `_refused` could not
        raw.execute("BEGIN IMMEDIATE")
        for job in batch:
            if answers and time.monotonic() > until:
                break
            answer = self._attempt(conn, job, guarded=guarded)
            answers.append(answer)
            if answer.error is None:
                continue
            if not raw.in_transaction:
                # A full disk or an I/O error made SQLite roll everything back: nothing of the batch is left, and
                # nothing may run after it outside a transaction.
                return [_Answer(job, None, answer.error) for job in batch], frozenset()
            if not guarded:
                raw.execute("ROLLBACK")
                return (answers, frozenset()) if len(batch) == 1 else None
        return answers, frozenset(conn.woken)

    def _attempt(self, conn: SQLiteConnection, job: _Job, *, guarded: bool) -> _Answer:
        """Runs one unit; guarded, its failure leaves nothing of it and everything of the others."""
        raw = self._raw
        woken = set(conn.woken) if guarded else None
        try:
            if guarded:
                raw.execute("SAVEPOINT unit")
            result = job.unit(conn)
            if guarded:
                raw.execute("RELEASE unit")
        except Exception as error:
            if woken is not None:
                conn.woken = woken
                if raw.in_transaction:
                    raw.execute("ROLLBACK TO unit")
                    raw.execute("RELEASE unit")
            return _Answer(job, None, classified(error))
        return _Answer(job, result, None)

    def _refused(self, answers: list[_Answer], error: Exception) -> _Outcome:
        """Return the same failure for every unit of a batch that was rolled back."""
        if self._raw.in_transaction:
            with suppress(sqlite3.Error):  # as on a broken disk; it is tried again before the next batch
                self._raw.execute("ROLLBACK")
        why = classified(error)
        return [_Answer(answer.job, None, why) for answer in answers], frozenset()
