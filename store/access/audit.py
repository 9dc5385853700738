"""The audit trail: one append-only row for every command, sign-in and credential use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from store.database.dialects import Sql
from store.database.ids import new_id
from store.database.paging import capped_count, fetch_page, words_in_json
from store.models.callers import AUDIT
from store.models.declaring import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """An action in the audit trail.

    Attributes:
        actor_id: Who acted; None when unknown, such as at a refused sign-in.
        on_behalf_of: The caller it was done for, if another one.
        detail: JSON text, with secrets masked already.
    """

    id: str
    at: datetime
    actor_id: str | None
    on_behalf_of: str | None
    action: str
    accepted: bool
    target_id: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filter of entries; fields are joined by and, values within a field by or. `created_from` is inclusive."""

    actor_ids: tuple[str, ...] | None = None
    actions: tuple[str, ...] | None = None
    text: str | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None


_INSERT = Sql(
    """INSERT INTO audit (id, at, actor_id, on_behalf_of, action, accepted, target_id, detail)
    VALUES (:id, :at, :actor_id, :on_behalf_of, :action, :accepted, :target_id, :detail)"""
)
_COLUMNS = columns_of(AUDIT, AuditRecord)


def append_audit(
    conn: Connection,
    *,
    actor_id: str | None,
    action: str,
    accepted: bool,
    target_id: str | None = None,
    detail: str | None = None,
    on_behalf_of: str | None = None,
) -> str:
    """Append an entry; return its id. Call it inside the unit of the change, so that both commit or neither does."""
    audit_id = new_id("aud")
    conn.run(
        _INSERT,
        {
            "id": audit_id,
            "at": conn.now(),
            "actor_id": actor_id,
            "on_behalf_of": on_behalf_of,
            "action": action,
            "accepted": accepted,
            "target_id": target_id,
            "detail": detail,
        },
    )
    return audit_id


async def list_audit(store: Store, wanted: AuditFilter, window: PageWindow) -> list[AuditRecord]:
    """List entries, newest first; the sort key is `(id,)`."""
    statement = sa.select(*_COLUMNS).where(*_conditions(wanted))
    return [AuditRecord(**row) for row in await fetch_page(store, statement, [(AUDIT.c.id, True)], window)]


async def count_audit(store: Store, wanted: AuditFilter) -> int:
    """Count matching entries, up to `store.database.paging.COUNT_CAP`."""
    return await capped_count(store, sa.select(AUDIT.c.id).where(*_conditions(wanted)))


async def find_audit(store: Store, ids: Sequence[str]) -> dict[str, AuditRecord]:
    """Find entries by id."""
    rows = await store.read(sa.select(*_COLUMNS).where(AUDIT.c.id.in_(ids)))
    return {row["id"]: AuditRecord(**row) for row in rows.mappings()}


def _conditions(wanted: AuditFilter) -> list[Any]:
    conditions: list[Any] = []
    if wanted.actor_ids is not None:
        conditions.append(AUDIT.c.actor_id.in_(wanted.actor_ids))
    if wanted.actions is not None:
        conditions.append(AUDIT.c.action.in_(wanted.actions))
    if wanted.text:
        conditions.extend(words_in_json(sa.func.lower(AUDIT.c.detail), wanted.text))
    if wanted.created_from is not None:
        conditions.append(AUDIT.c.at >= wanted.created_from)
    if wanted.created_before is not None:
        conditions.append(AUDIT.c.at < wanted.created_before)
    return conditions
