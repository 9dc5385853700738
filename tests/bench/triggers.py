"""Schedules: thousands of one owner that are due at the same instant, and the cost of those that are not."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from store.database.dialects import sqlite_instant
from store.database.ids import new_id
from tests.bench.figures import Figure
from tests.bench.server import pipeline_of, serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.figures import Counts

#: As `packline up` starts without settings.
_DEFAULTS = {"PACKLINE_CALLER_CONCURRENT_RUNS": "8", "PACKLINE_QUEUE_LIMIT": "1000"}
_CREATE = """mutation ($pipeline: ID!) {
    createTrigger(pipeline: $pipeline, name: "Each day", inputs: {text: "x"}, schedule: {intervalSeconds: 86400}) {
        ... on TriggerSuccess { trigger { id } } ... on Problem { message } } }"""


async def triggers(folder: Path, counts: Counts) -> list[Figure]:
    """What idle schedules cost, and how long those of one instant take to fire."""
    data, many = folder / "data", counts.of(10_000, 5)
    settle, idle = (15, 20) if many > 5 else (1, 1)
    async with serving(data, _DEFAULTS) as (_, client):
        key = await pipeline_of(client, "daily", 1)
        trigger_id = (await client.ask(_CREATE, pipeline=key))["createTrigger"]["trigger"]["id"]
    due = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=settle + idle + 10)
    _copy(data / "packline.db", trigger_id, many, due)
    async with serving(data, _DEFAULTS) as (server, _):
        await asyncio.sleep(settle)
        before = server.cpu_seconds()
        await asyncio.sleep(idle)
        used = server.cpu_seconds_since(before) / idle
        await asyncio.sleep(max(0, (due - datetime.now(UTC)).total_seconds()))
        while (fired := _fired(data / "packline.db"))[0] < many:
            if datetime.now(UTC) - due > timedelta(minutes=5):
                raise RuntimeError(f"{fired[0]} of {many} schedules fired within 5 minutes")
            await asyncio.sleep(0.5)
    last = datetime.fromisoformat(fired[1]).replace(tzinfo=UTC)
    return [
        Figure("triggers", f"CPU of an idle server with {many:,} schedules", used * 100, "%", 1),
        Figure("triggers", f"{many:,} schedules of one instant: until the last run is started",
               (last - due).total_seconds(), "s", 60),
    ]  # fmt: skip


def _copy(database: Path, trigger_id: str, many: int, due: datetime) -> None:
    """Make `many` triggers of one that the API made, all due at one instant."""
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        found = raw.execute("SELECT * FROM trigger WHERE id = ?", (trigger_id,))
        columns = [column[0] for column in found.description]
        row = dict(zip(columns, found.fetchone(), strict=True))
        row["settings"] = json.dumps(json.loads(row["settings"]) | {"anchor": due.isoformat()})
        row["next_at"] = sqlite_instant(due)
        raw.execute("BEGIN")
        raw.execute("DELETE FROM trigger")
        names = ", ".join(columns)
        values = ", ".join(f":{column}" for column in columns)
        rows = [row | {"id": new_id("trig")} for _ in range(many)]
        raw.executemany(f"INSERT INTO trigger ({names}) VALUES ({values})", rows)
        raw.execute("COMMIT")


def _fired(database: Path) -> tuple[int, str]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as raw:
        found = raw.execute("SELECT count(DISTINCT trigger_id), max(created_at) FROM firing WHERE outcome = 'fired'")
        return found.fetchone()  # type: ignore[no-any-return]
