"""Makes a caller's triggers of a pipeline match the list of a document, and writes such lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import orjson

from resolvers.problems import Forbidden, Invalid, NotFound, Problem
from resolvers.triggers.run_ends import checked_run_ended
from resolvers.triggers.triggers import (
    changed_meanwhile,
    checked_text,
    created,
    new_draft,
    settings_json,
    timed,
    usual_version,
)
from resolvers.triggers.webhooks import new_address
from resolvers.visible import own_triggers
from runner.issues import MAX_ISSUES, error, shown
from runner.json_values import canonical_json
from runner.secrets.redaction import MASK
from runner.triggers.documents import TRIGGERS, TriggerEntry, TriggerSettings, write_triggers
from runner.triggers.run_ends import RunEndedSettings
from runner.triggers.schedules import Schedule
from runner.triggers.webhooks import WebhookSettings
from store.pipelines.reads import find_pipelines
from store.states import Scope, TriggerKind
from store.triggers.commands import delete_trigger, update_trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from resolvers.context import Context
    from resolvers.triggers.firing import Unsaved
    from runner.failures import JSONValue
    from runner.issues import Issue
    from store.database.dialects import Connection
    from store.pipelines.reads import PipelineRecord
    from store.triggers.commands import TriggerText
    from store.triggers.reads import TriggerRecord

_READ: dict[str, Callable[[dict[str, JSONValue]], TriggerSettings]] = {
    TriggerKind.SCHEDULE: Schedule.read,
    TriggerKind.WEBHOOK: WebhookSettings.read,
    TriggerKind.RUN_ENDED: RunEndedSettings.read,
}
TriggerAction = Literal["create", "update", "keep", "delete"]
_Change: TypeAlias = "Callable[[Connection], None]"


@dataclass(frozen=True, slots=True)
class AppliedTrigger:
    """What applying a document does with one trigger.

    Attributes:
        trigger_id: None until it exists.
        secret: The secret of a webhook that was created, which is not shown again.
    """

    name: str
    action: TriggerAction
    trigger_id: str | None = None
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class _Creation:
    draft: TriggerRecord
    text: TriggerText


@dataclass(frozen=True, slots=True)
class TriggersPlan:
    """What makes the triggers match a list.

    Attributes:
        applied: One for each trigger: those of the list in its order, then those that are deleted.
        before: The list that would keep what there is.
        after: The list in the same form, with secrets masked like the other.
    """

    applied: tuple[AppliedTrigger, ...]
    before: str
    after: str
    changes: tuple[_Change, ...]
    creations: tuple[_Creation, ...]


async def plan_triggers(
    context: Context,
    entries: Sequence[TriggerEntry],
    pipeline: PipelineRecord,
    *,
    is_new: bool,
    unsaved: Unsaved | None,
    now: datetime,
) -> TriggersPlan:
    """Compare a list with the caller's triggers of a pipeline, and check what would be saved.

    Args:
        context: That of the caller.
        entries: The list.
        pipeline: The pipeline.
        is_new: Whether it does not exist yet.
        unsaved: The version that is about to be saved, if there is one.
        now: The store's time.

    Raises:
        Invalid: With the paths of the entries.
        Forbidden: The caller may not start runs.
    """
    # Documents know nothing of other callers' triggers.
    present = [] if is_new else (await own_triggers(context, [pipeline.id]))[pipeline.id]
    by_name: dict[str, list[TriggerRecord]] = {}
    for trigger in present:
        by_name.setdefault(trigger.name, []).append(trigger)
    before: list[TriggerEntry] = []
    after: list[TriggerEntry] = []
    applied: list[AppliedTrigger] = []
    changes: list[_Change] = []
    creations: list[_Creation] = []
    issues: list[Issue] = []
    for index, given in enumerate(entries):
        entry = replace(given, name=context.services.redactor.text(given.name))
        found = by_name.pop(entry.name, [])
        try:
            if len(found) > 1:
                message = f"{len(found)} of your triggers of {pipeline.key} have the name {shown(entry.name)}."
                raise Invalid([error(("name",), "duplicate_name", message, "Rename or delete all but one of them.")])
            if not found:
                applied.append(AppliedTrigger(entry.name, "create"))
                after.append(await _shown(context, entry))
                if is_new and entry.version not in (None, pipeline.current_number):
                    message = f"The pipeline {pipeline.key} is new and has no version {entry.version}."
                    raise Invalid([error(("version",), "not_found", message, "Remove the version.")])
                entry = await _resolved(context, entry, pipeline)
                creations.append(await _creation(context, entry, pipeline, unsaved, now))
                continue
            (trigger,) = found
            old = _entry(trigger)
            entry = await _resolved(context, entry, pipeline, trigger)
            # Secrets in exported inputs are masked: what is masked alike stays as it is.
            if entry.inputs == context.services.redactor.value(old.inputs):
                entry = replace(entry, inputs=old.inputs)
            wanted = replace(
                entry,
                enabled=trigger.enabled if entry.enabled is None else entry.enabled,
                version=_version(entry, trigger, pipeline),
            )
            before.append(await _shown(context, old))
            after.append(await _shown(context, wanted))
            is_same = old.document() == wanted.document()
            applied.append(AppliedTrigger(entry.name, "keep" if is_same else "update", trigger.id))
            if not is_same:
                changes.append(await _update(context, old, wanted, trigger, unsaved, now))
            elif (starts := _of_version(unsaved, trigger.version)) is not None:
                await checked_text(context, trigger, now, starts)
        except Forbidden:
            raise
        except Problem as refused:
            issues += [issue.under(TRIGGERS, str(index)) for issue in _issues(refused)]
            if len(issues) >= MAX_ISSUES:
                break
    if issues:
        raise Invalid(issues)
    for trigger in (trigger for triggers in by_name.values() for trigger in triggers):
        before.append(await _shown(context, _entry(trigger)))
        applied.append(AppliedTrigger(trigger.name, "delete", trigger.id))
        changes.append(_deletion(trigger))
    return TriggersPlan(tuple(applied), write_triggers(before), write_triggers(after), tuple(changes), tuple(creations))


def _issues(refused: Problem) -> list[Issue]:
    """Return why an entry is refused, below its path."""
    if isinstance(refused, Invalid):
        return list(refused.issues)
    path = ("version",) if isinstance(refused, NotFound) else ()
    return [error(path, refused.code.value.lower(), refused.message, refused.hint)]


def _version(entry: TriggerEntry, trigger: TriggerRecord, pipeline: PipelineRecord) -> int | None:
    """Choose the version of a trigger that exists; of another caller's pipeline, one stays pinned."""
    if entry.version is not None or usual_version(pipeline, trigger.owner_id) is None:
        return entry.version
    return trigger.version


async def _creation(
    context: Context, entry: TriggerEntry, pipeline: PipelineRecord, unsaved: Unsaved | None, now: datetime
) -> _Creation:
    _refuse_masks(entry.inputs)
    draft = new_draft(
        context,
        pipeline,
        kind=_kind(entry),
        name=entry.name,
        settings=settings_json(entry.settings, now),
        inputs=canonical_json(entry.inputs),
        version=entry.version,
        enabled=entry.enabled is not False,
        now=now,
    )
    return _Creation(draft, await checked_text(context, draft, now, _of_version(unsaved, draft.version)))


async def _update(
    context: Context,
    old: TriggerEntry,
    wanted: TriggerEntry,
    trigger: TriggerRecord,
    unsaved: Unsaved | None,
    now: datetime,
) -> _Change:
    """Check a change, and return its unit. Inputs and settings that are the same stay as they are stored."""
    if _kind(old) != _kind(wanted):
        message = f"The trigger {shown(wanted.name)} fires by {_kind(old)}; that cannot be changed."
        raise Invalid([error((_kind(wanted),), "wrong_kind", message, "Give the new trigger another name.")])
    match old.settings, wanted.settings:
        case WebhookSettings(preset=preset), WebhookSettings(preset=other) if preset != other:
            message = f"The webhook {shown(wanted.name)} has the preset `{preset}`; that cannot be changed."
            raise Invalid([error(("webhook", "preset"), "wrong_kind", message, "Give the new webhook another name.")])
    if old.inputs != wanted.inputs:
        _refuse_masks(wanted.inputs)
    draft = trigger._replace(
        version=wanted.version,
        enabled=wanted.enabled is not False,
        inputs=trigger.inputs if old.inputs == wanted.inputs else canonical_json(wanted.inputs),
        settings=trigger.settings if old.fires_by() == wanted.fires_by() else settings_json(wanted.settings, now),
    )
    text = await checked_text(context, draft, now, _of_version(unsaved, draft.version))

    def change(conn: Connection) -> None:
        if not update_trigger(
            conn, trigger.id, timed(text, draft, conn), pipeline_id=trigger.pipeline_id, revision=trigger.revision
        ):
            raise changed_meanwhile(trigger)

    return change


def _deletion(trigger: TriggerRecord) -> _Change:
    def change(conn: Connection) -> None:
        delete_trigger(conn, trigger.id)  # it may be gone already

    return change


def _of_version(unsaved: Unsaved | None, version: int | None) -> Unsaved | None:
    """Return the version that is about to be saved, if a trigger would start it."""
    return unsaved if unsaved is not None and version in (None, unsaved.version.record.number) else None


async def prepare_creations(
    context: Context, plan: TriggersPlan
) -> Callable[[Connection, str], tuple[AppliedTrigger, ...]]:
    """Make the secrets of new webhooks; return the unit that creates the triggers of a pipeline, given its id.

    Raises:
        Unavailable: The vault is locked.
    """
    made = []
    for each in plan.creations:
        settings = _entry(each.draft).settings
        made.append(await new_address(context, settings.preset) if isinstance(settings, WebhookSettings) else None)

    def unit(conn: Connection, pipeline_id: str) -> tuple[AppliedTrigger, ...]:
        done: dict[str, AppliedTrigger] = {}
        for each, webhook in zip(plan.creations, made, strict=True):
            draft = each.draft
            trigger_id = created(context, conn, draft, each.text, pipeline_id)
            if webhook is not None:
                webhook[1](conn, trigger_id)
            secret = None if webhook is None else webhook[0]
            done[draft.name] = AppliedTrigger(draft.name, "create", trigger_id, secret)
        return tuple(done.get(each.name, each) for each in plan.applied)

    return unit


async def written_triggers(context: Context, triggers: Sequence[TriggerRecord]) -> str:
    """Write triggers as a part of a document, with secrets masked."""
    return write_triggers([await _shown(context, _entry(trigger)) for trigger in triggers])


def _entry(trigger: TriggerRecord) -> TriggerEntry:
    stored, inputs = orjson.loads(trigger.settings), orjson.loads(trigger.inputs)
    return TriggerEntry(trigger.name, _READ[trigger.kind](stored), inputs, trigger.version, trigger.enabled)


async def _resolved(
    context: Context, entry: TriggerEntry, pipeline: PipelineRecord, trigger: TriggerRecord | None = None
) -> TriggerEntry:
    """Check which runs an entry fires for when they end, and replace the names of their pipelines by ids."""
    if not isinstance(entry.settings, RunEndedSettings):
        return entry
    # The scopes that the trigger was saved with, as when it fires.
    observes = context.caller.may(Scope.OBSERVE)
    if trigger is not None:
        observes = Scope.OBSERVE.value in orjson.loads(trigger.scopes)
    try:
        settings = await checked_run_ended(context, entry.settings, pipeline.id, may_observe=observes)
    except NotFound as missing:
        where = ("run_ended", "pipelines")
        raise Invalid([error(where, "not_found", missing.message, missing.hint)]) from missing
    return replace(entry, settings=settings)


async def _shown(context: Context, entry: TriggerEntry) -> TriggerEntry:
    """Return an entry as documents show it: secrets masked, and pipelines by their keys."""
    settings = entry.settings
    if isinstance(settings, RunEndedSettings) and settings.pipelines:
        found = await find_pipelines(context.services.store, settings.pipelines)
        keys = tuple(found[name].key if name in found else name for name in settings.pipelines)
        entry = replace(entry, settings=replace(settings, pipelines=keys))
    inputs = context.services.redactor.value(entry.inputs)
    assert isinstance(inputs, dict), "masking keeps the shape"
    return replace(entry, inputs=inputs)


def _refuse_masks(inputs: dict[str, JSONValue]) -> None:
    """Refuse inputs that an export masked: the mask would be taken for the value.

    Raises:
        Invalid: Naming the mask.
    """
    found = MASK.search(canonical_json(inputs))
    if found is not None:
        message = f"The inputs contain `{found[0]}`, which stands for a secret that an export left out."
        raise Invalid([error(("inputs",), "masked", message, "Write the value instead, or remove the input.")])


def _kind(entry: TriggerEntry) -> str:
    match entry.settings:
        case Schedule():
            return TriggerKind.SCHEDULE
        case WebhookSettings():
            return TriggerKind.WEBHOOK
        case RunEndedSettings():
            return TriggerKind.RUN_ENDED
