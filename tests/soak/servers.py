"""The servers of a soak, and what befalls them."""

from __future__ import annotations

import asyncio
import secrets
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.soak.pipelines import PACKS, PIPELINES
from tests.soak.triggers import begin_schedules, end_schedules
from tests.support.ports import free_port
from tests.support.servers import Calls, Fleet

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from tests.soak.journal import Journal
    from tests.support.servers import RealServer

#: A lost run is taken over after this; frozen servers sleep for less and for longer.
LEASE_SECONDS = 5
FREEZE_SECONDS = (0.5, 9.0)
#: What befalls servers: kill -9, SIGSTOP for some seconds, SIGTERM.
Kind = Literal["kill", "freeze", "stop"]
#: Marks every process that comes from a soak's servers, so that those left can be found.
_MARK = "SOAKED_BY"

_SAVE = """mutation ($document: JSON!) { createPipeline(definition: {document: $document}) {
    __typename ... on Problem { message } } }"""
_CREDENTIAL = """mutation ($key: Key!, $kind: String!, $fields: JSON, $grants: [ID!]) {
    setCredential(key: $key, kind: $kind, fields: $fields, grants: $grants) {
        __typename ... on Problem { message } } }"""
_TOKEN = """mutation ($name: String!, $scopes: [Scope!]!, $subject: String) {
    createToken(name: $name, scopes: $scopes, subject: $subject) {
        __typename ... on CreateTokenSuccess { plaintext } ... on Problem { message } } }"""


class SoakServers:
    """Servers on one database that share a data folder; each keeps its port through restarts.

    Args:
        folder: Its `data` becomes the data folder.
        database_url: `sqlite`, for one server, or the address of a PostgreSQL database that has the schema.
        names: Names of the servers.
        workers: How many processes execute runs, on PostgreSQL; with 0 the servers do.
        forked: Whether they are forks, see `tests.support.servers.Fleet`.
    """

    def __init__(
        self,
        folder: Path,
        database_url: str,
        names: tuple[str, ...],
        journal: Journal,
        *,
        workers: int = 0,
        forked: bool = False,
    ) -> None:
        self.data = folder / "data"
        self.mark = secrets.token_hex(8)
        self._journal = journal
        self._ports = {name: free_port() for name in names}
        self._workers = [f"worker-{number}" for number in range(1, workers + 1)]
        self._all: list[RealServer] = []
        self._now: dict[str, RealServer] = {}
        self._fleet = _MarkedFleet(
            self.mark,
            folder,
            database_url,
            data_dir=self.data,
            pack_path=PACKS,
            log_level="info",
            lease_seconds=LEASE_SECONDS,
            rescue_seconds=0.5,
            shutdown_grace_seconds=1,
            session_idle_seconds=2,
            session_sweep_seconds=1,
            worker="off" if workers else "on",
            forked=forked,
        )

    @property
    def urls(self) -> dict[str, str]:
        """Their addresses by name."""
        return {name: f"http://127.0.0.1:{port}" for name, port in self._ports.items()}

    def logs(self) -> dict[str, str]:
        """What each start of a server has written."""
        return {f"{server.name}, start {number}": "".join(server.output) for number, server in enumerate(self._all, 1)}

    async def up(self) -> None:
        """Starts those that do not run."""
        for name in (*self._ports, *self._workers):
            server = self._now.get(name)
            if server is None or server.process.returncode is not None:
                port = self._ports.get(name)
                self._now[name] = await (self._fleet.worker(name) if port is None else self._fleet.up(name, port))
                self._all.append(self._now[name])

    async def prepare(self, subjects: list[str], secret: str) -> dict[str, str]:
        """Saves the pipelines and the credential; a token for each caller."""
        server = next(iter(self._now.values()))
        for pipeline in PIPELINES.values():
            await _done(server, _SAVE, document=pipeline.document())
        given = {"key": "soak", "kind": "generic", "fields": {"secret": secret}, "grants": ["soak.leak"]}
        await _done(server, _CREDENTIAL, **given)
        scopes = ["READ", "RUN", "WRITE"]
        return {
            subject: (await _done(server, _TOKEN, name=subject, subject=subject, scopes=scopes))["plaintext"]
            for subject in subjects
        }

    async def begin_schedules(self) -> None:
        """Creates schedules, which any of the servers fires."""
        await begin_schedules(next(iter(self._now.values())), self._journal)

    async def end_schedules(self, patience_seconds: float) -> None:
        """Pauses the schedules once they have dealt with every instant until now."""
        await end_schedules(next(iter(self._now.values())), self._journal, patience_seconds)

    async def befall(self, chance: random.Random, kinds: Sequence[Kind]) -> None:
        """Has something happen to one of them, and rarely to all, and brings them up again."""
        counts = self._journal.counts
        chosen = [self._now[chance.choice(list(self._now))]]
        if chance.random() < 0.1:
            chosen = list(self._now.values())
        what = chance.choice(kinds)
        counts[f"servers: {what}"] += len(chosen)
        if what == "kill":
            await asyncio.gather(*(server.kill() for server in chosen))
        elif what == "stop":
            for server, status in zip(
                chosen, await asyncio.gather(*(self._stop(each) for each in chosen)), strict=True
            ):
                if status != 0:
                    self._journal.faults.append(f"server {server.name}: it ended with {status} on SIGTERM")
        else:
            for server in chosen:
                server.signal(signal.SIGSTOP)
            try:
                await asyncio.sleep(chance.uniform(*FREEZE_SECONDS))
            finally:
                for server in chosen:
                    server.signal(signal.SIGCONT)
        await asyncio.sleep(chance.uniform(0, 1.5))
        await self.up()

    async def stop(self) -> None:
        """Ends all of them as an operator would."""
        for server in self._now.values():
            status = await self._stop(server)
            if status != 0:
                self._journal.faults.append(f"server {server.name}: it ended with {status} on SIGTERM")

    async def down(self) -> None:
        """Ends all of them at once, however they are."""
        await self._fleet.down()

    async def processes_left(self, patience_seconds: float = 10.0) -> list[str]:
        """Command lines of processes that came from these servers and still run after some seconds."""
        for _ in range(int(patience_seconds * 10)):
            found = await asyncio.to_thread(self._marked)
            if not found:
                return []
            await asyncio.sleep(0.1)
        return found

    async def _stop(self, server: RealServer) -> int | str:
        try:
            return await server.stop()
        except TimeoutError:
            await server.kill()
            return "nothing: it had to be killed"

    def _marked(self) -> list[str]:
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if f"{_MARK}={self.mark}".encode() in (place / "environ").read_bytes():
                    found.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue  # somebody else's, or gone
        return found


class _MarkedFleet(Fleet):
    """Servers whose processes carry a mark in their environment, inherited from the parent process.

    A forked server has it from its first child on; whether the server itself is gone, its exit status says.
    """

    def __init__(self, mark: str, folder: Path, database_url: str, **settings: Any) -> None:
        super().__init__(folder, database_url, Calls(""), **settings)
        self._mark = mark

    def environment(self, name: str, **settings: object) -> dict[str, str]:
        return super().environment(name, **settings) | {_MARK: self._mark}


async def _done(server: RealServer, query: str, **variables: Any) -> dict[str, Any]:
    answer = await server.command(query, **variables)
    assert answer["__typename"].endswith("Success"), answer
    return answer
