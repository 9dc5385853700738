"""Pipelines: check, create, change, clone, delete, apply. A definition is data: nothing here runs anything."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import orjson

from resolvers.access import require_owner
from resolvers.agent_tools import with_tools_checked
from resolvers.operations import operation, write_audited
from resolvers.problems import Conflict, Invalid, NotFound
from resolvers.tools import DEFINITION, ISSUES, SAVED, Tool
from resolvers.versions import get_pipeline
from runner.check import Check, check_definition
from runner.definition import DefinitionLimits
from runner.definition_models import definition_document
from runner.document import (
    DocumentError,
    forbidden_text,
    load_document,
    load_documents,
)
from runner.inputs import check_inputs
from runner.issues import Issue, error, shown
from runner.preflight import CalledStep, preflight
from runner.stored_definition import stored_form
from store.pipeline_reads import PipelineRecord, find_pipeline
from store.pipelines import (
    Definition,
    Heading,
    KeyTakenError,
    NoPipelineError,
    Saved,
    StaleVersionError,
    create_pipeline,
    delete_pipeline,
    save_version,
)
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from resolvers.context import Context
    from runner.availability import Requirement
    from runner.failures import JSONValue
    from store.dialects import Connection


@dataclass(frozen=True, slots=True)
class DefinitionText:
    """A definition as given: YAML text, or a JSON document."""

    yaml: str | None = None
    document: Mapping[str, JSONValue] | None = None


@dataclass(frozen=True, slots=True)
class DefinitionCheck:
    """What checking a definition told.

    Attributes:
        document: The definition in normal form; None when it cannot be read.
        preflight: What it needs and cannot have here.
    """

    valid: bool
    issues: tuple[Issue, ...]
    input_schema: dict[str, JSONValue] | None
    document: dict[str, JSONValue] | None
    preflight: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class SavedPipeline:
    """A pipeline that was saved; `new_version` is false when nothing differed."""

    pipeline_id: str
    new_version: bool
    warnings: tuple[Issue, ...]


ApplyAction = Literal["create", "update", "keep"]


@dataclass(frozen=True, slots=True)
class AppliedDocument:
    """What applying one document does; `pipeline_id` is None while there is no pipeline."""

    key: str
    action: ApplyAction
    diff: str
    pipeline_id: str | None
    warnings: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class _Checked:
    """A definition fit to be saved."""

    key: str
    heading: Heading
    definition: Definition
    warnings: tuple[Issue, ...]


@operation(
    "check_pipeline",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Check a pipeline",
        description="Checks a definition without saving it: every issue with its path, the inputs a run would need, "
        "and what is missing here to run it.",
        select=f"valid issues {{ {ISSUES} }} inputSchema preflight {{ usable missing {{ message hint }} }}",
        parameters={"definition": DEFINITION},
    ),
)
async def check_pipeline(
    context: Context, *, definition: DefinitionText, inputs: Mapping[str, JSONValue] | None = None
) -> DefinitionCheck:
    """Whether a definition would be accepted and could run here; saves nothing."""
    try:
        document = _document(definition)
    except Invalid as refused:
        return DefinitionCheck(False, refused.issues, None, None, ())
    check = _check(context, document)
    issues = list(check.issues)
    if inputs is not None and check.input_schema is not None:
        issues += [issue.under("inputs") for issue in check_inputs(check.input_schema, dict(inputs))]
    missing: list[Requirement] = []
    if check.definition is not None:
        steps = [CalledStep(step.id, step.pack, step.version, step.agent) for step in check.definition.steps]
        missing = preflight(steps, context.services.registry, lacks=context.lacks())
    return DefinitionCheck(
        valid=check.valid,
        issues=tuple(issues),
        input_schema=check.input_schema,
        document=definition_document(check.definition) if check.definition is not None else None,
        preflight=tuple(missing),
    )


@operation(
    "create_pipeline",
    scope=Scope.WRITE,
    kind="command",
    tool=Tool(
        title="Create a pipeline",
        description="Saves a new pipeline; check_pipeline first. Returns its key for run_pipeline.",
        select=SAVED,
        lift="pipeline",
        parameters={"definition": DEFINITION},
    ),
)
async def create(context: Context, *, definition: DefinitionText, note: str | None = None) -> SavedPipeline:
    """Saves a new pipeline with its first version."""
    checked = _checked(context, _document(definition), definition.yaml)
    owner, about = context.caller.id, _note(note)
    try:
        saved = await write_audited(
            context,
            lambda conn: create_pipeline(conn, checked.heading, checked.definition, owner_id=owner, note=about),
            _pipeline_of,
        )
    except KeyTakenError as taken:
        raise _key_taken(taken) from taken
    return SavedPipeline(saved.pipeline_id, True, checked.warnings)


@operation(
    "update_pipeline",
    scope=Scope.WRITE,
    kind="command",
    idempotent=True,
    target="pipeline",
    tool=Tool(
        title="Change a pipeline",
        description="Saves a new version of a pipeline: a whole definition, or only the top-level keys that change.",
        select=SAVED,
        lift="pipeline",
        toolset="author",
    ),
)
async def update(
    context: Context,
    *,
    pipeline: str,
    if_version: int,
    definition: DefinitionText | None = None,
    fields: Mapping[str, JSONValue] | None = None,
    note: str | None = None,
) -> SavedPipeline:
    """Saves a new version of a pipeline: a whole definition, or its top-level keys that change."""
    found = await get_pipeline(context, pipeline)
    _refuse_starter(found)
    require_owner(context, found)
    if fields is not None:
        current = await context.services.versions.get(context, found)
        document: dict[str, JSONValue] = orjson.loads(current.body.document)
        changed = _object(fields, "fields")
        document |= changed
        document = {key: value for key, value in document.items() if not (value is None and key in changed)}
        text = None
    else:
        assert definition is not None, "the API takes one or the other"
        document, text = _document(definition), definition.yaml
    document = {"key": found.key, **document}
    checked = _checked(context, document, text)
    saved_by, about = context.caller.id, _note(note)

    def save(conn: Connection) -> Saved:
        heading, stored = checked.heading, checked.definition
        return save_version(conn, found.id, heading, stored, based_on=if_version, saved_by=saved_by, note=about)

    try:
        saved = await write_audited(context, save, _pipeline_of)
    except StaleVersionError as stale:
        raise Conflict(
            f"The pipeline {found.key} is at version {stale.current}; your change was made from {stale.based_on}.",
            current_id=found.id,
            hint="Read it again, apply your change to the current version and save that.",
        ) from stale
    except KeyTakenError as taken:
        raise _key_taken(taken) from taken
    except NoPipelineError as gone:  # deleted while the change was checked
        raise NotFound("pipeline", pipeline) from gone
    return SavedPipeline(found.id, saved.changed, checked.warnings)


@operation(
    "clone_pipeline",
    scope=Scope.WRITE,
    kind="command",
    target="pipeline",
    tool=Tool(
        title="Copy a pipeline",
        description="Copies a pipeline, starters included, into one you may change with update_pipeline.",
        select=SAVED,
        lift="pipeline",
        toolset="author",
    ),
)
async def clone(context: Context, *, pipeline: str, key: str | None = None, name: str | None = None) -> SavedPipeline:
    """Copies a pipeline, starters included, into one the caller owns."""
    found = await get_pipeline(context, pipeline)
    version = await context.services.versions.get(context, found)
    document: dict[str, JSONValue] = orjson.loads(version.body.document)
    document["name"] = name or f"Copy of {found.name}"
    document["key"] = key or await _free_key(context, f"{found.key}-copy")
    checked = _checked(context, document, None)
    owner = context.caller.id
    try:
        saved = await write_audited(
            context, lambda conn: create_pipeline(conn, checked.heading, checked.definition, owner_id=owner)
        )
    except KeyTakenError as taken:
        raise _key_taken(taken) from taken
    return SavedPipeline(saved.pipeline_id, True, checked.warnings)


@operation(
    "delete_pipeline",
    scope=Scope.WRITE,
    kind="command",
    idempotent=True,
    destructive=True,
    target="pipeline",
    tool=Tool(
        title="Delete a pipeline",
        description="Deletes a pipeline you own; its runs stay. Its key must be given twice.",
        select="deletedId",
        toolset="author",
    ),
)
async def delete(context: Context, *, pipeline: str, confirm_key: str) -> str:
    """Deletes a pipeline; its runs and versions stay. The deleted pipeline's id."""
    found = await get_pipeline(context, pipeline)
    _refuse_starter(found)
    require_owner(context, found)
    if confirm_key != found.key:
        raise Invalid(
            f"confirm_key is `{confirm_key}`, but the pipeline's key is `{found.key}`.",
            [error(("confirm_key",), "confirmation", "It must repeat the pipeline's key.", f"Give `{found.key}`.")],
        )
    await write_audited(context, lambda conn: delete_pipeline(conn, found.id), lambda _: found.id)
    return found.id


@operation(
    "apply_pipelines",
    scope=Scope.WRITE,
    kind="command",
    idempotent=True,
    tool=Tool(
        title="Apply pipeline documents",
        description="Makes pipelines what YAML documents say, all or none; dry_run tells the difference first.",
        select="changes { key action diff }",
        toolset="author",
    ),
)
async def apply(context: Context, *, yaml: str, dry_run: bool = False) -> tuple[AppliedDocument, ...]:
    """Makes pipelines what the documents say, all or none; applying twice changes nothing."""
    try:
        documents = load_documents(yaml)
    except DocumentError as refused:
        raise _unreadable(refused) from refused
    if not documents:
        raise Invalid("There is no document to apply.", [error((), "empty", "The YAML text holds no document.")])
    planned: list[tuple[AppliedDocument, _Checked, PipelineRecord | None]] = []
    seen: set[str] = set()
    for number, document in enumerate(documents):
        try:
            checked = _checked(context, document, yaml if len(documents) == 1 else None)
        except Invalid as refused:
            issues = [issue.under(str(number)) for issue in refused.issues]
            raise Invalid(f"Document {number + 1}: {refused.message}", issues) from refused
        if checked.key in seen:
            raise Invalid(
                f"Two documents have the key `{checked.key}`.",
                [error((str(number), "key"), "duplicate_key", "Each document needs a key of its own.")],
            )
        seen.add(checked.key)
        planned.append(await _plan(context, checked))
    if dry_run:
        return tuple(applied for applied, _, _ in planned)
    saved = await _write_all(context, planned)
    return tuple(
        replace(applied, pipeline_id=result.pipeline_id if result is not None else applied.pipeline_id)
        for (applied, _, _), result in zip(planned, saved, strict=True)
    )


# ------------------------------------------------------------------------------------------------ parts


def _document(definition: DefinitionText) -> dict[str, JSONValue]:
    if definition.yaml is not None:
        try:
            return load_document(definition.yaml)
        except DocumentError as refused:
            raise _unreadable(refused) from refused
    document = _object(definition.document, "definition")
    if unsafe := forbidden_text(document):
        raise Invalid(unsafe[0].message, unsafe)
    return document


def _object(value: object, name: str) -> dict[str, JSONValue]:
    """A JSON value from outside that has to be an object."""
    if not isinstance(value, Mapping):
        message = f"It must be a JSON object, not {shown(value)}."
        raise Invalid(f"The {name} cannot be read: {message}", [error((), "unreadable", message)])
    return dict(value)


def _unreadable(refused: DocumentError) -> Invalid:
    return Invalid(f"The definition cannot be read: {refused}", [error((), "unreadable", str(refused))])


def _check(context: Context, document: Mapping[str, JSONValue]) -> Check:
    limits = DefinitionLimits(max_steps=context.services.limits.steps)
    return with_tools_checked(check_definition(document, context.services.registry, limits=limits))


def _checked(context: Context, document: Mapping[str, JSONValue], text: str | None) -> _Checked:
    check = _check(context, document)
    if not check.valid or check.definition is None:
        wrong = next(issue for issue in check.issues if issue.severity == "error")
        where = ".".join(wrong.path)
        raise Invalid(f"The definition is not valid at {where or 'its top'}: {wrong.message}", check.issues)
    heading, definition = stored_form(check.definition, check.input_schema, context.services.registry, text=text)
    return _Checked(check.definition.key, heading, definition, check.issues)


def _pipeline_of(saved: Saved) -> str:
    return saved.pipeline_id


def _refuse_starter(pipeline: PipelineRecord) -> None:
    if pipeline.builtin:
        raise Conflict(
            f"{pipeline.id} is a starter that ships with Packline: it is read-only.",
            current_id=pipeline.id,
            hint="Clone it and change the copy.",
        )


def _key_taken(taken: KeyTakenError) -> Conflict:
    return Conflict(
        f"The key `{taken.key}` belongs to another pipeline.",
        current_id=taken.pipeline_id,
        hint="Choose another key, or change that pipeline.",
    )


def _note(note: str | None) -> str | None:
    if note is None:
        return None
    if len(note) > 1000:
        raise Invalid("The note is too long.", [error(("note",), "too_long", "A note has at most 1000 characters.")])
    if unsafe := forbidden_text(note):
        raise Invalid(unsafe[0].message, [issue.under("note") for issue in unsafe])
    return note


async def _free_key(context: Context, wanted: str) -> str:
    base = wanted[:60]
    key, number = base, 1
    while await find_pipeline(context.services.store, key) is not None:
        number += 1
        key = f"{base}-{number}"
    return key


async def _plan(context: Context, checked: _Checked) -> tuple[AppliedDocument, _Checked, PipelineRecord | None]:
    found = await find_pipeline(context.services.store, checked.key)
    if found is not None and (found.builtin or found.key != checked.key):
        found = None  # a starter's key, or an alias, may be taken by a user's pipeline
    before = ""
    if found is not None:
        require_owner(context, found)
        before = (await context.services.versions.get(context, found)).body.yaml
    after = checked.definition.yaml
    diff = "".join(
        difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), checked.key, checked.key
        )
    )
    action: ApplyAction = "create" if found is None else "update" if diff else "keep"
    applied = AppliedDocument(checked.key, action, diff, found.id if found else None, checked.warnings)
    return applied, checked, found


async def _write_all(
    context: Context, planned: Sequence[tuple[AppliedDocument, _Checked, PipelineRecord | None]]
) -> list[Saved | None]:
    owner = context.caller.id

    def unit(conn: Connection) -> list[Saved | None]:
        saved: list[Saved | None] = []
        for applied, checked, found in planned:
            if applied.action == "keep":
                saved.append(None)
            elif found is None:
                saved.append(create_pipeline(conn, checked.heading, checked.definition, owner_id=owner, note=None))
            else:
                saved.append(
                    save_version(
                        conn,
                        found.id,
                        checked.heading,
                        checked.definition,
                        based_on=found.current_number,
                        saved_by=owner,
                    )
                )
        return saved

    try:
        return await write_audited(context, unit)
    except KeyTakenError as taken:
        raise _key_taken(taken) from taken
    except StaleVersionError as stale:
        raise Conflict(
            "A pipeline was changed while the documents were applied; nothing was saved.",
            current_id=stale.pipeline_id,
            hint="Apply again.",
        ) from stale
