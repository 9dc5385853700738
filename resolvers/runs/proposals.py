"""Plans resumes and re-runs for preview and command: the definition, the inputs, the steps to run, and the issues."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import orjson

from resolvers.artifacts.unreadable import given_artifacts, gone_inputs, gone_outputs, mentioned
from resolvers.pipelines.start_checks import found_issues, given_issues, pack_call_issues, pack_input_issues
from resolvers.pipelines.versions import compiled
from resolvers.problems import Invalid, NotFound
from resolvers.runs.misfits import misfits_of_outputs, misfits_of_substitutes, misfits_of_target, pack_of, resolved
from resolvers.runs.target import DefinitionChoice, Target, target_of
from runner.agents.behaviour import Behaviour
from runner.agents.profiles import Selection
from runner.definitions.inputs import check_inputs, with_defaults
from runner.definitions.preflight import StandaloneStep, preflight
from runner.definitions.step_inputs import SESSION_FIELD, without_session
from runner.definitions.step_packs import pack_of_step
from runner.issues import Hint, Issue, error, has_errors, shown, warning
from runner.json_values import canonical_json, comparable_json
from runner.resuming.plan import UNCHANGED, ResumePlan, StepInputChange, plan_rerun, plan_resume
from runner.resuming.sessions import usable_sessions
from runner.resuming.step_snapshots import StepSnapshot
from runner.schemas.defaults import DefaultsError
from runner.templates.templating import TemplateError
from store.runs.claim import Snapshot, snapshot
from store.runs.transcripts import entries_after
from store.states import StepState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from resolvers.context import Context
    from runner.failures import JSONValue
    from runner.packs.availability import Requirement


@dataclass(frozen=True, slots=True)
class Proposal:
    """A planned resume.

    Attributes:
        inputs: The run inputs to resume with.
        given: JSON text of the step inputs that replace those from the definition, by step.
    """

    found: Snapshot
    target: Target
    plan: ResumePlan
    inputs: dict[str, JSONValue]
    given: dict[str, str]
    missing: tuple[Requirement, ...]


async def rerun_plan(
    context: Context,
    found: Snapshot,
    target: Target,
    before: Mapping[str, JSONValue],
    values: dict[str, JSONValue],
    from_step: str | None,
) -> ResumePlan:
    """Plan a re-run from a step; `before` and `values` are the earlier run's inputs and the new ones."""
    plan = plan_rerun(
        await _snapshots(context, found),
        from_step=from_step,
        gone_artifacts=await gone_outputs(context, found),
        given_artifacts=given_artifacts(found),
        changed_inputs=changed_inputs(before, values),
        new_steps=_fresh(context, target) if target.changed else None,
    )
    issues = (
        *plan.issues,
        *await misfits_of_target(context, found, target, plan, values),
        *await gone_inputs(
            context, target.compiled, plan, values, caller_id=context.caller.id, is_whole=from_step is None
        ),
    )
    return ResumePlan(not has_errors(issues), issues, plan.steps)


async def propose(
    context: Context,
    run_id: str,
    step_input: StepInputChange,
    inputs: JSONValue,
    choice: DefinitionChoice,
) -> Proposal:
    """Plan a resume with these changes, with every issue and everything missing; changes nothing.

    Raises:
        NotFound: The run does not exist.
        Invalid: `inputs` is not a JSON object.
    """
    found = await get_snapshot(context, run_id)
    target = await target_of(context, found, choice)
    before: dict[str, JSONValue] = orjson.loads(found.inputs)
    values = before if inputs is None and not target.changed else merged(before, json_object(inputs, "inputs"), target)
    step_input = _without_its_session(found, target, step_input)
    changed = changed_inputs(before, values)
    plan = plan_resume(
        await _snapshots(context, found),
        run_state=found.state,
        live_sessions=await _live(context, found),
        gone_artifacts=await gone_outputs(context, found),
        given_artifacts=given_artifacts(found),
        changed_inputs=changed,
        step_input=step_input,
        new_steps=_fresh(context, target) if target.changed else None,
    )
    issues = [*plan.issues, *target.issues, *misfits_of_outputs(context, found, target, plan)]
    issues += (
        await misfits_of_target(context, found, target, plan, values)
        if target.changed
        else await misfits_of_substitutes(context, found, target, plan, values)
    )
    issues += await _changed_profiles(context, found, target, plan)
    issues += await gone_inputs(context, target.compiled, plan, values, caller_id=found.caller_id)
    if changed or target.changed:
        issues += [issue.under_argument("inputs") for issue in await input_issues(context, found, target, values)]
    if plan.allowed and plan.entry is not None and step_input is not UNCHANGED and step_input is not None:
        issues += _step_input_issues(context, found, target, plan.entry, step_input)
    plan = replace(plan, allowed=not has_errors(issues), issues=tuple(issues))
    missing = _missing(context, found, target, plan) if plan.allowed else ()
    return Proposal(found, target, plan, values, given_inputs(found, plan, step_input), missing)


def given_inputs(found: Snapshot, plan: ResumePlan, step_input: StepInputChange = UNCHANGED) -> dict[str, str]:
    """Return the JSON text of step inputs that replace those from the definition, by step."""
    earlier = {row.key: row.input_override for row in found.steps}
    texts = {step.key: earlier[step.key] for step in plan.steps if step.input_source == "given_earlier"}
    if plan.entry is not None and step_input is not UNCHANGED and step_input is not None:
        texts[plan.entry] = canonical_json(step_input)
    return {key: text for key, text in texts.items() if text is not None}


def known_inputs(
    context: Context,
    found: Snapshot,
    target: Target,
    plan: ResumePlan,
    values: Mapping[str, JSONValue],
    given: Mapping[str, str],
) -> dict[str, str]:
    """Return the masked JSON text of inputs of the steps to run, by step, except those that read another such step."""
    reused = {step.key for step in plan.steps if step.action == "reuse"}
    steps = {step.key: step for step in target.compiled.steps}
    known: dict[str, str] = {}
    for planned in plan.steps:
        step = steps.get(planned.key)
        if (text := given.get(planned.key)) is not None:
            value = orjson.loads(text)
        elif planned.input_source is not None and step is not None and step.reads_steps <= reused:
            try:
                value = resolved(context, found, target, step, values)
            except TemplateError:  # reported as an issue, and by the step when it runs
                continue
        else:
            continue
        known[planned.key] = canonical_json(context.services.redactor.value(value))
    return known


def _without_its_session(found: Snapshot, target: Target, step_input: StepInputChange) -> StepInputChange:
    """Remove `_session_id` from a step input if it names the session that the step gets anyway.

    Attempts show the session, and changed inputs are often edited copies. A recreated session has another id.
    """
    if not isinstance(step_input, dict) or SESSION_FIELD not in step_input:
        return step_input
    kept = list(itertools.takewhile(lambda row: row.state is StepState.SUCCEEDED, found.steps))
    entry = found.steps[len(kept)] if len(kept) < len(found.steps) else None
    step = next((step for step in target.compiled.steps if entry is not None and step.key == entry.key), None)
    own: list[str | None] = []
    earlier = orjson.loads(entry.input_override) if entry is not None and entry.input_override is not None else None
    if entry is not None and not (isinstance(earlier, dict) and SESSION_FIELD in earlier):
        own.append(entry.session_used)
    if step is None or step.session is None:
        own.append(next((row.session_id for row in reversed(kept) if row.session_id is not None), None))
    named = step_input[SESSION_FIELD]
    return without_session(step_input) if named is not None and named in own else step_input


def json_object(value: JSONValue, name: str) -> dict[str, JSONValue]:
    """Return an argument that must be a JSON object; null counts as an empty one.

    Raises:
        Invalid: It is not an object.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        message = f"`{name}` must be a JSON object, not {shown(value)}."
        raise Invalid([error((name,), "wrong_type", message)])
    return value


async def get_snapshot(context: Context, run_id: str) -> Snapshot:
    """Read a run and the states of its steps in one snapshot.

    Raises:
        NotFound: It does not exist.
    """
    found = await context.services.store.snapshot(snapshot, run_id)
    if found is None:
        raise NotFound("run", run_id)
    return found


async def _snapshots(context: Context, found: Snapshot) -> list[StepSnapshot]:
    """Return the recorded steps of a run, by its own definition."""
    pipeline = await compiled(context, found.document, found.input_schema)
    registry = context.services.registry
    return [
        replace(
            StepSnapshot.pending(
                pipeline.step(row.key),
                pack_of(context, pipeline, found, row),
                other=registry.find(row.pack),
            ).with_state(row, row.state),
            mentioned_artifacts=mentioned(row.output),
        )
        for row in found.steps
    ]


def _fresh(context: Context, target: Target) -> list[StepSnapshot]:
    """Return the steps of another definition, none of which has run."""
    registry = context.services.registry
    return [StepSnapshot.pending(step, pack_of_step(registry, step)) for step in target.compiled.steps]


async def _changed_profiles(context: Context, found: Snapshot, target: Target, plan: ResumePlan) -> list[Issue]:
    """Warn about agent steps to run whose profile has changed since their last attempt, as its transcript shows."""
    agents = context.services.engine.resources.agents
    run = {step.key for step in plan.steps if step.action != "reuse"}
    agent_steps = {step.key for step in target.compiled.steps if step.agent is not None}
    issues: list[Issue] = []
    for row in found.steps:
        profile = agents.profiles.get(Selection.parse(row.pack_version).profile)
        if row.key not in run & agent_steps or row.attempt_id is None or profile is None:
            continue
        first = await entries_after(context.services.store, row.attempt_id, 0, limit=1)
        data = first[0].get("data") if first else None
        now = await asyncio.to_thread(Behaviour.of, profile)
        if changed := now.differs(data.get("behaviour") if isinstance(data, dict) else None):
            what = f"The agent profile `{profile.key}` has changed since the last attempt of step {row.key}:"
            hint = "The next attempt uses the profile as it is now. To change that, edit the profile first."
            issues.append(warning(("steps", row.key), "profile_changed", f"{what} {', '.join(changed)}.", hint))
    return issues


async def _live(context: Context, found: Snapshot) -> frozenset[str]:
    if not any(step.session_id for step in found.steps):
        return frozenset()
    return frozenset(await usable_sessions(context.services.engine.resources, found.run_id))


def merged(before: Mapping[str, JSONValue], changes: Mapping[str, JSONValue], target: Target) -> dict[str, JSONValue]:
    """Apply changes to inputs, null removing one, and fill in the definition's defaults.

    Inputs recorded with the same definition stay as they are, since steps have read them.

    Raises:
        Invalid: There are too many defaults.
    """
    merged = {**before, **changes}
    kept = {name: value for name, value in merged.items() if not (value is None and name in changes)}
    if target.schema is None:
        return kept
    recorded = {} if target.changed else {name: value for name, value in kept.items() if name not in changes}
    try:
        return {**with_defaults(target.schema, kept), **recorded}
    except DefaultsError as unbounded:
        raise Invalid([unbounded.issue.under_argument("inputs")]) from unbounded


def changed_inputs(before: Mapping[str, JSONValue], after: Mapping[str, JSONValue]) -> frozenset[str]:
    """Return the names of changed, added and removed inputs; 1 equals 1.0 but not true."""
    shared = before.keys() & after.keys()
    differ = (name for name in shared if comparable_json(before[name]) != comparable_json(after[name]))
    return frozenset(before.keys() ^ after.keys()).union(differ)


async def input_issues(
    context: Context, found: Snapshot, target: Target, values: dict[str, JSONValue]
) -> Sequence[Issue]:
    """Check the inputs against the pipeline or pack that would run with them."""
    if target.schema is not None:
        return await found_issues(context, partial(check_inputs, target.schema), values)
    pack = pack_of(context, target.compiled, found, found.steps[0])
    return await found_issues(context, partial(pack_call_issues, pack), values) if pack is not None else ()


def _step_input_issues(
    context: Context, found: Snapshot, target: Target, key: str, step_input: JSONValue
) -> list[Issue]:
    """Check a changed input against its step's pack."""
    row = next(step for step in found.steps if step.key == key)
    pack = (
        pack_of_step(context.services.registry, target.compiled.step(key))
        if target.changed
        else pack_of(context, target.compiled, found, row)
    )
    if pack is None:
        return []
    issues = given_issues(context, partial(pack_input_issues, pack), step_input)
    return [issue.under_argument("step_input") for issue in issues]


def _missing(context: Context, found: Snapshot, target: Target, plan: ResumePlan) -> tuple[Requirement, ...]:
    """Return what the steps to run need and lack on this server.

    The preflight covers all steps, since a later step may work in the session of a reused one.
    """
    rows = {row.key: row for row in found.steps}
    steps: list[StandaloneStep] = []
    for planned in plan.steps:
        step = target.compiled.step(planned.key)
        row = rows.get(step.key)
        version = step.version
        if row is not None and not target.changed:
            pack = pack_of(context, target.compiled, found, row)
            version = pack.version if pack is not None else row.pack_version
        steps.append(StandaloneStep(step.key, step.pack, version, step.agent))
    run = {planned.key for planned in plan.steps if planned.action != "reuse"}
    check = context.requirement_check(found.pipeline_id, caller_id=found.caller_id)
    return tuple(
        replace(lack, steps=concerned, hint=lack.hint if target.changed else _without_version(context, target, lack))
        for lack in preflight(steps, context.services.registry, check=check)
        if (concerned := tuple(key for key in lack.steps if key in run))
    )


def _without_version(context: Context, target: Target, lack: Requirement) -> Hint | None:
    """Return the hint of a requirement; for the recorded version of a pack, how to use an installed one."""
    name, _, version = lack.name.partition("@")
    registry = context.services.registry
    if lack.kind != "pack" or not version or registry.unloaded(name) is not None:
        return lack.hint
    resume = "save the pipeline with a step that fits an installed version, and resume with its current version"
    if target.version_id is None:
        return Hint("A re-run uses the installed version.", operation="rerun_run")
    if registry.find(name, target.compiled.step(lack.steps[0]).version) is None:
        return Hint(f"Install it, or {resume}.")
    return Hint(f"A re-run uses the installed version. To resume instead, {resume}.", operation="rerun_run")
