"""Finds steps of a resume or re-run that do not fit their packs, whose schemas have changed since the run.

The input of a step that reads only reused results is already known, so it is checked against its pack's model. For
other steps only misfits that follow from the schemas are reported.
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
    from resolvers.runs.target import Target
    from runner.definitions.compiled import CompiledPipeline, CompiledStep
    from runner.failures import JSONValue
    from runner.packs.pack import Pack
    from runner.resuming.plan import ResumePlan
    from store.runs.claim import Snapshot
    from store.runs.unit_types import ClaimedStep


def pack_of(context: Context, pipeline: CompiledPipeline, found: Snapshot, step: ClaimedStep) -> Pack | None:
    """Find the pack that would run a recorded step on this server; None if there is none."""
    resources = context.services.engine.resources
    return find_pack(resources.registry, pipeline, found.steps, step, resources.agents)


async def misfits_of_target(
    context: Context, found: Snapshot, target: Target, plan: ResumePlan, inputs: dict[str, JSONValue]
) -> list[Issue]:
    """Return where a definition does not fit the newest packs, for the steps a plan would run."""
    if target.version_id is None:
        return []
    versions = context.services.versions
    proved = await versions.misfits(context, target.version_id, target.document, target.input_schema)
    reused = _reused(plan)
    rows = {row.key: row for row in found.steps}
    steps = {step.key: step for step in target.compiled.steps}
    issues: list[Issue] = []
    for planned in plan.steps:
        step = steps.get(planned.key)  # None for a step of the run that the new definition no longer has
        if planned.action == "reuse" or step is None or planned.input_source == "given":  # checked elsewhere
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
    """Return steps to run whose recorded version is gone and whose substitute's output does not fit later steps."""
    if target.changed:
        return []
    registry = context.services.registry
    run = {step.key for step in plan.steps if step.action != "reuse"}
    issues: list[Issue] = []
    for row in found.steps:
        if row.key not in run or pack_of(context, target.compiled, found, row) is not None:
            continue
        if (why := misfit(registry, target.compiled, found.steps, row)) is not None:
            hint = f"Install {row.pack} {row.pack_version} again, or fix the pipeline and use its current definition."
            issues.append(error(("steps", row.key), "schema_mismatch", why, hint))
    return issues


async def misfits_of_substitutes(
    context: Context,
    found: Snapshot,
    target: Target,
    plan: ResumePlan,
    inputs: dict[str, JSONValue],
) -> list[Issue]:
    """Return where inputs of steps to run do not fit the versions that substitute for the recorded ones.

    Args:
        context: The caller's.
        found: The run.
        target: The run's own definition.
        plan: The planned resume.
        inputs: The run inputs to resume with.
    """
    reused = _reused(plan)
    rows = {row.key: row for row in found.steps}
    issues: list[Issue] = []
    proved: tuple[Issue, ...] | None = None
    for planned in plan.steps:
        key, source = planned.key, planned.input_source
        if source is None or source == "given":  # reused, or checked elsewhere
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
    other = f"install {row.pack} {row.pack_version} again, or fix the pipeline and use its current definition."
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
    """Return what a pack refuses in the exact input a step would give it."""
    try:
        value = resolved(context, found, target, step, inputs) if override is None else orjson.loads(override)
    except TemplateError as failed:
        issue = error((), "invalid_input", failed.failure.message, failed.failure.hint)
        return [issue.under("steps", step.key)]
    if not isinstance(value, dict):
        return [
            error(("steps", step.key, "input"), "wrong_type", f"The input is {shown(value)}; it must be an object.")
        ]
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
    """Resolve a step's input from recorded outputs; a session that would be recreated keeps its recorded id.

    Raises:
        TemplateError: A reference has no value.
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
