"""One soak: callers at work, servers that are killed, frozen and stopped, then a look at what remains."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import psycopg

from store.database.dialects import libpq_url
from tests.soak import checker
from tests.soak.callers import Caller
from tests.soak.journal import Journal
from tests.soak.servers import SoakServers
from tests.soak.triggers import outcomes
from tests.support.databases import DATABASE, prepare_sqlite, ready_database

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.soak.servers import Kind

SERVERS = {"sqlite": ("one",), "postgresql": ("one", "two")}
#: What befalls servers, each as often as it is named.
KINDS: Final[tuple[Kind, ...]] = ("kill", "kill", "freeze", "freeze", "stop")
#: How long runs may take to end once nothing disturbs them any more.
QUIET_SECONDS = 180.0
_OPEN = "SELECT count(*) FROM run WHERE ended_at IS NULL"
_SESSIONS = "SELECT count(*) FROM session WHERE ended_at IS NULL"


@dataclass(frozen=True)
class Soak:
    """How long, on which database, and with which chances.

    Attributes:
        database: `sqlite` or `postgresql`.
        seconds: How long callers are at work.
        workers: Processes that execute runs, on PostgreSQL; with 0 the servers do.
        between_faults: Seconds between two faults, at least and at most.
        kinds: What befalls servers, each as often as it is named.
        forked: Whether servers are forks instead of programs, whose start costs a second of processor time.
        tell: Is called every few seconds with a line of what happened so far.
    """

    database: str
    seconds: float
    seed: int
    callers: int = 4
    workers: int = 0
    between_faults: tuple[float, float] = (2.0, 7.0)
    kinds: tuple[Kind, ...] = KINDS
    forked: bool = False
    tell: Callable[[str], None] = print

    async def run(self, folder: Path) -> Journal:
        """Runs it in an empty folder; what happened, and every fault that was found."""
        journal = Journal()
        with ExitStack() as stack:
            if self.database == "sqlite":
                url = "sqlite"
                prepare_sqlite(folder / "data")
            else:
                url = stack.enter_context(ready_database())
            servers = SoakServers(
                folder, url, SERVERS[self.database], journal, workers=self.workers, forked=self.forked
            )
            try:
                await self._load(servers, journal, folder)
                await self._quiet(servers, journal, url)
                await servers.stop()
                left = await servers.processes_left()
            finally:
                await servers.down()
                (folder / "logs.txt").write_text("".join(f"== {name}\n{text}" for name, text in servers.logs().items()))
            await checker.tidy(url, servers.data)
            remains = checker.read(
                url,
                servers.data,
                logs=servers.logs(),
                executions=checker.executions(folder / "once.txt"),
                processes=left,
            )
            journal.faults += checker.faults_of(remains, journal)
            journal.counts |= {f"ended: {state}": count for state, count in _states(remains).items()}
            journal.counts |= outcomes(remains.tables["firing"])
            journal.counts["attempts"] = len(remains.attempts)
            journal.counts["attempts lost"] = sum(each["state"] == "lost" for each in remains.attempts.values())
            journal.counts["events"] = sum(map(len, remains.events.values()))
        return journal

    async def _load(self, servers: SoakServers, journal: Journal, folder: Path) -> None:
        chance = random.Random(f"{self.seed} secrets")
        journal.secrets.append(f"horse battery {chance.randbytes(9).hex()} staple")
        await servers.up()
        subjects = [f"caller-{number}" for number in range(1, self.callers + 1)]
        tokens = await servers.prepare(subjects, journal.secrets[0])
        await servers.begin_schedules()
        journal.secrets += tokens.values()
        marks = folder / "once.txt"
        callers = [
            Caller(subject, token, servers.urls, journal, marks, random.Random(f"{self.seed} {subject}"))
            for subject, token in tokens.items()
        ]
        for caller in callers:
            await caller.add_webhook()
        over = asyncio.Event()
        tasks = [asyncio.create_task(_repeat(caller.act, over)) for caller in callers for _ in range(3)]
        tasks += [asyncio.create_task(_repeat(caller.watch_some, over)) for caller in callers]
        tasks.append(asyncio.create_task(self._befall(servers, over)))
        began = time.monotonic()
        telling = asyncio.create_task(self._tell(journal, began))
        try:
            done, _ = await asyncio.wait(tasks, timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED)
            over.set()
            for task in done:
                task.result()
            await asyncio.gather(*tasks)
        finally:
            for task in (*tasks, telling):
                task.cancel()
            await asyncio.gather(*tasks, telling, return_exceptions=True)
            self._report(journal, began)
            for caller in callers:
                await caller.close()

    async def _befall(self, servers: SoakServers, over: asyncio.Event) -> None:
        chance = random.Random(f"{self.seed} faults")
        while not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), chance.uniform(*self.between_faults))
                return
            await servers.befall(chance, self.kinds)

    async def _quiet(self, servers: SoakServers, journal: Journal, url: str) -> None:
        """Waits until no run is under way and all sessions have ended."""
        await servers.up()
        await servers.end_schedules(QUIET_SECONDS)
        until = time.monotonic() + QUIET_SECONDS
        folder = servers.data / "sessions"
        while time.monotonic() < until:
            counts = [await asyncio.to_thread(_count, url, servers.data, query) for query in (_OPEN, _SESSIONS)]
            if not any(counts) and not any(folder.glob("*")):
                return
            await asyncio.sleep(0.5)
        journal.faults.append(
            f"{self.database}: after {QUIET_SECONDS:.0f} s in peace, {counts[0]} runs are under way, "
            f"{counts[1]} sessions have not ended, {len([*folder.glob('*')])} workspaces are left"
        )

    async def _tell(self, journal: Journal, began: float) -> None:
        while True:
            await asyncio.sleep(5)
            self._report(journal, began)

    def _report(self, journal: Journal, began: float) -> None:
        counts = journal.counts
        faults = {
            name.removeprefix("servers: "): counts[name] for name in sorted(counts) if name.startswith("servers: ")
        }
        self.tell(
            f"{self.database} {time.monotonic() - began:5.0f} s: {len(journal.runs)} runs, "
            f"{sum(journal.commands.values())} answers, {counts['subscriptions']} subscriptions; "
            f"{', '.join(f'{name} {count}' for name, count in faults.items()) or 'no disturbance yet'}; "
            f"{len(journal.faults)} faults found"
        )


async def _repeat(act: Callable[[], Awaitable[None]], over: asyncio.Event) -> None:
    while not over.is_set():
        await act()
        await asyncio.sleep(0.05)


def _count(url: str, folder: Path, query: str) -> int:
    if url == "sqlite":
        connection = sqlite3.connect(f"file:{folder / DATABASE}?mode=ro", uri=True)
        try:
            return int(connection.execute(query).fetchone()[0])
        finally:
            connection.close()
    with psycopg.connect(libpq_url(url)) as postgres:
        row = postgres.execute(query.encode()).fetchone()
        assert row is not None
        return int(row[0])


def _states(remains: checker.Remains) -> Counter[str]:
    return Counter(row["state"] for row in remains.runs.values())
