"""`make bench`: measures every row of DESIGN 6 that exists and prints medians beside their goals.

    python -m tests.bench [ROW …] [--history 1000000] [--json FILE]

Durability is ours by default: WAL, synchronous=FULL. Nothing here fails a build: figures are for people. Each goal
stands twice, as it was set and for the speed this machine had while its row was measured (`tests.bench.pace`).
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from tests.bench import memory, rows
from tests.bench.agents import agents
from tests.bench.mcp import mcp
from tests.bench.pace import Pace
from tests.bench.page import page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def routing(_: Path) -> list[rows.Figure]:
    """How well and how fast requests are routed without a model; see `docs/routing.md`."""
    from tests.bench.routing.figures import figures

    return figures()


ROWS: dict[str, Callable[[Path], Awaitable[list[rows.Figure]]]] = {
    "step": rows.step,
    "throughput": rows.throughput,
    "latency": rows.latency,
    "start": rows.start,
    "recovery": rows.recovery,
    "graphql": rows.graphql,
    "mcp": mcp,
    "history": rows.history,
    "artifacts": rows.artifacts,
    "memory": memory.memory,
    "agents": agents,
    "routing": routing,
    "page": page,
}


def main() -> None:
    """Measures what the command line names, all rows by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="rows to measure")
    parser.add_argument("--history", type=int, default=rows.HISTORY_RUNS, help="runs behind the history row")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    console = Console()
    figures: list[tuple[rows.Figure, float]] = []
    with Pace() as pace:
        before = pace.slowness()
        for name in arguments.rows or ROWS:
            measure = ROWS[name]
            if name == "history":
                measure = functools.partial(rows.history, runs=arguments.history)
            with console.status(f"measuring {name}"):
                measured = rows.in_folder(measure)
                after = pace.slowness()
            figures += [(figure, (before + after) / 2) for figure in measured]
            before = after
    console.print(_table(figures))
    if arguments.json:
        found = [asdict(figure) | {"slowness": slowness} for figure, slowness in figures]
        arguments.json.write_text(json.dumps(found, indent=1))


def _table(figures: list[tuple[rows.Figure, float]]) -> Table:
    slow = [slowness for _, slowness in figures]
    table = Table(
        title=f"Packline on {platform.machine()}, SQLite {sqlite3.sqlite_version}, WAL, synchronous=FULL",
        caption=f"A plain GraphQL server took {min(slow):.2f} to {max(slow):.2f} times as long here as on the machine "
        "the goals were set on; 'goal here' is the goal at that speed.",
    )
    for column in ("row", "what", "figure", "goal", "goal here", ""):
        table.add_column(column, justify="right" if column in ("figure", "goal", "goal here") else "left")
    for figure, slowness in figures:
        goals = (figure.goal, figure.goal_at(slowness))
        sign = "≥" if figure.higher_is_better else "≤"
        told = ("" if goal is None else f"{sign} {goal:.3g}" for goal in goals)
        table.add_row(figure.row, figure.name, f"{figure.value:.3g} {figure.unit}", *told, _verdict(figure, *goals))
    return table


def _verdict(figure: rows.Figure, goal: float | None, goal_here: float | None) -> str:
    if goal is None or goal_here is None:
        return ""
    if figure.meets(goal):
        return "[green]met[/]"
    return "[yellow]met here[/]" if figure.meets(goal_here) else "[red]missed[/]"


if __name__ == "__main__":
    main()
