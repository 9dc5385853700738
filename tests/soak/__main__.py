"""`make soak`: keeps real servers under load and kills, freezes and stops them; then checks what remains.

    python -m tests.soak [--minutes 10] [--database sqlite|postgresql|both] [--workers N] [--callers N] [--kill-only]
        [--seed N] [--keep FOLDER]

Prints the seed, a line every few seconds, and at last what happened and every fault that was found. The exit status is
1 on any. A seed gives the same faults and the same choices of the callers; what meets what is left to the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from tests.soak.soak import KINDS, SERVERS, Soak

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.soak.journal import Journal

#: As shells report what Ctrl-C ended.
INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    """Soaks the databases that the command line names, one after the other; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="how long, on each database")
    parser.add_argument("--database", choices=[*SERVERS, "both"], default="both", help="which database")
    parser.add_argument(
        "--workers", type=int, default=0, help="processes that execute runs, on PostgreSQL; by default the servers do"
    )
    parser.add_argument("--callers", type=int, default=4, help="callers besides the schedules; 0 for none")
    parser.add_argument("--kill-only", action="store_true", help="servers are killed, and not frozen or stopped")
    parser.add_argument("--seed", type=int, default=None, help="that of an earlier soak, for the same choices")
    parser.add_argument(
        "--keep", type=Path, help="leave data and logs below this folder, in a new one named like the database"
    )
    arguments = parser.parse_args(words)
    if arguments.workers and arguments.database == "sqlite":
        parser.error("--workers: SQLite belongs to one process; use --database postgresql")
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    found = 0
    for database in SERVERS if arguments.database == "both" else (arguments.database,):
        workers = arguments.workers if database == "postgresql" else 0
        soak = Soak(
            database,
            arguments.minutes * 60,
            seed,
            callers=arguments.callers,
            workers=workers,
            kinds=("kill",) if arguments.kill_only else KINDS,
            tell=lambda line: print(line, flush=True),
        )
        with tempfile.TemporaryDirectory(prefix="packline-soak-", ignore_cleanup_errors=True) as temporary:
            folder = Path(temporary) if arguments.keep is None else arguments.keep / database
            folder.mkdir(parents=True, exist_ok=arguments.keep is None)
            try:
                journal = asyncio.run(soak.run(folder))
            except KeyboardInterrupt:
                return INTERRUPTED
        found += len(journal.faults)
        _show(database, seed, journal)
    return 1 if found else 0


def _show(database: str, seed: int, journal: Journal) -> None:
    table = Table("What", "Times", title=f"{database}, seed {seed}")
    table.add_row("runs answered", str(len(journal.runs)))
    for name, count in sorted(journal.counts.items()):
        table.add_row(name, str(count))
    Console(width=100).print(table)
    for fault in journal.faults:
        print(f"FAULT {fault}")
    print(f"{database}: {len(journal.faults)} faults found", flush=True)


if __name__ == "__main__":
    # As Ctrl-C, which background jobs of shells ignore, so that no server outlives the soak.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    sys.exit(main())
