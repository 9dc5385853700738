"""`make bench`: measures every row and prints medians beside their goals.

    python -m tests.bench [ROW …] [--tiny] [--history 1000000] [--json FILE]

Durability is ours by default: WAL, synchronous=FULL. No figure fails anything: figures are for people. Each goal
stands twice, as it was set and for the speed this machine had while its row was measured (`tests.bench.pace`). A row
that fails is told in its own line and makes the exit status 1 at the end; one that misses a program here only says so.
"""

from __future__ import annotations

import argparse
import json
import platform
import sqlite3
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.logging import configure_logging
from tests.bench.figures import HISTORY_RUNS, Counts
from tests.bench.measuring import ROWS, measure
from tests.bench.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.bench.figures import Figure
    from tests.bench.measuring import Result, Row

#: A result, and how much slower the machine was than the one the goals were set on.
Paced = tuple["Result", float]
#: As shells report what Ctrl-C ended.
INTERRUPTED = 130


def main(words: Sequence[str] | None = None, rows: Mapping[str, Row] = ROWS) -> int:
    """Measures what the command line names, all rows by default; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", choices=[*rows, []], help="rows to measure")
    parser.add_argument("--tiny", action="store_true", help="count to a few: shows that the rows run, not how fast")
    parser.add_argument("--history", type=int, default=HISTORY_RUNS, help="runs behind the history row")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    arguments = parser.parse_args(words)
    counts = Counts(arguments.tiny, arguments.history)
    results: list[Paced] = []
    status = 0
    console = Console()
    try:
        with Pace(counts.of(400, 40)) as pace:
            before = pace.slowness()
            for name in arguments.rows or rows:
                with console.status(f"measuring {name}"):
                    result = measure(name, rows[name], counts)
                    results.append((result, before))
                    after = pace.slowness()
                results[-1] = (result, (before + after) / 2)
                before = after
                if result.outcome == "failed":
                    status = 1
    except KeyboardInterrupt:
        status = INTERRUPTED
    finally:
        console.print(_table(results))
        if arguments.json:
            found = [asdict(result) | {"slowness": slowness} for result, slowness in results]
            arguments.json.write_text(json.dumps(found, indent=1))
    return status


def _table(results: list[Paced]) -> Table:
    slow = [slowness for _, slowness in results] or [1.0]
    table = Table(
        title=f"Packline on {platform.machine()}, SQLite {sqlite3.sqlite_version}, WAL, synchronous=FULL",
        caption=f"A plain GraphQL server took {min(slow):.2f} to {max(slow):.2f} times as long here as on the machine "
        "the goals were set on; 'goal here' is the goal at that speed.",
    )
    for column in ("row", "what", "figure", "goal", "goal here", ""):
        table.add_column(column, justify="right" if column in ("figure", "goal", "goal here") else "left")
    for result, slowness in results:
        if result.outcome != "measured":
            table.add_row(result.row, escape(result.cause), "", "", "", f"[red]{result.outcome}[/]")
        for figure in result.figures:
            goals = (figure.goal, figure.goal_at(slowness))
            sign = "≥" if figure.higher_is_better else "≤"
            told = ("" if goal is None else f"{sign} {goal:.3g}" for goal in goals)
            table.add_row(figure.row, figure.name, f"{figure.value:.3g} {figure.unit}", *told, _verdict(figure, *goals))
    return table


def _verdict(figure: Figure, goal: float | None, goal_here: float | None) -> str:
    if goal is None or goal_here is None:
        return ""
    if figure.meets(goal):
        return "[green]met[/]"
    return "[yellow]met here[/]" if figure.meets(goal_here) else "[red]missed[/]"


if __name__ == "__main__":
    configure_logging("error")  # as the servers of the rows log; some rows work in this process
    sys.exit(main())
