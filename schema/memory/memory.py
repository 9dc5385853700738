"""Memory and defaults: what a caller usually chooses, and the evidence it is learned from."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Annotated, cast

import strawberry

from catalog.memory.defaults import EntryDefaults as KnownEntry
from resolvers.memory import count_entries, find_entry, learned_of, list_entries, my_defaults
from resolvers.records import MemoryRecord
from runner.failures import FailureCode
from schema.access.callers import Caller, load_caller
from schema.base.catalog_entry import CatalogEntry
from schema.base.context import Info
from schema.base.cursors import by_instant
from schema.base.directives import Cost, Requires, published
from schema.base.learned import LearnedField, LearnedValue
from schema.base.node_interface import Node
from schema.base.pagination import After, Before, CountedConnection, CursorKind, First, Last, PageArguments, page_of
from schema.base.scalars import MemoryScope
from schema.packs.packs import Pack
from schema.pipelines.pipelines import load_pipeline
from schema.runs.runs import Run, load_run
from schema.runs.states import RunState
from store.states import Scope

if TYPE_CHECKING:
    from catalog.memory.defaults import CallerDefaults as KnownDefaults
    from catalog.memory.defaults import DefaultValue as KnownValue
    from resolvers.memory import DefaultRule as RuleName
    from resolvers.records import TargetKind

#: When it ended, and its id.
_ENTRIES = CursorKind("memory", (str, str))


@strawberry.enum(description="How a default is settled.")
class DefaultRule(Enum):
    LEARNED = strawberry.enum_value("learned", description="As it is learned.")
    PINNED = strawberry.enum_value("pinned", description="As the caller set it.")
    EXCLUDED = strawberry.enum_value("excluded", description="Never learned, never suggested.")

    def name_below(self) -> "RuleName":
        return cast("RuleName", self.value)


async def _entry(info: Info, kind: "TargetKind", target: str) -> CatalogEntry | None:
    if kind == "pipeline":
        return await load_pipeline(info, target)
    found = info.context.context.services.registry.find(target)
    return None if found is None else Pack.of(found)


@strawberry.type(description="A value a caller usually chooses.")
class DefaultValue:
    field: LearnedField = strawberry.field(description="The field.")
    value: str | None = strawberry.field(description="The value; null when excluded.")
    count: int = strawberry.field(description="Uses of this value, at least 2 unless pinned.")
    share: float = strawberry.field(description="Share of all uses of the field, recent ones counting more, 0 to 1.")
    last_used_at: datetime | None = strawberry.field(description="When it was last used; null when only pinned.")
    source: str = strawberry.field(description="Where it came from, for people.")
    pinned: bool = strawberry.field(description="Whether the caller set it, whatever is learned.")
    excluded: bool = strawberry.field(description="Whether the field is never to be learned here.")
    others: list[str] = strawberry.field(description="Other values seen.")

    @classmethod
    def of(cls, known: "KnownValue") -> "DefaultValue":
        return cls(
            field=known.field,
            value=known.value,
            count=known.count,
            share=known.share,
            last_used_at=known.last_used_at,
            source=known.source,
            pinned=known.pinned,
            excluded=known.excluded,
            others=list(known.others),
        )


@strawberry.type(description="What a caller usually chooses for one pack or pipeline.")
class EntryDefaults:
    target: strawberry.ID = strawberry.field(description="Id of the pack or pipeline.")
    uses: int = strawberry.field(description="Successful uses.")
    last_used_at: datetime | None = strawberry.field(description="When it was last used; null when it never was.")
    values: list[DefaultValue] = strawberry.field(
        description="One value for each field that is learned, pinned or excluded."
    )
    known: strawberry.Private[KnownEntry]

    @classmethod
    def of(cls, known: KnownEntry) -> "EntryDefaults":
        return cls(
            target=strawberry.ID(known.target),
            uses=known.uses,
            last_used_at=known.last_used_at,
            values=[DefaultValue.of(value) for value in known.values],
            known=known,
        )

    @strawberry.field(description="The pack or pipeline; null when it is gone.")
    async def entry(self, info: Info) -> CatalogEntry | None:
        return await _entry(info, self.known.kind, self.known.target)


@strawberry.type(description="What a caller usually chooses, learned from its successful runs of the last 30 days.")
class CallerDefaults:
    fetched_at: datetime = strawberry.field(description="When this was put together.")
    learning_paused: bool = strawberry.field(description="Whether nothing new is learned for now.")
    locked: str | None = strawberry.field(
        description="Why what was learned cannot be read, and what to do; null while it can."
    )
    unreadable: int = strawberry.field(description="Rows whose learned values do not open: another key sealed them.")
    packs: list[EntryDefaults] = strawberry.field(
        description="The 12 packs used most, and others with a value that is pinned or excluded."
    )
    pipelines: list[EntryDefaults] = strawberry.field(
        description="The 12 pipelines used most, and others with a value that is pinned or excluded."
    )
    caller_id: strawberry.Private[str]

    @classmethod
    def of(cls, info: Info, known: "KnownDefaults") -> "CallerDefaults":
        locked = known.locked
        return cls(
            fetched_at=info.context.context.services.now(),
            learning_paused=known.paused_at is not None,
            locked=None if locked is None else f"{locked.message} {locked.hint}".strip(),
            unreadable=known.unreadable,
            packs=[EntryDefaults.of(entry) for entry in known.top("pack")],
            pipelines=[EntryDefaults.of(entry) for entry in known.top("pipeline")],
            caller_id=known.caller_id,
        )

    @strawberry.field(description="The caller.")
    async def caller(self, info: Info) -> Caller:
        found = await load_caller(info, self.caller_id)
        if found is None:
            raise LookupError(f"defaults of the caller {self.caller_id}, who is gone")
        return found


@strawberry.type(
    description="One pack call or pipeline run, as remembered. Nothing of its inputs is kept but the learned fields."
)
class MemoryEntry(Node):
    at: datetime = strawberry.field(description="When it ended.")
    target: strawberry.ID = strawberry.field(description="Id of the pack or pipeline.")
    outcome: RunState = strawberry.field(description="How it ended.")
    failure_code: FailureCode | None = strawberry.field(description="What went wrong; a timeout tells here.")
    duration_seconds: float = strawberry.field(description="How long it took, in seconds.")
    expires_at: datetime = strawberry.field(description="When the row is swept.")
    record: strawberry.Private[MemoryRecord]

    @classmethod
    def of(cls, record: MemoryRecord) -> "MemoryEntry":
        return cls(
            id=strawberry.ID(record.id),
            at=record.at,
            target=strawberry.ID(record.target),
            outcome=record.outcome,
            failure_code=None if record.failure_code is None else FailureCode(record.failure_code),
            duration_seconds=record.duration_seconds,
            expires_at=record.expires_at,
            record=record,
        )

    @strawberry.field(description="The pack or pipeline; null when it is gone.")
    async def entry(self, info: Info) -> CatalogEntry | None:
        return await _entry(info, self.record.kind, self.record.target)

    @strawberry.field(description="Learned fields and their values; only successes teach.")
    def learned(self, info: Info) -> list[LearnedValue]:
        found = learned_of(info.context.context, self.record) or {}
        return [LearnedValue(field=field, value=value) for field, value in found.items()]

    @strawberry.field(description="Whether what it taught can be read; false when another vault key sealed it.")
    def readable(self, info: Info) -> bool:
        return learned_of(info.context.context, self.record) is not None

    @strawberry.field(description="Whether it is a step of a pipeline's run, which goes with that run's row.")
    def is_step(self) -> bool:
        return self.record.step_id != ""

    @strawberry.field(description="The run; null once pruned.")
    async def run(self, info: Info) -> Run | None:
        return await load_run(info, self.record.run_id)


MemoryEntryConnection = CountedConnection[MemoryEntry]


async def load_memory(info: Info, entry_id: str) -> MemoryEntry | None:
    found = await find_entry(info.context.context, entry_id)
    return None if found is None else MemoryEntry.of(found)


@strawberry.type
class MemoryQueries:
    @strawberry.field(
        description=("What a caller usually chooses: look here before asking. MCP resource `packline://my-defaults`."),
        directives=[Requires(scope=Scope.READ), published(my_defaults)],
    )
    async def my_defaults(
        self,
        info: Info,
        caller: Annotated[
            strawberry.ID | None, strawberry.argument(description="Another caller, which needs MANAGE.")
        ] = None,
        target: Annotated[
            strawberry.ID | None,
            strawberry.argument(description="Of this pack or pipeline alone, whether or not it is among the 12."),
        ] = None,
    ) -> CallerDefaults:
        return CallerDefaults.of(info, await my_defaults(info.context.context, caller=caller, target=target))

    @strawberry.field(
        description=(
            "The evidence defaults are learned from, newest first. One row per pack call and pipeline run, kept 30 "
            "days."
        ),
        directives=[Requires(scope=Scope.READ), Cost(weight=2)],
    )
    async def memory_entries(
        self,
        info: Info,
        caller: Annotated[
            strawberry.ID | None, strawberry.argument(description="Another caller, which needs MANAGE.")
        ] = None,
        scope: Annotated[MemoryScope, strawberry.argument(description="Only rows in this scope.")] = MemoryScope("all"),  # noqa: B008
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> MemoryEntryConnection:
        arguments = PageArguments.parse(_ENTRIES, first=first, after=after, last=last, before=before)
        window = arguments.window
        window = replace(window, after=by_instant(window.after, "memory"), before=by_instant(window.before, "memory"))
        context = info.context.context
        rows = await list_entries(context, caller=caller, scope=scope, window=window)
        page = page_of(rows, arguments, lambda row: _ENTRIES.encode((row.at.isoformat(), row.id)))
        return MemoryEntryConnection.counted(
            page, MemoryEntry.of, lambda: count_entries(context, caller=caller, scope=scope)
        )
