"""The rows of `make bench`: one function each, named after what users wait for (DESIGN 6)."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.server import Client, Server, pipeline_of, start_run, wait_until
from tests.support.page_documents import page_document

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_TIMES = frozenset({"s", "ms"})
_RATES = frozenset({"per s of CPU", "steps/s", "runs/s", "MB/s"})

#: Runs behind the row `history`, unless the command line says otherwise.
HISTORY_RUNS = 1_000_000


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        goal: What DESIGN 6 asks for; None where it asks nothing.
        higher_is_better: How to read the goal.
        fixed: The part of the goal, in its unit, that the speed of the CPU does not change.
    """

    row: str
    name: str
    value: float
    unit: str
    goal: float | None = None
    higher_is_better: bool = False
    fixed: float = 0.0

    def goal_at(self, slowness: float) -> float | None:
        """The goal for a machine that takes `slowness` times as long: times grow, rates shrink, the rest stays."""
        if self.goal is None:
            return None
        if self.unit in _TIMES:
            return self.fixed + (self.goal - self.fixed) * slowness
        return self.goal / slowness if self.unit in _RATES else self.goal

    def meets(self, goal: float) -> bool:
        """Whether the figure is as good as a goal."""
        return self.value >= goal if self.higher_is_better else self.value <= goal


def commit_seconds(folder: Path) -> float:
    """Median time of one durable SQLite commit here: the physical limit of a step."""
    from store.sqlite_connection import connect

    raw = connect(folder / "commit.db")
    raw.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    times = []
    for number in range(300):
        begun = time.perf_counter()
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO t VALUES (?, ?)", (number, "x" * 200))
        raw.execute("COMMIT")
        times.append(time.perf_counter() - begun)
    raw.close()
    return statistics.median(times)


async def step(folder: Path) -> list[Figure]:
    """Marginal cost of a trivial durable step, and a 10-step run seen two ways."""
    server = Server(folder / "data")
    server.start()
    client = Client(server)
    try:
        one, many = await pipeline_of(client, "one", 1), await pipeline_of(client, "many", 41)
        ten = await pipeline_of(client, "ten", 10)
        for number in range(20):
            await start_run(client, ten, f"warm {number}", wait=20)
        short = [await _timed(client, one, f"a{number}") for number in range(40)]
        long = [await _timed(client, many, f"b{number}") for number in range(40)]
        tens = [await _timed(client, ten, f"c{number}") for number in range(60)]
        watched = [await _watched(client, ten, f"d{number}") for number in range(40)]
    finally:
        await client.close()
        server.stop()
    commit = commit_seconds(folder)
    marginal = (statistics.median(long) - statistics.median(short)) / 40
    return [
        Figure("step", "one durable commit here", commit * 1e3, "ms"),
        Figure(
            "step", "marginal cost of a trivial step", marginal * 1e3, "ms", commit * 1e3 + 0.35, fixed=commit * 1e3
        ),
        Figure("run", "10 steps, submit to final in the answer, p50", statistics.median(tens) * 1e3, "ms", 8),
        Figure("run", "10 steps, submit to final by subscription, p50", statistics.median(watched) * 1e3, "ms", 15),
    ]


async def _timed(client: Client, pipeline: str, text: str) -> float:
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


async def throughput(folder: Path) -> list[Figure]:
    """1,000 runs of 10 steps at once, submitted over GraphQL."""
    server = Server(folder / "data")
    server.start()
    client = Client(server)
    runs = 1000
    try:
        ten = await pipeline_of(client, "ten", 10)
        for number in range(20):
            await start_run(client, ten, f"warm {number}", wait=20)
        cpu, begun = server.cpu_seconds(), time.perf_counter()
        gate = asyncio.Semaphore(32)

        async def submit(number: int) -> None:
            async with gate:
                await start_run(client, ten, f"run {number}")

        await asyncio.gather(*(submit(number) for number in range(runs)))
        submitted = time.perf_counter() - begun

        async def done() -> bool:
            data = await client.ask("{ server { queuedRuns runningRuns } }")
            return bool(data["server"] == {"queuedRuns": 0, "runningRuns": 0})

        await wait_until(done)
        seconds = time.perf_counter() - begun
        cpu = server.cpu_seconds() - cpu
    finally:
        await client.close()
        server.stop()
    return [
        Figure("throughput", "1000 runs x 10 steps at once", runs * 10 / seconds, "steps/s", 3000, True),
        Figure("throughput", "CPU for each step, submit included", cpu / (runs * 10) * 1e3, "ms", 0.25),
        Figure("throughput", "submits", runs / submitted, "runs/s"),
    ]


async def latency(folder: Path) -> list[Figure]:
    """From a transition on the server to a subscriber, by the server's own clock on the same machine."""
    server = Server(folder / "data")
    server.start()
    client = Client(server)
    try:
        slow = await pipeline_of(client, "slow", 20, "bench.steady")
        alone, _ = await _delays(client, slow, _WATCH_TIMES, 1)
        page, _ = await _delays(client, slow, page_document("RunEvents"), 1)
        cpu = server.cpu_seconds()
        pages, messages = await _delays(client, slow, page_document("RunEvents"), 100)
        cpu = server.cpu_seconds() - cpu
    finally:
        await client.close()
        server.stop()
    return [
        Figure("latency", "transition to subscriber, p50", _quantile(alone, 0.5), "ms", 3),
        Figure("latency", "transition to subscriber, p99", _quantile(alone, 0.99), "ms", 10),
        Figure("latency", "transition to the page of the run, p50", _quantile(page, 0.5), "ms"),
        Figure("latency", "transition to the page of the run, p99", _quantile(page, 0.99), "ms"),
        Figure("latency", "transition to each of 100 such pages, p50", _quantile(pages, 0.5), "ms"),
        Figure("latency", "transition to each of 100 such pages, p99", _quantile(pages, 0.99), "ms"),
        Figure("latency", "CPU for a message to each of 100 such pages", cpu / messages * 1e3, "ms"),
    ]


_WATCH_TIMES = (
    "subscription($id: ID!) { runEvents(id: $id) { __typename ... on RunEventBatch { live events { at sequence } } } }"
)


async def _delays(client: Client, pipeline: str, asked: str, subscribers: int) -> tuple[list[float], int]:
    """Milliseconds from the instant an event carries to its arrival, and how many messages came.

    The first second of a run is left out of the delays.
    """
    from datetime import UTC, datetime

    run = await start_run(client, pipeline, "")
    delays: list[float] = []
    count = 0

    async def listen() -> None:
        nonlocal count
        begun = time.monotonic()
        async with client.watch(asked, id=run["id"]) as messages:
            async for message in messages:
                arrived = datetime.now(UTC)
                count += 1
                if time.monotonic() - begun > 1:
                    for event in message["runEvents"].get("events", ()):
                        at = datetime.fromisoformat(event["at"])
                        delays.append((arrived - at).total_seconds() * 1e3)

    await asyncio.gather(*(listen() for _ in range(subscribers)))
    return delays, count


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


async def start(folder: Path) -> list[Figure]:
    """From the command to the first answer, and memory then."""
    times, memory = [], []
    for number in range(7):
        server = Server(folder / f"start{number % 2}")
        if number == 0:
            server.start()
            server.stop()
        times.append(server.start())
        client = Client(server)
        await client.ask("{ viewer { name } }")
        await client.close()
        memory.append(server.resident_bytes())
        server.stop()
    return [
        Figure("start", "command to first answer", statistics.median(times), "s", 1.0),
        Figure("start", "resident memory", statistics.median(memory) / (1 << 20), "MiB", 110),
    ]


_STEPS = "query($id: ID!) { run(id: $id) { state progress steps { attempts { number } } } }"


async def recovery(folder: Path) -> list[Figure]:
    """From the restart after kill -9 to the next step's start."""
    times = []
    server = Server(folder / "data")
    for number in range(5):
        server = Server(folder / "data")
        server.start()
        client = Client(server)
        pipeline = await pipeline_of(client, f"steady{number}", 30, "bench.steady")
        run = await start_run(client, pipeline, "")

        async def progressed(share: float, client: Client = client, run: dict[str, str] = run) -> bool:
            return bool((await client.ask(_STEPS, id=run["id"]))["run"]["progress"] > share)

        await wait_until(lambda: progressed(0.1))
        before = sum(len(step["attempts"]) for step in (await client.ask(_STEPS, id=run["id"]))["run"]["steps"])
        await client.close()
        server.kill()
        begun = time.perf_counter()
        server = Server(folder / "data")
        server.start()
        client = Client(server)

        async def again(client: Client = client, run: dict[str, str] = run, before: int = before) -> bool:
            steps = (await client.ask(_STEPS, id=run["id"]))["run"]["steps"]
            return sum(len(step["attempts"]) for step in steps) > before

        await wait_until(again)
        times.append(time.perf_counter() - begun)
        await client.close()
        server.stop()
    return [Figure("recovery", "kill -9, restart, next step runs", statistics.median(times), "s", 1.0)]


async def graphql(folder: Path) -> list[Figure]:
    """Requests a second on one core: CPU time of the server decides."""
    server = Server(folder / "data")
    server.start()
    client = Client(server)
    try:
        one = await pipeline_of(client, "one", 1)
        for number in range(100):
            await start_run(client, one, f"run {number}", wait=20)
        listed = "{ runs(first: 100) { nodes { id title state createdAt progress } } }"
        figures = []
        for name, query, count, goal in (
            ("smallest query", "{ __typename }", 2000, 3500),
            ("list of 100 runs x 5 fields", listed, 300, 400),
        ):
            for _ in range(50):
                await client.ask(query)
            cpu = server.cpu_seconds()
            await _many(client, query, count)
            cpu = server.cpu_seconds() - cpu
            figures.append(Figure("graphql", name, count / cpu, "per s of CPU", goal, True))
    finally:
        await client.close()
        server.stop()
    ratio = await _database_ratio(server.data_dir, listed)
    return [*figures, Figure("graphql", "that list, from the database against from memory", ratio, "x", 1.3)]


async def _database_ratio(data: Path, query: str) -> float:
    """CPU of a list from the database over that of the same from memory, two servers asked in turns."""
    copied = shutil.copytree(data, data.with_name("copied"))
    stored = Server(data)
    kept = Server(copied, program=(sys.executable, "-m", "tests.bench.from_memory"))
    spent = dict.fromkeys((stored.port, kept.port), 0.0)
    clients = {}
    try:
        for server in (stored, kept):
            server.start()
            clients[server.port] = Client(server)
            await _many(clients[server.port], query, 50)
        for _ in range(20):
            for server in (stored, kept):
                cpu = server.cpu_seconds()
                await _many(clients[server.port], query, 50)
                spent[server.port] += server.cpu_seconds() - cpu
    finally:
        for client in clients.values():
            await client.close()
        stored.stop()
        kept.stop()
    return spent[stored.port] / spent[kept.port]


async def _many(client: Client, query: str, count: int) -> None:
    gate = asyncio.Semaphore(8)

    async def ask() -> None:
        async with gate:
            await client.ask(query)

    await asyncio.gather(*(ask() for _ in range(count)))


async def history(folder: Path, *, runs: int = HISTORY_RUNS) -> list[Figure]:
    """A page of the list, and an event append, with a long history behind them."""
    from tests.bench.history import grow

    figures: dict[int, tuple[float, float]] = {}
    for size in (1_000, runs):
        server = Server(folder / f"data{size}", {"PACKLINE_RUN_COUNT": "100000000"})
        server.start()
        client = Client(server)
        one = await pipeline_of(client, "one", 1)
        await start_run(client, one, "first", wait=20)
        await client.close()
        server.stop()
        grow(folder / f"data{size}" / "packline.db", size)
        server = Server(folder / f"data{size}", {"PACKLINE_RUN_COUNT": "100000000"})
        server.start()
        client = Client(server)
        page = "{ runs(first: 50) { nodes { id title state createdAt progress } pageInfo { endCursor } } }"
        for _ in range(20):
            await client.ask(page)
        pages, appends = [], []
        for number in range(60):
            begun = time.perf_counter()
            await client.ask(page)
            pages.append(time.perf_counter() - begun)
            appends.append(await _timed(client, one, f"t{number}"))
        figures[size] = (statistics.median(pages), statistics.median(appends))
        await client.close()
        server.stop()
    small, large = figures[1_000], figures[runs]
    return [
        Figure("history", f"list page with {runs:,} runs against 1,000", large[0] / small[0], "x", 1.3),
        Figure("history", f"one-step run with {runs:,} runs against 1,000", large[1] / small[1], "x", 1.3),
    ]


async def artifacts(folder: Path) -> list[Figure]:
    """Listing a thousand artifacts: from the store at once, and as pages of the API."""
    server = Server(folder / "data")
    server.start()
    client = Client(server)
    try:
        one = await pipeline_of(client, "one", 1)
        await start_run(client, one, "first", wait=20)
    finally:
        await client.close()
        server.stop()
    await _fill(folder / "data", 1_000)
    reads = await _read_all(folder / "data")
    server.start()
    client = Client(server)
    page = "{ artifacts(first: 100%s) { nodes { id name mediaType sizeBytes status } pageInfo { endCursor } } }"
    try:
        pages = []
        for _ in range(25):
            begun = time.perf_counter()
            after = ""
            for _ in range(20):
                answer = await client.ask(page % after)
                after = f', after: "{answer["artifacts"]["pageInfo"]["endCursor"]}"'
            pages.append(time.perf_counter() - begun)
    finally:
        await client.close()
        server.stop()
    return [
        Figure("artifacts", "1,000 artifacts from the store, p50", statistics.median(reads) * 1e3, "ms", 30),
        Figure("artifacts", "1,000 artifacts over GraphQL, 10 pages, p50", statistics.median(pages) * 1e3, "ms"),
        Figure("artifacts", "one page of 100 over GraphQL, p50", statistics.median(pages) * 1e2, "ms"),
    ]


async def _fill(data: Path, count: int) -> None:
    """Uploads of the server's administrator, as rows."""
    from store.artifacts import add_upload
    from store.callers import ensure_caller
    from store.engine import open_store

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


async def _read_all(data: Path) -> list[float]:
    from store.artifacts import ArtifactFilter, list_artifacts
    from store.engine import open_store
    from store.paging import PageWindow

    store = await open_store("sqlite", data, migrate=False)
    times = []
    try:
        for _ in range(40):
            begun = time.perf_counter()
            async with store.read() as connection:
                found = await list_artifacts(connection, ArtifactFilter(), PageWindow(limit=1_000))
            times.append(time.perf_counter() - begun)
            assert len(found) >= 1_000
    finally:
        await store.close()
    return times


def in_folder(measure: Callable[[Path], Awaitable[list[Figure]]]) -> list[Figure]:
    """Runs a measure in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="packline-bench-") as name:
        return asyncio.run(_awaited(measure(Path(name))))


async def _awaited(work: Awaitable[list[Figure]]) -> list[Figure]:
    return await work
