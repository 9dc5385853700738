"""The processes that execute runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvers.operations import operation
from resolvers.problems import NotFound
from runner.issues import Hint, nearest
from store.runs import workers
from store.states import Scope

if TYPE_CHECKING:
    from datetime import datetime

    from resolvers.context import Context
    from store.database.dialects import Connection
    from store.runs.workers import WorkerRecord


@operation("workers", scope=Scope.MANAGE, kind="query")
async def list_workers(context: Context) -> list[WorkerRecord]:
    """List the processes that execute runs of this database, the longest running first."""
    return await known_workers(context)


async def known_workers(context: Context) -> list[WorkerRecord]:
    """List the workers for health checks, which need no scope."""
    services = context.services
    return await workers.list_workers(services.store, services.limits.lease_seconds)


@operation("drain_worker", scope=Scope.MANAGE, kind="command", target="name", idempotent=True)
async def drain_worker(context: Context, *, name: str, draining: bool = True) -> WorkerRecord:
    """Have a worker take no further runs and finish those it holds, or take runs again.

    Raises:
        NotFound: there is no worker of that name.
    """

    def unit(conn: Connection) -> None:
        if not workers.drain_worker(conn, name, draining=draining):
            raise _Gone

    try:
        await context.commit(unit)
    except _Gone:
        raise await _unknown(context, name) from None
    found = {worker.id: worker for worker in await known_workers(context)}.get(name)
    if found is None:  # it has stopped meanwhile
        raise await _unknown(context, name)
    return found


@dataclass(frozen=True, slots=True)
class QueuedNeed:
    """Queued runs whose next step needs the same.

    Attributes:
        missing: What no worker that takes runs offers; if each is offered, but by no one worker, all of them.
    """

    needs: tuple[str, ...]
    runs: int
    since: datetime
    workers: tuple[str, ...]
    missing: tuple[str, ...]


@operation("queue", scope=Scope.MANAGE, kind="query")
async def list_queue(context: Context) -> list[QueuedNeed]:
    """List the queued runs by what their next steps need, the longest waiting first, and who serves them."""
    return await known_queue(context)


async def known_queue(context: Context) -> list[QueuedNeed]:
    """List the queue for health checks, which need no scope."""
    queued = await workers.list_queue(context.services.store)
    offers = {
        worker.id: worker.offers
        for worker in (await known_workers(context) if queued else ())
        if worker.alive and not worker.draining
    }
    found = []
    for record in queued:
        serving = tuple(name for name, offered in offers.items() if offered.issuperset(record.needs))
        lacking = tuple(need for need in record.needs if not any(need in offered for offered in offers.values()))
        missing = () if serving else lacking or record.needs
        found.append(QueuedNeed(record.needs, record.runs, record.since, serving, missing))
    return found


class _Gone(Exception):
    """The worker's row is gone."""


async def _unknown(context: Context, name: str) -> NotFound:
    names = [worker.id for worker in await known_workers(context)]
    near = nearest(name, names)
    return NotFound("worker", name, suggestion=near, hint=Hint(closest=near, operation="workers"))
