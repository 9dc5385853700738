"""The row `workers`: `packline worker` processes, a server that executes nothing, and a PostgreSQL of their own."""

from __future__ import annotations

import asyncio
import functools
import time
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import psycopg

from tests.bench.figures import Figure
from tests.bench.postgres import own_database
from tests.bench.rows import finish_at_once
from tests.bench.server import Client, Server, pipeline_of, serving, start_run, wait_until
from tests.support.databases import OwnServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.bench.figures import Counts

_LANES = 8
_LEASE_SECONDS, _SWEEP_SECONDS = 5, 1
_HOLDER = "query($id: ID!) { run(id: $id) { state worker steps { output { json } } } }"


async def workers(folder: Path, counts: Counts) -> list[Figure]:
    """How well steps that wait are shared out, what a run costs the queue, and how soon a loss is made good."""
    with own_database(folder / "pg") as url:
        settings = {
            "PACKLINE_DATABASE_URL": url,
            "PACKLINE_LANES": str(_LANES),
            "PACKLINE_LEASE_SECONDS": str(_LEASE_SECONDS),
            "PACKLINE_RESCUE_SECONDS": str(_SWEEP_SECONDS),
        }
        data = folder / "data"
        async with serving(data, {**settings, "PACKLINE_WORKER": "off"}) as (server, client):
            waits = await pipeline_of(client, "waits", 4, "bench.steady", seconds=0.5, takes_text=True)
            runs = counts.of(20 * _LANES, _LANES)  # many rounds, since the last one may be uneven
            seconds = []
            for number in (1, 2):
                async with _working(data, settings, number):
                    took, _, _ = await finish_at_once(server, client, waits, runs)
                    seconds.append(took)
            async with _working(data, settings, 4):
                ten = await pipeline_of(client, "ten", 10)
                quick = counts.of(400, 20)
                before = _put_in(url)
                await finish_at_once(server, client, ten, quick)
                put_in = (_put_in(url) - before) / quick
            long = await pipeline_of(client, "long", 60, "bench.steady", seconds=0.1)
            async with _working(data, settings, 2) as working:
                taken_over = await _taken_over(client, long, working)
            async with _working(data, settings, 2):
                back = await _back(folder / "pg", client, long)
    return [
        Figure(
            "workers", f"{runs} runs of waiting steps, two workers against one", seconds[0] / seconds[1], "x", 1.9, True
        ),
        Figure("workers", "deliveries for each run, four workers", put_in, "", 1.5),
        Figure(
            "workers",
            "kill -9 of the holder, next step runs elsewhere",
            taken_over,
            "s",
            _LEASE_SECONDS + _SWEEP_SECONDS + 2,
        ),
        Figure("workers", "database back, next step runs", back, "s", 5),
    ]


@asynccontextmanager
async def _working(data: Path, settings: dict[str, str], number: int) -> AsyncIterator[list[Server]]:
    """So many workers, until the block ends."""
    started: list[Server] = []
    async with AsyncExitStack() as stack:
        for _ in range(number):
            worker = Server(data, settings, command="worker")
            stack.callback(worker.stop)
            await asyncio.to_thread(worker.start)
            started.append(worker)
        yield started


def _put_in(url: str) -> int:
    """How many rows the queue has ever had; each is delivered once."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT last_value FROM procrastinate_jobs_id_seq").fetchone()
    assert row is not None
    return int(row[0])


async def _taken_over(client: Client, pipeline: str, working: list[Server]) -> float:
    """Seconds from the kill of the worker that holds a run until its next step begins on another."""
    run = (await start_run(client, pipeline, ""))["id"]
    holder = await wait_until(functools.partial(_holder, client, run))
    for worker in working:
        assert worker.process is not None
        if f":{worker.process.pid}:" in holder:
            worker.kill()
    killed = time.time()

    async def elsewhere() -> float | None:
        found = (await client.ask(_HOLDER, id=run))["run"]
        return _began_after(found, killed) if found["worker"] not in (None, holder) else None

    return await wait_until(elsewhere) - killed


async def _back(database: Path, client: Client, pipeline: str) -> float:
    """Seconds from the return of the database until a step of a run that was under way begins."""
    run = (await start_run(client, pipeline, ""))["id"]
    await wait_until(functools.partial(_holder, client, run))
    server = OwnServer(database)
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    back = time.time()

    async def goes_on() -> float | None:
        return _began_after((await client.ask(_HOLDER, id=run))["run"], back)

    return await wait_until(goes_on) - back


async def _holder(client: Client, run: str) -> str | None:
    """The worker of a run whose first step has ended."""
    found = (await client.ask(_HOLDER, id=run))["run"]
    return found["worker"] if _began_after(found, 0) is not None else None


def _began_after(run: dict[str, object], instant: float) -> float | None:
    steps: list[dict[str, dict[str, dict[str, float]] | None]] = run["steps"]  # type: ignore[assignment]
    began = [step["output"]["json"]["began"] for step in steps if step["output"]]
    return min((at for at in began if at > instant), default=None)
