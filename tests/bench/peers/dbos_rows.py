"""The same rows on DBOS with SQLite, run by `tests.bench.peers` in an environment of its own; prints JSON."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time

from dbos import DBOS

from tests.bench.figures import Counts
from tests.bench.peers.compared import AT_ONCE, MARGINAL_STEP, TEN_STEPS


@DBOS.step()
async def noop(text: str) -> str:
    """Passes a text on."""
    return text


@DBOS.workflow()
async def chain(text: str, steps: int) -> str:
    """Runs equal steps in order."""
    for _ in range(steps):
        text = await noop(text)
    return text


async def measure(counts: Counts) -> dict[str, float]:
    """Milliseconds and rates by the name of the figure."""
    runs = counts.of(200, 5)

    async def timed(steps: int) -> float:
        begun = time.perf_counter()
        handle = await DBOS.start_workflow_async(chain, "x", steps)
        await handle.get_result()
        return time.perf_counter() - begun

    for _ in range(counts.of(10)):
        await timed(10)
    one = statistics.median([await timed(1) for _ in range(counts.of(30))])
    many = statistics.median([await timed(41) for _ in range(counts.of(30))])
    ten = statistics.median([await timed(10) for _ in range(counts.of(40))])
    begun = time.perf_counter()
    gate = asyncio.Semaphore(32)

    async def submit() -> None:
        async with gate:
            handle = await DBOS.start_workflow_async(chain, "x", 10)
            await handle.get_result()

    await asyncio.gather(*(submit() for _ in range(runs)))
    seconds = time.perf_counter() - begun
    return {
        MARGINAL_STEP: (many - one) / 40 * 1e3,
        TEN_STEPS: ten * 1e3,
        AT_ONCE: runs * 10 / seconds,
    }


def main() -> None:
    """Prints the figures."""
    with tempfile.TemporaryDirectory(prefix="packline-bench-dbos-") as folder:
        DBOS(
            config={
                "name": "bench",
                "system_database_url": f"sqlite:///{folder}/dbos.db",
                "log_level": "ERROR",
                "console_log_level": "ERROR",
            }
        )
        DBOS.launch()
        figures = asyncio.run(measure(Counts(tiny="--tiny" in sys.argv)))
        DBOS.destroy()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
