"""Worker processes under test, and whether what they recorded is whole."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.runs.claim import due
from store.runs.events import ROW, EventRecord, events_of
from tests.support import engine_process
from tests.support.engine import until
from tests.support.engine_process import STEPS, Orders, executions_file
from tests.support.forks import fork

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from store.database.dialects import Connection, Row
    from store.database.engine import Store

#: Longest a fault may hold things up; leases here are a few seconds.
PATIENCE_SECONDS = 60.0


class WorkerProcess:
    """One worker process; `kill`, `freeze` and `thaw` do what they say."""

    def __init__(self, orders: Orders) -> None:
        self._process = fork([json.dumps(asdict(orders))], os.environ, module=engine_process.__name__)
        self._has_ended = False

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def ready(self) -> None:
        """Waits until its engine runs."""
        line = await asyncio.to_thread(self._process.stdout.readline)
        assert line == "ready\n", f"the worker process said {line!r}"

    def kill(self) -> None:
        """kill -9."""
        self._process.send_signal(signal.SIGKILL)
        self._wait()

    def freeze(self) -> None:
        """SIGSTOP."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self._process.send_signal(signal.SIGCONT)

    async def end(self) -> int:
        """SIGTERM, and the exit code."""
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        return await asyncio.to_thread(self._wait)

    def close(self) -> None:
        """Ends it however it is."""
        with self._process:
            if not self._has_ended:
                self.kill()

    def _wait(self) -> int:
        status = self._process.wait()
        self._has_ended = True
        return status


@contextmanager
def worker_processes(*orders: Orders) -> Iterator[list[WorkerProcess]]:
    """Worker processes, surely gone at the end."""
    with ExitStack() as stack:
        workers = []
        for each in orders:
            worker = WorkerProcess(each)
            stack.callback(worker.close)
            workers.append(worker)
        yield workers


def executions(folder: Path) -> list[list[str]]:
    """Run, step, attempt and how many ran at once, of each execution."""
    file = executions_file(folder)
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


async def executed(folder: Path, count: int) -> None:
    """Waits until so many steps have been executed."""
    await until(lambda: len(executions(folder)) >= count, PATIENCE_SECONDS)


_OPEN = Sql("SELECT count(*) FROM run WHERE ended_at IS NULL")
_RUNS = Sql("SELECT id, state, next_seq, inputs FROM run ORDER BY id")
_ATTEMPTS = Sql(
    """
    SELECT attempt.run_id, step.key, attempt.state, attempt.output, attempt.id = step.attempt_id
    FROM attempt JOIN run_step AS step ON step.id = attempt.step_id
    """
)
_EVENTS = Sql(f"SELECT {ROW} FROM run_event ORDER BY run_id, sequence")


async def all_ended(store: Store) -> None:
    """Waits until no run is under way."""

    async def none_open() -> bool:
        row = await store.write(lambda conn: conn.one(_OPEN))
        return row is not None and row[0] == 0

    await until(none_open, PATIENCE_SECONDS)


async def check_whole(store: Store, folder: Path, runs: int, *, most_repeats: int) -> int:
    """Every run succeeded, every step is recorded exactly once, events have no gap; how many steps ran twice.

    Args:
        store: Where it was recorded.
        folder: The workers' data folder.
        runs: How many were started.
        most_repeats: Executions beyond one for each step that the faults explain.
    """
    found, attempts, events = await store.write(_everything)
    assert [row[1] for row in found] == ["succeeded"] * runs
    succeeded = Counter((row[0], row[1]) for row in attempts if row[2] == "succeeded")
    assert len(succeeded) == runs * STEPS
    assert set(succeeded.values()) == {1}, "each step is recorded once"
    assert all(row[4] for row in attempts if row[2] == "succeeded"), "and it is the one that counts"
    assert not [row for row in attempts if row[2] == "running"]
    word = "".join(str(number) for number in range(STEPS))
    last = sorted(row[3] for row in attempts if row[1] == f"s{STEPS - 1}" and row[2] == "succeeded")
    assert last == sorted(f'{{"word":"{number}-{word}"}}' for number in range(runs)), "outputs are exact"
    by_run: dict[str, list[EventRecord]] = {}
    for event in events:
        by_run.setdefault(event.run_id, []).append(event)
    for run_id, _, next_seq, _ in found:
        assert [event.sequence for event in by_run[run_id]] == list(range(1, next_seq)), "events have no gap"
        ends = [each.after for each in by_run[run_id] if each.type == "run_state" and each.after in _FINAL]
        assert ends == ["succeeded"]
    assert await store.write(due, 30.0) == []
    ran = Counter((line[0], line[1]) for line in executions(folder))
    assert len(ran) == runs * STEPS
    repeats = ran.total() - len(ran)
    assert repeats <= most_repeats, f"{repeats} steps ran twice; the faults explain {most_repeats}"
    return repeats


_FINAL = {"succeeded", "failed", "cancelled"}


def _everything(conn: Connection) -> tuple[list[Row], list[Row], list[EventRecord]]:
    events = [event for row in conn.all(_EVENTS) for event in events_of(row)]
    return conn.all(_RUNS), conn.all(_ATTEMPTS), events
