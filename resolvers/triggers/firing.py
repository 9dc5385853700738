"""Fires triggers: starts their runs as their owners, and records what became of each firing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, assert_never

import orjson
import structlog

from resolvers.context import Caller, Context
from resolvers.not_found import no_pipeline
from resolvers.permissions import lost_access
from resolvers.problems import Invalid, Problem
from resolvers.runs.starts import prepare_run, queue_full
from runner import tracing
from runner.definitions.inputs import check_inputs, trigger_url_credential_issues
from runner.issues import Hint, error
from runner.running.run_log import record_cancelled
from runner.templates.plan import TemplateError
from runner.templates.references import TRIGGER
from runner.templates.templating import compile_template
from runner.triggers.planning import plan_due
from runner.triggers.run_ends import FIELDS as RUN_ENDED_FIELDS
from runner.triggers.run_ends import unknown_run_fields
from runner.triggers.schedules import Overlap, Schedule
from store.access.audit import append_audit
from store.access.callers import find_callers
from store.database.errors import StoreError
from store.database.ids import new_id
from store.pipelines.reads import find_pipelines
from store.runs.commands import request_cancel
from store.runs.unit_types import QueueFullError, WrongStateError
from store.states import RunCause, RunState, Scope, TriggerKind
from store.triggers.commands import pause_trigger
from store.triggers.firings import (
    FiredBeforeError,
    FiringOutcome,
    NewFiring,
    TriggerChangedError,
    active_runs,
    record_asked,
    record_due,
    record_unfired,
)
from store.triggers.reads import find_triggers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from resolvers.context import Services
    from resolvers.pipelines.versions import Version
    from resolvers.runs.starts import PreparedRun
    from runner.failures import JSONValue
    from runner.issues import Issue
    from runner.templates.references import Reference
    from runner.triggers.webhooks import Delivery
    from store.database.dialects import Connection
    from store.pipelines.reads import PipelineRecord
    from store.runs.unit_types import NewRun
    from store.triggers.reads import TriggerRecord

log = structlog.get_logger(__name__)

#: Triggers that are fired at the same time.
_AT_ONCE = 32
#: Fields of `trigger` in the inputs, by kind, and those of them that nobody knows before it fires.
_FIELDS: dict[str, tuple[str, ...]] = {
    TriggerKind.WEBHOOK: ("payload", "event", "delivery_id", "received_at", "id", "name", "kind"),
    TriggerKind.RUN_ENDED: RUN_ENDED_FIELDS,
}
_UNKNOWN: dict[str, tuple[str, ...]] = {
    TriggerKind.WEBHOOK: ("payload", "event", "delivery_id"),
    TriggerKind.RUN_ENDED: ("run",),
}
_BY_HAND = "Let the trigger fire by itself, or give the reference a default."
_CANCELLED = "The next run of its trigger begins."
_MISSED = "No server was running, or it was too busy."
BUG = "Packline could not start the run because of a bug; the server's log describes it."
_NOT_COMPUTED = "Packline could not compute the instants of the schedule; the server's log says why."


@dataclass(frozen=True, slots=True)
class _Instant:
    """An instant of a schedule that is due.

    Attributes:
        seen: The trigger's `next_at` before it.
        following: The instant after it.
        caught_up: Whether a run starts for it even if the last one has not ended.
    """

    at: datetime
    seen: datetime
    following: datetime | None
    caught_up: bool


class _OverlapError(Exception):
    """The trigger's overlap rule starts no run, because this one has not ended."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.run_id = run_id


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
            return True

    return sum(await asyncio.gather(*(fire(trigger) for trigger in found.values())))


async def _fire_schedule(services: Services, trigger: TriggerRecord, now: datetime) -> None:
    """Deal with the instants of a schedule that are due.

    Raises:
        TriggerChangedError: Another server was first, or the trigger was changed or paused.
        StoreError: What was not dealt with stays due.
    """
    seen = trigger.next_at
    if not trigger.enabled or seen is None or seen > now:
        return
    try:
        schedule = Schedule.read(orjson.loads(trigger.settings))
        due = plan_due(schedule, seen, now)
        following = [schedule.next_after(at) for at in due.fire]
        rest = due.fire[0] if due.fire else schedule.next_after(now)
    except Exception as bug:  # such as a time zone that this server's data does not have
        log.exception("the instants of a schedule could not be computed", trigger=trigger.id)
        await _pause(services, trigger, seen, _firing(seen, FiringOutcome.FAILED, _NOT_COMPUTED))
        raise TriggerChangedError(trigger.id) from bug
    if due.missed or not due.fire:
        missed = _missed(due.missed, due.also_missed_from)
        await services.store.write(record_due, trigger.id, missed, revision=trigger.revision, seen=seen, next_at=rest)
        count_firing(services, trigger, FiringOutcome.MISSED, len(missed))
        seen = rest
    for number, at in enumerate(due.fire):
        assert seen is not None, "only the last instant has none after it"
        instant = _Instant(at, seen, following[number], number < due.caught_up)
        with firing_span(trigger):
            await _fire_instant(services, trigger, schedule.overlap, instant)
        seen = instant.following


def _missed(instants: Sequence[datetime], also_from: datetime | None) -> list[NewFiring]:
    """Make the firings of missed instants; those before, from `also_from` on, share one."""
    firings = [_firing(at, FiringOutcome.MISSED, _MISSED) for at in instants]
    if also_from is not None:
        until = f"{instants[0]:%Y-%m-%d %H:%M:%S} UTC"
        firings.insert(0, _firing(also_from, FiringOutcome.MISSED, f"{_MISSED} So were all others until {until}."))
    return firings


async def _fire_instant(services: Services, trigger: TriggerRecord, overlap: Overlap, instant: _Instant) -> None:
    """Start the run of an instant, or record why not."""
    at = instant.at
    firing: NewFiring | None
    try:
        context = await owner_context(services, trigger)
        prepared = await prepare_firing(context, trigger, fired_at=at)
        # An instant that overlap applies to leaves its trigger with at most one waiting run more, and 10,000 triggers
        # of one owner may be due in the same minute: the limit of waiting runs would lose most of them. They wait for
        # the owner's slots like all others. What is caught up with may be 100 runs a trigger, and is limited.
        new = replace(prepared.new, limited=instant.caught_up)
        cancelled: list[str] = []
        await services.engine.submit(new, before=partial(_begin, trigger, overlap, instant, cancelled))
    except (StoreError, TriggerChangedError):
        raise
    except PausedError as paused:
        await _pause(services, trigger, instant.seen, _firing(at, FiringOutcome.REFUSED, paused.reason))
        raise TriggerChangedError(trigger.id) from paused
    except FiredBeforeError:
        firing = None
    except _OverlapError as active:
        firing = _firing(at, FiringOutcome.SKIPPED, f"Run {active.run_id} has not ended.")
    except QueueFullError as full:
        firing = _firing(
            at, FiringOutcome.REFUSED, f"{full.waiting} runs of its owner's triggers are queued, which is the limit."
        )
    except Problem as problem:
        tracing.current().fail(problem.code.value)
        firing = _firing(at, FiringOutcome.FAILED, services.redactor.message(problem.message))
    except Exception as bug:
        tracing.current().fail(type(bug).__name__)
        log.exception("a trigger could not be fired because of a bug", trigger=trigger.id)
        firing = _firing(at, FiringOutcome.FAILED, BUG)
    else:
        count_firing(services, trigger, FiringOutcome.FIRED)
        for run_id in cancelled:
            await record_cancelled(services.engine.resources, run_id)
        return
    await services.store.write(_record, trigger, instant.seen, instant.following, firing)
    if firing is not None:
        count_firing(services, trigger, firing.outcome)


def _begin(
    trigger: TriggerRecord,
    overlap: Overlap,
    instant: _Instant,
    cancelled: list[str],
    conn: Connection,
    run_id: str,
    new: NewRun,
) -> NewRun:
    """Record the firing and apply the overlap rule, in the transaction that then starts the run.

    Puts into `cancelled` the earlier runs that this ended.

    Locks the trigger first, so that two firings of it never miss each other's runs.
    """
    cancelled.clear()  # the unit may be repeated
    fired = replace(_firing(instant.at, FiringOutcome.FIRED), run_id=run_id)
    _record(conn, trigger, instant.seen, instant.following, fired)
    active = active_runs(conn, trigger.id)
    if not active:
        return new
    if not instant.caught_up:
        match overlap:
            case Overlap.SKIP:
                raise _OverlapError(active[0].id)
            case Overlap.QUEUE:
                if any(run.waits for run in active):
                    raise _OverlapError(active[0].id)
            case Overlap.CANCEL_PREVIOUS:
                for run in active:
                    with suppress(WrongStateError):
                        if request_cancel(conn, run.id, _CANCELLED) is RunState.CANCELLED:
                            cancelled.append(run.id)
                return new
            case _:
                assert_never(overlap)
    return replace(new, after_run_id=active[-1].id)


def _record(
    conn: Connection, trigger: TriggerRecord, seen: datetime, following: datetime | None, firing: NewFiring | None
) -> None:
    """Record a firing with its audit row, and set when the trigger fires next; without a firing only that."""
    firings = [] if firing is None else [firing]
    record_due(conn, trigger.id, firings, revision=trigger.revision, seen=seen, next_at=following)
    if firing is not None:
        audit_firing(conn, trigger, firing)


async def _pause(services: Services, trigger: TriggerRecord, seen: datetime, firing: NewFiring) -> None:
    """Record a firing and pause the trigger, for the same reason."""

    def unit(conn: Connection) -> None:
        _record(conn, trigger, seen, None, firing)
        pause_trigger(conn, trigger.id, revision=trigger.revision, attention=firing.reason)

    await services.store.write(unit)
    count_firing(services, trigger, firing.outcome)


def firing_span(trigger: TriggerRecord) -> AbstractContextManager[tracing.Span]:
    """Open the span of a firing; the run that it starts has its own trace, which is linked to it."""
    return tracing.span(
        "fire trigger", attributes={"packline.trigger.id": trigger.id, "packline.trigger.kind": trigger.kind}
    )


def count_firing(services: Services, trigger: TriggerRecord, outcome: FiringOutcome, count: int = 1) -> None:
    """Count a firing that was recorded, and note its outcome on its span."""
    services.engine.resources.metrics.trigger_fired(trigger.kind, outcome, count)
    tracing.current().set("packline.firing.outcome", outcome.value)


def audit_firing(conn: Connection, trigger: TriggerRecord, firing: NewFiring) -> None:
    """Write the audit row of a firing that nobody asked for."""
    detail = {"outcome": firing.outcome.value, "run": firing.run_id, "reason": firing.reason}
    append_audit(
        conn,
        actor_id=trigger.owner_id,
        action="trigger_fired",
        accepted=firing.run_id is not None,
        target_id=trigger.id,
        detail=orjson.dumps(detail).decode(),
    )


def refuse_and_pause(conn: Connection, trigger: TriggerRecord, firing: NewFiring) -> None:
    """Record a firing that was not due at an instant and pause the trigger, for the same reason.

    Raises:
        TriggerChangedError: The trigger was changed meanwhile.
    """
    if not pause_trigger(conn, trigger.id, revision=trigger.revision, attention=firing.reason):
        raise TriggerChangedError(trigger.id)
    record_unfired(conn, trigger.id, firing)
    audit_firing(conn, trigger, firing)


class PausedError(Exception):
    """The trigger cannot fire until somebody changes something; the reason and the hint are for people."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


async def owner_context(services: Services, trigger: TriggerRecord) -> Context:
    """Return the context of a trigger's runs: its owner with the scopes it was saved with.

    Raises:
        PausedError: The owner may no longer start runs.
    """
    owner = (await find_callers(services.store, [trigger.owner_id]))[trigger.owner_id]
    if (why := await lost_access(services, owner, Scope.RUN)) is not None:
        raise PausedError(why)
    scopes = frozenset(Scope(value) for value in orjson.loads(trigger.scopes))
    return Context(services, Caller(owner.id, owner.subject, owner.name, scopes), cause=RunCause(trigger.kind))


@dataclass(frozen=True, slots=True)
class Unsaved:
    """A version that passed its check and is about to be saved, with its pipeline, which may be new, too."""

    pipeline: PipelineRecord
    version: Version


async def prepare_firing(
    context: Context,
    trigger: TriggerRecord,
    *,
    fired_at: datetime,
    delivery: Delivery | None = None,
    run: JSONValue = None,
    unsaved: Unsaved | None = None,
) -> PreparedRun:
    """Resolve a trigger's inputs, and check and make its run.

    Args:
        context: That of its owner.
        trigger: The trigger.
        fired_at: The instant of a schedule, or when a delivery was received.
        delivery: What a webhook received.
        run: Describes the run that ended.
        unsaved: What it would start once that is saved.

    Raises:
        PausedError: The pipeline is deleted.
        Problem: The run would be refused.
    """
    pipeline = await _pipeline_of(context, trigger) if unsaved is None else unsaved.pipeline
    values: dict[str, JSONValue] = {"id": trigger.id, "name": trigger.name, "kind": trigger.kind}
    if trigger.kind != TriggerKind.RUN_ENDED:
        field = "scheduled_at" if trigger.kind == TriggerKind.SCHEDULE else "received_at"
        values[field] = fired_at.isoformat().replace("+00:00", "Z")
    elif run is not None:
        values["run"] = run
    if delivery is not None:
        values |= delivery.to_json()
    inputs = _resolved_inputs(orjson.loads(trigger.inputs), values, unknown=_UNKNOWN.get(trigger.kind, ()))
    version = None if unsaved is None else unsaved.version
    prepared = await prepare_run(
        context, pipeline, ref=pipeline.id, inputs=inputs, version=trigger.version, unsaved=version
    )
    # A firing never joins another run.
    return replace(prepared, new=replace(prepared.new, flight=None, trigger_id=trigger.id))


async def _pipeline_of(context: Context, trigger: TriggerRecord) -> PipelineRecord:
    """Find the pipeline of a trigger.

    Raises:
        PausedError: It is deleted.
        NotFound: It does not exist.
    """
    pipeline = (await find_pipelines(context.services.store, [trigger.pipeline_id])).get(trigger.pipeline_id)
    if pipeline is None:
        raise await no_pipeline(context, trigger.pipeline_id)
    if pipeline.deleted_at is not None:
        hint = f"Make a pipeline `{pipeline.key}` again and resume the trigger, point it at another one, or delete it."
        raise PausedError(f"The pipeline {pipeline.key} is deleted.", hint)
    return pipeline


async def check_firing(
    context: Context, trigger: TriggerRecord, *, fired_at: datetime, unsaved: Unsaved | None = None
) -> None:
    """Check what a trigger would start, or would once a version is saved.

    Inputs that read a payload or a run, which nobody knows before it is delivered or ends, are checked as far as they
    are known.

    Raises:
        PausedError: The pipeline is deleted.
        Problem: The run would be refused.
    """
    if trigger.kind == TriggerKind.SCHEDULE:
        await prepare_firing(context, trigger, fired_at=fired_at, unsaved=unsaved)
        return
    inputs = orjson.loads(trigger.inputs)
    template = compile_template(inputs, root=TRIGGER)
    if template.issues:
        raise Invalid([issue.under_argument("inputs") for issue in template.issues])
    if issues := unknown_fields(template.references, _FIELDS[trigger.kind]):
        raise Invalid(issues)
    if all(reference.source_path[0] not in _UNKNOWN[trigger.kind] for reference in template.references):
        await prepare_firing(context, trigger, fired_at=fired_at, unsaved=unsaved)
        return
    pipeline = await _pipeline_of(context, trigger) if unsaved is None else unsaved.pipeline
    version = (
        await context.services.versions.get(context, pipeline, trigger.version) if unsaved is None else unsaved.version
    )
    schema = version.input_schema
    unknown = {reference.path[:1] for reference in template.references}
    wrong = trigger_url_credential_issues(inputs) or [
        issue
        for issue in check_inputs(schema, inputs)
        if issue.rule == "undeclared_input" or issue.path[:1] not in unknown
    ]
    if wrong:
        summary = f"The inputs do not fit pipeline {pipeline.key}"
        raise Invalid([issue.under_argument("inputs") for issue in wrong], summary=summary)


def unknown_fields(references: Sequence[Reference], known: Sequence[str]) -> list[Issue]:
    """Find references to fields that `trigger` never has."""
    wrong = [
        error(
            reference.path,
            "unresolved_reference",
            f"{reference.expression}: `trigger` has no field `{reference.source_path[0]}`.",
            f"Use one of {', '.join(known)}.",
        )
        for reference in references
        if reference.source_path[0] not in known
    ]
    if "run" in known:
        wrong += unknown_run_fields(references)
    return [issue.under_argument("inputs") for issue in wrong]


def _resolved_inputs(inputs: JSONValue, values: dict[str, JSONValue], *, unknown: Sequence[str]) -> JSONValue:
    """Fill in the templates of a trigger's inputs; `unknown` has the fields that one fired by hand lacks.

    Raises:
        Invalid: A template is malformed, or reads a field that does not exist.
    """
    template = compile_template(inputs, root=TRIGGER)
    if template.issues:
        raise Invalid([issue.under_argument("inputs") for issue in template.issues])
    try:
        return template.resolve(values, {}).value
    except TemplateError as wrong:
        fields = [one.source_path[0] for one in template.references if one.expression == wrong.expression]
        reason, hint = wrong.reason, wrong.hint
        if fields and fields[0] in unknown and fields[0] not in values:
            reason, hint = "it is known only when the trigger fires by itself.", Hint(_BY_HAND)
        where = error(wrong.path, "unresolved_reference", f"{wrong.expression}: {reason}", hint)
        raise Invalid([where.under_argument("inputs")]) from wrong


async def fire_now(context: Context, trigger: TriggerRecord, delivery: Delivery | None = None) -> str:
    """Start a run of a trigger at once, as its owner, whether or not the last one has ended; return the run's id.

    Args:
        context: That of the caller who asks for it.
        trigger: The trigger.
        delivery: What a webhook received earlier.

    Raises:
        PausedError: The pipeline is deleted, or the owner may no longer start runs.
        Problem: The run is refused.
        TriggerChangedError: The trigger was changed or deleted meanwhile.
    """
    owner = await owner_context(context.services, trigger)
    prepared = await prepare_firing(owner, trigger, fired_at=context.services.now(), delivery=delivery)

    def begin(conn: Connection, run_id: str, new: NewRun) -> NewRun:
        firing = NewFiring(f"asked:{new_id('fire')}", FiringOutcome.FIRED, run_id=run_id)
        record_asked(conn, trigger.id, firing, revision=trigger.revision)
        context.record(conn, run=run_id)
        return new

    with firing_span(trigger):
        try:
            submitted = await context.services.engine.submit(prepared.new, before=begin)
        except QueueFullError as full:
            raise queue_full(full) from full
        count_firing(context.services, trigger, FiringOutcome.FIRED)
    return submitted.run_id


def _firing(at: datetime, outcome: FiringOutcome, reason: str | None = None) -> NewFiring:
    return NewFiring(at.isoformat(), outcome, scheduled_at=at, reason=reason)
