"""Units that save, pause, resume and delete triggers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from store.database.dialects import Sql
from store.database.ids import new_id
from store.database.wakes import Topic

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from store.database.dialects import Connection


@dataclass(frozen=True, slots=True)
class TriggerText:
    """What a user writes of a trigger.

    Attributes:
        version: Number of the pinned version; None for the current one.
        scopes: JSON list of the scopes of its runs.
        inputs: JSON object with templates over `trigger`.
        settings: JSON object, by kind.
        next_at: When it fires next, if it is enabled.
    """

    name: str
    version: int | None
    scopes: str
    inputs: str
    settings: str
    enabled: bool
    next_at: datetime | None


class TooManyTriggersError(Exception):
    """The owner has as many triggers as the limit allows; nothing was written."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


_COUNT = Sql("SELECT count(*) AS number FROM trigger WHERE owner_id = :owner_id")
_INSERT = Sql(
    """INSERT INTO trigger (id, name, kind, pipeline_id, version, owner_id, scopes, inputs, settings, enabled, revision,
        next_at, created_at, updated_at)
    VALUES (:id, :name, :kind, :pipeline_id, :version, :owner_id, :scopes, :inputs, :settings, :enabled, 1,
        :next_at, :now, :now)"""
)
_UPDATE = Sql(
    """UPDATE trigger SET name = :name, pipeline_id = :pipeline_id, version = :version, scopes = :scopes,
        inputs = :inputs, settings = :settings, enabled = :enabled, attention = NULL, paused_with_owner = :no,
        next_at = :next_at, revision = revision + 1, updated_at = :now
    WHERE id = :id AND revision = :revision"""
)
_PAUSE = Sql(
    """UPDATE trigger SET enabled = :no, attention = :attention, paused_with_owner = :no, next_at = NULL,
        revision = revision + 1, updated_at = :now
    WHERE id = :id AND revision = :revision"""
)
_PAUSE_OF_PIPELINE = Sql(
    """UPDATE trigger SET enabled = :no, attention = :attention, paused_with_owner = :no, next_at = NULL,
        revision = revision + 1, updated_at = :now
    WHERE pipeline_id = :pipeline_id"""
)
_PAUSE_OF_OWNER = Sql(
    """UPDATE trigger SET enabled = :no, attention = :attention, paused_with_owner = :yes, next_at = NULL,
        revision = revision + 1, updated_at = :now
    WHERE owner_id = :owner_id AND enabled"""
)
_PAUSED_WITH_OWNER = Sql(
    "SELECT id, kind, settings FROM trigger WHERE owner_id = :owner_id AND paused_with_owner ORDER BY id FOR UPDATE"
)
_RESUME_WITH_OWNER = Sql(
    """UPDATE trigger SET enabled = :yes, attention = NULL, paused_with_owner = :no, next_at = :next_at,
        revision = revision + 1, updated_at = :now
    WHERE id = :id"""
)
_DELETE = Sql("DELETE FROM trigger WHERE id = :id")


def create_trigger(
    conn: Connection, text: TriggerText, *, kind: str, pipeline_id: str, owner_id: str, limit: int
) -> str:
    """Save a new trigger; return its id. Simultaneous ones may exceed the limit of the owner's triggers on PostgreSQL.

    Raises:
        TooManyTriggersError: The limit is reached.
    """
    found = conn.one(_COUNT, {"owner_id": owner_id})
    if found is not None and found.number >= limit:
        raise TooManyTriggersError(limit)
    trigger_id, now = new_id("trig"), conn.now()
    known = {"id": trigger_id, "kind": kind, "pipeline_id": pipeline_id, "owner_id": owner_id, "now": now}
    conn.run(_INSERT, {**known, **_values(text)})
    conn.wake(Topic.TRIGGERS, trigger_id)
    return trigger_id


def update_trigger(conn: Connection, trigger_id: str, text: TriggerText, *, pipeline_id: str, revision: int) -> bool:
    """Replace what a user wrote; return false if it changed since `revision` or is gone.

    Clears the reason why Packline paused it.
    """
    known = {"id": trigger_id, "pipeline_id": pipeline_id, "revision": revision, "no": False, "now": conn.now()}
    given = {**known, **_values(text)}
    changed = conn.run(_UPDATE, given) > 0
    if changed:
        conn.wake(Topic.TRIGGERS, trigger_id)
    return changed


def pause_trigger(conn: Connection, trigger_id: str, *, revision: int, attention: str | None = None) -> bool:
    """Pause a trigger, with the reason if Packline does it; return false if it changed since `revision`."""
    given = {"id": trigger_id, "revision": revision, "attention": attention, "no": False, "now": conn.now()}
    return conn.run(_PAUSE, given) > 0


def pause_triggers_of(conn: Connection, pipeline_id: str, attention: str) -> None:
    """Pause all triggers of a pipeline; call it before the unit locks the pipeline, as the start of a firing does."""
    given = {"pipeline_id": pipeline_id, "attention": attention, "no": False, "now": conn.now()}
    conn.run(_PAUSE_OF_PIPELINE, given)


class PausedTrigger(NamedTuple):
    """A trigger that was paused because its owner was disabled; `settings` is JSON, by kind."""

    id: str
    kind: str
    settings: str


def pause_triggers_with(conn: Connection, owner_id: str, attention: str) -> int:
    """Pause the triggers of a caller that is disabled; return how many. Call it before the unit locks any run."""
    given = {"owner_id": owner_id, "attention": attention, "no": False, "yes": True, "now": conn.now()}
    return conn.run(_PAUSE_OF_OWNER, given)


def resume_triggers_with(
    conn: Connection, owner_id: str, next_at: Callable[[PausedTrigger, datetime], datetime | None]
) -> int:
    """Resume what `pause_triggers_with` paused, unless it was changed or paused by hand since; return how many.

    Args:
        conn: The transaction.
        owner_id: The caller.
        next_at: Returns when a trigger fires next, given it and the time.
    """
    now = conn.now()
    paused = [
        PausedTrigger(row.id, row.kind, row.settings) for row in conn.all(_PAUSED_WITH_OWNER, {"owner_id": owner_id})
    ]
    for trigger in paused:
        given = {"id": trigger.id, "next_at": next_at(trigger, now), "yes": True, "no": False, "now": now}
        conn.run(_RESUME_WITH_OWNER, given)
        conn.wake(Topic.TRIGGERS, trigger.id)
    return len(paused)


def delete_trigger(conn: Connection, trigger_id: str) -> bool:
    """Delete a trigger with its firings; the runs it started stay."""
    return conn.run(_DELETE, {"id": trigger_id}) > 0


def _values(text: TriggerText) -> dict[str, object]:
    return {
        "name": text.name,
        "version": text.version,
        "scopes": text.scopes,
        "inputs": text.inputs,
        "settings": text.settings,
        "enabled": text.enabled,
        "next_at": text.next_at if text.enabled else None,
    }
