"""The processes that execute runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.operations import operation
from store.runs import workers
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context
    from store.runs.workers import WorkerRecord


@operation("workers", scope=Scope.MANAGE, kind="query")
async def list_workers(context: Context) -> list[WorkerRecord]:
    """List the processes that execute runs of this database, the longest running first."""
    return await known_workers(context)


async def known_workers(context: Context) -> list[WorkerRecord]:
    """List the workers for health checks, which need no scope."""
    services = context.services
    return await workers.list_workers(services.store, services.limits.lease_seconds)
