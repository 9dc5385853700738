"""A worker process that tests kill, freeze and cut off: a fork that runs this module with the JSON of `Orders`.

Prints `ready` once its engine runs; SIGTERM stops it gracefully. Each execution of `fault.tick` leaves a line
`<run> <step> <attempt>` in the executions file, so that what ran can be compared with what was recorded.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog
from pydantic import BaseModel, Field

import store.database.postgres_writer
import store.runs.ledger
from packline import PackContext, pack
from runner.running.resources import RunLimits
from store.database.engine import open_store
from tests.support.engine import Laboratory, laboratory, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from packline import Pack
    from store.database.engine import Store

STEPS = 5


@dataclass(frozen=True)
class Orders:
    """What a worker process is to do.

    Attributes:
        url: Its database, as `store.database.engine.open_store` takes it.
        folder: Data folder, with the executions file in it.
        submit: Runs to start; with an idempotency key each, so that starting them again starts none twice.
        tick_seconds: How long a step takes.
        deaf: No wake-up reaches it, and none comes of what it commits: neither in other processes nor as a row of the
            queue.
        freeze_in_transaction: It stops itself (SIGSTOP) in the middle of a settle once `<folder>/freeze` exists.
    """

    url: str
    folder: str
    submit: int = 0
    tick_seconds: float = 0.005
    deaf: bool = False
    freeze_in_transaction: bool = False
    limits: dict[str, Any] = field(default_factory=dict)


class Tick(BaseModel):
    """A word to pass on."""

    word: str = Field(default="", description="Any text.")


def executions_file(folder: Path) -> Path:
    """Where executions are noted."""
    return folder / "executions"


def fault_packs(folder: Path, tick_seconds: float) -> list[Pack]:
    """`fault.tick` alone."""

    @pack("fault.tick", version="1.0.0", effects="none", repeatable=True)
    async def tick(ctx: PackContext, given: Tick) -> Tick:
        """Notes that it runs, and how many run beside it, takes its time, and adds to the word."""
        inside = folder / "inside"
        mine = inside / f"{ctx.run_id}.{os.getpid()}"
        inside.mkdir(exist_ok=True)
        mine.touch()
        note(executions_file(folder), f"{ctx.run_id} {ctx.step_key} {ctx.attempt_number} {len(os.listdir(inside))}")
        try:
            await asyncio.sleep(tick_seconds)
        finally:
            mine.unlink(missing_ok=True)
        return Tick(word=given.word + ctx.step_key[-1])

    return [tick]


def note(file: Path, line: str) -> None:
    """Adds a line, whole even when several processes write at once."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)


def tick_steps() -> list[dict[str, Any]]:
    """A pipeline of ticks, each fed by the one before."""
    first = step("s0", "fault.tick", word="${{ inputs.word }}")
    rest = [step(f"s{n}", "fault.tick", word=f"${{{{ steps.s{n - 1}.output.word }}}}") for n in range(1, STEPS)]
    return [first, *rest]


async def start_runs(lab: Laboratory, count: int) -> list[str]:
    """Starts runs; those that an earlier process started with the same keys are found again."""
    run_ids = []
    for number in range(count):
        key = {"idempotency_key": f"k{number}", "request_digest": "d"}
        new = await lab.new_run(tick_steps(), {"word": f"{number}-"}, deadline_seconds=600.0, **key)
        run_ids.append((await lab.engine.submit(new)).run_id)
    return run_ids


@asynccontextmanager
async def opened(orders: Orders) -> AsyncIterator[Laboratory]:
    """The engine these orders ask for."""
    folder = Path(orders.folder)
    database: Store = await open_store(orders.url, folder, migrate=orders.url == "sqlite")
    if orders.deaf:
        database.wakes.listen = lambda *_, **__: None  # type: ignore[method-assign]
        drop_wake_ups()
    try:
        limits = RunLimits(**orders.limits)
        async with laboratory(folder, fault_packs(folder, orders.tick_seconds), limits=limits, store=database) as lab:
            yield lab
    finally:
        await database.close()


def drop_wake_ups() -> None:
    """Has the units of this process wake nobody; what a sweep finds still goes into the queue."""
    store.database.postgres_writer.PostgresConnection.wake = lambda *_: None  # type: ignore[method-assign]


def freeze_in_transaction(folder: Path) -> None:
    """Has this process stop itself between two statements of a settle, once; the row of the run is locked then."""
    store.database.postgres_writer.IDLE_IN_TRANSACTION_SECONDS = 1
    write = store.runs.ledger.Ledger.write

    def stopping(ledger: store.runs.ledger.Ledger) -> None:
        flag = folder / "freeze"
        if flag.exists():
            flag.rename(folder / "frozen")
            os.kill(os.getpid(), signal.SIGSTOP)
        write(ledger)

    store.runs.ledger.Ledger.write = stopping  # type: ignore[method-assign]


async def main(orders: Orders) -> None:
    """Serves until SIGTERM."""
    if orders.freeze_in_transaction:
        freeze_in_transaction(Path(orders.folder))
    asked = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    async with opened(orders) as lab:
        print("ready", flush=True)
        if orders.submit:
            await start_runs(lab, orders.submit)
        await asked.wait()
        await lab.engine.stop(0.5)


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    asyncio.run(main(Orders(**json.loads(sys.argv[1]))))
