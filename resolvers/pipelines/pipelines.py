"""Creates, updates, clones and deletes pipelines. Runs nothing: a definition is data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from resolvers.operations import operation
from resolvers.permissions import require_owner
from resolvers.pipelines.definitions import DefinitionText, checked_definition, document_of, object_of
from resolvers.pipelines.keys import free_key, key_taken
from resolvers.pipelines.versions import get_pipeline
from resolvers.problems import Conflict, Invalid, NotFound
from resolvers.tools import DEFINITION, Tool
from runner.issues import Hint, Issue, argument_error
from runner.json_values import forbidden_text
from store.pipelines.commands import (
    KeyTakenError,
    NoPipelineError,
    Saved,
    StaleVersionError,
    create_pipeline,
    delete_pipeline,
    save_version,
)
from store.states import Scope
from store.triggers.commands import pause_triggers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resolvers.context import Context
    from resolvers.pipelines.definitions import CheckedDefinition
    from runner.failures import JSONValue
    from store.database.dialects import Connection
    from store.pipelines.reads import PipelineRecord


@dataclass(frozen=True, slots=True)
class SavedPipeline:
    """A saved pipeline; `new_version` is false if nothing changed."""

    pipeline_id: str
    new_version: bool
    warnings: tuple[Issue, ...]


@operation(
    "create_pipeline",
    scope=Scope.WRITE,
    kind="command",
    tool=Tool(
        title="Create a pipeline",
        description="Creates a pipeline. Call check_pipeline first. Returns its key for run_pipeline.",
        parameters={"definition": DEFINITION},
    ),
)
async def create(context: Context, *, definition: DefinitionText, note: str | None = None) -> SavedPipeline:
    """Save a new pipeline with its first version."""
    checked = await checked_definition(context, await document_of(context, definition), definition.yaml)
    owner, about = context.caller.id, _note(note)
    try:
        saved = await context.commit(
            lambda conn: create_pipeline(conn, checked.heading, checked.definition, owner_id=owner, note=about),
            _pipeline_of,
        )
    except KeyTakenError as taken:
        raise key_taken(taken) from taken
    return SavedPipeline(saved.pipeline_id, True, checked.warnings)


@operation(
    "update_pipeline",
    scope=Scope.WRITE,
    kind="command",
    idempotent=True,
    target="pipeline",
    tool=Tool(
        title="Change a pipeline",
        description="Creates a new version of a pipeline from a complete definition, or from only the top-level "
        "keys that change.",
        toolset="author",
        parameters={"yaml": DEFINITION, "document": DEFINITION},
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
    """Save a new version of a pipeline: a whole definition, or the top-level keys that change."""
    found = await get_pipeline(context, pipeline)
    _refuse_starter(found)
    require_owner(context, found)
    if fields is not None:
        current = await context.services.versions.get(context, found)
        document: dict[str, JSONValue] = orjson.loads(current.body.document)
        changed = object_of(fields, "fields")
        document |= changed
        document = {key: value for key, value in document.items() if not (value is None and key in changed)}
        text = None
    else:
        assert definition is not None, "the API takes one or the other"
        document, text = await document_of(context, definition), definition.yaml
    document = {"key": found.key, **document}
    checked = await checked_definition(context, document, text)
    saved_by, about = context.caller.id, _note(note)

    def save(conn: Connection) -> Saved:
        heading, stored = checked.heading, checked.definition
        return save_version(conn, found.id, heading, stored, based_on=if_version, saved_by=saved_by, note=about)

    try:
        saved = await context.commit(save, _pipeline_of)
    except StaleVersionError as stale:
        raise Conflict(
            f"The pipeline {found.key} is at version {stale.current}; your change is based on {stale.based_on}.",
            current_id=found.id,
            hint="Get the current version, apply your change to it and save that.",
        ) from stale
    except KeyTakenError as taken:
        raise key_taken(taken) from taken
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
        description="Copies a pipeline, such as a starter, to a new one that you can change with update_pipeline.",
        toolset="author",
    ),
)
async def clone(context: Context, *, pipeline: str, key: str | None = None, name: str | None = None) -> SavedPipeline:
    """Copy a pipeline, which may be a starter, into one the caller owns."""
    found = await get_pipeline(context, pipeline)
    version = await context.services.versions.get(context, found)
    document: dict[str, JSONValue] = orjson.loads(version.body.document)
    document["name"] = name or f"Copy of {found.name}"
    owner = context.caller.id
    while True:
        document["key"] = key or await free_key(context, f"{found.key}-copy")
        checked = await checked_definition(context, document, None)

        def unit(conn: Connection, checked: CheckedDefinition = checked) -> Saved:
            return create_pipeline(conn, checked.heading, checked.definition, owner_id=owner)

        try:
            saved = await context.commit(unit)
        except KeyTakenError as taken:
            if key is not None:
                raise key_taken(taken) from taken
            continue  # another clone took the free key meanwhile
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
        description="Deletes a pipeline you own, so that no new runs can be started. Its runs are kept and can "
        "be resumed and re-run. Repeat its key in confirm_key.",
        toolset="author",
    ),
)
async def delete(context: Context, *, pipeline: str, confirm_key: str) -> str:
    """Delete a pipeline but keep its runs and versions, and pause its triggers; returns its id."""
    found = await get_pipeline(context, pipeline)
    _refuse_starter(found)
    require_owner(context, found)
    if confirm_key != found.key:
        message = f"The confirmation is `{confirm_key}`, but the pipeline's key is `{found.key}`."
        raise Invalid([argument_error("confirm_key", "confirmation", message, f"Give `{found.key}`.")])
    context.audit_target(found.id)

    def unit(conn: Connection) -> None:
        pause_triggers_of(conn, found.id, f"The pipeline {found.key} is deleted.")
        delete_pipeline(conn, found.id)

    await context.commit(unit)
    return found.id


def _pipeline_of(saved: Saved) -> str:
    return saved.pipeline_id


def _refuse_starter(pipeline: PipelineRecord) -> None:
    if pipeline.builtin:
        raise Conflict(
            f"{pipeline.id} is a starter that ships with Packline and is read-only.",
            current_id=pipeline.id,
            hint=Hint("Change a copy of it.", operation="clone_pipeline"),
        )


def _note(note: str | None) -> str | None:
    if note is None:
        return None
    if len(note) > 1000:
        raise Invalid([argument_error("note", "too_long", "The note exceeds the limit of 1000 characters.")])
    if unsafe := forbidden_text(note):
        raise Invalid([issue.under_argument("note") for issue in unsafe])
    return note
