"""A caller's defaults, and the audit memory they are learned from."""

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
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
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


@strawberry.enum(description="How the default of a field is determined.")
class DefaultRule(Enum):
    LEARNED = strawberry.enum_value("learned", description="Learn the value from successful runs.")
    PINNED = strawberry.enum_value("pinned", description="Use the value set by the caller.")
    EXCLUDED = strawberry.enum_value("excluded", description="Never learn or suggest a value.")

    def name_below(self) -> "RuleName":
        return cast("RuleName", self.value)


async def _entry(info: Info, kind: "TargetKind", target: str) -> CatalogEntry | None:
    if kind == "pipeline":
        return await load_pipeline(info, target)
    found = info.context.context.services.registry.find(target)
    return None if found is None else Pack.of(found)


@strawberry.type(description="The default value of an input field.")
class DefaultValue:
    field: LearnedField = strawberry.field(description="The input field.")
    value: str | None = strawberry.field(description="The default value. Null if the field is excluded.")
    count: int = strawberry.field(description="How often this value was used. At least 2 unless it is pinned.")
    share: float = strawberry.field(description="Share of all uses of the field, from 0 to 1. Recent uses count more.")
    last_used_at: datetime | None = strawberry.field(
        description="When the value was last used. Null if it was only pinned."
    )
    source: str = strawberry.field(description="Where the value comes from, for display.")
    pinned: bool = strawberry.field(description="Whether the caller set the value, overriding what is learned.")
    excluded: bool = strawberry.field(description="Whether the field is excluded from learning here.")
    others: list[str] = strawberry.field(description="Other values that were used.")

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


@strawberry.type(description="A caller's defaults for one pack or pipeline.")
class EntryDefaults:
    target: strawberry.ID = strawberry.field(description="Id of the pack or pipeline.")
    uses: int = strawberry.field(description="Number of successful uses.")
    last_used_at: datetime | None = strawberry.field(description="When it was last used. Null if never.")
    values: list[DefaultValue] = strawberry.field(
        description="One value per field that is learned, pinned or excluded."
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

    @strawberry.field(description="The pack or pipeline. Null if it was removed.")
    async def entry(self, info: Info) -> CatalogEntry | None:
        return await _entry(info, self.known.kind, self.known.target)


@strawberry.type(description="A caller's usual choices, learned from its successful runs of the last 30 days.")
class CallerDefaults:
    fetched_at: datetime = strawberry.field(description="When the defaults were computed.")
    learning_paused: bool = strawberry.field(description="Whether learning is paused.")
    locked: str | None = strawberry.field(
        description="Why learned values cannot be read, and what to do. Null if they can be read."
    )
    unreadable: int = strawberry.field(
        description="Number of rows whose learned values cannot be decrypted because another key was used."
    )
    packs: list[EntryDefaults] = strawberry.field(
        description="The 12 most used packs, and all others with pinned or excluded values."
    )
    pipelines: list[EntryDefaults] = strawberry.field(
        description="The 12 most used pipelines, and all others with pinned or excluded values."
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
    description="A record of one pack call or pipeline run. Of its inputs, only the learned fields are stored."
)
class MemoryEntry(Node):
    at: datetime = strawberry.field(description="When the run or call ended.")
    target: strawberry.ID = strawberry.field(description="Id of the pack or pipeline.")
    outcome: RunState = strawberry.field(description="The final state.")
    failure_code: FailureCode | None = strawberry.field(
        description="Why it failed, for example TIMEOUT. Null unless it failed."
    )
    duration_seconds: float = strawberry.field(description="Duration in seconds.")
    expires_at: datetime = strawberry.field(description="When the row will be deleted.")
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

    @strawberry.field(description="The pack or pipeline. Null if it was removed.")
    async def entry(self, info: Info) -> CatalogEntry | None:
        return await _entry(info, self.record.kind, self.record.target)

    @strawberry.field(description="Learned fields and their values. Empty unless the run succeeded.")
    def learned(self, info: Info) -> list[LearnedValue]:
        found = learned_of(info.context.context, self.record) or {}
        return [LearnedValue(field=field, value=value) for field, value in found.items()]

    @strawberry.field(
        description="Whether the learned values can be decrypted. False if they were encrypted with another vault key."
    )
    def readable(self, info: Info) -> bool:
        return learned_of(info.context.context, self.record) is not None

    @strawberry.field(
        description="Whether it is a step of a pipeline run. Such a row is deleted together with the row of that run."
    )
    def is_step(self) -> bool:
        return self.record.step_id != ""

    @strawberry.field(description="The run. Null once deleted.")
    async def run(self, info: Info) -> Run | None:
        return await load_run(info, self.record.run_id)


MemoryEntryConnection = Connection[MemoryEntry]


async def load_memory(info: Info, entry_id: str) -> MemoryEntry | None:
    found = await find_entry(info.context.context, entry_id)
    return None if found is None else MemoryEntry.of(found)


@strawberry.type
class MemoryQueries:
    @strawberry.field(
        description=(
            "A caller's usual choices. Read them before asking the user. Also available as MCP "
            "resource `packline://my-defaults`."
        ),
        directives=[Requires(scope=Scope.READ), published(my_defaults)],
    )
    async def my_defaults(
        self,
        info: Info,
        caller: Annotated[
            strawberry.ID | None, strawberry.argument(description="Id of another caller. Requires MANAGE.")
        ] = None,
        target: Annotated[
            strawberry.ID | None,
            strawberry.argument(
                description="Only the defaults of the pack with this id, or of the pipeline with this id, key or "
                "alias, even if it is not among the 12 most used."
            ),
        ] = None,
    ) -> CallerDefaults:
        return CallerDefaults.of(info, await my_defaults(info.context.context, caller=caller, target=target))

    @strawberry.field(
        description=(
            "The records that defaults are learned from, newest first. There is one row per pack call and "
            "pipeline run, kept for 30 days."
        ),
        directives=[Requires(scope=Scope.READ), Cost(weight=2)],
    )
    async def memory_entries(
        self,
        info: Info,
        caller: Annotated[
            strawberry.ID | None, strawberry.argument(description="Id of another caller. Requires MANAGE.")
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
        return MemoryEntryConnection.of(
            page, MemoryEntry.of, lambda: count_entries(context, caller=caller, scope=scope)
        )
