"""Callers: people, agents and scripts, identified by subject. Their credentials are in `store.access.tokens`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql
from store.database.ids import new_id
from store.database.lookups import Lookup
from store.database.paging import capped_count, fetch_page, words_in
from store.database.wakes import Topic
from store.models.callers import CALLER
from store.models.declaring import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow


#: The caller behind the first login, the bootstrap token and this machine's command line.
ADMIN_SUBJECT = "admin"


class CallerRecord(NamedTuple):
    """A person, agent or script.

    Attributes:
        vouched_at: When the OpenID provider first vouched for it; None if it never has.
    """

    id: str
    subject: str
    name: str
    created_at: datetime
    last_seen_at: datetime | None
    disabled_at: datetime | None = None
    vouched_at: datetime | None = None


_INSERT_CALLER = Sql(
    """INSERT INTO caller (id, subject, name, created_at) VALUES (:id, :subject, :name, :now)
    ON CONFLICT (subject) DO NOTHING"""
)
_CALLER_OF_SUBJECT = Sql(f"SELECT {', '.join(CallerRecord._fields)} FROM caller WHERE subject = :subject")
_INSERT_SLOT = Sql("INSERT INTO caller_slot (caller_id) VALUES (:id) ON CONFLICT DO NOTHING")
_TOUCH_CALLER = Sql(
    "UPDATE caller SET last_seen_at = :now WHERE id = :id AND (last_seen_at IS NULL OR last_seen_at < :before)"
)
_VOUCH = Sql("UPDATE caller SET vouched_at = :now WHERE id = :id AND vouched_at IS NULL")
_DISABLE = Sql("UPDATE caller SET disabled_at = :now WHERE id = :id AND disabled_at IS NULL")
_ENABLE = Sql("UPDATE caller SET disabled_at = NULL WHERE id = :id AND disabled_at IS NOT NULL")
# An UPDATE of a column without a key, as `FOR UPDATE` would wait for every transaction that refers to the caller.
_LOCK = Sql("UPDATE caller SET disabled_at = disabled_at WHERE id = :id RETURNING disabled_at")
_NAME_CALLER = Sql("UPDATE caller SET name = :name WHERE id = :id")
_WITHOUT_LOGIN = Sql(
    """SELECT id FROM caller WHERE subject = :subject AND NOT EXISTS (
    SELECT 1 FROM token WHERE token.caller_id = caller.id AND token.kind = 'browser')"""
)
_CALLER_COLUMNS = columns_of(CALLER, CallerRecord)
_BY_ID = Lookup(CALLER, CallerRecord, "caller.id")


def ensure_caller(conn: Connection, subject: str, name: str) -> CallerRecord:
    """Return the caller of a subject, created with this name if new."""
    conn.run(_INSERT_CALLER, {"id": new_id("call"), "subject": subject, "name": name, "now": conn.now()})
    row = conn.one(_CALLER_OF_SUBJECT, {"subject": subject})
    assert row is not None, "a caller is never deleted"
    conn.run(_INSERT_SLOT, {"id": row.id})
    return _BY_ID.make(row)


def vouch_for(conn: Connection, subject: str, name: str) -> CallerRecord:
    """Return the caller of a subject, as `ensure_caller`, and record that the OpenID provider vouches for it."""
    caller = ensure_caller(conn, subject, name)
    conn.run(_VOUCH, {"id": caller.id, "now": conn.now()})
    return caller


def name_caller(conn: Connection, caller_id: str, name: str) -> None:
    conn.run(_NAME_CALLER, {"id": caller_id, "name": name})


def touch_caller(conn: Connection, caller_id: str, now: datetime, before: datetime) -> None:
    """Record that a caller was seen at `now`, unless that was recorded since `before`."""
    conn.run(_TOUCH_CALLER, {"id": caller_id, "now": now, "before": before})


def lock_callers(conn: Connection, *ids: str) -> set[str]:
    """Wait for other units that disable or enable these callers; return which of them are disabled."""
    rows = {id: conn.one(_LOCK, {"id": id}) for id in sorted(set(ids))}
    return {id for id, row in rows.items() if row is not None and row.disabled_at is not None}


def disable_caller(conn: Connection, caller_id: str) -> None:
    """Disable a caller and wake what acts in its name; harmless twice."""
    if conn.run(_DISABLE, {"id": caller_id, "now": conn.now()}):
        conn.wake(Topic.CALLER_DISABLED, caller_id)


def enable_caller(conn: Connection, caller_id: str) -> None:
    conn.run(_ENABLE, {"id": caller_id})


async def find_without_login(store: Store, subject: str) -> str | None:
    """Return the id of a subject's caller if it never signed in with a browser; else None."""
    rows = await store.rows(_WITHOUT_LOGIN, {"subject": subject}, few=True)
    return rows[0].id if rows else None


async def find_callers(store: Store, ids: Sequence[str]) -> dict[str, CallerRecord]:
    """Find callers by id; those that do not exist are left out."""
    return {caller.id: caller for caller in await _BY_ID.read(store, ids)}


async def find_caller_of(store: Store, subject: str) -> CallerRecord | None:
    """Find the caller of a subject."""
    row = (await store.read(sa.select(*_CALLER_COLUMNS).where(CALLER.c.subject == subject))).mappings().first()
    return None if row is None else CallerRecord(**row)


class CallerFilter(NamedTuple):
    """Which callers; fields are joined by and, and None does not ask.

    Attributes:
        text: Words that all occur in name or subject.
        disabled: Whether they are disabled.
    """

    text: str | None = None
    disabled: bool | None = None


async def list_callers(store: Store, wanted: CallerFilter, window: PageWindow) -> list[CallerRecord]:
    """List callers, newest first; the sort key is `(id,)`."""
    statement = sa.select(*_CALLER_COLUMNS).where(*_conditions(wanted))
    rows = await fetch_page(store, statement, [(CALLER.c.id, True)], window)
    return [CallerRecord(**row) for row in rows]


async def count_callers(store: Store, wanted: CallerFilter) -> int:
    return await capped_count(store, sa.select(CALLER.c.id).where(*_conditions(wanted)))


def _conditions(wanted: CallerFilter) -> list[sa.ColumnElement[bool]]:
    conditions = [*words_in(sa.func.lower(CALLER.c.name + " " + CALLER.c.subject), wanted.text or "")]
    if wanted.disabled is not None:
        disabled = CALLER.c.disabled_at
        conditions.append(disabled.is_not(None) if wanted.disabled else disabled.is_(None))
    return conditions
