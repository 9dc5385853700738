"""Fills a database with a history of finished runs, as SQL, because a million real ones would take an hour."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from ulid import ULID

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def grow(database: Path, runs: int) -> None:
    """Copies the newest run with its step, attempt and events until there are `runs` older ones."""
    raw = sqlite3.connect(database, isolation_level=None)
    raw.execute("PRAGMA journal_mode=WAL")
    raw.execute("PRAGMA synchronous=OFF")
    run_id = raw.execute("SELECT id FROM run ORDER BY id DESC LIMIT 1").fetchone()[0]
    newest = ULID.from_str(run_id.removeprefix("run_")).timestamp

    def ids() -> Iterator[str]:
        for number in range(runs):
            yield str(ULID.from_timestamp(newest - (runs - number) * 0.5))

    raw.execute("BEGIN")
    raw.execute("CREATE TEMP TABLE made (ulid TEXT)")
    raw.executemany("INSERT INTO made VALUES (?)", ((name,) for name in ids()))
    for table, changed in (
        ("run", {"id": "'run_' || ulid", "flight": "NULL", "idempotency_key": "NULL"}),
        ("run_step", {"id": "'step_' || ulid", "run_id": "'run_' || ulid", "attempt_id": "'att_' || ulid"}),
        ("attempt", {"id": "'att_' || ulid", "run_id": "'run_' || ulid", "step_id": "'step_' || ulid"}),
        ("run_event", {"run_id": "'run_' || ulid"}),
    ):
        columns = [row[1] for row in raw.execute(f"PRAGMA table_info({table})")]
        chosen = ", ".join(changed.get(column, f"source.{column}") for column in columns)
        key = "id" if table == "run" else "run_id"
        raw.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen} FROM made CROSS JOIN {table} AS source "
            f"WHERE source.{key} = ?",
            (run_id,),
        )
    raw.execute("COMMIT")
    raw.execute("ANALYZE")
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
