"""The rows of `make bench`: one function each, named after what users wait for."""

from __future__ import annotations

import asyncio
import functools
import shutil
import statistics
import sys
import time
from typing import TYPE_CHECKING

from tests.bench.figures import Figure
from tests.bench.history import grow
from tests.bench.peers.compared import AT_ONCE, MARGINAL_STEP, TEN_STEPS
from tests.bench.server import Client, Server, pipeline_of, serving, start_run, wait_until
from tests.support.page_documents import page_document

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.figures import Counts


def commit_seconds(folder: Path, count: int) -> float:
    """Median time of one durable SQLite commit here: the physical limit of a step."""
    from store.database.sqlite_connection import connect

    raw = connect(folder / "commit.db")
    raw.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    times = []
    for number in range(count):
        begun = time.perf_counter()
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO t VALUES (?, ?)", (number, "x" * 200))
        raw.execute("COMMIT")
        times.append(time.perf_counter() - begun)
    raw.close()
    return statistics.median(times)


async def step(folder: Path, counts: Counts) -> list[Figure]:
    """Marginal cost of a trivial durable step, and a 10-step run seen two ways."""
    async with serving(folder / "data") as (_, client):
        one, many = await pipeline_of(client, "one", 1), await pipeline_of(client, "many", 41)
        ten = await pipeline_of(client, "ten", 10)
        for number in range(counts.of(20)):
            await start_run(client, ten, f"warm {number}", wait=20)
        short = [await timed(client, one, f"a{number}") for number in range(counts.of(40))]
        long = [await timed(client, many, f"b{number}") for number in range(counts.of(40))]
        tens = [await timed(client, ten, f"c{number}") for number in range(counts.of(60))]
        watched = [await _watched(client, ten, f"d{number}") for number in range(counts.of(40))]
    commit = commit_seconds(folder, counts.of(300))
    marginal = (statistics.median(long) - statistics.median(short)) / 40
    return [
        Figure("step", "one durable commit here", commit * 1e3, "ms"),
        Figure("step", MARGINAL_STEP, marginal * 1e3, "ms", commit * 1e3 + 0.35, fixed=commit * 1e3),
        Figure("run", TEN_STEPS, statistics.median(tens) * 1e3, "ms", 10),
        Figure("run", "10 steps, submit to final by subscription, p50", statistics.median(watched) * 1e3, "ms", 15),
    ]


async def timed(client: Client, pipeline: str, text: str) -> float:
    begun = time.perf_counter()
    run = await start_run(client, pipeline, text, wait=30)
    assert run["state"] == "SUCCEEDED", run
    return time.perf_counter() - begun


_WATCH = (
    "subscription($id: ID!) { runEvents(id: $id) { __typename ... on RunEventBatch { events { sequence } } "
    "... on RunEventsEnd { cursor } } }"
)


async def _watched(client: Client, pipeline: str, text: str) -> float:
    begun = time.perf_counter()
    run = await start_run(client, pipeline, text)
    async with client.watch(_WATCH, id=run["id"]) as messages:
        async for message in messages:
            if message["runEvents"]["__typename"] == "RunEventsEnd":
                break
    return time.perf_counter() - begun


async def throughput(folder: Path, counts: Counts) -> list[Figure]:
    """1,000 runs of 10 steps at once, submitted over GraphQL."""
    runs = counts.of(1000, 20)
    async with serving(folder / "data") as (server, client):
        ten = await pipeline_of(client, "ten", 10)
        for number in range(counts.of(20)):
            await start_run(client, ten, f"warm {number}", wait=20)
        seconds, submitted, cpu = await finish_at_once(server, client, ten, runs)
    return [
        Figure("throughput", AT_ONCE, runs * 10 / seconds, "steps/s", 3000, True),
        Figure("throughput", "CPU for each step, submit included", cpu / (runs * 10) * 1e3, "ms", 0.35),
        Figure("throughput", "submits", runs / submitted, "runs/s"),
    ]


async def finish_at_once(server: Server, client: Client, pipeline: str, runs: int) -> tuple[float, float, float]:
    """Seconds until runs that are submitted at once have ended, until they were submitted, and of the server's CPU."""
    cpu, begun = server.cpu_seconds(), time.perf_counter()
    gate = asyncio.Semaphore(32)

    async def submit(number: int) -> None:
        async with gate:
            await start_run(client, pipeline, f"run {number}")

    await asyncio.gather(*(submit(number) for number in range(runs)))
    submitted = time.perf_counter() - begun

    async def done() -> bool:
        data = await client.ask("{ server { queuedRuns runningRuns } }")
        return bool(data["server"] == {"queuedRuns": 0, "runningRuns": 0})

    await wait_until(done, 300, between=0.05)  # each look costs as much as some steps
    return time.perf_counter() - begun, submitted, server.cpu_seconds_since(cpu)


async def latency(folder: Path, counts: Counts) -> list[Figure]:
    """From a transition on the server to a subscriber, by the server's own clock on the same machine."""
    subscribers = counts.of(100)
    async with serving(folder / "data") as (server, client):
        slow = await pipeline_of(client, "slow", counts.of(20, 8), "bench.steady")
        alone, _ = await delays_of(client, slow, WATCH_TIMES, 1)
        page, _ = await delays_of(client, slow, _page_asks(), 1)
        cpu = server.cpu_seconds()
        pages, messages = await delays_of(client, slow, _page_asks(), subscribers)
        cpu = server.cpu_seconds_since(cpu)
    return [
        Figure("latency", "transition to subscriber, p50", quantile(alone, 0.5), "ms", 3.5),
        Figure("latency", "transition to subscriber, p99", quantile(alone, 0.99), "ms", 10),
        Figure("latency", "transition to the page of the run, p50", quantile(page, 0.5), "ms"),
        Figure("latency", "transition to the page of the run, p99", quantile(page, 0.99), "ms"),
        Figure("latency", f"transition to each of {subscribers} such pages, p50", quantile(pages, 0.5), "ms"),
        Figure("latency", f"transition to each of {subscribers} such pages, p99", quantile(pages, 0.99), "ms"),
        Figure("latency", f"CPU for a message to each of {subscribers} such pages", cpu / messages * 1e3, "ms"),
    ]


WATCH_TIMES = (
    "subscription($id: ID!) { runEvents(id: $id) { __typename ... on RunEventBatch { live events { at sequence } } } }"
)


def _page_asks() -> str:
    """What the page of a run asks, and when each event happened."""
    return page_document("RunEvents").replace("events {", "events { at", 1)


async def delays_of(
    client: Client, pipeline: str, asked: str, subscribers: int, watcher: Client | None = None
) -> tuple[list[float], int]:
    """Milliseconds from the instant an event carries to its arrival, and how many messages came.

    The first second of a run is left out of the delays. The `watcher` may be a client of another server.
    """
    from datetime import UTC, datetime

    run = await start_run(client, pipeline, "")
    delays: list[float] = []
    count = 0

    async def listen() -> None:
        nonlocal count
        begun = time.monotonic()
        async with (watcher or client).watch(asked, id=run["id"]) as messages:
            async for message in messages:
                arrived = datetime.now(UTC)
                count += 1
                if time.monotonic() - begun > 1:
                    for event in message["runEvents"].get("events", ()):
                        at = datetime.fromisoformat(event["at"])
                        delays.append((arrived - at).total_seconds() * 1e3)

    await asyncio.gather(*(listen() for _ in range(subscribers)))
    return delays, count


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


async def start(folder: Path, counts: Counts) -> list[Figure]:
    """From the command to the first answer, and memory then."""
    times, memory = [], []
    for number in range(counts.of(7, 1)):
        server = Server(folder / f"start{number % 2}")
        try:
            if number == 0:
                server.start()
                server.stop()
            times.append(server.start())
            client = Client(server)
            await client.ask("{ viewer { name } }")
            await client.close()
            memory.append(server.resident_bytes())
        finally:
            server.stop()
    return [
        Figure("start", "command to first answer", statistics.median(times), "s", 2.0),
        Figure("start", "resident memory", statistics.median(memory) / (1 << 20), "MiB", 130),
    ]


_STEPS = "query($id: ID!) { run(id: $id) { progress steps { output { json } } } }"


async def recovery(folder: Path, counts: Counts) -> list[Figure]:
    """From the restart after kill -9 until the body of the next step runs.

    The step itself says when it began. The server tells it later: it takes up its runs before it answers requests.
    """
    times = []
    for number in range(counts.of(5, 1)):
        async with serving(folder / "data") as (server, client):
            pipeline = await pipeline_of(client, f"steady{number}", 30, "bench.steady")
            run = (await start_run(client, pipeline, ""))["id"]
            await wait_until(functools.partial(_is_begun, client, run))
            server.kill()
        async with serving(folder / "data") as (server, client):
            began = await wait_until(functools.partial(_began_since, client, run, server.begun_at))
            times.append(began - server.begun_at)
    return [Figure("recovery", "kill -9, restart, next step runs", statistics.median(times), "s", 1.5)]


async def _is_begun(client: Client, run: str) -> bool:
    return bool((await client.ask(_STEPS, id=run))["run"]["progress"] > 0.1)


async def _began_since(client: Client, run: str, instant: float) -> float | None:
    """When the first step after an instant began, once it has ended."""
    steps = (await client.ask(_STEPS, id=run))["run"]["steps"]
    began = [step["output"]["json"]["began"] for step in steps if step["output"]]
    return min((at for at in began if at > instant), default=None)


async def graphql(folder: Path, counts: Counts) -> list[Figure]:
    """Requests for each second of CPU, compared with the same types on stock Strawberry."""
    runs = counts.of(100)
    async with serving(folder / "data") as (_, client):
        one = await pipeline_of(client, "one", 1)
        for number in range(runs):
            await start_run(client, one, f"run {number}", wait=20)
    stock = (sys.executable, "-m", "tests.bench.stock_graphql")
    copied = shutil.copytree(folder / "data", folder / "copied")
    figures = []
    async with serving(folder / "data") as ours, serving(copied, program=stock) as theirs:
        for name, query, count in (
            ("smallest query", "{ __typename }", counts.of(200)),
            (f"list of {runs} runs x 5 fields", _LISTED, counts.of(30)),
        ):
            ours_cpu, stock_cpu = await _in_turns(query, count, counts.of(10, 1), ours, theirs)
            figures += [
                Figure("graphql", name, 1 / ours_cpu, "per s of CPU", None, True),
                Figure("graphql", f"{name}, of what stock Strawberry answers", stock_cpu / ours_cpu, "x", 0.85, True),
            ]
    return figures


_LISTED = "{ runs(first: 100) { nodes { id title state createdAt progress } } }"


async def _in_turns(query: str, count: int, turns: int, *served: tuple[Server, Client]) -> list[float]:
    """Seconds of CPU that each server takes for a query, asked in turns."""
    spent = [0.0] * len(served)
    for turn in range(turns + 1):
        for place, (server, client) in enumerate(served):
            cpu = server.cpu_seconds()
            await _many(client, query, count)
            if turn:  # the first one warms up
                spent[place] += server.cpu_seconds_since(cpu)
    return [seconds / (count * turns) for seconds in spent]


async def _many(client: Client, query: str, count: int) -> None:
    gate = asyncio.Semaphore(8)

    async def ask() -> None:
        async with gate:
            await client.ask(query)

    await asyncio.gather(*(ask() for _ in range(count)))


async def history(folder: Path, counts: Counts) -> list[Figure]:
    """A page of the list, and an event append, with a long history behind them."""
    few, many = counts.of(1_000, 10), counts.of(counts.history_runs, 100)
    page = "{ runs(first: 50) { nodes { id title state createdAt progress } pageInfo { endCursor } } }"
    settings = {"PACKLINE_RUN_COUNT": "100000000"}
    figures: dict[int, tuple[float, float]] = {}
    for size in (few, many):
        data = folder / f"data{size}"
        async with serving(data, settings) as (_, client):
            one = await pipeline_of(client, "one", 1)
            await start_run(client, one, "first", wait=20)
        grow(data / "packline.db", size)
        async with serving(data, settings) as (_, client):
            for _ in range(counts.of(20)):
                await client.ask(page)
            pages, appends = [], []
            for number in range(counts.of(60)):
                begun = time.perf_counter()
                await client.ask(page)
                pages.append(time.perf_counter() - begun)
                appends.append(await timed(client, one, f"t{number}"))
            figures[size] = (statistics.median(pages), statistics.median(appends))
    small, large = figures[few], figures[many]
    return [
        Figure("history", f"list page with {many:,} runs against {few:,}", large[0] / small[0], "x", 1.2),
        Figure("history", f"one-step run with {many:,} runs against {few:,}", large[1] / small[1], "x", 1.2),
    ]


_PAGE = """query ($after: Cursor, $size: Int!) { artifacts(first: $size, after: $after) {
    nodes { id name mediaType sizeBytes status } pageInfo { endCursor hasNextPage } } }"""


async def artifacts(folder: Path, counts: Counts) -> list[Figure]:
    """Listing a thousand artifacts: from the store at once, and as pages of the API."""
    count, size = counts.of(1_000, 20), counts.of(100, 5)
    async with serving(folder / "data") as (_, client):
        await client.ask("{ viewer { name } }")
    await _fill(folder / "data", count)
    reads = await _read_all(folder / "data", count, counts.of(40))
    async with serving(folder / "data") as (_, client):
        walks = [await _walked(client, count, size) for _ in range(counts.of(25))]
    whole, pages = statistics.median(walks) * 1e3, count // size
    return [
        Figure("artifacts", f"{count:,} artifacts from the store, p50", statistics.median(reads) * 1e3, "ms", 30),
        Figure("artifacts", f"{count:,} artifacts over GraphQL, {pages} pages, p50", whole, "ms"),
        Figure("artifacts", f"one page of {size} over GraphQL, p50", whole / pages, "ms"),
    ]


async def _walked(client: Client, count: int, size: int) -> float:
    """Seconds that the whole list takes, page by page."""
    begun = time.perf_counter()
    found, after = 0, None
    while True:
        page = (await client.ask(_PAGE, after=after, size=size))["artifacts"]
        found += len(page["nodes"])
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    assert found == count, f"{found} artifacts listed instead of {count}"
    return time.perf_counter() - begun


async def _fill(data: Path, count: int) -> None:
    """Uploads of the server's administrator, as rows."""
    from store.access.callers import ensure_caller
    from store.database.engine import open_store
    from store.files.artifacts import add_upload

    store = await open_store("sqlite", data, migrate=False)
    try:
        admin = await store.write(ensure_caller, "admin", "Administrator")
        writes = (
            store.write(
                add_upload,
                caller_id=admin.id,
                name=f"report {number}.pdf",
                media_type="application/pdf",
                size_bytes=1_000_000,
                digest=f"{number:064x}",
                keep_days=7,
            )
            for number in range(count)
        )
        await asyncio.gather(*writes)
    finally:
        await store.close()


async def _read_all(data: Path, count: int, times_read: int) -> list[float]:
    from store.database.engine import open_store
    from store.database.paging import PageWindow
    from store.files.artifacts import ArtifactFilter, list_artifacts

    store = await open_store("sqlite", data, migrate=False)
    times = []
    try:
        for _ in range(times_read):
            begun = time.perf_counter()
            found = await list_artifacts(store, ArtifactFilter(), PageWindow(limit=count))
            times.append(time.perf_counter() - begun)
            assert len(found) == count
    finally:
        await store.close()
    return times
