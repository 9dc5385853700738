"""Saves, lists, pauses, fires and deletes triggers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import orjson

from resolvers.operations import operation
from resolvers.permissions import visible_to
from resolvers.pipelines.versions import get_pipeline
from resolvers.problems import Conflict, Forbidden, Invalid, Limited, NotFound
from resolvers.tools import TRIGGER_ID, Parameter, Tool
from resolvers.triggers.firing import PausedError, check_firing, fire_now, owner_context
from resolvers.triggers.run_ends import checked_run_ended, refuse_unfit, run_ended_of
from runner.issues import argument_error, error, lacking_scope
from runner.json_values import canonical_json, forbidden_text
from runner.triggers.documents import NAME_CHARACTERS
from runner.triggers.schedules import Schedule, check_schedule, next_instants, schedule_of
from store.pipelines.reads import find_pipeline, find_pipelines
from store.secrets.credentials import KEEP, Keep
from store.states import Scope, TriggerKind
from store.triggers.commands import (
    TooManyTriggersError,
    TriggerText,
    create_trigger,
    delete_trigger,
    pause_trigger,
    update_trigger,
)
from store.triggers.firings import TriggerChangedError
from store.triggers.reads import (
    FiringRecord,
    TriggerFilter,
    TriggerRecord,
    count_firings,
    count_triggers,
    find_triggers,
    list_firings,
    list_triggers,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from resolvers.context import Context
    from resolvers.triggers.firing import Unsaved
    from runner.failures import JSONValue
    from runner.issues import Issue
    from runner.triggers.run_ends import RunEndedSettings
    from runner.triggers.webhooks import Delivery, WebhookSettings
    from store.database.dialects import Connection
    from store.database.paging import PageWindow
    from store.pipelines.reads import PipelineRecord

#: Scopes that a trigger's runs may have.
_SCOPES = (Scope.READ, Scope.OBSERVE, Scope.RUN)
#: Most instants of a schedule that are listed.
NEXT_MAX = 20


@dataclass(frozen=True, slots=True)
class SchedulePreview:
    """When a schedule would fire next, or what is wrong with it."""

    instants: list[datetime]
    issues: list[Issue]


@dataclass(frozen=True, slots=True)
class TriggerChange:
    """What to change of a trigger; None leaves a field as it is.

    Attributes:
        pipeline: The pipeline it starts from now on: id, key or alias. A pinned version is one of the earlier one.
        version: Number of the version to pin; None for the current one, or to pin that of another caller's pipeline.
    """

    name: str | None = None
    pipeline: str | None = None
    version: int | Keep | None = KEEP
    schedule: Schedule | None = None
    run_ended: RunEndedSettings | None = None
    inputs: JSONValue = None


@operation(
    "triggers",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="List triggers",
        description="Lists triggers, newest first, with their next and last firings. Use get_trigger for details.",
        name="list_triggers",
        toolset="author",
        when_empty="No trigger matches. create_trigger creates one.",
    ),
)
async def list_some_triggers(
    context: Context, *, pipeline_id: str | None, needs_attention: bool | None, window: PageWindow
) -> list[TriggerRecord]:
    """List the triggers the caller may see, newest first, and one more than the window asks for if there are more."""
    return await list_triggers(context.services.store, _filter(context, pipeline_id, needs_attention), window)


async def count_some_triggers(context: Context, pipeline_id: str | None, needs_attention: bool | None) -> int:
    """Count what `list_some_triggers` lists, up to `COUNT_CAP`."""
    return await count_triggers(context.services.store, _filter(context, pipeline_id, needs_attention))


async def find_trigger(context: Context, trigger_id: str) -> TriggerRecord | None:
    """Find a trigger the caller may see."""
    found = (await find_triggers(context.services.store, [trigger_id])).get(trigger_id)
    seen = visible_to(context.caller)
    return found if found is not None and seen in (None, found.owner_id) else None


@operation(
    "trigger",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Get a trigger",
        description="Returns a trigger: what it fires by, its inputs, its next firings and what the last ten led to.",
        name="get_trigger",
        toolset="author",
        parameters={"id": TRIGGER_ID},
    ),
)
async def find_one_trigger(context: Context, *, trigger: str) -> TriggerRecord | None:
    """Find a trigger the caller may see; a miss is noted in the context."""
    found = await find_trigger(context, trigger)
    if found is None:
        context.note_miss(NotFound("trigger", trigger))
    return found


async def list_trigger_firings(context: Context, trigger: TriggerRecord, window: PageWindow) -> list[FiringRecord]:
    """List the firings of a trigger, newest first."""
    return await list_firings(context.services.store, trigger.id, window)


async def count_trigger_firings(context: Context, trigger: TriggerRecord) -> int:
    return await count_firings(context.services.store, trigger.id)


async def save_settings(context: Context, trigger: TriggerRecord, settings: str) -> TriggerRecord:
    """Replace the settings, JSON, of a trigger the caller may change."""
    return await _save(context, trigger, trigger._replace(settings=settings), await store_now(context))


def next_firings(context: Context, trigger: TriggerRecord, count: int) -> list[datetime]:
    """List the next instants of a schedule, at most `NEXT_MAX`, also while it is paused; none for other kinds."""
    schedule = schedule_of(trigger.kind, trigger.settings)
    moment = context.services.now() if trigger.next_at is None else trigger.next_at - timedelta.resolution
    return [] if schedule is None else next_instants(schedule, moment, _shown(count))


@operation("preview_schedule", scope=Scope.READ, kind="query")
async def preview_schedule(context: Context, *, schedule: Schedule, count: int) -> SchedulePreview:
    """List the instants a schedule would fire at, at most `NEXT_MAX`, if it were saved now."""
    now = await store_now(context)
    if issues := check_schedule(schedule, now):
        return SchedulePreview([], issues)
    return SchedulePreview(next_instants(_anchored(schedule, now), now, _shown(count)), [])


def _shown(count: int) -> int:
    return max(0, min(count, NEXT_MAX))


@operation(
    "create_trigger",
    scope=Scope.WRITE,
    kind="command",
    target="pipeline",
    tool=Tool(
        title="Create a trigger",
        description="Creates a trigger that starts runs of a pipeline until it is paused or deleted: at set times with "
        "`cron` or `interval_seconds`, or with `run_states` whenever runs of other pipelines end. Have the user "
        "confirm it. For requests of another service, use create_webhook.",
        toolset="author",
        parameters={
            "inputs": Parameter(
                description="Inputs of its runs. Texts may contain `${{ trigger.scheduled_at }}`, or "
                "`${{ trigger.run }}` and its fields, such as `${{ trigger.run.failure.message }}`."
            ),
            "version": Parameter(description="Pins a version of the pipeline."),
            "catch_up_limit": Parameter(hidden=True),
            "states": Parameter(
                name="run_states", description="Fire when runs end as `SUCCEEDED`, `FAILED` or `CANCELLED`."
            ),
            "pipelines": Parameter(
                name="run_pipelines", description="With `run_states`: only runs of these pipelines."
            ),
        },
    ),
)
async def create(
    context: Context,
    *,
    pipeline: str,
    name: str,
    schedule: Schedule | None = None,
    run_ended: RunEndedSettings | None = None,
    inputs: JSONValue,
    version: int | None = None,
    enabled: bool = True,
) -> TriggerRecord:
    """Save a new trigger, owned by the caller, that fires by a schedule or when runs end.

    Raises:
        Problem: The schedule never fires, or a run of the pipeline with these inputs would be refused.
    """
    if schedule is not None and run_ended is None:
        kind, settings = TriggerKind.SCHEDULE, partial(settings_json, schedule)
    elif run_ended is not None and schedule is None:
        own = await get_pipeline(context, pipeline)
        may_observe = context.caller.may(Scope.OBSERVE)
        checked = await checked_run_ended(context, run_ended, own.id, may_observe=may_observe)
        kind, settings = TriggerKind.RUN_ENDED, partial(settings_json, checked)
    else:
        message = "A trigger fires either by a schedule or when runs end."
        issue = error(("schedule", "cron"), "one_of", message, "Give a schedule, or the states of ended runs.")
        raise Invalid([replace(issue, in_argument=True)])
    return await create_of_kind(
        context,
        kind=kind,
        pipeline=pipeline,
        name=name,
        settings=settings,
        inputs=inputs,
        version=version,
        enabled=enabled,
    )


async def create_of_kind(
    context: Context,
    *,
    kind: str,
    pipeline: str,
    name: str,
    settings: Callable[[datetime], str],
    inputs: JSONValue,
    version: int | None,
    enabled: bool,
    along: Callable[[Connection, str], None] | None = None,
) -> TriggerRecord:
    """Save a new trigger, owned by the caller.

    Args:
        context: That of the caller.
        kind: Its kind.
        pipeline: The pipeline's id, key or alias.
        name: Name for people.
        settings: Returns its settings as JSON, given the time.
        inputs: Inputs of its runs.
        version: The version to pin.
        enabled: Whether it fires.
        along: Called in the transaction that saves it, with its id.

    Raises:
        Problem: It is wrong, or a run of the pipeline with these inputs would be refused.
    """
    found = await get_pipeline(context, pipeline)
    now = await store_now(context)
    draft = new_draft(
        context,
        found,
        kind=kind,
        name=name,
        settings=settings(now),
        inputs=canonical_json(inputs),
        version=version,
        enabled=enabled,
        now=now,
    )
    text = await checked_text(context, draft, now)

    def unit(conn: Connection) -> str:
        trigger_id = created(context, conn, draft, text, found.id)
        if along is not None:
            along(conn, trigger_id)
        return trigger_id

    return await current_trigger(context, await context.commit(unit, str))


def created(context: Context, conn: Connection, draft: TriggerRecord, text: TriggerText, pipeline_id: str) -> str:
    """Save a new trigger in a unit; return its id.

    Raises:
        Limited: Its owner has too many.
    """
    try:
        return create_trigger(
            conn,
            timed(text, draft, conn),
            kind=draft.kind,
            pipeline_id=pipeline_id,
            owner_id=draft.owner_id,
            limit=context.services.limits.triggers,
        )
    except TooManyTriggersError as full:
        raise Limited(
            f"You have as many triggers as the limit allows: {full.limit:,}.",
            hint="Delete some, or raise `PACKLINE_CALLER_TRIGGERS` on the server.",
        ) from full


def new_draft(
    context: Context,
    pipeline: PipelineRecord,
    *,
    kind: str,
    name: str,
    settings: str,
    inputs: str,
    version: int | None,
    enabled: bool,
    now: datetime,
) -> TriggerRecord:
    """Make a new trigger of the caller, to be checked and saved.

    Raises:
        Forbidden: The caller may not start runs.
    """
    if not context.caller.may(Scope.RUN):
        raise Forbidden(lacking_scope("A trigger that starts runs", "`run`"), requires=Scope.RUN)
    scopes: list[JSONValue] = [scope.value for scope in _SCOPES if context.caller.may(scope)]
    return TriggerRecord(
        id="trig_new",
        name=name,
        kind=kind,
        pipeline_id=pipeline.id,
        version=version if version is not None else usual_version(pipeline, context.caller.id),
        owner_id=context.caller.id,
        scopes=canonical_json(scopes),
        inputs=inputs,
        settings=settings,
        enabled=enabled,
        attention=None,
        revision=1,
        next_at=None,
        last_at=None,
        created_at=now,
        updated_at=now,
    )


@operation("update_trigger", scope=Scope.WRITE, kind="command", target="id")
async def update(context: Context, *, id: str, change: TriggerChange) -> TriggerRecord:
    """Change a trigger; instants before the change no longer fire."""
    trigger = await changeable_trigger(context, id)
    if change.schedule is not None and trigger.kind != TriggerKind.SCHEDULE:
        raise Invalid([argument_error("schedule", "wrong_kind", f"The trigger {trigger.name} has no schedule.")])
    if change.run_ended is not None and run_ended_of(trigger) is None:
        message = f"The trigger {trigger.name} does not fire when runs end."
        raise Invalid([argument_error("run_ended", "wrong_kind", message)])
    now = await store_now(context)
    draft = trigger if change.pipeline is None else _starting(trigger, await get_pipeline(context, change.pipeline))
    settings = draft.settings
    if change.schedule is not None:
        settings = settings_json(change.schedule, now)
    if change.run_ended is not None:
        settings = await _run_ended_json(context, draft, change.run_ended, now)
    else:
        _refuse_own_runs(draft)
    version = draft.version if change.version is KEEP else change.version
    if version is None and draft.version is not None:
        pipeline = (await find_pipelines(context.services.store, [draft.pipeline_id])).get(draft.pipeline_id)
        version = None if pipeline is None else usual_version(pipeline, trigger.owner_id)
    draft = draft._replace(
        version=version,
        name=trigger.name if change.name is None else change.name,
        settings=settings,
        inputs=trigger.inputs if change.inputs is None else canonical_json(change.inputs),
    )
    return await _save(context, trigger, draft, now)


def _starting(trigger: TriggerRecord, pipeline: PipelineRecord) -> TriggerRecord:
    """Return a trigger as it would start another pipeline: none of that one's versions was chosen yet."""
    if pipeline.id == trigger.pipeline_id:
        return trigger
    return trigger._replace(pipeline_id=pipeline.id, version=usual_version(pipeline, trigger.owner_id))


def _refuse_own_runs(trigger: TriggerRecord) -> None:
    """Refuse a trigger that is to start the pipeline whose runs it waits for; what else it waits for may be gone."""
    if (ended := run_ended_of(trigger)) is not None:
        refuse_unfit(ended, trigger.pipeline_id)


async def _run_ended_json(context: Context, draft: TriggerRecord, given: RunEndedSettings, now: datetime) -> str:
    # The owner's scopes, not those of an administrator who changes the trigger.
    may_observe = Scope.OBSERVE.value in orjson.loads(draft.scopes)
    return settings_json(await checked_run_ended(context, given, draft.pipeline_id, may_observe=may_observe), now)


async def _with_pipeline(context: Context, trigger: TriggerRecord) -> TriggerRecord:
    """Let a trigger whose pipeline was deleted start the one that has the key now.

    Only a starter or one of the trigger's owner: with another caller's, the owner has to name it.
    """
    pipeline = (await find_pipelines(context.services.store, [trigger.pipeline_id])).get(trigger.pipeline_id)
    if pipeline is None or pipeline.deleted_at is None:
        return trigger
    again = await find_pipeline(context.services.store, pipeline.key)
    if again is None or again.key != pipeline.key or again.owner_id not in (None, trigger.owner_id):
        return trigger
    draft = _starting(trigger, again)
    _refuse_own_runs(draft)
    return draft


@operation(
    "resume_trigger",
    scope=Scope.WRITE,
    kind="command",
    idempotent=True,
    target="id",
    tool=Tool(
        title="Resume a trigger",
        description="Lets a paused trigger fire again. Instants that passed meanwhile do not fire. If its pipeline was "
        "deleted, it starts the owner's pipeline that has the key now.",
        toolset="author",
        parameters={"id": TRIGGER_ID},
    ),
)
async def resume(context: Context, *, id: str) -> TriggerRecord:
    """Enable a paused trigger again; instants that passed meanwhile do not fire."""
    trigger = await changeable_trigger(context, id)
    if trigger.enabled:
        await context.commit_unchanged()
        return trigger
    now = await store_now(context)
    draft = await _with_pipeline(context, trigger)
    return await _save(context, trigger, draft._replace(enabled=True), now)


@operation(
    "pause_trigger",
    scope=Scope.WRITE,
    kind="command",
    idempotent=True,
    target="id",
    tool=Tool(
        title="Pause a trigger",
        description="Stops a trigger from firing until resume_trigger. Its runs go on.",
        toolset="author",
        parameters={"id": TRIGGER_ID},
    ),
)
async def pause(context: Context, *, id: str) -> TriggerRecord:
    """Stop a trigger from firing until it is resumed; its runs go on."""
    trigger = await changeable_trigger(context, id)

    def unit(conn: Connection) -> None:
        if not pause_trigger(conn, id, revision=trigger.revision):
            raise changed_meanwhile(trigger)

    await context.commit(unit)
    return await current_trigger(context, id)


@operation(
    "fire_trigger",
    scope=Scope.RUN,
    kind="command",
    target="id",
    tool=Tool(
        title="Fire a trigger",
        description="Starts a run of a trigger now, also when it is paused. Use wait_run to wait for its end.",
        toolset="author",
        parameters={"id": TRIGGER_ID},
    ),
)
async def fire(context: Context, *, id: str) -> str:
    """Start a run of a trigger now, as its owner, also when it is paused; returns the run's id."""
    return await fire_or_refuse(context, await changeable_trigger(context, id))


@operation(
    "delete_trigger",
    scope=Scope.WRITE,
    kind="command",
    destructive=True,
    idempotent=True,
    target="id",
    tool=Tool(
        title="Delete a trigger",
        description="Deletes a trigger with its firings. The runs it started are kept; pause_trigger only stops it.",
        toolset="author",
        parameters={"id": TRIGGER_ID},
    ),
)
async def delete(context: Context, *, id: str) -> str:
    """Delete a trigger with its firings; the runs it started stay."""
    await changeable_trigger(context, id)

    def unit(conn: Connection) -> str:
        if not delete_trigger(conn, id):
            raise NotFound("trigger", id)
        return id

    return await context.commit(unit, str)


async def checked_text(
    context: Context, draft: TriggerRecord, now: datetime, unsaved: Unsaved | None = None
) -> TriggerText:
    """Check a trigger as it is to be saved, down to the run it would start."""
    schedule = schedule_of(draft.kind, draft.settings)
    issues = [issue.under_argument("name") for issue in forbidden_text(draft.name)]
    if not 1 <= len(draft.name.strip()) <= NAME_CHARACTERS:
        message = f"The name must have 1 to {NAME_CHARACTERS} characters."
        issues.append(argument_error("name", "out_of_range", message))
    if schedule is not None:
        issues += check_schedule(schedule, now)
    if issues:
        raise Invalid(issues, summary="The trigger cannot be saved")
    try:
        fired_at = (None if schedule is None else schedule.next_after(now)) or now
        await check_firing(await owner_context(context.services, draft), draft, fired_at=fired_at, unsaved=unsaved)
    except PausedError as paused:
        message = f"The trigger cannot be saved: {paused.reason}"
        raise Conflict(message, current_id=draft.pipeline_id, hint=paused.hint) from paused
    return TriggerText(
        name=context.services.redactor.text(draft.name.strip()),
        version=draft.version,
        scopes=draft.scopes,
        inputs=draft.inputs,
        settings=draft.settings,
        enabled=draft.enabled,
        next_at=None,
    )


def timed(text: TriggerText, draft: TriggerRecord, conn: Connection) -> TriggerText:
    """Set when a trigger fires next, by the clock that it fires by, so that no earlier instant does."""
    schedule = schedule_of(draft.kind, draft.settings)
    return text if schedule is None else replace(text, next_at=schedule.next_after(conn.now()))


def settings_json(chosen: Schedule | WebhookSettings | RunEndedSettings, now: datetime) -> str:
    """Write what a trigger fires by; the intervals of a schedule count from now."""
    return canonical_json((_anchored(chosen, now) if isinstance(chosen, Schedule) else chosen).to_json())


def _anchored(schedule: Schedule, now: datetime) -> Schedule:
    return replace(schedule, anchor=now.replace(microsecond=0))


def usual_version(pipeline: PipelineRecord, owner_id: str) -> int | None:
    """Choose the version of a trigger that names none.

    On another caller's pipeline it is pinned: otherwise the pipeline's owner would decide what runs as the trigger's.
    """
    return None if pipeline.owner_id in (None, owner_id) else pipeline.current_number


async def store_now(context: Context) -> datetime:
    return await context.services.store.snapshot(lambda conn: conn.now())


async def _save(context: Context, trigger: TriggerRecord, draft: TriggerRecord, now: datetime) -> TriggerRecord:
    text = await checked_text(context, draft, now)

    def unit(conn: Connection) -> None:
        if not update_trigger(
            conn, trigger.id, timed(text, draft, conn), pipeline_id=draft.pipeline_id, revision=trigger.revision
        ):
            raise changed_meanwhile(trigger)

    await context.commit(unit)
    return await current_trigger(context, trigger.id)


async def changeable_trigger(context: Context, trigger_id: str) -> TriggerRecord:
    """Get a trigger the caller may change.

    Raises:
        NotFound: It does not exist, or the caller may not see it.
        Forbidden: It belongs to another caller.
    """
    found = await find_trigger(context, trigger_id)
    if found is None:
        raise NotFound("trigger", trigger_id)
    if found.owner_id != context.caller.id and not context.caller.may(Scope.MANAGE):
        raise Forbidden(
            f"The trigger {found.name} belongs to another caller.", hint="Its owner or an administrator can change it."
        )
    return found


async def current_trigger(context: Context, trigger_id: str) -> TriggerRecord:
    found = (await find_triggers(context.services.store, [trigger_id])).get(trigger_id)
    if found is None:  # deleted meanwhile
        raise NotFound("trigger", trigger_id)
    return found


async def fire_or_refuse(context: Context, trigger: TriggerRecord, delivery: Delivery | None = None) -> str:
    """Start a run of a trigger now; returns the run's id.

    Raises:
        Conflict: The trigger needs a change before it can fire, or was changed meanwhile.
    """
    try:
        return await fire_now(context, trigger, delivery)
    except PausedError as paused:
        message = f"The trigger {trigger.name} cannot fire: {paused.reason}"
        raise Conflict(message, current_id=trigger.id, hint=paused.hint) from paused
    except TriggerChangedError as changed:
        raise changed_meanwhile(trigger) from changed


def changed_meanwhile(trigger: TriggerRecord) -> Conflict:
    return Conflict(
        f"The trigger {trigger.name} was changed meanwhile.", current_id=trigger.id, hint="Get it again, then repeat."
    )


def _filter(context: Context, pipeline_id: str | None, needs_attention: bool | None) -> TriggerFilter:
    return TriggerFilter(visible_to(context.caller), pipeline_id, needs_attention)
