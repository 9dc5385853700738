"""`make bench`: measures every row of DESIGN 6 that exists and prints medians beside their goals.

    python -m tests.bench [ROW …] [--history 1000000] [--json FILE]

Durability is ours by default: WAL, synchronous=FULL. Nothing here fails a build: figures are for people.
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
import sqlite3
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench import memory, rows
from tests.bench.agents import agents
from tests.bench.mcp import mcp
from tests.bench.page import page


async def routing(_: Path) -> list[rows.Figure]:
    """How well and how fast requests are routed without a model; see `docs/routing.md`."""
    from tests.bench.routing.figures import figures

    return figures()


ROWS = {
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
    parser.add_argument("--history", type=int, default=1_000_000, help="runs behind the history row")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    console = Console()
    figures: list[rows.Figure] = []
    for name in arguments.rows or ROWS:
        measure = ROWS[name]
        if name == "history":
            measure = functools.partial(rows.history, runs=arguments.history)
        with console.status(f"measuring {name}"):
            figures += rows.in_folder(measure)
    table = Table(title=f"Packline on {platform.machine()}, SQLite {sqlite3.sqlite_version}, WAL, synchronous=FULL")
    for column in ("row", "what", "figure", "goal", ""):
        table.add_column(column, justify="right" if column in ("figure", "goal") else "left")
    for figure in figures:
        met = None
        if figure.goal is not None:
            met = figure.value >= figure.goal if figure.higher_is_better else figure.value <= figure.goal
        sign = "" if figure.goal is None else ("≥ " if figure.higher_is_better else "≤ ") + f"{figure.goal:.3g}"
        mark = "" if met is None else "[green]met[/]" if met else "[red]missed[/]"
        table.add_row(figure.row, figure.name, f"{figure.value:.3g} {figure.unit}", sign, mark)
    console.print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1))


if __name__ == "__main__":
    main()
