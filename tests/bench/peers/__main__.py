"""`make bench-peers`: the comparable rows side by side, Packline and DBOS in one run on one machine.

DBOS is a library in the caller's process and Packline a server behind HTTP; DBOS leaves SQLite in its rollback
journal, Packline commits with WAL and synchronous=FULL. The figures say what a user waits for, not whose code is
shorter.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import venv
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from tests.bench.figures import Counts
from tests.bench.measuring import ROWS, measure
from tests.bench.server import ROOT

if TYPE_CHECKING:
    from tests.bench.figures import Figure

HERE = Path(__file__).parent
ENVIRONMENT = ROOT / ".venv-peers"


def peer_figures(counts: Counts) -> dict[str, float]:
    """What DBOS does, measured in an environment of its own, made when absent."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
    command = [str(python), "-m", "tests.bench.peers.dbos_rows", *(["--tiny"] if counts.tiny else [])]
    answer = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return figures


def our_figures(counts: Counts) -> dict[str, Figure]:
    """What Packline does, by name.

    Raises:
        RuntimeError: a row failed.
    """
    results = [measure(name, ROWS[name], counts) for name in ("step", "throughput")]
    for result in results:
        if result.outcome != "measured":
            raise RuntimeError(f"the row {result.row}: {result.cause}")
    return {figure.name: figure for result in results for figure in result.figures}


def table_of(theirs: dict[str, float], ours: dict[str, Figure]) -> Table:
    """Both, and how many times better Packline does."""
    table = Table(title="Packline and its peers, one machine, one run")
    for column in ("what", "Packline", "DBOS on SQLite", "ratio"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, value in theirs.items():
        figure = ours[name]
        ratio = figure.value / value if figure.higher_is_better else value / figure.value
        table.add_row(name, f"{figure.value:.3g} {figure.unit}", f"{value:.3g} {figure.unit}", f"{ratio:.2g} x")
    return table


def main() -> None:
    """Measures and prints both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="count to a few: shows that the rows run, not how fast")
    counts = Counts(parser.parse_args().tiny)
    console = Console()
    with console.status("measuring DBOS"):
        theirs = peer_figures(counts)
    with console.status("measuring Packline"):
        ours = our_figures(counts)
    console.print(table_of(theirs, ours))


if __name__ == "__main__":
    main()
