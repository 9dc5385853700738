"""Going on with a run, and running it again: preview, resume and re-run (CONTRACT 2.5, 2.6, 2.8)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import orjson

from resolvers.access import changeable_run, readable_run
from resolvers.operations import operation
from resolvers.problems import Conflict, Invalid, NotFound, WrongState
from resolvers.starts import (
    Started,
    pack_input_issues,
    queue_full,
    refuse_bad_start,
    refuse_missing,
    resolved_steps,
    search_text,
    start,
)
from runner.availability import Requirement, preflight
from runner.compiled import CompiledPipeline, compile_document
from runner.definition import parse_definition
from runner.definition_models import step_digest
from runner.document import canonical_json, digest, forbidden_text
from runner.inputs import check_inputs, run_title, with_defaults
from runner.issues import Issue, error, has_errors
from runner.resume import PlannedStep, ResumePlan, StepSnapshot, plan_rerun, plan_resume
from store.artifacts import gone_artifacts
from store.pipeline_reads import find_pipelines
from store.runs import (
    ClaimedStep,
    NewRun,
    NewStep,
    QueueFullError,
    Resume,
    ResumeStep,
    Snapshot,
    WrongStateError,
    snapshot,
)
from store.sessions import live_sessions
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
    """The definition a run goes on with."""

    version_id: str | None
    compiled: CompiledPipeline
    schema: Mapping[str, JSONValue] | None
    digests: Mapping[str, str]
    changed: bool
    newer: bool


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
    inputs: Mapping[str, JSONValue] | None = None,
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


@operation("resume_run", scope=Scope.RUN, kind="command", target="id")
async def resume_run(
    context: Context,
    *,
    id: str,
    step_input: JSONValue = None,
    inputs: Mapping[str, JSONValue] | None = None,
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
    refuse_missing(context, _remaining(proposal.target, proposal.plan))
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
    inputs: Mapping[str, JSONValue],
    definition: DefinitionChoice = DefinitionChoice.OF_RUN,
    from_step: str | None = None,
    force: bool = False,
    wait_seconds: int = 0,
    idempotency_key: str | None = None,
) -> Started:
    """Runs again: a new run with the same inputs or changed ones; never coalesces."""
    refuse_bad_start(context, None, None, wait_seconds, idempotency_key)
    await readable_run(context, id)
    found = await _snapshot(context, id)
    target = await _target(context, found, definition)
    before: dict[str, JSONValue] = orjson.loads(found.inputs)
    values = _merged(before, inputs)
    issues = _input_issues(context, found, target, values)
    if has_errors(issues):
        raise Invalid(f"The inputs do not fit: {issues[0].message}", issues)
    if target.schema is not None:
        values = with_defaults(target.schema, values)
    steps = list(resolved_steps(context, target.compiled))
    warnings: tuple[Issue, ...] = ()
    if from_step is not None:
        plan = plan_rerun(
            _snapshots(context, found, compile_document(found.document, found.input_schema), _digests(found.document)),
            from_step=from_step,
            live_sessions=await _live(context, found),
            gone_artifacts=await _gone(context, found),
            changed_inputs=_changed(before, values),
            new_steps=_fresh(context, target) if target.changed else None,
        )
        if not plan.allowed:
            raise Invalid(f"Run {id} cannot be re-run from {from_step}: {plan.issues[0].message}", plan.issues)
        warnings = plan.issues
        steps = _with_reused(found, plan, steps)
    caller = context.caller
    text = canonical_json(values)
    name = target.compiled.name
    title = context.services.redactor.text(found.title if values == before else run_title(name, values))
    new = NewRun(
        caller_id=caller.id,
        title=title,
        cause=RunCause.RERUN if context.cause is RunCause.PERSON else context.cause,
        inputs=text,
        inputs_digest=digest(text),
        deadline_seconds=target.compiled.deadline_seconds or found.deadline_seconds,
        steps=tuple(steps),
        pipeline_id=found.pipeline_id,
        version_id=target.version_id,
        pack=found.pack,
        document=found.document if found.pack is not None else None,
        client_name=context.client_name,
        rerun_of=id,
        force=force,
        idempotency_key=idempotency_key,
        request_digest=digest(canonical_json([id, dict(inputs), definition, from_step, force])),
        search_text=search_text(context, title, text),
    )
    return await start(context, new, wait_seconds, warnings)


# ------------------------------------------------------------------------------------------------ parts


async def _propose(
    context: Context,
    run_id: str,
    step_input: JSONValue,
    inputs: Mapping[str, JSONValue] | None,
    choice: DefinitionChoice,
) -> _Proposal:
    found = await _snapshot(context, run_id)
    target = await _target(context, found, choice)
    own = compile_document(found.document, found.input_schema)
    before: dict[str, JSONValue] = orjson.loads(found.inputs)
    values = _merged(before, inputs) if inputs else before
    plan = plan_resume(
        _snapshots(context, found, own, _digests(found.document)),
        run_state=found.state,
        live_sessions=await _live(context, found),
        gone_artifacts=await _gone(context, found),
        changed_inputs=_changed(before, values),
        changed_step_input=step_input is not None,
        new_steps=_fresh(context, target) if target.changed else None,
    )
    issues = [*plan.issues]
    if values != before:
        issues += [issue.under("inputs") for issue in _input_issues(context, found, target, values)]
    if step_input is not None:
        issues += _step_input_issues(context, found, target, plan, step_input)
    if target.changed:
        issues += _switch_issues(found, target)
    plan = ResumePlan(not has_errors(issues), tuple(issues), plan.steps)
    missing = preflight(_remaining(target, plan), context.services.registry)
    return _Proposal(found, target, plan, values if values != before else None, tuple(missing))


async def _snapshot(context: Context, run_id: str) -> Snapshot:
    found = await context.services.store.write(snapshot, run_id)
    if found is None:
        raise NotFound("run", run_id)
    return found


async def _target(context: Context, found: Snapshot, choice: DefinitionChoice) -> _Target:
    """The definition to go on with, and whether it differs from the run's."""
    compiled = compile_document(found.document, found.input_schema)
    schema = orjson.loads(found.input_schema) if found.input_schema else None
    if found.pipeline_id is None:
        return _Target(None, compiled, None, _digests(found.document), changed=False, newer=False)
    async with context.services.store.read() as connection:
        pipeline = (await find_pipelines(connection, [found.pipeline_id])).get(found.pipeline_id)
    newer = False
    if pipeline is not None:
        current = await context.services.versions.get(context, pipeline)
        newer = current.record.id != found.version_id
        if choice is DefinitionChoice.CURRENT and newer:
            if pipeline.deleted_at is not None:
                raise Conflict(
                    f"The pipeline {pipeline.key} is deleted; it has no current definition.",
                    current_id=pipeline.id,
                    hint="Go on with the run's own definition.",
                )
            return _Target(
                current.record.id,
                current.compiled,
                current.input_schema,
                _digests(current.body.document),
                changed=True,
                newer=True,
            )
    return _Target(found.version_id, compiled, schema, _digests(found.document), changed=False, newer=newer)


def _digests(document: str) -> dict[str, str]:
    definition, _ = parse_definition(orjson.loads(document))
    return {step.id: step_digest(step) for step in definition.steps} if definition is not None else {}


def _snapshots(
    context: Context, found: Snapshot, compiled: CompiledPipeline, digests: Mapping[str, str]
) -> list[StepSnapshot]:
    snapshots = []
    for row in found.steps:
        pack = _pack_of(context, row)
        step = compiled.step(row.key)
        snapshots.append(
            StepSnapshot(
                key=row.key,
                position=row.position,
                state=row.state,
                definition_digest=digests.get(row.key, ""),
                effects=pack.effects if pack else "none",
                repeatable=pack.repeatable if pack else False,
                preserves_session=pack.preserves_session if pack else False,
                takes_idempotency_key=pack.takes_idempotency_key if pack else False,
                uses_session=pack.uses_session if pack else False,
                produced_session=row.session_id,
                used_sessions=frozenset({row.session_used} if row.session_used else ()),
                mentioned_artifacts=frozenset(_ARTIFACT_ID.findall(row.output or "")),
                reads_inputs=step.reads_inputs,
                reads_steps=step.reads_steps,
            )
        )
    return snapshots


def _fresh(context: Context, target: _Target) -> list[StepSnapshot]:
    """The steps of another definition, none of which has run."""
    snapshots = []
    for step in target.compiled.steps:
        pack = context.services.registry.find(step.pack, step.version)
        snapshots.append(
            StepSnapshot(
                key=step.key,
                position=step.position,
                state=StepState.PENDING,
                definition_digest=target.digests.get(step.key, ""),
                effects=pack.effects if pack else "none",
                repeatable=pack.repeatable if pack else False,
                preserves_session=pack.preserves_session if pack else False,
                takes_idempotency_key=pack.takes_idempotency_key if pack else False,
                uses_session=pack.uses_session if pack else False,
                reads_inputs=step.reads_inputs,
                reads_steps=step.reads_steps,
            )
        )
    return snapshots


def _pack_of(context: Context, step: ClaimedStep) -> Pack | None:
    registry = context.services.registry
    return registry.find(step.pack, step.pack_version) or registry.find(step.pack, step.pack_version.split(".", 1)[0])


async def _live(context: Context, found: Snapshot) -> frozenset[str]:
    if not any(step.session_id for step in found.steps):
        return frozenset()
    store = context.services.store
    known = await store.write(live_sessions, found.run_id, store.machine)
    folder = context.services.engine.resources.sessions_folder
    return frozenset(session for session in known if (folder / session).is_dir())


async def _gone(context: Context, found: Snapshot) -> frozenset[str]:
    mentioned = {name for step in found.steps for name in _ARTIFACT_ID.findall(step.output or "")}
    if not mentioned:
        return frozenset()
    async with context.services.store.read() as connection:
        return await gone_artifacts(connection, sorted(mentioned))


def _merged(before: Mapping[str, JSONValue], changes: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Inputs with the changes applied; null removes one."""
    merged = {**before, **changes}
    return {name: value for name, value in merged.items() if not (value is None and name in changes)}


def _changed(before: Mapping[str, JSONValue], after: Mapping[str, JSONValue]) -> frozenset[str]:
    names = before.keys() | after.keys()
    return frozenset(name for name in names if before.get(name, _MISSING) != after.get(name, _MISSING))


_MISSING: Any = object()


def _input_issues(context: Context, found: Snapshot, target: _Target, values: dict[str, JSONValue]) -> Sequence[Issue]:
    if target.schema is not None:
        return check_inputs(target.schema, values)
    step = found.steps[0]
    pack = _pack_of(context, step)
    return pack_input_issues(pack, values) if pack is not None else ()


def _step_input_issues(
    context: Context, found: Snapshot, target: _Target, plan: ResumePlan, step_input: JSONValue
) -> list[Issue]:
    """Whether a replaced input fits the step that failed."""
    key = next((step.key for step in plan.steps if step.action == "run"), None)
    if key is None:
        return []
    if not isinstance(step_input, dict):
        return [error(("step_input",), "wrong_type", "The step's input must be an object.")]
    if unsafe := forbidden_text(step_input):
        return [issue.under("step_input") for issue in unsafe]
    row = next((step for step in found.steps if step.key == key), None)
    compiled = target.compiled.step(key)
    pack = (
        _pack_of(context, row)
        if row is not None and not target.changed
        else context.services.registry.find(compiled.pack, compiled.version)
    )
    return [issue.under("step_input") for issue in pack_input_issues(pack, step_input)] if pack is not None else []


def _switch_issues(found: Snapshot, target: _Target) -> list[Issue]:
    """Whether the run's recorded inputs fit the other definition."""
    if target.schema is None:
        return []
    return [issue.under("definition") for issue in check_inputs(target.schema, orjson.loads(found.inputs))]


def _remaining(target: _Target, plan: ResumePlan) -> list[tuple[str, str, str | None]]:
    steps = [target.compiled.step(step.key) for step in plan.steps if step.action != "reuse" and plan.allowed]
    return [(step.key, step.pack, step.version) for step in steps]


def _change(context: Context, proposal: _Proposal, step_input: JSONValue) -> Resume:
    found, target, plan = proposal.found, proposal.target, proposal.plan
    rows = {row.key: row for row in found.steps}
    first = next(step.key for step in plan.steps if step.action == "run")
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
    fresh = {step.key: step for step in resolved_steps(context, target.compiled)}
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
