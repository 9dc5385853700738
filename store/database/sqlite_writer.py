"""The only connection that writes to the embedded database, and the thread in which it waits for the disk.

Waiting units share one transaction (group commit), in which a failing unit does not affect the others; callers get
their results after COMMIT. With a full fsync per commit this runs about three times as many runs as a transaction for
each unit (`make bench`, row "throughput").
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

from store.database.errors import StoreClosedError, StoreError
from store.database.sqlite_connection import SQLiteConnection, connect, store_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.wakes import Wake

T = TypeVar("T")

log = structlog.get_logger(__name__)

#: Units that may share one transaction. Larger batches make the slowest caller wait without saving more commits.
BATCH = 64
#: Units that may wait; beyond it writes are refused, so that the queue cannot grow without bound.
QUEUE_LIMIT = 20_000
#: After this time a batch on the event loop's thread runs no further unit, so that the loop can serve others.
TURN_SECONDS = 0.005
#: How long a batch in the thread waits for another program that has locked the file.
LOCKED_MS = 5000
#: If most commits take less than this, they run on the event loop's thread: a hop to the writer's thread and back takes
#: 0.1 to 0.3 ms, and as much CPU.
PROMPT_SECONDS = 0.001
#: Weight of the last commit in the moving share of prompt ones, which starts at 1.
COMMIT_WEIGHT = 1 / 16
#: Pages in the log after which the writer's thread copies them into the file. It comes before `wal_autocheckpoint`,
#: which would copy within a commit, on the event loop.
CHECKPOINT_PAGES = 3500
#: Estimated pages that a commit and each of its units write (measured: 11 for one step's end, 57 for those of 24).
COMMIT_PAGES = 9
UNIT_PAGES = 2


class _QueuedUnit(NamedTuple):
    unit: Callable[[Connection], Any]
    future: asyncio.Future[Any]
    few: bool


class _Answer(NamedTuple):
    job: _QueuedUnit
    result: Any
    error: BaseException | None


#: Answers of a batch, and its wake-ups.
_Outcome: TypeAlias = "tuple[list[_Answer], frozenset[Wake]]"


class SQLiteWriter:
    """Runs units in batches, one batch at a time, each in a transaction.

    A batch whose units all touch few rows runs on the event loop's thread: two threads that pass the GIL back and forth
    around statements of some microseconds need up to a fifth more CPU for a whole run. Its COMMIT runs there too while
    the disk is prompt, otherwise in the writer's thread, where any other batch runs from BEGIN to COMMIT.
    """

    def __init__(
        self, path: Path, wake: Callable[[frozenset[Wake]], None], observe_commit: Callable[[float], None]
    ) -> None:
        self._path = path
        self._wake = wake
        self._observe_commit = observe_commit
        self._waiting: deque[_QueuedUnit] = deque()
        self._turns: queue.SimpleQueue[Callable[[], _Outcome] | None] = queue.SimpleQueue()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False
        self._prompt_share = 1.0
        self._pages_in_log = 0
        self._thread = threading.Thread(target=self._serve, name="packline-writer", daemon=True)
        #: Callbacks run in an empty context, not in that of the caller whose unit happened to come first.
        self._empty_context = Context()

    def start(self) -> None:
        """Open the connection and start the thread; units come from the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._raw = connect(self._path)
        self._raw.execute("PRAGMA busy_timeout=0")
        self._thread.start()

    def submit(self, unit: Callable[[Connection], T], *, few: bool) -> asyncio.Future[T]:
        """Queue a unit; the future is done after COMMIT or failure."""
        if self._closed:
            raise StoreClosedError("The store is closed: the server is shutting down.")
        if len(self._waiting) >= QUEUE_LIMIT:
            raise StoreError(f"More than {QUEUE_LIMIT} writes are waiting: the disk does not keep up. Try again later.")
        future: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append(_QueuedUnit(unit, future, few))
        if self._idle.is_set():
            self._idle.clear()
            self._loop.call_soon(self._next, context=self._empty_context)
        return future

    async def stop(self) -> None:
        """Finish the queued units and end the thread."""
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
        """Start the next batch, which has the connection until `_done`."""
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
            outcome = None  # most likely locked by another program, for which the writer's thread waits
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
            # Scheduled after the callers that were just answered, so that their next writes share a batch; in
            # `finally`, so that the waiting units run even if answering failed.
            self._loop.call_soon(self._next, context=self._empty_context)

    # ------------------------------------------------------------------------------------- in the writer's thread

    def _serve(self) -> None:
        while (turn := self._turns.get()) is not None:
            outcome = turn()
            try:
                self._loop.call_soon_threadsafe(self._done, *outcome, context=self._empty_context)
            except RuntimeError:  # the loop is closed, and its callers are gone
                log.debug("answers for a closed event loop were dropped", count=len(outcome[0]))

    def _transact(self, batch: list[_QueuedUnit], *, is_new: bool = True) -> _Outcome:
        """Run a batch in one transaction and commit it.

        At first without savepoints, whose two statements are a tenth of the cost of a settle. If one of several units
        fails, all are rolled back and run again, each in its own savepoint; on PostgreSQL, too, a unit may run twice.

        Args:
            batch: The units to run.
            is_new: Whether none of them has been tried before.
        """
        try:
            self._raw.execute(f"PRAGMA busy_timeout={LOCKED_MS}")
            outcome = (self._run(batch, guarded=False) if is_new else None) or self._run(batch, guarded=True)
            assert outcome is not None, "a guarded batch is never run again"
        except BaseException as error:  # as in `_attempt`: otherwise the thread would end and every later write hang
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
        seconds = time.monotonic() - began
        self._observe_commit(seconds)
        is_prompt = seconds < PROMPT_SECONDS
        self._prompt_share += (is_prompt - self._prompt_share) * COMMIT_WEIGHT
        self._pages_in_log += COMMIT_PAGES + UNIT_PAGES * len(outcome[0])
        if with_checkpoint:
            self._pages_in_log = 0
            with suppress(sqlite3.Error):  # the next checkpoint copies the pages that this one could not
                self._raw.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return outcome

    def _run(self, batch: list[_QueuedUnit], *, guarded: bool, until: float = math.inf) -> _Outcome | None:
        """Run the units of a batch without committing; None when it was rolled back and has to run guarded.

        When no unit succeeded, the connection may be left outside a transaction, with nothing to commit.

        Args:
            batch: The units to run.
            guarded: Whether each unit has its own savepoint.
            until: When to stop, by `time.monotonic`, but not before the first unit; then there are fewer answers.
        """
        raw = self._raw
        conn = SQLiteConnection(raw)
        answers: list[_Answer] = []
        if raw.in_transaction:
            raw.execute("ROLLBACK")  # if `_refused` could not
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

    def _attempt(self, conn: SQLiteConnection, job: _QueuedUnit, *, guarded: bool) -> _Answer:
        """Run one unit; if it fails while guarded, only its own changes are rolled back."""
        raw = self._raw
        woken = set(conn.woken) if guarded else None
        try:
            if guarded:
                raw.execute("SAVEPOINT unit")
            result = job.unit(conn)
            if guarded:
                raw.execute("RELEASE unit")
        except BaseException as error:  # also panics of native libraries
            if woken is not None:
                conn.woken = woken
                if raw.in_transaction:
                    raw.execute("ROLLBACK TO unit")
                    raw.execute("RELEASE unit")
            return _Answer(job, None, store_error(error))
        return _Answer(job, result, None)

    def _refused(self, answers: list[_Answer], error: BaseException) -> _Outcome:
        """Return the same failure for every unit of a batch that was rolled back."""
        if self._raw.in_transaction:
            with suppress(sqlite3.Error):  # as on a broken disk; `_run` tries it again before the next batch
                self._raw.execute("ROLLBACK")
        why = store_error(error)
        return [_Answer(answer.job, None, why) for answer in answers], frozenset()
