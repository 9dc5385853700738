"""Which files a run was given or has made cannot be read, as far as they matter to what is to be run."""

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
    """Ids of the artifacts a text names."""
    return frozenset(_ARTIFACT_ID.findall(text or ""))


def may_name_artifacts(text: str) -> bool:
    """Whether a JSON text may hold a value that is the id of an artifact."""
    return '"art_' in text


async def gone_outputs(context: Context, found: Snapshot) -> frozenset[str]:
    """Artifacts that outputs of the run name and that are gone."""
    made = frozenset().union(*(mentioned(step.output) for step in found.steps))
    return await lost_artifacts(context.services.engine.resources, made)


def given_artifacts(found: Snapshot) -> frozenset[str]:
    """Artifacts that came from outside: no step of the run makes them."""
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
    """What is to be told of files that cannot be read and that a step which is to run is given as an input of the run.

    A step whose input was given at a resume reads none of those.

    Args:
        context: The caller's.
        pipeline: What is to be run.
        plan: Which of its steps are.
        values: The inputs.
        caller_id: Whose run it is: what belongs to others does not exist for it.
        is_whole: Whether the run is a new one from its first step, which is refused what `unreadable_inputs` tells.
    """
    runs = {step.key for step in plan.steps if step.input_source == "definition"}
    readers = _readers([step for step in pipeline.steps if step.key in runs], values)
    return await _unreadable(context, readers, values, caller_id, is_refused=is_whole)


async def unreadable_inputs(
    context: Context, steps: Sequence[CompiledStep], values: Mapping[str, JSONValue], text: str
) -> list[Issue]:
    """Refusals of a new run's inputs that are ids of files its caller cannot read; `text` is their canonical JSON.

    Nothing is read from the database where no value is such an id.
    """
    if not may_name_artifacts(text):
        return []
    found = await _unreadable(context, _readers(steps, values), values, context.caller.id, is_refused=True)
    return [issue for issue in found if issue.severity == "error"]


def _readers(steps: Sequence[CompiledStep], values: Mapping[str, JSONValue]) -> dict[str, str]:
    """The inputs that steps are given, each with the first such step."""
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
    """Files that are gone or in quarantine: warnings, since a text may name one without anything reading that.

    With `is_refused`, a value that is nothing but the id is an error.
    """
    named = {
        name: ids for name, value in values.items() if name in readers and (ids := mentioned(canonical_json(value)))
    }
    gone, quarantined = await unreadable_artifacts(
        context.services.engine.resources, frozenset().union(*named.values()), caller_id=caller_id
    )
    issues = []
    for name, ids in named.items():
        given = f"which the step `{readers[name]}` is given as `{name}`,"
        whole = _whole(values[name]) if is_refused else frozenset()
        if lost := ids & gone:
            exact = lost & whole
            make = error if exact else warning
            message = f"The artifact {min(exact or lost)}, {given} does not exist or is gone."
            issues.append(
                make(("inputs", name), "artifact_gone", message, f"Upload the file, and give its id as `{name}`.")
            )
        if held := ids & quarantined.keys():
            exact = held & whole
            make = error if exact else warning
            artifact_id = min(exact or held)
            message = f"The artifact {quarantined[artifact_id]} ({artifact_id}), {given} is in quarantine, because it "
            hint = "Have somebody who may manage look at it and release it, or give a file without the secret."
            issues.append(make(("inputs", name), "artifact_quarantined", f"{message}seems to hold a secret.", hint))
    return issues


def _whole(value: JSONValue) -> frozenset[str]:
    """Texts within a value that are nothing but the id of an artifact."""
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
