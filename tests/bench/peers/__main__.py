"""`make bench-peers`: the comparable rows side by side, Packline and DBOS in one run on one machine.

DBOS is a library in the caller's process and Packline a server behind HTTP; DBOS leaves SQLite in its rollback
journal, Packline commits with WAL and synchronous=FULL. The figures say what a user waits for, not whose code is
shorter.
"""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench import rows

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parents[2] / ".venv-peers"
RUNS = 200


def peer_figures() -> dict[str, float]:
    """What DBOS does, measured in an environment of its own, made when absent."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
    answer = subprocess.run([python, HERE / "dbos_rows.py", str(RUNS)], check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Prints both, and how many times better Packline does."""
    console = Console()
    with console.status("measuring DBOS"):
        theirs = peer_figures()
    with console.status("measuring Packline"):
        ours = {figure.name: figure for figure in rows.in_folder(rows.step) + rows.in_folder(rows.throughput)}
    table = Table(title="Packline and its peers, one machine, one run")
    for column in ("what", "Packline", "DBOS on SQLite", "ratio"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, value in theirs.items():
        figure = ours[name]
        ratio = figure.value / value if figure.higher_is_better else value / figure.value
        table.add_row(name, f"{figure.value:.3g} {figure.unit}", f"{value:.3g} {figure.unit}", f"{ratio:.2g} x")
    console.print(table)


if __name__ == "__main__":
    main()
