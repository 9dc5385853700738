"""Finds files among a run's inputs and outputs that cannot be read any more but that its steps need."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.files.lost_artifacts import lost_artifacts, unreadable_artifacts
from runner.issues import Issue, error, warning
from runner.json_values import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from resolvers.context import Context
    from runner.definitions.compiled import CompiledPipeline, CompiledStep
    from runner.failures import JSONValue
    from runner.resuming.plan import ResumePlan
    from store.runs.claim import Snapshot

_ARTIFACT_ID = re.compile(r"art_[0-9A-HJKMNP-TV-Z]{26}")


def mentioned(text: str | None) -> frozenset[str]:
    """Return the ids of artifacts that a text mentions."""
    return frozenset(_ARTIFACT_ID.findall(text or ""))


def may_name_artifacts(text: str) -> bool:
    """Whether a JSON text may have a value that is an artifact's id."""
    return '"art_' in text


async def gone_outputs(context: Context, found: Snapshot) -> frozenset[str]:
    """Return ids of erased artifacts that outputs of the run mention."""
    made = frozenset().union(*(mentioned(step.output) for step in found.steps))
    return await lost_artifacts(context.services.engine.resources, made)


def given_artifacts(found: Snapshot) -> frozenset[str]:
    """Return ids of artifacts that came from outside, which no step of the run produces."""
    return mentioned(found.inputs) | mentioned(found.document)


async def gone_inputs(
    context: Context,
    pipeline: CompiledPipeline,
    plan: ResumePlan,
    values: Mapping[str, JSONValue],
    *,
    caller_id: str,
    is_whole: bool = False,
) -> list[Issue]:
    """Return issues for unreadable files among the run inputs that steps to run read.

    A step whose input was changed at a resume reads no run inputs.

    Args:
        context: The caller's.
        pipeline: The definition to run.
        plan: Which of its steps run.
        values: The run inputs.
        caller_id: The run's caller; files of other callers count as gone.
        is_whole: Whether this is a new run from its first step, which `unreadable_inputs` would refuse.
    """
    runs = {step.key for step in plan.steps if step.input_source == "definition"}
    readers = _readers([step for step in pipeline.steps if step.key in runs], values)
    return await _unreadable(context, readers, values, caller_id, is_refused=is_whole)


async def unreadable_inputs(
    context: Context, steps: Sequence[CompiledStep], values: Mapping[str, JSONValue], text: str
) -> list[Issue]:
    """Return errors for a new run's inputs that are ids of unreadable files; `text` is their canonical JSON.

    Does not read the database if no value is an id.
    """
    if not may_name_artifacts(text):
        return []
    found = await _unreadable(context, _readers(steps, values), values, context.caller.id, is_refused=True)
    return [issue for issue in found if issue.severity == "error"]


def _readers(steps: Sequence[CompiledStep], values: Mapping[str, JSONValue]) -> dict[str, str]:
    """Return the run inputs that steps read, each with the first such step."""
    readers: dict[str, str] = {}
    for step in steps:
        for name in values if step.template is None else step.reads_inputs:
            readers.setdefault(name, step.key)
    return readers


async def _unreadable(
    context: Context,
    readers: Mapping[str, str],
    values: Mapping[str, JSONValue],
    caller_id: str,
    *,
    is_refused: bool,
) -> list[Issue]:
    """Return issues for files that are gone or in quarantine.

    They are warnings, since a text may mention a file that no step reads. With `is_refused`, a value that is only the
    id is an error.
    """
    named = {
        name: ids for name, value in values.items() if name in readers and (ids := mentioned(canonical_json(value)))
    }
    gone, quarantined = await unreadable_artifacts(
        context.services.engine.resources, frozenset().union(*named.values()), caller_id=caller_id
    )
    issues = []
    for name, ids in named.items():
        given = f"which the step `{readers[name]}` gets as `{name}`,"
        whole = _whole(values[name]) if is_refused else frozenset()
        if lost := ids & gone:
            exact = lost & whole
            make = error if exact else warning
            message = f"The artifact {min(exact or lost)}, {given} does not exist or was erased."
            issues.append(
                make(("inputs", name), "artifact_gone", message, f"Upload the file and give its id as `{name}`.")
            )
        if held := ids & quarantined.keys():
            exact = held & whole
            make = error if exact else warning
            artifact_id = min(exact or held)
            message = f"The artifact {quarantined[artifact_id]} ({artifact_id}), {given} is quarantined, because it "
            hint = "Ask a user with the `manage` scope to release it, or give a file without the secret."
            issues.append(make(("inputs", name), "artifact_quarantined", f"{message}seems to contain a secret.", hint))
    return issues


def _whole(value: JSONValue) -> frozenset[str]:
    """Return texts within a value that are only the id of an artifact."""
    found: set[str] = set()
    pending = [value]
    while pending:
        match pending.pop():
            case dict() as each:
                pending.extend(each.values())
            case list() as each:
                pending.extend(each)
            case str() as text if _ARTIFACT_ID.fullmatch(text):
                found.add(text)
    return frozenset(found)
