"""Reads of the audit trail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.operations import operation
from resolvers.query_limits import check_query_size
from store.access.audit import AuditFilter, AuditRecord, count_audit, find_audit, list_audit
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context
    from store.database.paging import PageWindow


@operation("audit", scope=Scope.MANAGE, kind="query")
async def list_entries(context: Context, *, wanted: AuditFilter, window: PageWindow) -> list[AuditRecord]:
    """List entries, newest first, and one more than the window asks for if there are more."""
    return await list_audit(context.services.store, check_query_size(wanted), window)


async def count_entries(context: Context, wanted: AuditFilter) -> int:
    """Count matching entries, up to 10,000."""
    return await count_audit(context.services.store, check_query_size(wanted))


async def find_entry(context: Context, entry_id: str) -> AuditRecord | None:
    """Find an entry by id; None if it does not exist or the caller may not read the audit trail."""
    if not context.caller.may(Scope.MANAGE):
        return None
    return (await find_audit(context.services.store, [entry_id])).get(entry_id)
