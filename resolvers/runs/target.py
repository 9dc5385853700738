"""Finds the definition that a resume or re-run uses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import orjson

from resolvers.pipelines.versions import compiled
from runner.issues import Issue, error, warning
from store.pipelines.reads import find_pipelines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resolvers.context import Context
    from runner.definitions.compiled import CompiledPipeline
    from runner.failures import JSONValue
    from store.runs.claim import Snapshot


class DefinitionChoice(StrEnum):
    """Which definition to use."""

    OF_RUN = "of_run"
    CURRENT = "current"


@dataclass(frozen=True, slots=True)
class Target:
    """The definition to resume or re-run with.

    Attributes:
        document: The definition, as stored.
        input_schema: JSON text of the run inputs' schema; None for a pack call.
        schema: The parsed schema.
        changed: Whether it differs from the run's own definition.
        newer: Whether the pipeline has a newer version than the run's.
        issues: Why the requested definition is not available, or a warning about it.
    """

    version_id: str | None
    document: str
    input_schema: str | None
    compiled: CompiledPipeline
    schema: Mapping[str, JSONValue] | None
    changed: bool
    newer: bool
    issues: tuple[Issue, ...] = ()


async def target_of(context: Context, found: Snapshot, choice: DefinitionChoice) -> Target:
    """Find the definition to use, and whether it differs from the run's."""
    schema = orjson.loads(found.input_schema) if found.input_schema else None
    own = Target(
        version_id=found.version_id,
        document=found.document,
        input_schema=found.input_schema,
        compiled=await compiled(context, found.document, found.input_schema),
        schema=schema,
        changed=False,
        newer=False,
    )
    if found.pipeline_id is None:
        return own
    pipeline = (await find_pipelines(context.services.store, [found.pipeline_id])).get(found.pipeline_id)
    if pipeline is None:
        return own
    if pipeline.deleted_at is not None:
        gone = f"The {'starter' if pipeline.builtin else 'pipeline'} {pipeline.key} is deleted"
        if choice is DefinitionChoice.OF_RUN:
            message = f"{gone}; the run's own version is used."
            return replace(own, issues=(warning(("definition",), "pipeline_deleted", message),))
        hint = "Use the run's own definition."
        message = f"{gone}; it has no current definition."
        return replace(own, issues=(error(("definition",), "pipeline_deleted", message, hint),))
    current = await context.services.versions.get(context, pipeline)
    if current.record.id == found.version_id:
        return own
    if choice is DefinitionChoice.OF_RUN:
        return replace(own, newer=True)
    return Target(
        version_id=current.record.id,
        document=current.body.document,
        input_schema=current.body.input_schema,
        compiled=await current.compiled(context),
        schema=current.input_schema,
        changed=True,
        newer=True,
    )
