"""Reads of triggers and their firings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql
from store.database.lookups import Lookup
from store.database.paging import capped_count, fetch_page
from store.models.declaring import columns_of
from store.models.triggers import FIRING, TRIGGER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from store.database.engine import Store
    from store.database.paging import PageWindow


class TriggerRecord(NamedTuple):
    """A trigger; `store.models.triggers` describes the fields."""

    id: str
    name: str
    kind: str
    pipeline_id: str
    version: int | None
    owner_id: str
    scopes: str
    inputs: str
    settings: str
    enabled: bool
    attention: str | None
    revision: int
    next_at: datetime | None
    last_at: datetime | None
    created_at: datetime
    updated_at: datetime


class FiringRecord(NamedTuple):
    """A firing; `store.models.triggers` describes the fields."""

    id: str
    trigger_id: str
    key: str
    scheduled_at: datetime | None
    outcome: str
    reason: str | None
    run_id: str | None
    created_at: datetime


class TriggerFilter(NamedTuple):
    """Filter of triggers; fields are joined by and.

    Attributes:
        visible_to: Only triggers of this caller; None for all.
        needs_attention: Whether Packline paused it.
    """

    visible_to: str | None = None
    pipeline_id: str | None = None
    needs_attention: bool | None = None


_BY_ID = Lookup(TRIGGER, TriggerRecord, "trigger.id")
_OF_PIPELINES = Lookup(
    TRIGGER,
    TriggerRecord,
    "trigger.pipeline_id",
    visible="trigger.owner_id = :visible_to",
    order="trigger.id",
)
# The newest one by the index of trigger and id, however many there are.
_LAST_FIRINGS = Lookup(
    FIRING,
    FiringRecord,
    "trigger.id",
    source="trigger JOIN firing"
    " ON firing.id = (SELECT max(own.id) FROM firing AS own WHERE own.trigger_id = trigger.id)",
    visible="trigger.owner_id = :visible_to",
)
_FIRING_BY_ID = Lookup(FIRING, FiringRecord, "firing.id")
_TRIGGERS = columns_of(TRIGGER, TriggerRecord)
_FIRINGS = columns_of(FIRING, FiringRecord)


def of_trigger(column: str) -> str:
    """Return the condition for `Lookup(visible=…)` that the trigger whose id is in `column` is the caller's."""
    return f"EXISTS (SELECT 1 FROM trigger WHERE trigger.id = {column} AND trigger.owner_id = :visible_to)"


async def find_triggers(store: Store, ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, TriggerRecord]:
    """Find triggers by id; those that do not exist, or are not `visible_to`'s, are left out."""
    return {
        found.id: found for found in await _BY_ID.read(store, ids) if visible_to is None or found.owner_id == visible_to
    }


async def find_triggers_of(
    store: Store, pipeline_ids: Sequence[str], *, owner_id: str
) -> dict[str, list[TriggerRecord]]:
    """Find one caller's triggers of each pipeline, oldest first, by pipeline id."""
    found: dict[str, list[TriggerRecord]] = {pipeline_id: [] for pipeline_id in pipeline_ids}
    for trigger in await _OF_PIPELINES.read(store, pipeline_ids, visible_to=owner_id):
        found[trigger.pipeline_id].append(trigger)
    return found


async def list_triggers(store: Store, wanted: TriggerFilter, window: PageWindow) -> list[TriggerRecord]:
    """List triggers, newest first; the sort key is `(id,)`."""
    statement = sa.select(*_TRIGGERS).where(*_conditions(wanted))
    return [TriggerRecord(**row) for row in await fetch_page(store, statement, [(TRIGGER.c.id, True)], window)]


async def count_triggers(store: Store, wanted: TriggerFilter) -> int:
    """Count matching triggers, up to `COUNT_CAP`."""
    return await capped_count(store, sa.select(TRIGGER.c.id).where(*_conditions(wanted)))


async def find_last_firings(
    store: Store, trigger_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, FiringRecord]:
    """Find the newest firing of each trigger that has any, by trigger id."""
    found = await _LAST_FIRINGS.read(store, trigger_ids, visible_to=visible_to)
    return {firing.trigger_id: firing for firing in found}


async def find_firing(store: Store, firing_id: str) -> FiringRecord | None:
    """Find a firing by id."""
    return next(iter(await _FIRING_BY_ID.read(store, [firing_id])), None)


async def list_firings(store: Store, trigger_id: str, window: PageWindow) -> list[FiringRecord]:
    """List the firings of a trigger, newest first; the sort key is `(id,)`."""
    statement = sa.select(*_FIRINGS).where(FIRING.c.trigger_id == trigger_id)
    return [FiringRecord(**row) for row in await fetch_page(store, statement, [(FIRING.c.id, True)], window)]


async def count_firings(store: Store, trigger_id: str) -> int:
    """Count the firings of a trigger, up to `COUNT_CAP`."""
    return await capped_count(store, sa.select(FIRING.c.id).where(FIRING.c.trigger_id == trigger_id))


def _conditions(wanted: TriggerFilter) -> list[Any]:
    conditions: list[Any] = []
    if wanted.visible_to is not None:
        conditions.append(TRIGGER.c.owner_id == wanted.visible_to)
    if wanted.pipeline_id is not None:
        conditions.append(TRIGGER.c.pipeline_id == wanted.pipeline_id)
    if wanted.needs_attention is not None:
        attention = TRIGGER.c.attention
        conditions.append(attention.is_not(None) if wanted.needs_attention else attention.is_(None))
    return conditions


_FAULTS = Sql(
    """
    SELECT
        (SELECT count(*) FROM trigger WHERE attention IS NOT NULL) AS paused,
        (SELECT count(*) FROM trigger WHERE enabled AND next_at < :overdue_before) AS overdue,
        (SELECT count(*) FROM trigger WHERE enabled AND kind = 'webhook' AND NOT EXISTS (
            SELECT 1 FROM trigger_secret WHERE trigger_secret.trigger_id = trigger.id
            AND (trigger_secret.expires_at IS NULL OR trigger_secret.expires_at > :now))) AS without_secret
    """
)


class TriggerFaults(NamedTuple):
    """How many triggers do not fire as they should.

    Attributes:
        paused: Packline paused them, since they cannot start their pipeline.
        overdue: Enabled, and due for longer than they may be.
        without_secret: Enabled webhooks that can verify no delivery.
    """

    paused: int
    overdue: int
    without_secret: int


async def count_trigger_faults(store: Store, now: datetime, overdue: timedelta) -> TriggerFaults:
    """Count the triggers of all callers that do not fire as they should."""
    (row,) = await store.rows(_FAULTS, {"now": now, "overdue_before": now - overdue})
    return TriggerFaults(int(row.paused), int(row.overdue), int(row.without_secret))


async def count_trigger_states(store: Store) -> dict[tuple[str, str], int]:
    """Count all triggers by kind and state, which is `enabled`, `paused` or `needs_attention`."""
    needs_attention = TRIGGER.c.attention.is_not(None)
    state = sa.case((needs_attention, "needs_attention"), (TRIGGER.c.enabled, "enabled"), else_="paused").label("state")
    counted = sa.select(TRIGGER.c.kind, state, sa.func.count()).group_by(TRIGGER.c.kind, sa.text("state"))
    return {(kind, state): count for kind, state, count in await store.read(counted)}
