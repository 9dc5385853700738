"""Checks before a run is created: of its arguments, its inputs, and what its steps need."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from pydantic import ValidationError

from resolvers.problems import Invalid, Unavailable
from runner.agents.definition import AGENT
from runner.agents.profiles import Selection
from runner.definitions.background_compile import in_background_if_large
from runner.definitions.inputs import placeholder_issues, url_credential_issues
from runner.definitions.preflight import preflight
from runner.definitions.step_inputs import without_session
from runner.excerpts import excerpt, plain_text
from runner.issues import MAX_ISSUES, Issue, argument_error, did_you_mean, error, shown
from runner.json_values import canonical_bytes, canonical_json, digest, forbidden_text
from runner.packs.schemas import input_checker
from runner.processes.pack_modules import package_of
from runner.schemas.pydantic_messages import needed, rule_of
from runner.templates.plan import TemplateError
from runner.tracebacks import in_one_line
from store.runs.unit_types import NewStep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from pydantic_core import ErrorDetails

    from catalog.memory.learning import LearnedField
    from resolvers.context import Context
    from runner.definitions.compiled import CompiledPipeline, CompiledStep
    from runner.failures import JSONValue
    from runner.packs.availability import Requirement, RequirementCheck
    from runner.packs.pack import Pack
    from runner.templates.templating import Template

#: Longest deadline a run may be given, in seconds.
DEADLINE_MAX_SECONDS = 86_400
#: How far ahead the start time of a run may be.
START_WITHIN = timedelta(days=366)
#: Longest description of an exception in an issue, in characters.
_RAISED_CHARACTERS = 600


def refuse_bad_start(
    context: Context,
    title: str | None,
    deadline_seconds: float | None,
    wait_seconds: int,
    idempotency_key: str | None,
    start_at: datetime | None = None,
) -> None:
    """Refuse arguments of a start that are out of range.

    Raises:
        Invalid: With all its issues.
    """
    longest = context.services.limits.wait_seconds
    issues = []
    if not 0 <= wait_seconds <= longest:
        issues.append(wait_out_of_range(wait_seconds, longest))
    if deadline_seconds is not None and not 0 < deadline_seconds <= DEADLINE_MAX_SECONDS:
        issues.append(
            argument_error(
                "deadline_seconds",
                "out_of_range",
                f"The deadline is {deadline_seconds:g} s; use more than 0 s and at most {DEADLINE_MAX_SECONDS} s.",
            )
        )
    if start_at is not None and start_at > context.services.now() + START_WITHIN:
        message = f"The start time is more than {START_WITHIN.days} days ahead; use an earlier one."
        issues.append(argument_error("start_at", "out_of_range", message))
    for name, what, text, limit in (
        ("idempotency_key", "idempotency key", idempotency_key, 200),
        ("title", "title", title, 300),
    ):
        if text is None:
            continue
        if not text.strip() or len(text) > limit:
            issues.append(argument_error(name, "out_of_range", f"The {what} must have 1 to {limit} characters."))
        issues.extend(issue.under_argument(name) for issue in forbidden_text(text))
    if issues:
        raise Invalid(issues)


def concurrency_of(
    compiled: CompiledPipeline, pipeline_id: str | None, inputs: Mapping[str, JSONValue]
) -> tuple[str | None, int | None]:
    """Return which runs count together with one of these inputs, and how many of them are admitted at a time.

    Only a digest of the key is stored, since inputs may be secret.

    Raises:
        Invalid: An input that the key needs is missing.
    """
    if compiled.concurrency is None:
        return None, None
    try:
        group = compiled.concurrency_group(inputs)
    except TemplateError as missing:
        message = f"The concurrency key of the pipeline cannot be resolved: {missing.reason}."
        raise Invalid([error(("inputs",), "unresolved_key", message, missing.hint)]) from missing
    return digest(f"{pipeline_id}\n{group}"), compiled.concurrency.limit


def wait_out_of_range(wait_seconds: int, longest: int) -> Issue:
    """Make the issue of a wait that is negative or too long."""
    return argument_error("wait_seconds", "out_of_range", f"The wait is {wait_seconds} s; use 0 to {longest} s.")


def masked_issues(context: Context, check: Callable[[JSONValue], Sequence[Issue]], value: JSONValue) -> Sequence[Issue]:
    """Check a value, and return issues whose messages have no secrets.

    Messages quote a shortened value, and half a secret is not recognised. So messages come from a check of the masked
    value, if it finds the same issue.
    """
    issues = check(value)
    if not issues:
        return issues
    masked = context.services.redactor.value(value)
    if masked is value:
        return issues
    worded = {(issue.path, issue.rule): issue for issue in check(masked)}
    return [
        worded.get((issue.path, issue.rule), replace(issue, message="The value is not accepted.", hint=None))
        for issue in issues
    ]


def given_issues(context: Context, check: Callable[[JSONValue], Sequence[Issue]], value: JSONValue) -> Sequence[Issue]:
    """Check a value that a caller gave: for credentials in URLs, and if there are none, as `masked_issues` does."""
    return url_credential_issues(value) or masked_issues(context, check, value)


async def found_issues(
    context: Context, check: Callable[[JSONValue], Sequence[Issue]], value: JSONValue
) -> Sequence[Issue]:
    """Run `given_issues` without blocking others: a megabyte of small values takes up to two seconds."""
    return await in_background_if_large(context.caller.id, partial(given_issues, context, check, value), value)


def resolved_steps(
    context: Context, compiled: CompiledPipeline, check: RequirementCheck, agent: str | None = None
) -> tuple[NewStep, ...]:
    """Return the steps of a new run, each with its pack version.

    Raises:
        Unavailable: Steps need packs, services, credentials or models that no worker has; all are listed.
    """
    missing = preflight(compiled.steps, context.services.registry, check=check)
    if missing:
        raise unavailable(missing)
    return new_steps(context, compiled, agent)


def new_steps(context: Context, compiled: CompiledPipeline, agent: str | None = None) -> tuple[NewStep, ...]:
    """Return the steps of a new run whose preflight found nothing missing.

    Args:
        context: The caller's.
        compiled: The definition.
        agent: The profile the caller chose for agent steps; None leaves the choice to the steps.
    """
    steps = []
    registry, fleet = context.services.registry, context.services.engine.resources.fleet
    for step in compiled.steps:
        if step.agent is not None:
            selected = context.services.engine.resources.agents.select(step.agent, agent)
            assert isinstance(selected, Selection), "the preflight found it"
            steps.append(NewStep(step.key, step.position, AGENT, str(selected)))
            continue
        pack = registry.find(step.pack, step.version)
        version = fleet.major(step.pack, step.version) if pack is None else pack.version
        assert version is not None, "the preflight found it"
        steps.append(NewStep(step.key, step.position, step.pack, version))
    return tuple(steps)


def refuse_wrong_agent(context: Context, compiled: CompiledPipeline, agent: str | None) -> None:
    """Refuse an agent that a step does not accept, or any agent for a pipeline without agent steps.

    The preflight reports an accepted profile that this server lacks.

    Raises:
        Invalid: It names the agent and the choices.
    """
    if agent is None:
        return
    steps = [step for step in compiled.steps if step.agent is not None]
    if not steps:
        message = f"The agent {shown(agent)} was chosen, but {compiled.name} has no agent step."
        raise Invalid([argument_error("agent", "no_agent_step", message, "Leave the agent out.")])
    agents = context.services.engine.resources.agents
    for step in steps:
        assert step.agent is not None
        choices = agents.choices(step.agent)
        if agent not in choices:
            message = f"The step {step.key} does not accept the agent {shown(agent)}."
            names = ", ".join(f"`{name}`" for name in choices)
            hint = did_you_mean(agent, choices) or (f"It accepts {names}." if choices else "Leave the agent out.")
            raise Invalid([argument_error("agent", "unknown_agent", message, hint)])


def missing_issues(missing: Sequence[Requirement]) -> list[Issue]:
    """Convert missing requirements to issues, to list them with those of the inputs."""
    return [error(("steps", *lack.steps[:1]), f"missing_{lack.kind}", lack.message, lack.hint) for lack in missing]


def unavailable(missing: Sequence[Requirement]) -> Unavailable:
    """Make the refusal of a start that lacks something on this server."""
    names = ", ".join(f"{lack.kind} {lack.name}" for lack in missing)
    return Unavailable(f"What the run needs is missing: {names}.", missing)


def no_longer_fits(name: str, issues: Sequence[Issue]) -> Invalid:
    """Make the refusal of a definition that was valid when saved but does not fit today's packs."""
    return Invalid(issues, summary=f"{name} no longer fits the packs installed here")


def pack_input_issues(pack: Pack, value: JSONValue) -> list[Issue]:
    """Check a pack's input, also for placeholders."""
    if not isinstance(value, dict):
        return [error((), "wrong_type", f"The input of a pack must be an object, not {shown(value)}.")]
    if unsafe := forbidden_text(value):
        return unsafe
    return [*placeholder_issues(value), *resolved_input_issues(pack, value)]


def pack_call_issues(pack: Pack, value: JSONValue) -> list[Issue]:
    """Check the input of a direct pack call against the schema too, like a step's input; nothing is coerced."""
    issues = pack_input_issues(pack, value)
    if not isinstance(value, dict):
        return issues
    reported = {issue.path[:1] for issue in issues}
    if () in reported:
        return issues
    found = input_checker(pack).issues(without_session(value))
    return [*issues, *(issue for issue in found if issue.path[:1] not in reported)]


def resolved_input_issues(pack: Pack, value: dict[str, JSONValue]) -> list[Issue]:
    """Check a resolved input, which may have results of earlier steps, against the pack's model."""
    try:
        pack.input_model.model_validate(without_session(value))
    except ValidationError as refused:
        known = list(pack.input_model.model_fields)
        return [
            _pack_input_issue(tuple(str(part) for part in found["loc"]), found, known)
            for found in refused.errors(include_url=False)[:MAX_ISSUES]
        ]
    except BaseException as failed:  # validators and default factories are the pack's code: they may raise anything
        raised = excerpt(plain_text(in_one_line(failed, package_of(pack.handler.__module__))), _RAISED_CHARACTERS)
        message = f"{pack.name} raised {raised} while it checked its input."
        return [error((), "check_failed", message, "This is a bug in the pack: report it to its author.")]
    return []


def _pack_input_issue(path: tuple[str, ...], found: ErrorDetails, known: list[str]) -> Issue:
    """Convert an error of pydantic to an issue in Packline's words."""
    name = f"`{'.'.join(path)}`" if path else "The input"
    rule = rule_of(found)
    match rule:
        case "unknown_field":
            hint = did_you_mean(path[-1], known) if len(path) == 1 else None
            return error(path, rule, f"{name} is not a known field.", hint)
        case "required":
            return error(path, rule, f"{name} is missing.")
    return error(path, rule, f"{name} is {shown(found['input'])}; {needed(found)}.")


def oversized_inputs(
    steps: Sequence[CompiledStep], values: Mapping[str, JSONValue], text: str, limit_bytes: int
) -> list[Issue]:
    """Return an error if a step gets run inputs that certainly exceed the limit of its input.

    Args:
        steps: The steps of the new run.
        values: The run inputs.
        text: Their canonical JSON.
        limit_bytes: The limit of a step's input.
    """
    if len(text.encode()) <= limit_bytes:
        return []
    sizes = {name: len(canonical_bytes(value)) - 2 * isinstance(value, str) for name, value in values.items()}
    for step in steps:
        gets = list(values) if step.template is None else _whole_inputs(step.template, values)
        if sum(sizes[name] for name in gets) > limit_bytes:
            name = max(gets, key=sizes.__getitem__)
            message = (
                f"The step `{step.key}` gets `{name}`, which has {sizes[name]:,} bytes of JSON; "
                f"the input of a step may have {limit_bytes:,} bytes."
            )
            hint = "Upload large content as a file, and give its id as an input that takes an artifact."
            return [error(("inputs", name), "too_large", message, hint)]
    return []


def _whole_inputs(template: Template, values: Mapping[str, JSONValue]) -> list[str]:
    """Return the run inputs that a template inserts whole, once for each time."""
    return [
        str(reference.source_path[0])
        for reference in template.references
        if reference.source_step is None and len(reference.source_path) == 1 and reference.source_path[0] in values
    ]


def not_from_memory(inputs: JSONValue, fields: Sequence[LearnedField]) -> list[Issue]:
    """Return issues for fields of `from_memory` that are not texts of the inputs."""
    given = inputs if isinstance(inputs, dict) else {}
    return [
        error(
            (field.value,),
            "not_given",
            f"`from_memory` names `{field.value}`, but the inputs have no text of that name.",
            "Name only inputs whose values were taken from the caller's defaults.",
        )
        for field in fields
        if not isinstance(given.get(field.value), str)
    ]


def named(fields: Sequence[LearnedField]) -> str | None:
    """Serialize fields for the run's row: JSON, unique and sorted; None if there are none."""
    return canonical_json([field.value for field in sorted(set(fields))]) if fields else None
