"""Which files a run was given or has made are gone, as far as they matter to what is to be run again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.document import canonical_json
from runner.issues import Issue, warning
from runner.lost_artifacts import lost_artifacts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resolvers.context import Context
    from runner.compiled import CompiledPipeline
    from runner.failures import JSONValue
    from runner.resume import ResumePlan
    from store.runs import Snapshot

_ARTIFACT_ID = re.compile(r"art_[0-9A-HJKMNP-TV-Z]{26}")


def mentioned(text: str | None) -> frozenset[str]:
    """Ids of the artifacts a text names."""
    return frozenset(_ARTIFACT_ID.findall(text or ""))


async def gone_outputs(context: Context, found: Snapshot) -> frozenset[str]:
    """Artifacts that outputs of the run name and that are gone."""
    made = frozenset().union(*(mentioned(step.output) for step in found.steps))
    return await lost_artifacts(context.services.engine.resources, made)


def given_artifacts(found: Snapshot) -> frozenset[str]:
    """Artifacts that came from outside: no step of the run makes them."""
    return mentioned(found.inputs) | mentioned(found.document)


async def gone_inputs(
    context: Context, pipeline: CompiledPipeline, plan: ResumePlan, values: Mapping[str, JSONValue]
) -> list[Issue]:
    """Warnings of files that are gone and that a step which is to run is given as an input of the run.

    No more than warnings: a text may name an artifact without anything reading that.
    """
    runs = {step.key for step in plan.steps if step.action != "reuse"}
    readers: dict[str, str] = {}
    for step in pipeline.steps:
        if step.key in runs:
            for name in values if step.template is None else step.reads_inputs:
                readers.setdefault(name, step.key)
    named = {
        name: ids for name, value in values.items() if name in readers and (ids := mentioned(canonical_json(value)))
    }
    gone = await lost_artifacts(context.services.engine.resources, frozenset().union(*named.values()))
    return [
        warning(
            ("inputs", name),
            "artifact_gone",
            f"The artifact {min(lost)}, which the step `{readers[name]}` is given as `{name}`, is gone.",
            f"Upload the file again, and give its new id as `{name}`.",
        )
        for name, ids in named.items()
        if (lost := ids & gone)
    ]
