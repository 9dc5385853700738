"""Applies YAML documents: makes pipelines and their triggers match them, all or none; and writes such documents."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

import orjson

from resolvers.not_found import no_pipeline
from resolvers.operations import operation
from resolvers.permissions import may_change, require_owner
from resolvers.pipelines.definitions import CheckedDefinition, checked_definition, documents_of
from resolvers.pipelines.keys import key_taken
from resolvers.pipelines.versions import Version
from resolvers.problems import Conflict, Invalid
from resolvers.tools import Tool
from resolvers.triggers.documents import (
    AppliedTrigger,
    TriggersPlan,
    plan_triggers,
    prepare_creations,
    written_triggers,
)
from resolvers.triggers.firing import Unsaved
from resolvers.triggers.triggers import store_now
from runner.definitions.background_compile import in_background_if_large
from runner.issues import Issue, error
from runner.json_values import DocumentError
from runner.triggers.documents import TRIGGERS, read_triggers
from runner.yaml_documents import dump_yaml, load_document, without_key
from store.pipelines.commands import (
    KeyTakenError,
    NoPipelineError,
    StaleVersionError,
    StarterNameError,
    create_pipeline,
    save_version,
)
from store.pipelines.reads import PipelineRecord, VersionBody, VersionRecord, find_pipeline
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from resolvers.context import Context
    from runner.failures import JSONValue
    from runner.triggers.documents import TriggerEntry
    from store.database.dialects import Connection
    from store.triggers.reads import TriggerRecord


ApplyAction = Literal["create", "update", "keep"]
#: The diff of equal lines; diff readers treat what follows a backslash as a comment.
ONLY_LINE_BREAKS: Final = "\\ Only a line break differs, such as the last one of a text after `|`.\n"


@dataclass(frozen=True, slots=True)
class AppliedDocument:
    """What applying one document does.

    Attributes:
        action: What it does with the pipeline.
        diff: The differences of the pipeline and of its triggers.
        pipeline_id: None until the pipeline exists.
        triggers: What it does with each trigger; empty if the document lists none and there are none.
    """

    key: str
    action: ApplyAction
    diff: str
    pipeline_id: str | None
    warnings: tuple[Issue, ...]
    triggers: tuple[AppliedTrigger, ...] = ()


@dataclass(frozen=True, slots=True)
class _Given:
    """A document taken apart.

    Attributes:
        definition: The document without its triggers.
        text: Its text; None if it has to be written from the document.
        triggers: None if it does not list any.
        issues: Why the list cannot be read.
    """

    definition: dict[str, JSONValue]
    text: str | None
    triggers: list[TriggerEntry] | None
    issues: tuple[Issue, ...] = ()


@dataclass(frozen=True, slots=True)
class _Planned:
    """A document with its changes.

    Attributes:
        checked: The definition to save; None if the document has only triggers.
        found: The pipeline to update; None to create one.
    """

    applied: AppliedDocument
    checked: CheckedDefinition | None
    found: PipelineRecord | None
    triggers: TriggersPlan | None


@operation(
    "apply_pipelines",
    scope=Scope.WRITE,
    kind="command",
    idempotent=True,
    tool=Tool(
        title="Apply pipeline documents",
        description="Creates or updates pipelines and their triggers from YAML documents, all or none. Use dry_run "
        "first to see the changes.",
        toolset="author",
    ),
)
async def apply(context: Context, *, yaml: str, dry_run: bool = False) -> tuple[AppliedDocument, ...]:
    """Make pipelines and triggers match the documents, all or none; applying twice changes nothing."""
    documents = await documents_of(context, yaml)
    if not documents:
        raise Invalid([error((), "empty", "The text has no document to apply.")])
    planned: list[_Planned] = []
    seen: set[str] = set()
    now = await store_now(context)
    for number, (document, text) in enumerate(documents):
        try:
            if text is None and len(documents) == 1:
                text = yaml
            apart = partial(_taken_apart, document, text, now)
            given = await in_background_if_large(context.caller.id, apart, text or document)
            plan = await _plan(context, given, now)
        except Invalid as refused:
            issues = [issue.under(str(number)) for issue in refused.issues]
            where = f"Document {number + 1}"
            raise Invalid(issues, summary=f"{where}: {refused.summary}" if refused.summary else where) from refused
        key = plan.applied.key
        if key in seen:
            message = f"Two documents have the key `{key}`."
            raise Invalid([error((str(number), "key"), "duplicate_key", message)])
        seen.add(key)
        planned.append(plan)
    if dry_run:
        await context.commit_unchanged()
        return tuple(plan.applied for plan in planned)
    return await _write_all(context, planned)


def _taken_apart(document: dict[str, JSONValue], text: str | None, now: datetime) -> _Given:
    """Separate a definition from its triggers."""
    definition = {key: value for key, value in document.items() if key != TRIGGERS}
    if TRIGGERS not in document:
        return _Given(definition, text, None)
    entries, issues = read_triggers(document[TRIGGERS], now)
    return _Given(definition, None if text is None else without_key(text, TRIGGERS), entries, tuple(issues))


async def _plan(context: Context, given: _Given, now: datetime) -> _Planned:
    if given.triggers is not None and given.definition.keys() == {"key"}:
        if given.issues:
            raise Invalid(given.issues, summary="The triggers cannot be read")
        return await _plan_triggers_alone(context, str(given.definition["key"]), given.triggers, now)
    try:
        checked = await checked_definition(context, given.definition, given.text)
    except Invalid as refused:
        raise Invalid([*refused.issues, *given.issues], summary=refused.summary) from refused
    if given.issues:
        raise Invalid(given.issues, summary="The triggers cannot be read")
    found = await find_pipeline(context.services.store, checked.key)
    if found is not None and found.builtin:  # by its key or an earlier name
        raise key_taken(StarterNameError(checked.key, found.id, found.key))
    before, means = "", ""
    if found is not None:
        require_owner(context, found)
        body = (await context.services.versions.get(context, found)).body
        before, means = body.yaml, body.document
    after = checked.definition.yaml
    diff = await in_background_if_large(context.caller.id, partial(_diff, checked.key, before, after), before + after)
    is_same = not diff and (before == after or means == checked.definition.document)
    if not diff and not is_same:
        diff = ONLY_LINE_BREAKS
    action: ApplyAction = "create" if found is None else "keep" if is_same else "update"
    applied = AppliedDocument(checked.key, action, diff, found.id if found else None, checked.warnings)
    if given.triggers is None:
        return _Planned(applied, checked, found, None)
    unsaved = None if action == "keep" else _unsaved(context, checked, found, now)
    pipeline = found if unsaved is None else unsaved.pipeline
    assert pipeline is not None, "what is not saved is made here"
    triggers = await plan_triggers(context, given.triggers, pipeline, is_new=found is None, unsaved=unsaved, now=now)
    return _Planned(_with_triggers(applied, triggers), checked, found, triggers)


async def _plan_triggers_alone(context: Context, key: str, entries: list[TriggerEntry], now: datetime) -> _Planned:
    """Plan a document with nothing but a key and triggers, of a pipeline that the caller need not own."""
    found = await find_pipeline(context.services.store, key)
    if found is None:
        missing = await no_pipeline(context, key)
        raise Invalid([error(("key",), "not_found", missing.message, missing.hint)])
    triggers = await plan_triggers(context, entries, found, is_new=False, unsaved=None, now=now)
    return _Planned(
        _with_triggers(AppliedDocument(found.key, "keep", "", found.id, ()), triggers), None, found, triggers
    )


def _with_triggers(applied: AppliedDocument, plan: TriggersPlan) -> AppliedDocument:
    diff = _diff(f"{applied.key}: triggers", plan.before, plan.after)
    return replace(applied, diff=applied.diff + diff, triggers=plan.applied)


def _unsaved(context: Context, checked: CheckedDefinition, found: PipelineRecord | None, now: datetime) -> Unsaved:
    """Return a version as it will be saved, for the checks of triggers that start it."""
    heading, definition = checked.heading, checked.definition
    number = 1 if found is None else found.current_number + 1
    pipeline = found or PipelineRecord(
        id="pipe_new",
        key=heading.key,
        name=heading.name,
        description=heading.description,
        builtin=False,
        aliases=heading.aliases,
        owner_id=context.caller.id,
        current_number=number,
        metadata_json=heading.metadata_json,
        created_at=now,
        updated_at=now,
        deleted_at=None,
    )
    record = VersionRecord("pver_new", pipeline.id, number, definition.digest, None, context.caller.id, now)
    body = VersionBody(record.id, definition.document, definition.yaml, definition.input_schema)
    return Unsaved(pipeline, Version(record, body))


def _diff(key: str, before: str, after: str) -> str:
    """Return a line diff that ignores a line break at the end of the text.

    After a `|` that line break counts, so an empty diff does not prove that both mean the same.
    """
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), key, key, lineterm="")
    return "".join(f"{line}\n" for line in lines)


async def _write_all(context: Context, planned: Sequence[_Planned]) -> tuple[AppliedDocument, ...]:
    owner = context.caller.id
    creations = [None if plan.triggers is None else await prepare_creations(context, plan.triggers) for plan in planned]

    def saved(conn: Connection, plan: _Planned) -> str:
        """Save a pipeline; return its id."""
        if plan.checked is None or plan.applied.action == "keep":
            assert plan.found is not None, "only a pipeline that exists stays as it is"
            return plan.found.id
        heading, definition = plan.checked.heading, plan.checked.definition
        if plan.found is None:
            return create_pipeline(conn, heading, definition, owner_id=owner, note=None).pipeline_id
        number = plan.found.current_number
        return save_version(conn, plan.found.id, heading, definition, based_on=number, saved_by=owner).pipeline_id

    def unit(conn: Connection) -> list[AppliedDocument]:
        # A firing locks its trigger before its pipeline, so what changes triggers comes before what locks pipelines.
        for plan in planned:
            for change in () if plan.triggers is None else plan.triggers.changes:
                change(conn)
        done: list[AppliedDocument] = []
        for plan, create in zip(planned, creations, strict=True):
            pipeline_id = saved(conn, plan)
            triggers = () if create is None else create(conn, pipeline_id)
            done.append(replace(plan.applied, pipeline_id=pipeline_id, triggers=triggers))
        return done

    try:
        return tuple(await context.commit(unit))
    except KeyTakenError as taken:
        raise key_taken(taken) from taken
    except (StaleVersionError, NoPipelineError) as overtaken:
        raise Conflict(
            "Another request changed or deleted a pipeline while the documents were applied; nothing was saved.",
            current_id=overtaken.pipeline_id,
            hint="Apply again.",
        ) from overtaken


async def exported(
    context: Context, pipeline: PipelineRecord, version: Version, triggers: Sequence[TriggerRecord]
) -> str:
    """Write a pipeline as a document for `apply`: a version with the caller's triggers.

    Without the triggers if the caller could not apply it.
    """
    if not triggers or not may_change(context, pipeline):
        return version.body.yaml
    work = partial(_with_list, version.body, await written_triggers(context, triggers))
    return await in_background_if_large(context.caller.id, work, version.body.yaml)


def _with_list(body: VersionBody, listed: str) -> str:
    """Add a list of triggers to a definition, whose text stays as it is if a list can follow it."""
    joined = f"{body.yaml}{'' if body.yaml.endswith(chr(10)) else chr(10)}\n{listed}"
    triggers = load_document(listed)
    try:
        if load_document(joined) == {**load_document(body.yaml), **triggers}:
            return joined
    except DocumentError:
        pass  # such as a definition in braces
    return dump_yaml({**orjson.loads(body.document), **triggers})
