"""Finds and lists callers; disables and enables them.

A disabled caller can do nothing, and nothing happens in its name: its tokens and logins are refused, its open streams
end, its triggers are paused, what runs is cancelled, and what waits stays in the queue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from resolvers.operations import operation
from resolvers.permissions import owner_disabled
from resolvers.problems import Forbidden, NotFound
from resolvers.query_limits import check_text_size
from runner.issues import Hint
from runner.triggers.schedules import schedule_of
from store.access.callers import (
    ADMIN_SUBJECT,
    CallerFilter,
    CallerRecord,
    count_callers,
    disable_caller,
    enable_caller,
    find_caller_of,
    find_callers,
    list_callers,
    lock_callers,
)
from store.access.tokens import tokens_for_others
from store.database.errors import StoreError
from store.runs.admission import lock_slots, readmit
from store.states import Scope
from store.triggers.commands import pause_triggers_with, resume_triggers_with

if TYPE_CHECKING:
    from datetime import datetime

    from resolvers.context import Context
    from store.access.tokens import TokenRecord
    from store.database.dialects import Connection
    from store.database.paging import PageWindow
    from store.triggers.commands import PausedTrigger

log = structlog.get_logger(__name__)

#: Most tokens that the answer to disabling a caller lists.
TOKENS_LISTED = 100


@dataclass(frozen=True, slots=True)
class CallerChange:
    """A caller that was disabled or enabled.

    Attributes:
        triggers: How many of its triggers were paused or resumed with it.
        cancelled_runs: How many of its runs were cancelled.
        tokens_for_others: Tokens that it made for other callers and that still work, newest first; at most
            `TOKENS_LISTED`.
    """

    caller: CallerRecord
    triggers: int
    cancelled_runs: int = 0
    tokens_for_others: tuple[TokenRecord, ...] = ()


@operation("viewer", scope=None, kind="query")
async def get_viewer(context: Context) -> CallerRecord:
    """Return the current caller."""
    return await _current(context, context.caller.id)


@operation("callers", scope=Scope.MANAGE, kind="query")
async def list_known_callers(context: Context, *, wanted: CallerFilter, window: PageWindow) -> list[CallerRecord]:
    """List callers, newest first, and one more than the window asks for if there are more."""
    check_text_size(wanted.text)
    return await list_callers(context.services.store, wanted, window)


async def count_known_callers(context: Context, wanted: CallerFilter) -> int:
    """Count what `list_known_callers` lists, up to `COUNT_CAP`."""
    return await count_callers(context.services.store, wanted)


@operation("disable_caller", scope=Scope.MANAGE, kind="command", idempotent=True, target="caller")
async def disable(context: Context, *, caller: str) -> CallerChange:
    """Disable a caller at once, on all servers of the database.

    Tokens that it made for other callers keep working, because they belong to those callers; the answer lists them, to
    be revoked one by one.

    Its runs that have begun are cancelled after the commit; a server that dies before leaves that to the next search
    for lost runs.

    Raises:
        NotFound: There is no such caller.
        Forbidden: It is the current caller, or the administrator.
    """
    found = await _find(context, caller)
    context.audit_target(found.id)
    if found.id == context.caller.id:
        raise Forbidden("You cannot disable yourself.", hint="Ask another caller with the `manage` scope.")
    if found.subject == ADMIN_SUBJECT:
        raise Forbidden(
            "The administrator cannot be disabled, so that the server can always be managed from its machine.",
            hint="Revoke its tokens instead, and remove PACKLINE_BOOTSTRAP_TOKEN.",
        )

    def unit(conn: Connection) -> int:
        _lock(conn, context, found)
        # Triggers before slots, as their firings lock them. A unit that admits a run now finishes first.
        paused = pause_triggers_with(conn, found.id, owner_disabled(found.name))
        lock_slots(conn, found.id)
        disable_caller(conn, found.id)
        readmit(conn, found.id)
        return paused

    paused = await context.commit(unit, detail=lambda paused: {"triggers": paused})
    rescue, cancelled = context.services.engine.rescue, 0
    try:
        cancelled = await rescue.cancel_of_disabled(found.id)
    except StoreError:  # the caller is disabled; the next search for lost runs cancels the rest
        log.exception("could not cancel the runs of a disabled caller", caller=found.id)
        rescue.hurry()
    others = await tokens_for_others(context.services.store, found.id, context.services.now(), limit=TOKENS_LISTED)
    return CallerChange(await _current(context, found.id), paused, cancelled, tuple(others))


@operation("enable_caller", scope=Scope.MANAGE, kind="command", idempotent=True, target="caller")
async def enable(context: Context, *, caller: str) -> CallerChange:
    """Enable a disabled caller: its tokens work again, its queued runs start, and its triggers fire as before.

    Instants of schedules that passed meanwhile do not fire.

    Raises:
        NotFound: There is no such caller.
    """
    found = await _find(context, caller)
    context.audit_target(found.id)

    def unit(conn: Connection) -> int:
        _lock(conn, context, found)
        resumed = resume_triggers_with(conn, found.id, _next_at)
        lock_slots(conn, found.id)
        enable_caller(conn, found.id)
        readmit(conn, found.id)
        return resumed

    resumed = await context.commit(unit, detail=lambda resumed: {"triggers": resumed})
    return CallerChange(await _current(context, found.id), resumed)


def _lock(conn: Connection, context: Context, other: CallerRecord) -> None:
    """Refuse a caller that was disabled since its request was read, so that of two that disable each other one is left.

    Raises:
        Forbidden: It is disabled.
    """
    if context.caller.id in lock_callers(conn, context.caller.id, other.id):
        raise Forbidden("Your access was disabled.", hint="Ask another caller with the `manage` scope.")


def _next_at(trigger: PausedTrigger, now: datetime) -> datetime | None:
    schedule = schedule_of(trigger.kind, trigger.settings)
    return None if schedule is None else schedule.next_after(now)


async def _find(context: Context, ref: str) -> CallerRecord:
    """Find a caller by id or subject."""
    store = context.services.store
    found = (await find_callers(store, [ref])).get(ref) or await find_caller_of(store, ref)
    if found is None:
        raise NotFound("caller", ref, hint=Hint(operation="callers"))
    return found


async def _current(context: Context, caller_id: str) -> CallerRecord:
    return (await find_callers(context.services.store, [caller_id]))[caller_id]
