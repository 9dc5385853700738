"""What a resume or a re-run would find not to fit: steps whose packs take something else than when they were recorded.

A step that reads reused results alone is given what is known by now, so it is held to what its pack takes, word for
word. Of the others only what can be proved from their schemas is reported.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import orjson

from resolvers.pipelines.start_checks import masked_issues, resolved_input_issues
from runner.definitions.background_compile import in_background_if_large
from runner.definitions.compatibility import misfits
from runner.definitions.step_inputs import SESSION_FIELD
from runner.definitions.step_packs import pack_of_step
from runner.issues import Hint, Issue, error, shown
from runner.resuming.substitute_packs import SubstitutePacks, find_pack, misfit
from runner.templates.templating import TemplateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resolvers.context import Context
    from resolvers.runs.proposals import Target
    from runner.definitions.compiled import CompiledPipeline, CompiledStep
    from runner.failures import JSONValue
    from runner.packs.pack import Pack
    from runner.resuming.plan import ResumePlan
    from store.runs.claim import Snapshot
    from store.runs.unit_types import ClaimedStep


def pack_of(context: Context, pipeline: CompiledPipeline, found: Snapshot, step: ClaimedStep) -> Pack | None:
    """The pack that runs a step of a recorded run here; None when there is none."""
    resources = context.services.engine.resources
    return find_pack(resources.registry, pipeline, found.steps, step, resources.agents)


async def misfits_of_target(
    context: Context, found: Snapshot, target: Target, plan: ResumePlan, inputs: dict[str, JSONValue]
) -> list[Issue]:
    """What of a definition does not fit the newest packs, for the steps a plan would run on them."""
    if target.version_id is None:
        return []
    versions = context.services.versions
    proved = await versions.misfits(context, target.version_id, target.document, target.input_schema)
    reused = _reused(plan)
    rows = {row.key: row for row in found.steps}
    steps = {step.key: step for step in target.compiled.steps}
    issues: list[Issue] = []
    for planned in plan.steps:
        step = steps.get(planned.key)  # a plan that takes the definition for another names steps of the run's own
        if planned.action == "reuse" or step is None or planned.input_source == "given":  # which is looked at elsewhere
            continue
        override = rows[step.key].input_override if planned.input_source == "given_earlier" else None
        if override is None and (step.agent is not None or not step.reads_steps or not step.reads_steps <= reused):
            issues += (issue for issue in proved if issue.path[1] == step.key)
            continue
        pack, row = pack_of_step(context.services.registry, step), rows.get(step.key)
        if pack is None or (row is not None and row.pack_version == pack.version and not target.changed):
            continue
        issues += _of_value(context, found, target, step, pack, inputs, override)
    return issues


def misfits_of_outputs(context: Context, found: Snapshot, target: Target, plan: ResumePlan) -> list[Issue]:
    """Steps to run whose recorded version is gone, where the one that is here in its place gives something else."""
    if target.changed:
        return []
    registry = context.services.registry
    run = {step.key for step in plan.steps if step.action != "reuse"}
    issues: list[Issue] = []
    for row in found.steps:
        if row.key not in run or pack_of(context, target.compiled, found, row) is not None:
            continue
        if (why := misfit(registry, target.compiled, found.steps, row)) is not None:
            hint = f"Install {row.pack} {row.pack_version} again, or mend the pipeline and take its current definition."
            issues.append(error(("steps", row.key), "schema_mismatch", why, hint))
    return issues


async def misfits_of_stand_ins(
    context: Context,
    found: Snapshot,
    target: Target,
    plan: ResumePlan,
    inputs: dict[str, JSONValue],
) -> list[Issue]:
    """What the versions that stand in for recorded ones refuse of what the steps to run would give them.

    Args:
        context: The caller's.
        found: The run.
        target: Its own definition.
        plan: What would be done.
        inputs: The run inputs it would go on with.
    """
    reused = _reused(plan)
    rows = {row.key: row for row in found.steps}
    issues: list[Issue] = []
    proved: tuple[Issue, ...] | None = None
    for planned in plan.steps:
        key, source = planned.key, planned.input_source
        if source is None or source == "given":  # reused, or looked at elsewhere
            continue
        step, row = target.compiled.step(key), rows[key]
        pack = None if step.agent is not None else pack_of(context, target.compiled, found, row)
        if pack is None or pack.version == row.pack_version:
            continue
        hint = _hint(row, first=key == plan.entry)
        override = row.input_override if source == "given_earlier" else None
        if override is not None or step.reads_steps <= reused:
            issues += _of_value(context, found, target, step, pack, inputs, override, hint)
            continue
        if proved is None:
            packs = SubstitutePacks(context.services.registry, target.compiled, found.steps)
            work = partial(misfits, found.document, found.input_schema, packs)
            proved = await in_background_if_large(context.caller.id, work, found.document)
        issues += (
            error(issue.path, "schema_mismatch", issue.message, hint) for issue in proved if issue.path[1] == key
        )
    return issues


def _reused(plan: ResumePlan) -> frozenset[str]:
    return frozenset(planned.key for planned in plan.steps if planned.action == "reuse")


def _hint(row: ClaimedStep, *, first: bool) -> str:
    other = f"install {row.pack} {row.pack_version} again, or mend the pipeline and take its current definition."
    return f"Change the input of this step, {other}" if first else f"{other[0].upper()}{other[1:]}"


def _of_value(
    context: Context,
    found: Snapshot,
    target: Target,
    step: CompiledStep,
    pack: Pack,
    inputs: dict[str, JSONValue],
    override: str | None = None,
    hint: Hint | str | None = None,
) -> list[Issue]:
    """What a pack refuses of the very input a step would give it."""
    try:
        value = resolved(context, found, target, step, inputs) if override is None else orjson.loads(override)
    except TemplateError as failed:
        issue = error((), "invalid_input", failed.failure.message, failed.failure.hint)
        return [issue.under("steps", step.key)]
    if not isinstance(value, dict):
        return [error(("steps", step.key, "input"), "wrong_type", f"The input is no object but {shown(value)}.")]
    return [
        error(
            ("steps", step.key, "input", *issue.path),
            issue.rule,
            f"Step `{step.key}` would run on {pack.name} {pack.version}, which does not take its input: "
            f"{issue.message}",
            hint or issue.hint,
        )
        for issue in masked_issues(context, partial(_refused, pack), value)
    ]


def _refused(pack: Pack, value: JSONValue) -> list[Issue]:
    return resolved_input_issues(pack, value) if isinstance(value, dict) else []


def resolved(
    context: Context, found: Snapshot, target: Target, step: CompiledStep, inputs: Mapping[str, JSONValue]
) -> JSONValue:
    """The input the step would resolve to; a session that would be recreated keeps its recorded id.

    Raises:
        TemplateError: a reference leads nowhere.
    """
    outputs: dict[str, JSONValue] = {}
    for row in found.steps:
        if row.key not in step.reads_steps or row.output is None:
            continue
        output = orjson.loads(row.output)
        if row.key in step.session_reads and isinstance(output, dict):
            output = {**output, SESSION_FIELD: row.session_id or ""}
        outputs[row.key] = output
    limit = context.services.limits.step_input_bytes
    return step.resolve(inputs, outputs, target.compiled.optional_inputs, limit_bytes=limit).value
