"""Going on with a run, and running it again: preview, resume and re-run (CONTRACT 2.5, 2.6, 2.8)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from resolvers.access import changeable_run, readable_run
from resolvers.operations import operation
from resolvers.problems import Invalid, NotFound, WrongState
from resolvers.starts import (
    Labels,
    Started,
    find_replay,
    masked_issues,
    pack_input_issues,
    queue_full,
    refuse_bad_start,
    request_digest,
    resolved_steps,
    start,
    unavailable,
)
from runner.availability import Requirement, preflight
from runner.compiled import CompiledPipeline, CompiledStep, compile_document
from runner.definition import parse_stored
from runner.definition_models import step_digest
from runner.document import canonical_json, digest
from runner.inputs import check_inputs, with_defaults
from runner.issues import Issue, error, has_errors, shown
from runner.preparation import find_pack
from runner.resume import PlannedStep, ResumePlan, StepSnapshot, plan_rerun, plan_resume
from runner.sessions import usable_sessions
from store.artifacts import gone_artifacts
from store.pipeline_reads import find_pipelines
from store.runs import (
    ClaimedStep,
    LostLeaseError,
    NewRun,
    NewStep,
    QueueFullError,
    Resume,
    ResumeStep,
    Snapshot,
    WrongStateError,
    snapshot,
)
from store.states import RunCause, Scope, StepState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from resolvers.context import Context
    from runner.failures import JSONValue
    from runner.pack import Pack

_ARTIFACT_ID = re.compile(r"art_[0-9A-HJKMNP-TV-Z]{26}")


class DefinitionChoice(StrEnum):
    """Which definition a run is to use."""

    OF_RUN = "of_run"
    CURRENT = "current"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a resume would do.

    Attributes:
        definition_changed: Whether the pipeline has a newer version than the run's.
    """

    allowed: bool
    issues: tuple[Issue, ...]
    steps: tuple[PlannedStep, ...]
    definition_changed: bool


@dataclass(frozen=True, slots=True)
class _Target:
    """The definition a run goes on with.

    Attributes:
        schema: Of the run inputs; None for a pack call.
        digests: `step_digest` by step key.
        changed: Whether it is another than the run's.
        newer: Whether the pipeline has a newer one than the run's.
        issues: Why the one asked for cannot be had.
    """

    version_id: str | None
    compiled: CompiledPipeline
    schema: Mapping[str, JSONValue] | None
    digests: Mapping[str, str]
    changed: bool
    newer: bool
    issues: tuple[Issue, ...] = ()


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A resume thought through, not yet done."""

    found: Snapshot
    target: _Target
    plan: ResumePlan
    inputs: dict[str, JSONValue] | None
    missing: tuple[Requirement, ...]


@operation("preview_resume", scope=Scope.READ, kind="query")
async def preview_resume(
    context: Context,
    *,
    id: str,
    step_input: JSONValue = None,
    inputs: JSONValue = None,
    definition: DefinitionChoice = DefinitionChoice.OF_RUN,
) -> Preview:
    """What a resume would reuse, run, and change outside; changes nothing."""
    await readable_run(context, id)
    proposal = await _propose(context, id, step_input, inputs, definition)
    lacking = tuple(
        error(("steps", *lack.steps[:1]), "unavailable", lack.message, lack.hint) for lack in proposal.missing
    )
    issues = (*proposal.plan.issues, *lacking)
    return Preview(not has_errors(issues), issues, proposal.plan.steps, proposal.target.newer)


@operation("preview_rerun", scope=Scope.READ, kind="query")
async def preview_rerun(
    context: Context,
    *,
    id: str,
    inputs: JSONValue = None,
    definition: DefinitionChoice = DefinitionChoice.OF_RUN,
    from_step: str | None = None,
) -> Preview:
    """What running again would reuse, run, and change outside; changes nothing."""
    await readable_run(context, id)
    found = await _snapshot(context, id)
    target = await _target(context, found, definition)
    before: dict[str, JSONValue] = orjson.loads(found.inputs)
    values = _merged(before, _object(inputs, "inputs") if inputs is not None else {}, target)
    plan = await _rerun_plan(context, found, target, _changed(before, values), from_step)
    missing = preflight(
        [(step.key, step.pack, step.version) for step in target.compiled.steps],
        context.services.registry,
        lacks=context.lacks(found.pipeline_id),
    )
    issues = (
        *target.issues,
        *plan.issues,
        *(issue.under("inputs") for issue in _input_issues(context, found, target, values)),
        *(error(("steps", *lack.steps[:1]), "unavailable", lack.message, lack.hint) for lack in missing),
    )
    return Preview(not has_errors(issues), issues, plan.steps, target.newer)


@operation("resume_run", scope=Scope.RUN, kind="command", target="id")
async def resume_run(
    context: Context,
    *,
    id: str,
    step_input: JSONValue = None,
    inputs: JSONValue = None,
    definition: DefinitionChoice = DefinitionChoice.OF_RUN,
    wait_seconds: int = 0,
) -> str:
    """Goes on in the same run at the first step that has not succeeded; the run's id."""
    refuse_bad_start(context, None, None, wait_seconds, None)
    await changeable_run(context, id)
    proposal = await _propose(context, id, step_input, inputs, definition)
    if any(issue.rule == "wrong_state" for issue in proposal.plan.issues):
        raise WrongState(
            f"Run {id} is {proposal.found.state}; only failed and cancelled runs can be resumed.",
            id,
            hint="Run it again instead, or wait until it has ended.",
        )
    if not proposal.plan.allowed:
        wrong = [issue for issue in proposal.plan.issues if issue.severity == "error"]
        raise Invalid(f"Run {id} cannot be resumed like this: {wrong[0].message}", proposal.plan.issues)
    if proposal.missing:
        raise unavailable(proposal.missing)
    try:
        await context.services.engine.resume(_change(context, proposal, step_input))
    except WrongStateError as wrong_state:
        raise WrongState(
            f"Run {id} is {wrong_state.state} by now: somebody else was faster.", id, hint="Look at it again."
        ) from wrong_state
    except QueueFullError as full:
        raise queue_full(full) from full
    if wait_seconds:
        await context.services.engine.wait_ended(id, wait_seconds)
    return id


@operation("rerun_run", scope=Scope.RUN, kind="command", target="id")
async def rerun_run(
    context: Context,
    *,
    id: str,
    inputs: JSONValue,
    definition: DefinitionChoice = DefinitionChoice.OF_RUN,
    from_step: str | None = None,
    force: bool = False,
    wait_seconds: int = 0,
    idempotency_key: str | None = None,
) -> Started:
    """Runs again: a new run with the same inputs or changed ones; never coalesces."""
    refuse_bad_start(context, None, None, wait_seconds, idempotency_key)
    request = request_digest("rerun_run", id, inputs, definition, from_step, force)
    if (earlier := await find_replay(context, idempotency_key, request, wait_seconds)) is not None:
        return earlier
    await readable_run(context, id)
    found = await _snapshot(context, id)
    target = await _target(context, found, definition)
    if target.issues:
        raise Invalid(target.issues[0].message, target.issues)
    before: dict[str, JSONValue] = orjson.loads(found.inputs)
    values = _merged(before, _object(inputs, "inputs"), target)
    if issues := _input_issues(context, found, target, values):
        raise Invalid(f"The inputs do not fit: {issues[0].message}", [issue.under("inputs") for issue in issues])
    steps: Sequence[NewStep] = resolved_steps(context, target.compiled, context.lacks(found.pipeline_id))
    warnings: tuple[Issue, ...] = ()
    if from_step is not None:
        plan = await _rerun_plan(context, found, target, _changed(before, values), from_step)
        if not plan.allowed:
            wrong = next(issue for issue in plan.issues if issue.severity == "error")
            raise Invalid(f"Run {id} cannot be re-run from {from_step}: {wrong.message}", plan.issues)
        warnings = plan.issues
        steps = _with_reused(found, plan, steps)
    text = canonical_json(values)
    labels = Labels.of(
        context, values, text, title=found.title if values == before else None, name=target.compiled.name
    )
    declared = target.compiled.deadline_seconds if target.changed else None
    new = NewRun(
        caller_id=context.caller.id,
        title=labels.title,
        cause=RunCause.RERUN if context.cause is RunCause.PERSON else context.cause,
        inputs=text,
        inputs_digest=digest(text),
        deadline_seconds=declared if declared is not None else found.deadline_seconds,
        steps=tuple(steps),
        pipeline_id=found.pipeline_id,
        version_id=target.version_id,
        pack=found.pack,
        document=found.document if found.pack is not None else None,
        client_name=context.client_name,
        rerun_of=id,
        force=force,
        idempotency_key=idempotency_key,
        request_digest=request,
        search_text=labels.search_text,
    )
    try:
        return await start(context, new, wait_seconds, warnings)
    except LostLeaseError as gone:
        raise Invalid(str(gone), [error(("from_step",), "output_gone", str(gone))]) from gone


# ------------------------------------------------------------------------------------------------ parts


async def _rerun_plan(
    context: Context, found: Snapshot, target: _Target, changed: frozenset[str], from_step: str | None
) -> ResumePlan:
    return plan_rerun(
        _snapshots(context, found),
        from_step=from_step,
        live_sessions=await _live(context, found),
        gone_artifacts=await _gone(context, found),
        changed_inputs=changed,
        new_steps=_fresh(context, target) if target.changed else None,
    )


async def _propose(
    context: Context, run_id: str, step_input: JSONValue, inputs: JSONValue, choice: DefinitionChoice
) -> _Proposal:
    found = await _snapshot(context, run_id)
    target = await _target(context, found, choice)
    before: dict[str, JSONValue] = orjson.loads(found.inputs)
    values = before if inputs is None and not target.changed else _merged(before, _object(inputs, "inputs"), target)
    plan = plan_resume(
        _snapshots(context, found),
        run_state=found.state,
        live_sessions=await _live(context, found),
        gone_artifacts=await _gone(context, found),
        changed_inputs=_changed(before, values),
        changed_step_input=step_input is not None,
        new_steps=_fresh(context, target) if target.changed else None,
    )
    issues = [*plan.issues, *target.issues]
    if values != before or target.changed:
        issues += [issue.under("inputs") for issue in _input_issues(context, found, target, values)]
    if step_input is not None:
        issues += _step_input_issues(context, found, target, plan, step_input)
    plan = ResumePlan(not has_errors(issues), tuple(issues), plan.steps)
    missing = _missing(context, found, target, plan) if plan.allowed else ()
    return _Proposal(found, target, plan, values if values != before else None, missing)


def _object(value: JSONValue, name: str) -> dict[str, JSONValue]:
    """An argument that has to be a JSON object; nothing given is an empty one.

    Raises:
        Invalid: it is something else.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        message = f"`{name}` is a JSON object, not {shown(value)}."
        raise Invalid(message, [error((name,), "wrong_type", message)])
    return value


async def _snapshot(context: Context, run_id: str) -> Snapshot:
    found = await context.services.store.write(snapshot, run_id)
    if found is None:
        raise NotFound("run", run_id)
    return found


async def _target(context: Context, found: Snapshot, choice: DefinitionChoice) -> _Target:
    """The definition to go on with, and whether it differs from the run's."""
    schema = orjson.loads(found.input_schema) if found.input_schema else None
    own = _Target(
        version_id=found.version_id,
        compiled=compile_document(found.document, found.input_schema),
        schema=schema,
        digests=_digests(found.document),
        changed=False,
        newer=False,
    )
    if found.pipeline_id is None:
        return own
    async with context.services.store.read() as connection:
        pipeline = (await find_pipelines(connection, [found.pipeline_id])).get(found.pipeline_id)
    if pipeline is None:
        return own
    if pipeline.deleted_at is not None:
        if choice is DefinitionChoice.OF_RUN:
            return own
        message = f"The pipeline {pipeline.key} is deleted; it has no current definition."
        hint = "Go on with the run's own definition."
        return replace(own, issues=(error(("definition",), "pipeline_deleted", message, hint),))
    current = await context.services.versions.get(context, pipeline)
    if current.record.id == found.version_id:
        return own
    if choice is DefinitionChoice.OF_RUN:
        return replace(own, newer=True)
    return _Target(
        version_id=current.record.id,
        compiled=current.compiled,
        schema=current.input_schema,
        digests=_digests(current.body.document),
        changed=True,
        newer=True,
    )


def _digests(document: str) -> dict[str, str]:
    definition, _ = parse_stored(orjson.loads(document))
    return {step.id: step_digest(step) for step in definition.steps} if definition is not None else {}


def _snapshots(context: Context, found: Snapshot) -> list[StepSnapshot]:
    """The steps of a run as they fared, by its own definition."""
    compiled = compile_document(found.document, found.input_schema)
    digests = _digests(found.document)
    return [
        replace(
            _pending(compiled.step(row.key), _pack_of(context, compiled, row), digests),
            position=row.position,
            state=row.state,
            produced_session=row.session_id,
            used_sessions=frozenset({row.session_used} if row.session_used else ()),
            mentioned_artifacts=frozenset(_ARTIFACT_ID.findall(row.output or "")),
        )
        for row in found.steps
    ]


def _fresh(context: Context, target: _Target) -> list[StepSnapshot]:
    """The steps of another definition, none of which has run."""
    registry = context.services.registry
    return [_pending(step, registry.find(step.pack, step.version), target.digests) for step in target.compiled.steps]


def _pending(step: CompiledStep, pack: Pack | None, digests: Mapping[str, str]) -> StepSnapshot:
    """A step that has not run; of a pack that is not installed the worst is assumed."""
    return StepSnapshot(
        key=step.key,
        position=step.position,
        state=StepState.PENDING,
        definition_digest=digests.get(step.key, ""),
        effects=pack.effects if pack else "external",
        repeatable=pack.repeatable if pack else False,
        preserves_session=pack.preserves_session if pack else False,
        takes_idempotency_key=pack.takes_idempotency_key if pack else False,
        uses_session=pack.uses_session if pack else False,
        reads_inputs=step.reads_inputs,
        reads_steps=step.reads_steps,
    )


def _pack_of(context: Context, pipeline: CompiledPipeline, step: ClaimedStep) -> Pack | None:
    return find_pack(context.services.registry, pipeline, step)


async def _live(context: Context, found: Snapshot) -> frozenset[str]:
    if not any(step.session_id for step in found.steps):
        return frozenset()
    return await usable_sessions(context.services.engine.resources, found.run_id)


async def _gone(context: Context, found: Snapshot) -> frozenset[str]:
    mentioned = {name for step in found.steps for name in _ARTIFACT_ID.findall(step.output or "")}
    if not mentioned:
        return frozenset()
    async with context.services.store.read() as connection:
        return await gone_artifacts(connection, sorted(mentioned))


def _merged(before: Mapping[str, JSONValue], changes: Mapping[str, JSONValue], target: _Target) -> dict[str, JSONValue]:
    """Inputs with the changes applied, null removing one, and the definition's defaults for what is absent."""
    merged = {**before, **changes}
    kept = {name: value for name, value in merged.items() if not (value is None and name in changes)}
    return with_defaults(target.schema, kept) if target.schema is not None else kept


def _changed(before: Mapping[str, JSONValue], after: Mapping[str, JSONValue]) -> frozenset[str]:
    names = before.keys() | after.keys()
    return frozenset(name for name in names if before.get(name, _MISSING) != after.get(name, _MISSING))


_MISSING: Any = object()


def _input_issues(context: Context, found: Snapshot, target: _Target, values: dict[str, JSONValue]) -> Sequence[Issue]:
    if target.schema is not None:
        return masked_issues(context, partial(check_inputs, target.schema), values)
    pack = _pack_of(context, target.compiled, found.steps[0])
    return masked_issues(context, partial(pack_input_issues, pack), values) if pack is not None else ()


def _step_input_issues(
    context: Context, found: Snapshot, target: _Target, plan: ResumePlan, step_input: JSONValue
) -> list[Issue]:
    """Whether a replaced input fits the step that failed."""
    key = next((step.key for step in plan.steps if step.action == "run"), None)
    compiled = next((step for step in target.compiled.steps if step.key == key), None)
    if compiled is None:
        return []
    row = next((step for step in found.steps if step.key == key), None)
    pack = (
        _pack_of(context, target.compiled, row)
        if row is not None and not target.changed
        else context.services.registry.find(compiled.pack, compiled.version)
    )
    if pack is None:
        return []
    issues = masked_issues(context, partial(pack_input_issues, pack), step_input)
    return [issue.under("step_input") for issue in issues]


def _missing(context: Context, found: Snapshot, target: _Target, plan: ResumePlan) -> tuple[Requirement, ...]:
    """What the steps a resume would run need and cannot have here.

    All steps are looked at, since a reused one may have left the session that a later one works in.
    """
    rows = {row.key: row for row in found.steps}
    steps: list[tuple[str, str, str | None]] = []
    for planned in plan.steps:
        step = target.compiled.step(planned.key)
        row = rows.get(step.key)
        version = step.version
        if row is not None and not target.changed:
            pack = _pack_of(context, target.compiled, row)
            version = pack.version if pack is not None else row.pack_version
        steps.append((step.key, step.pack, version))
    run = {planned.key for planned in plan.steps if planned.action != "reuse"}
    lacks = context.lacks(found.pipeline_id, caller_id=found.caller_id)
    return tuple(
        replace(lack, steps=concerned)
        for lack in preflight(steps, context.services.registry, lacks=lacks)
        if (concerned := tuple(key for key in lack.steps if key in run))
    )


def _change(context: Context, proposal: _Proposal, step_input: JSONValue) -> Resume:
    found, target, plan = proposal.found, proposal.target, proposal.plan
    rows = {row.key: row for row in found.steps}
    # None when every step has succeeded, as in a run cancelled after its last result: it only has to be ended.
    first = next((step.key for step in plan.steps if step.action == "run"), None)
    steps = tuple(
        ResumeStep(
            step_id=rows[step.key].id,
            state=rows[step.key].state,
            rerun=step.action != "reuse",
            input_override=canonical_json(step_input) if step_input is not None and step.key == first else None,
        )
        for step in plan.steps
        if step.key in rows
    )
    text = canonical_json(proposal.inputs) if proposal.inputs is not None else None
    change = Resume(
        run_id=found.run_id,
        based_on=found.resume_count,
        steps=steps,
        inputs=text,
        inputs_digest=digest(text) if text is not None else None,
    )
    if not target.changed:
        return change
    lacks = context.lacks(found.pipeline_id, caller_id=found.caller_id)
    fresh = {step.key: step for step in resolved_steps(context, target.compiled, lacks)}
    return Resume(
        run_id=found.run_id,
        based_on=found.resume_count,
        steps=steps,
        inputs=change.inputs,
        inputs_digest=change.inputs_digest,
        version_id=target.version_id,
        added_steps=tuple(step for key, step in fresh.items() if key not in rows),
        retired_steps=tuple(row.id for key, row in rows.items() if key not in fresh),
        moved_steps={rows[key].id: step for key, step in fresh.items() if key in rows},
    )


def _with_reused(found: Snapshot, plan: ResumePlan, steps: Sequence[NewStep]) -> list[NewStep]:
    rows = {row.key: row for row in found.steps}
    reused = {step.key for step in plan.steps if step.action == "reuse"}
    return [
        NewStep(step.key, step.position, step.pack, step.pack_version, rows[step.key].attempt_id, found.run_id)
        if step.key in reused
        else step
        for step in steps
    ]
