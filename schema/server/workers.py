"""The processes that execute runs."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import Annotated

import strawberry

from resolvers.records import WorkerRecord
from resolvers.server.workers import QueuedNeed as Queued
from resolvers.server.workers import drain_worker, list_queue, list_workers
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.problems import ForbiddenProblem, NotFoundProblem, refusable
from store.states import Scope


@strawberry.type(description="A process that executes runs. All workers of a database share its runs.")
class Worker:
    name: str = strawberry.field(description="Host name, process id and a random part. Different after a restart.")
    machine: str = strawberry.field(description="The machine and data folder. Sessions belong to them.")
    release: str = strawberry.field(description="Version of Packline.")
    started_at: datetime = strawberry.field(description="When the worker started.")
    last_seen_at: datetime = strawberry.field(
        description="When the worker last renewed its leases, by the database's clock."
    )
    alive: bool = strawberry.field(
        description="Whether the worker was seen within a lease. Other workers take over the runs of one that was not."
    )
    offers: list[str] = strawberry.field(
        description="What the steps it executes may need, such as `chromium`, `pack:garden.water@1` or `@` with its "
        "machine. Empty with SQLite, whose only worker executes all."
    )
    lanes: int = strawberry.field(description="Maximum number of runs it executes at once.")
    running: int = strawberry.field(description="Number of runs it holds.")
    draining: bool = strawberry.field(
        description="Whether it takes no further runs. Once it holds none, it can be stopped without delaying any."
    )

    @classmethod
    def of(cls, record: WorkerRecord) -> "Worker":
        return cls(
            name=record.id,
            machine=record.machine,
            release=record.release,
            started_at=record.started_at,
            last_seen_at=record.seen_at,
            alive=record.alive,
            offers=sorted(record.offers),
            lanes=record.lanes,
            running=record.running,
            draining=record.draining,
        )


@strawberry.type(description="Runs that are queued or wait for a worker, and whose next step needs the same of it.")
class QueuedNeed:
    needs: list[str] = strawberry.field(
        description="What the step needs: services, programs, labels, models, packs that do not ship with Packline as "
        "`pack:<name>@<major>`, or `@<machine>` for a session. Always empty with the embedded database."
    )
    runs: int = strawberry.field(description="Number of runs, among the first 10,000 in the queue.")
    oldest_queued_at: datetime = strawberry.field(description="When the oldest of them began to wait.")
    workers: list[str] = strawberry.field(description="Names of the workers that take such runs.")
    missing: list[str] = strawberry.field(
        description="What no worker offers, or all needs if no worker offers all of them. Empty if `workers` is not, "
        "and for runs that need nothing."
    )

    @classmethod
    def of(cls, queued: Queued) -> "QueuedNeed":
        return cls(
            needs=[*queued.needs],
            runs=queued.runs,
            oldest_queued_at=queued.since,
            workers=[*queued.workers],
            missing=[*queued.missing],
        )


@strawberry.type
class WorkerQueries:
    @strawberry.field(
        description="The processes that execute runs, the longest running first. A worker that stopped is not listed; "
        "one that was lost is listed for another 20 leases.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    async def workers(self, info: Info) -> list[Worker]:
        return [Worker.of(record) for record in await list_workers(info.context.context)]

    @strawberry.field(
        description="The runs of all callers that are queued or wait for a worker, by what their next steps need, the "
        "longest waiting first.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    async def queue(self, info: Info) -> list[QueuedNeed]:
        return [QueuedNeed.of(queued) for queued in await list_queue(info.context.context)]


@strawberry.type(description="The worker is drained, or takes runs again.")
class DrainWorkerSuccess:
    worker: Worker = strawberry.field(description="The worker in its current state.")


DrainWorkerResult = Annotated[
    DrainWorkerSuccess | ForbiddenProblem | NotFoundProblem,
    strawberry.union("DrainWorkerResult", description="The result of drainWorker."),
]


@strawberry.type
class WorkerMutations:
    @strawberry.mutation(
        description="Drains a worker before it is stopped: it takes no further runs and finishes those it holds. "
        "With `draining: false` it takes runs again. Runs that no other worker serves wait until one does.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    @refusable
    async def drain_worker(
        self,
        info: Info,
        name: Annotated[str, strawberry.argument(description="Name of the worker.")],
        draining: Annotated[bool, strawberry.argument(description="Whether it takes no further runs.")] = True,
    ) -> DrainWorkerResult | None:
        return DrainWorkerSuccess(
            worker=Worker.of(await drain_worker(info.context.context, name=name, draining=draining))
        )
