"""The rows there are, and what measuring one came to: each reports for itself, so that none hides another's figures."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from runner.excerpts import excerpt
from tests.bench import rows
from tests.bench.agents import agents
from tests.bench.fairness import fairness, fairness_postgresql
from tests.bench.figures import Counts, Figure, MissingError
from tests.bench.mcp import mcp
from tests.bench.memory import memory
from tests.bench.page import page
from tests.bench.postgres import growth, postgres
from tests.bench.routing.figures import routing
from tests.bench.traces import traces
from tests.bench.triggers import triggers
from tests.bench.workers import workers

Row = Callable[[Path, Counts], Awaitable[list[Figure]]]

ROWS: dict[str, Row] = {
    "step": rows.step,
    "traces": traces,
    "throughput": rows.throughput,
    "latency": rows.latency,
    "postgres": postgres,
    "growth": growth,
    "workers": workers,
    "start": rows.start,
    "recovery": rows.recovery,
    "fairness": fairness,
    "fairness-postgresql": fairness_postgresql,
    "graphql": rows.graphql,
    "mcp": mcp,
    "history": rows.history,
    "artifacts": rows.artifacts,
    "memory": memory,
    "agents": agents,
    "routing": routing,
    "triggers": triggers,
    "page": page,
}
#: Longest cause in a table.
_CAUSE_CHARACTERS = 300


@dataclass(frozen=True)
class Result:
    """What measuring a row came to.

    Attributes:
        cause: Why it has no figures; empty when it was measured.
    """

    row: str
    outcome: Literal["measured", "missing", "failed"]
    figures: tuple[Figure, ...] = ()
    cause: str = ""


def measure(name: str, row: Row, counts: Counts) -> Result:
    """Measures a row in a folder of its own; the traceback of one that fails goes to stderr.

    Figures of tiny counts have no goals.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="packline-bench-") as folder:
            figures = asyncio.run(_run(row, Path(folder), counts))
    except MissingError as missing:
        return Result(name, "missing", cause=str(missing))
    except Exception as error:
        print(f"The row {name} failed:\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        return Result(name, "failed", cause=excerpt(said, _CAUSE_CHARACTERS))
    if counts.tiny:
        figures = [replace(figure, goal=None) for figure in figures]
    return Result(name, "measured", tuple(figures))


async def _run(row: Row, folder: Path, counts: Counts) -> list[Figure]:
    """What the row returns; one that is interrupted stays so, even if it fails at cleaning up."""
    try:
        return await row(folder, counts)
    except Exception as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from error
        raise
