"""Fires triggers: starts their runs as their owners, and records what became of each firing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson
import structlog

from resolvers.context import Caller, Context
from resolvers.not_found import no_pipeline
from resolvers.problems import Invalid, Limited, Problem
from resolvers.runs.starts import prepare_run, queue_full
from runner.issues import error
from runner.json_values import digest
from runner.templates.plan import TemplateError
from runner.templates.references import TRIGGER
from runner.templates.templating import compile_template
from runner.triggers.planning import plan_due
from runner.triggers.schedules import Overlap, Schedule
from store.access.audit import append_audit
from store.access.callers import find_callers
from store.access.tokens import lost_scope
from store.database.errors import StoreError
from store.database.ids import new_id
from store.pipelines.reads import find_pipelines
from store.runs.commands import request_cancel
from store.runs.unit_types import QueueFullError, WrongStateError
from store.states import RunCause, Scope
from store.triggers.commands import pause_trigger
from store.triggers.firings import (
    FiringOutcome,
    NewFiring,
    TriggerChangedError,
    active_runs,
    record_asked,
    record_due,
)
from store.triggers.reads import find_triggers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from resolvers.context import Services
    from resolvers.runs.starts import PreparedRun
    from runner.failures import JSONValue
    from store.database.dialects import Connection
    from store.runs.unit_types import Submitted
    from store.triggers.reads import TriggerRecord

log = structlog.get_logger(__name__)

#: Triggers that are fired at the same time.
_AT_ONCE = 32
_CAUSES = {"schedule": RunCause.SCHEDULE}
_CANCELLED = "The next run of its trigger begins."


@dataclass(frozen=True, slots=True)
class _Instant:
    """An instant of a schedule that is due, and the one after it."""

    at: datetime
    seen: datetime
    following: datetime | None


async def fire_due(services: Services, ids: Sequence[str], now: datetime) -> int:
    """Fire the schedules that are due by the store's clock; return how many were dealt with.

    One that cannot be dealt with, for example because the store is full, stays due.
    """
    room = asyncio.Semaphore(_AT_ONCE)
    found = await find_triggers(services.store, ids)

    async def fire(trigger: TriggerRecord) -> bool:
        async with room:
            try:
                await _fire_schedule(services, trigger, now)
            except TriggerChangedError:
                return True
            except StoreError as refused:
                log.warning("a trigger could not be fired and will be retried", trigger=trigger.id, error=str(refused))
                return False
            except Exception:
                log.exception("a trigger could not be fired because of a bug", trigger=trigger.id)
                return False
            return True

    return sum(await asyncio.gather(*(fire(trigger) for trigger in found.values())))


async def _fire_schedule(services: Services, trigger: TriggerRecord, now: datetime) -> None:
    if not trigger.enabled or trigger.next_at is None or trigger.next_at > now:
        return
    schedule = Schedule.read(orjson.loads(trigger.settings))
    due = plan_due(schedule, trigger.next_at, now)
    seen = trigger.next_at
    if due.missed or not due.fire:
        seen = await _record_missed(services, trigger, schedule, due.missed, due.fire, due.also_missed_from, now)
    for at in due.fire:
        following = schedule.next_after(at)
        await _fire_instant(services, trigger, schedule, _Instant(at, seen, following))
        if following is None:
            return
        seen = following


async def _record_missed(
    services: Services,
    trigger: TriggerRecord,
    schedule: Schedule,
    missed: Sequence[datetime],
    fire: Sequence[datetime],
    also_from: datetime | None,
    now: datetime,
) -> datetime:
    """Record missed instants; return the trigger's new `next_at`."""
    assert trigger.next_at is not None, "it is due"
    reason = "No server was running, or it was too busy."
    firings = [_firing(at, FiringOutcome.MISSED, reason) for at in missed]
    if also_from is not None:
        until = f"{missed[0]:%Y-%m-%d %H:%M:%S} UTC"
        firings.insert(0, _firing(also_from, FiringOutcome.MISSED, f"{reason} So were all others until {until}."))
    next_at = fire[0] if fire else schedule.next_after(now)

    def unit(conn: Connection) -> None:
        record_due(conn, trigger.id, firings, revision=trigger.revision, seen=trigger.next_at, next_at=next_at)  # type: ignore[arg-type] # asserted above

    await services.store.write(unit)
    return next_at or now


async def _fire_instant(services: Services, trigger: TriggerRecord, schedule: Schedule, instant: _Instant) -> None:
    """Start the run of an instant, or record why not."""
    previous = await active_runs(services.store, trigger.id)

    def record(conn: Connection, firing: NewFiring) -> None:
        record_due(conn, trigger.id, [firing], revision=trigger.revision, seen=instant.seen, next_at=instant.following)
        detail = {"outcome": firing.outcome.value, "run": firing.run_id, "reason": firing.reason}
        append_audit(
            conn,
            actor_id=trigger.owner_id,
            action="trigger_fired",
            accepted=firing.run_id is not None,
            target_id=trigger.id,
            detail=orjson.dumps(detail).decode(),
        )

    def refuse(outcome: FiringOutcome, reason: str) -> Callable[[Connection], None]:
        return lambda conn: record(conn, _firing(instant.at, outcome, reason))

    store = services.store
    waiting = 2 if schedule.overlap is Overlap.QUEUE else 1
    if schedule.overlap is not Overlap.CANCEL_PREVIOUS and len(previous) >= waiting:
        await store.write(refuse(FiringOutcome.SKIPPED, f"Run {previous[0]} has not ended."))
        return
    try:
        context = await owner_context(services, trigger)
        prepared = await prepare_firing(context, trigger, fired_at=instant.at)
        if schedule.overlap is Overlap.QUEUE and prepared.new.concurrency_key is None:
            key = digest(f"trigger\n{trigger.id}")
            prepared = replace(prepared, new=replace(prepared.new, concurrency_key=key, concurrency_limit=1))
        cancelled = previous if schedule.overlap is Overlap.CANCEL_PREVIOUS else ()
        await submit_firing(
            context,
            prepared,
            cancelled,
            lambda conn, run_id: record(conn, replace(_firing(instant.at, FiringOutcome.FIRED), run_id=run_id)),
        )
    except PausedError as paused:
        attention = paused.reason

        def pause(conn: Connection) -> None:
            record(conn, _firing(instant.at, FiringOutcome.REFUSED, attention))
            pause_trigger(conn, trigger.id, revision=trigger.revision, attention=attention)

        await store.write(pause)
        raise TriggerChangedError(trigger.id) from paused
    except Problem as problem:
        outcome = FiringOutcome.REFUSED if isinstance(problem, Limited) else FiringOutcome.FAILED
        await store.write(refuse(outcome, services.redactor.message(problem.message)))


class PausedError(Exception):
    """The trigger cannot fire until somebody changes something; the reason is for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def owner_context(services: Services, trigger: TriggerRecord) -> Context:
    """Return the context of a trigger's runs: its owner with the scopes it was saved with.

    Raises:
        PausedError: The owner may no longer start runs.
    """
    owner = (await find_callers(services.store, [trigger.owner_id]))[trigger.owner_id]
    if await lost_scope(services.store, owner.id, Scope.RUN, services.now()):
        raise PausedError(f"Its owner {owner.name} no longer has a token with the `run` scope.")
    scopes = frozenset(Scope(value) for value in orjson.loads(trigger.scopes))
    return Context(services, Caller(owner.id, owner.subject, owner.name, scopes), cause=_CAUSES[trigger.kind])


async def prepare_firing(context: Context, trigger: TriggerRecord, *, fired_at: datetime) -> PreparedRun:
    """Resolve a trigger's inputs, and check and make its run.

    Raises:
        PausedError: The pipeline is deleted.
        Problem: The run would be refused.
    """
    pipeline = (await find_pipelines(context.services.store, [trigger.pipeline_id])).get(trigger.pipeline_id)
    if pipeline is None:
        raise await no_pipeline(context, trigger.pipeline_id)
    if pipeline.deleted_at is not None:
        raise PausedError(f"The pipeline {pipeline.key} is deleted.")
    values: dict[str, JSONValue] = {
        "id": trigger.id,
        "name": trigger.name,
        "kind": trigger.kind,
        "scheduled_at": fired_at.isoformat().replace("+00:00", "Z"),
    }
    inputs = resolved_inputs(orjson.loads(trigger.inputs), values)
    prepared = await prepare_run(context, pipeline, ref=pipeline.id, inputs=inputs, version=trigger.version)
    # A firing never joins another run.
    return replace(prepared, new=replace(prepared.new, flight=None))


def resolved_inputs(inputs: JSONValue, values: dict[str, JSONValue]) -> JSONValue:
    """Fill in the templates of a trigger's inputs.

    Raises:
        Invalid: A template is malformed, or reads a field that does not exist.
    """
    template = compile_template(inputs, root=TRIGGER)
    if template.issues:
        raise Invalid([issue.under_argument("inputs") for issue in template.issues])
    try:
        return template.resolve(values, {}).value
    except TemplateError as wrong:
        where = error(wrong.path, "unresolved_reference", f"{wrong.expression}: {wrong.reason}", wrong.hint)
        raise Invalid([where.under_argument("inputs")]) from wrong


async def submit_firing(
    context: Context,
    prepared: PreparedRun,
    cancelled: Sequence[str],
    record: Callable[[Connection, str], None],
) -> str:
    """Start a firing's run, after cancelling earlier ones, and record the firing, in one transaction.

    Raises:
        Limited: The owner has too many queued runs.
    """

    def along(conn: Connection, submitted: Submitted) -> None:
        record(conn, submitted.run_id)
        for run_id in cancelled:
            with suppress(WrongStateError):
                request_cancel(conn, run_id, _CANCELLED)

    try:
        return (await context.services.engine.submit(prepared.new, along)).run_id
    except QueueFullError as full:
        raise queue_full(full) from full


async def fire_now(context: Context, trigger: TriggerRecord) -> str:
    """Start a run of a trigger at once, as its owner; return the run's id.

    Raises:
        PausedError: The pipeline is deleted, or the owner may no longer start runs.
        Problem: The run is refused.
        TriggerChangedError: The trigger was changed or deleted meanwhile.
    """
    owner = await owner_context(context.services, trigger)
    prepared = await prepare_firing(owner, trigger, fired_at=context.services.now())

    def record(conn: Connection, run_id: str) -> None:
        firing = NewFiring(f"asked:{new_id('fire')}", FiringOutcome.FIRED, run_id=run_id)
        record_asked(conn, trigger.id, firing, revision=trigger.revision)
        context.record(conn, run=run_id)

    return await submit_firing(owner, prepared, (), record)


def _firing(at: datetime, outcome: FiringOutcome, reason: str | None = None) -> NewFiring:
    return NewFiring(at.isoformat(), outcome, scheduled_at=at, reason=reason)
