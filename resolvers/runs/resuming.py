"""Resumes and re-runs of runs, with their previews."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from resolvers.artifacts.unreadable import unreadable_inputs
from resolvers.operations import operation
from resolvers.permissions import changeable_run, readable_run
from resolvers.pipelines.start_checks import (
    concurrency_of,
    named,
    no_longer_fits,
    not_from_memory,
    oversized_inputs,
    refuse_bad_start,
    refuse_wrong_agent,
    resolved_steps,
    unavailable,
)
from resolvers.problems import Invalid, WrongState
from resolvers.runs.idempotency import request_digest
from resolvers.runs.proposals import (
    Proposal,
    changed_inputs,
    get_snapshot,
    given_inputs,
    input_issues,
    json_object,
    known_inputs,
    merged,
    propose,
    rerun_plan,
)
from resolvers.runs.starts import Labels, Started, find_replay, queue_full, start
from resolvers.runs.target import DefinitionChoice, target_of
from resolvers.tools import IDEMPOTENCY, RUN_ID, WAIT, Parameter, Tool
from runner.agents.definition import AGENT
from runner.definitions.preflight import preflight
from runner.issues import Hint, Issue, argument_error, error, has_errors
from runner.json_values import canonical_json, digest
from runner.resuming.plan import UNCHANGED, StepInputChange
from runner.running.run_log import log_resumed
from store.runs.unit_types import LostLeaseError, NewRun, NewStep, QueueFullError, Resume, ResumeStep, WrongStateError
from store.states import RunCause, RunState, Scope, predicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog.memory.learning import LearnedField
    from resolvers.context import Context
    from runner.failures import JSONValue
    from runner.resuming.plan import PlannedStep, ResumePlan
    from store.runs.claim import Snapshot


@dataclass(frozen=True, slots=True)
class Preview:
    """What a resume or re-run would do.

    Attributes:
        definition_changed: Whether the pipeline has a newer version than the run's.
        inputs: Masked JSON text of step inputs, by step; see `resolvers.runs.proposals.known_inputs`.
    """

    allowed: bool
    issues: tuple[Issue, ...]
    steps: tuple[PlannedStep, ...]
    definition_changed: bool
    inputs: dict[str, str]


@operation("preview_resume", scope=Scope.READ, kind="query")
async def preview_resume(
    context: Context,
    *,
    id: str,
    step_input: StepInputChange = UNCHANGED,
    inputs: JSONValue = None,
    definition: DefinitionChoice = DefinitionChoice.OF_RUN,
) -> Preview:
    """Show which steps a resume would reuse and run, and its external changes; changes nothing."""
    await readable_run(context, id)
    proposal = await propose(context, id, step_input, inputs, definition)
    lacking = tuple(
        error(("steps", *lack.steps[:1]), "unavailable", lack.message, lack.hint) for lack in proposal.missing
    )
    issues = (*proposal.plan.issues, *lacking)
    target, plan = proposal.target, proposal.plan
    known = known_inputs(context, proposal.found, target, plan, proposal.inputs, proposal.given)
    return Preview(not has_errors(issues), issues, plan.steps, target.newer, known)


@operation("preview_rerun", scope=Scope.READ, kind="query")
async def preview_rerun(
    context: Context,
    *,
    id: str,
    inputs: JSONValue = None,
    definition: DefinitionChoice = DefinitionChoice.OF_RUN,
    from_step: str | None = None,
) -> Preview:
    """Show which steps a re-run would reuse and run, and its external changes; changes nothing."""
    await readable_run(context, id)
    found = await get_snapshot(context, id)
    target = await target_of(context, found, definition)
    before: dict[str, JSONValue] = orjson.loads(found.inputs)
    values = merged(before, json_object(inputs, "inputs") if inputs is not None else {}, target)
    plan = await rerun_plan(context, found, target, before, values, from_step)
    check = context.requirement_check(found.pipeline_id)
    missing = preflight(target.compiled.steps, context.services.registry, check=check)
    issues = (
        *target.issues,
        *plan.issues,
        *(issue.under_argument("inputs") for issue in await input_issues(context, found, target, values)),
        *(error(("steps", *lack.steps[:1]), "unavailable", lack.message, lack.hint) for lack in missing),
    )
    known = known_inputs(context, found, target, plan, values, given_inputs(found, plan))
    return Preview(not has_errors(issues), issues, plan.steps, target.newer, known)


@operation(
    "resume_run",
    scope=Scope.RUN,
    kind="command",
    target="id",
    tool=Tool(
        title="Resume a run",
        description="Continues a failed or cancelled run at the step that failed, reusing the outputs of the "
        "steps that succeeded. Pass step_input or inputs to correct what was wrong.",
        open_world=True,
        parameters={"id": RUN_ID, "step_input": Parameter(nullable=True), "wait_seconds": WAIT},
    ),
)
async def resume_run(
    context: Context,
    *,
    id: str,
    step_input: StepInputChange = UNCHANGED,
    inputs: JSONValue = None,
    definition: DefinitionChoice = DefinitionChoice.OF_RUN,
    wait_seconds: int = 0,
) -> str:
    """Continue a run at the first step that has not succeeded; returns the run's id."""
    refuse_bad_start(context, None, None, wait_seconds, None)
    await changeable_run(context, id)
    proposal = await propose(context, id, step_input, inputs, definition)
    if any(issue.rule == "wrong_state" for issue in proposal.plan.issues):
        raise WrongState(
            f"Run {id} {predicate(proposal.found.state)}; only failed and cancelled runs can be resumed.",
            id,
            hint=_instead_of_resuming(proposal.found.state),
        )
    if not proposal.plan.allowed:
        raise Invalid(proposal.plan.issues, summary=f"Run {id} cannot be resumed like this")
    if proposal.missing:
        raise unavailable(proposal.missing)
    engine, change = context.services.engine, _change(context, proposal)
    try:
        await context.commit(lambda conn: engine.resume(conn, change))
    except WrongStateError as wrong_state:
        raise WrongState(
            f"Run {id} {predicate(wrong_state.state)}: another request changed it first.", id, hint="Get the run again."
        ) from wrong_state
    except QueueFullError as full:
        raise queue_full(full) from full
    log_resumed(id, context.caller.subject)
    if wait_seconds:
        await engine.wait_ended(id, wait_seconds)
    return id


def _instead_of_resuming(state: RunState) -> Hint:
    if state is RunState.SUCCEEDED:
        return Hint("It has no steps left to run. Start a new run instead.", operation="rerun_run")
    return Hint("Wait until it ends, or cancel it first.")


@operation(
    "rerun_run",
    scope=Scope.RUN,
    kind="command",
    target="id",
    tool=Tool(
        title="Run again",
        description="Starts a new run like an earlier one, optionally with changed inputs or from a later step. "
        "By default it uses the version of the earlier run, even if the pipeline has been deleted.",
        open_world=True,
        parameters={
            "id": RUN_ID,
            "wait_seconds": WAIT,
            "idempotency_key": IDEMPOTENCY,
            "force": Parameter(hidden=True),
            "agent": Parameter(description="Agent profile to use instead of the earlier run's."),
            "from_memory": Parameter(hidden=True),
        },
    ),
)
async def rerun_run(
    context: Context,
    *,
    id: str,
    inputs: JSONValue,
    from_memory: Sequence[LearnedField] = (),
    definition: DefinitionChoice = DefinitionChoice.OF_RUN,
    from_step: str | None = None,
    force: bool = False,
    agent: str | None = None,
    wait_seconds: int = 0,
    idempotency_key: str | None = None,
) -> Started:
    """Start a new run with the same inputs or changed ones; never coalesces."""
    refuse_bad_start(context, None, None, wait_seconds, idempotency_key)
    request = request_digest(idempotency_key, "rerun_run", id, inputs, definition, from_step, force, agent)
    if (earlier := await find_replay(context, idempotency_key, request, wait_seconds)) is not None:
        return earlier
    earlier_record = await readable_run(context, id)
    found = await get_snapshot(context, id)
    target = await target_of(context, found, definition)
    if has_errors(target.issues):
        raise Invalid(target.issues)
    before: dict[str, JSONValue] = orjson.loads(found.inputs)
    values = merged(before, json_object(inputs, "inputs"), target)
    issues = [*not_from_memory(values, from_memory), *await input_issues(context, found, target, values)]
    if issues:
        raise Invalid([issue.under_argument("inputs") for issue in issues], summary="The inputs do not fit")
    refuse_wrong_agent(context, target.compiled, agent)
    check = context.requirement_check(found.pipeline_id, agent=agent)
    steps: Sequence[NewStep] = resolved_steps(context, target.compiled, check, agent)
    if agent is None and not target.changed:
        steps = _with_same_agents(found, steps)
    warnings = target.issues
    text = canonical_json(values)
    wrong = oversized_inputs(target.compiled.steps, values, text, context.services.limits.step_input_bytes)
    if from_step is None and (wrong := wrong or await unreadable_inputs(context, target.compiled.steps, values, text)):
        raise Invalid(wrong, summary="The inputs do not fit")
    if from_step is None and target.version_id is not None:
        versions = context.services.versions
        if unfit := await versions.misfits(context, target.version_id, target.document, target.input_schema):
            raise no_longer_fits(f"Run {id}", unfit)
    if from_step is not None:
        plan = await rerun_plan(context, found, target, before, values, from_step)
        if not plan.allowed:
            raise Invalid(plan.issues, summary=f"Run {id} cannot be re-run from {from_step}")
        warnings += plan.issues
        steps = _with_reused(found, plan, steps)
    labels = Labels.of(context, values, title=found.title if values == before else None, name=target.compiled.name)
    declared = target.compiled.deadline_seconds if target.changed else None
    group, group_limit = concurrency_of(target.compiled, found.pipeline_id, values)
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
        from_memory=named(from_memory),
        concurrency_key=group,
        concurrency_limit=group_limit,
        chain_depth=earlier_record.chain_depth,
    )
    try:
        return await start(context, new, wait_seconds, warnings)
    except LostLeaseError as gone:
        raise Invalid([argument_error("from_step", "output_gone", str(gone))]) from gone


def _change(context: Context, proposal: Proposal) -> Resume:
    found, target, plan = proposal.found, proposal.target, proposal.plan
    rows = {row.key: row for row in found.steps}
    steps = tuple(
        ResumeStep(
            step_id=rows[step.key].id,
            state=rows[step.key].state,
            rerun=step.action != "reuse",
            input_override=proposal.given.get(step.key),
        )
        for step in plan.steps
        if step.key in rows
    )
    before: dict[str, JSONValue] = orjson.loads(found.inputs)
    change = Resume(run_id=found.run_id, based_on=found.resume_count, steps=steps)
    engine = context.services.engine
    again = [step.key for step in plan.steps if step.action != "reuse"]
    if changed_inputs(before, proposal.inputs):
        text = canonical_json(proposal.inputs)
        labels = Labels.changed(context, before, proposal.inputs, title=found.title, name=proposal.target.compiled.name)
        change = replace(
            change, inputs=text, inputs_digest=digest(text), title=labels.title, search_text=labels.search_text
        )
    if not target.changed:
        kept = (NewStep(key, rows[key].position, rows[key].pack, rows[key].pack_version) for key in again)
        return replace(change, needs=engine.needs_of(kept))
    check = context.requirement_check(found.pipeline_id, caller_id=found.caller_id)
    fresh = {step.key: step for step in resolved_steps(context, target.compiled, check)}
    return replace(
        change,
        needs=engine.needs_of(fresh[key] for key in again),
        version_id=target.version_id,
        added_steps=tuple(step for key, step in fresh.items() if key not in rows),
        retired_steps=tuple(row.id for key, row in rows.items() if key not in fresh),
        moved_steps={rows[key].id: step for key, step in fresh.items() if key in rows},
    )


def _with_same_agents(found: Snapshot, steps: Sequence[NewStep]) -> list[NewStep]:
    """Return the steps with the agent profiles and models of the earlier run."""
    selected = {row.key: row.pack_version for row in found.steps if row.pack == AGENT}
    return [step._replace(pack_version=selected.get(step.key, step.pack_version)) for step in steps]


def _with_reused(found: Snapshot, plan: ResumePlan, steps: Sequence[NewStep]) -> list[NewStep]:
    rows = {row.key: row for row in found.steps}
    reused = {step.key for step in plan.steps if step.action == "reuse"}
    given = given_inputs(found, plan)
    return [
        step._replace(reused_attempt=rows[step.key].attempt_id, reused_run=found.run_id)
        if step.key in reused
        else step._replace(input_override=given.get(step.key))
        for step in steps
    ]
