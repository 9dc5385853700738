"""The processes that execute runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.operations import operation
from resolvers.problems import NotFound
from runner.issues import Hint, nearest
from store.runs import workers
from store.states import Scope

if TYPE_CHECKING:
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


class _Gone(Exception):
    """The worker's row is gone."""


async def _unknown(context: Context, name: str) -> NotFound:
    names = [worker.id for worker in await known_workers(context)]
    near = nearest(name, names)
    return NotFound("worker", name, suggestion=near, hint=Hint(closest=near, operation="workers"))
