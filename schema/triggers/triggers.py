"""Triggers and their firings, and the lists of both."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import Annotated

import orjson
import strawberry

from resolvers.pipelines.lookups import find_one_pipeline
from resolvers.records import FiringOutcome, FiringRecord, TriggerRecord
from resolvers.triggers.run_ends import ended_run_id, run_ended_of
from resolvers.triggers.triggers import (
    count_some_triggers,
    count_trigger_firings,
    find_one_trigger,
    find_trigger,
    list_some_triggers,
    list_trigger_firings,
    next_firings,
)
from resolvers.triggers.webhooks import settings_of
from runner.triggers.schedules import schedule_of
from schema.access.callers import Caller, load_caller
from schema.base.context import Info
from schema.base.directives import Requires, published
from schema.base.enums import described_enum
from schema.base.node_interface import Node
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
from schema.base.scalars import JSON
from schema.pipelines.pipelines import Pipeline, load_pipeline
from schema.runs.runs import Run, load_run
from schema.triggers.run_ends import RunEnded
from schema.triggers.schedules import NextCount, Schedule
from schema.triggers.webhooks import Delivery, Webhook, load_delivery
from store.states import Scope, TriggerKind

TRIGGERS = CursorKind("triggers", (str,))
_FIRINGS = CursorKind("firings", (str,))

described_enum(
    FiringOutcome,
    "What a firing led to.",
    {
        "FIRED": "A run was started.",
        "SKIPPED": "No run was started, because the last one had not ended.",
        "MISSED": "No server was running, or it was too busy.",
        "REFUSED": "A limit was reached, such as that of a chain of triggers, or Packline paused the trigger.",
        "FAILED": "The start of the run failed its checks.",
    },
)


@strawberry.type(description="One firing of a trigger: what it led to, and why.")
class Firing:
    id: strawberry.ID = strawberry.field(description="Its id.")
    scheduled_at: datetime | None = strawberry.field(description="When a schedule was due. Null for other firings.")
    outcome: FiringOutcome = strawberry.field(description="What it led to.")
    reason: str | None = strawberry.field(description="Why no run was started.")
    created_at: datetime = strawberry.field(description="When it was recorded.")
    record: strawberry.Private[FiringRecord]

    @classmethod
    def of(cls, record: FiringRecord) -> "Firing":
        return cls(
            id=strawberry.ID(record.id),
            scheduled_at=record.scheduled_at,
            outcome=FiringOutcome(record.outcome),
            reason=record.reason,
            created_at=record.created_at,
            record=record,
        )

    @strawberry.field(description="The run it started. Null if it started none, or the run was deleted.")
    async def run(self, info: Info) -> Run | None:
        return None if self.record.run_id is None else await load_run(info, self.record.run_id)

    @strawberry.field(
        description="The run whose end fired it. Null for other firings, and for a run that was deleted or that the "
        "caller may not see."
    )
    async def ended_run(self, info: Info) -> Run | None:
        run_id = ended_run_id(self.record)
        return None if run_id is None else await load_run(info, run_id)

    @strawberry.field(description="What a webhook received. Null for other firings, and 7 days later.")
    async def delivery(self, info: Info) -> Delivery | None:
        return await load_delivery(info, self.record.id)


FiringConnection = Connection[Firing]


@strawberry.type(description="Starts runs of a pipeline by itself, as its owner.")
class Trigger(Node):
    name: str = strawberry.field(description="Name for people.")
    kind: TriggerKind = strawberry.field(description="What it fires by.")
    version: int | None = strawberry.field(description="Number of the pinned version. Null for the current one.")
    enabled: bool = strawberry.field(description="Whether it fires. False while it is paused.")
    attention: str | None = strawberry.field(description="Why Packline paused it. Null if it did not.")
    next_at: datetime | None = strawberry.field(description="When it fires next. Null while it is paused.")
    last_at: datetime | None = strawberry.field(description="When it last started a run.")
    created_at: datetime = strawberry.field(description="When it was created.")
    updated_at: datetime = strawberry.field(description="When it was last changed.")
    record: strawberry.Private[TriggerRecord]

    @classmethod
    def of(cls, record: TriggerRecord) -> "Trigger":
        return cls(
            id=strawberry.ID(record.id),
            name=record.name,
            kind=TriggerKind(record.kind),
            version=record.version,
            enabled=record.enabled,
            attention=record.attention,
            next_at=record.next_at,
            last_at=record.last_at,
            created_at=record.created_at,
            updated_at=record.updated_at,
            record=record,
        )

    @strawberry.field(description="The schedule it fires by. Null for other kinds.")
    def schedule(self) -> Schedule | None:
        found = schedule_of(self.record.kind, self.record.settings)
        return None if found is None else Schedule.of(found)

    @strawberry.field(description="The webhook it fires by. Null for other kinds.")
    def webhook(self) -> Webhook | None:
        found = settings_of(self.record)
        return None if found is None else Webhook.of(self.record, found)

    @strawberry.field(description="Which runs it fires for when they end. Null for other kinds.")
    def run_ended(self) -> RunEnded | None:
        found = run_ended_of(self.record)
        return None if found is None else RunEnded.of(found)

    @strawberry.field(description="Inputs of its runs, with templates over `trigger` unresolved and secrets masked.")
    def inputs(self, info: Info) -> JSON:
        return JSON(info.context.context.services.redactor.value(orjson.loads(self.record.inputs)))

    @strawberry.field(description="The next instants of its schedule, also while it is paused. Empty for other kinds.")
    def next_firings(
        self,
        info: Info,
        count: NextCount = 5,
    ) -> list[datetime]:
        return next_firings(info.context.context, self.record, count)

    @strawberry.field(description="The pipeline it starts. Null if it was deleted.")
    async def pipeline(self, info: Info) -> Pipeline | None:
        return await load_pipeline(info, self.record.pipeline_id)

    @strawberry.field(description="The caller its runs belong to.")
    async def owner(self, info: Info) -> Caller:
        found = await load_caller(info, self.record.owner_id)
        if found is None:
            raise LookupError(f"The caller {self.record.owner_id} of a trigger is gone.")
        return found

    @strawberry.field(description="Its newest firing. Null if it has not fired, or its firings were pruned.")
    async def last_firing(self, info: Info) -> Firing | None:
        found = await info.context.loaders.last_firing.load(self.record.id)
        return None if found is None else Firing.of(found)

    @strawberry.field(description="Its firings, newest first.")
    async def firings(
        self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> FiringConnection:
        arguments = PageArguments.parse(_FIRINGS, first=first, after=after, last=last, before=before)
        context = info.context.context
        rows = await list_trigger_firings(context, self.record, arguments.window)
        page = page_of(rows, arguments, lambda row: _FIRINGS.encode((row.id,)))
        return FiringConnection.of(page, Firing.of, lambda: count_trigger_firings(context, self.record))


TriggerConnection = Connection[Trigger]


def changed_trigger(info: Info, record: TriggerRecord) -> Trigger:
    """Return a trigger as a command left it."""
    info.context.clear_loaders()
    return Trigger.of(record)


async def load_trigger(info: Info, trigger_id: str) -> Trigger | None:
    found = await find_trigger(info.context.context, trigger_id)
    return None if found is None else Trigger.of(found)


async def trigger_page(
    info: Info, arguments: PageArguments, pipeline_id: str | None, needs_attention: bool | None = None
) -> TriggerConnection:
    """Read a page of the triggers the caller may see, newest first."""
    context = info.context.context
    rows = await list_some_triggers(
        context, pipeline_id=pipeline_id, needs_attention=needs_attention, window=arguments.window
    )
    page = page_of(rows, arguments, lambda row: TRIGGERS.encode((row.id,)))
    return TriggerConnection.of(page, Trigger.of, lambda: count_some_triggers(context, pipeline_id, needs_attention))


@strawberry.type
class TriggerQueries:
    @strawberry.field(
        description="A trigger. Null if it does not exist or the caller may not see it.",
        directives=[Requires(scope=Scope.READ), published(find_one_trigger)],
    )
    async def trigger(
        self, info: Info, id: Annotated[strawberry.ID, strawberry.argument(description="The trigger's id.")]
    ) -> Trigger | None:
        found = await find_one_trigger(info.context.context, trigger=id)
        return None if found is None else Trigger.of(found)

    @strawberry.field(
        description="The caller's triggers, newest first; with `observe`, those of all callers.",
        directives=[Requires(scope=Scope.READ), published(list_some_triggers)],
    )
    async def triggers(
        self,
        info: Info,
        pipeline: Annotated[
            strawberry.ID | None, strawberry.argument(description="Only triggers of this pipeline: id, key or alias.")
        ] = None,
        needs_attention: Annotated[
            bool | None, strawberry.argument(description="True: only triggers that Packline paused. False: no such.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> TriggerConnection:
        arguments = PageArguments.parse(TRIGGERS, first=first, after=after, last=last, before=before)
        pipeline_id: str | None = None
        if pipeline is not None:
            found = await find_one_pipeline(info.context.context, pipeline=pipeline)
            pipeline_id = str(pipeline) if found is None else found.id
        return await trigger_page(info, arguments, pipeline_id, needs_attention)
