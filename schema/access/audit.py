"""The audit log: commands that callers performed or were refused."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry

from resolvers.access.audit import count_entries, find_entry, list_entries
from resolvers.records import AuditFilter as StoredFilter
from resolvers.records import AuditRecord
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.node_interface import Node
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
from schema.base.scalars import JSON
from store.states import Scope

if TYPE_CHECKING:
    from schema.access.callers import Caller

_AUDIT = CursorKind("audit", (str,))


@strawberry.type(description="A command performed by a caller.")
class AuditEntry(Node):
    at: datetime = strawberry.field(description="When the action happened.")
    action: str = strawberry.field(description="Name of the command.")
    accepted: bool = strawberry.field(description="Whether the command was accepted; false if it was refused.")
    record: strawberry.Private[AuditRecord]

    @classmethod
    def of(cls, record: AuditRecord) -> "AuditEntry":
        return cls(
            id=strawberry.ID(record.id), at=record.at, action=record.action, accepted=record.accepted, record=record
        )

    @strawberry.field(
        description="The caller that performed the action. Null if unknown, for example at a rejected sign-in."
    )
    async def actor(self, info: Info) -> 'Annotated[Caller, strawberry.lazy("schema.access.callers")] | None':
        return await _caller(info, self.record.actor_id)

    @strawberry.field(description="The caller it was done for. Null if the actor acted for itself.")
    async def on_behalf_of(self, info: Info) -> 'Annotated[Caller, strawberry.lazy("schema.access.callers")] | None':
        return await _caller(info, self.record.on_behalf_of)

    @strawberry.field(
        description="The object the action was performed on. Null if there is none or it no longer exists."
    )
    async def target(self, info: Info) -> Node | None:
        """The object by its id, or a pipeline by its key or alias."""
        from schema.node import load_target

        return None if self.record.target_id is None else await load_target(info, self.record.target_id)

    @strawberry.field(description="Arguments of the command and, if it was refused, the problem. Secrets are masked.")
    def detail(self) -> JSON | None:
        if self.record.detail is None:
            return None
        try:
            return JSON(orjson.loads(self.record.detail))
        except orjson.JSONDecodeError:
            return JSON(self.record.detail)  # JSON that was shortened to fit


async def _caller(info: Info, caller_id: str | None) -> "Caller | None":
    from schema.access.callers import load_caller

    return None if caller_id is None else await load_caller(info, caller_id)


AuditEntryConnection = Connection[AuditEntry]


@strawberry.input(description="Filters for the audit log. All given fields must match; within a field, any value.")
class AuditFilter:
    actors: list[strawberry.ID] | None = strawberry.field(
        default=None, description="Only actions of these callers, by id."
    )
    actions: list[str] | None = strawberry.field(default=None, description="Only these commands.")
    text: str | None = strawberry.field(default=None, description="Words to search for in the detail.")
    created_from: datetime | None = strawberry.field(
        default=None, description="Only entries created at or after this time."
    )
    created_before: datetime | None = strawberry.field(
        default=None, description="Only entries created before this time."
    )

    def stored(self) -> StoredFilter:
        return StoredFilter(
            actor_ids=None if self.actors is None else tuple(self.actors),
            actions=None if self.actions is None else tuple(self.actions),
            text=self.text,
            created_from=self.created_from,
            created_before=self.created_before,
        )


async def load_entry(info: Info, entry_id: str) -> AuditEntry | None:
    found = await find_entry(info.context.context, entry_id)
    return None if found is None else AuditEntry.of(found)


@strawberry.type
class AuditQueries:
    @strawberry.field(
        description="The audit log: who did what, newest first.", directives=[Requires(scope=Scope.MANAGE)]
    )
    async def audit(
        self,
        info: Info,
        filter: Annotated[
            AuditFilter | None, strawberry.argument(description="Only entries that match the filter.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> AuditEntryConnection:
        arguments = PageArguments.parse(_AUDIT, first=first, after=after, last=last, before=before)
        context = info.context.context
        wanted = (filter or AuditFilter()).stored()
        rows = await list_entries(context, wanted=wanted, window=arguments.window)
        page = page_of(rows, arguments, lambda row: _AUDIT.encode((row.id,)))
        return AuditEntryConnection.of(page, AuditEntry.of, lambda: count_entries(context, wanted))
