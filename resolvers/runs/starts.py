"""Starts runs of a pipeline or of a single pack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from resolvers.artifacts.unreadable import unreadable_inputs
from resolvers.not_found import no_pack
from resolvers.operations import operation
from resolvers.pipelines.start_checks import (
    concurrency_of,
    found_issues,
    missing_issues,
    named,
    new_steps,
    no_longer_fits,
    not_from_memory,
    oversized_inputs,
    pack_call_issues,
    refuse_bad_start,
    refuse_wrong_agent,
    unavailable,
)
from resolvers.pipelines.versions import compiled, get_pipeline
from resolvers.problems import Invalid, Limited, NotFound, Unavailable
from resolvers.runs.idempotency import earlier_run, request_digest, run_is_gone, used_for_another
from resolvers.tools import FROM_MEMORY, IDEMPOTENCY, START_AT, WAIT, Parameter, Tool
from runner.agents.definition import AGENT
from runner.definitions.aliases import translated
from runner.definitions.background_compile import in_background_if_large
from runner.definitions.compiled import CALL_STEP, pack_call_document
from runner.definitions.inputs import check_inputs, run_title, with_defaults
from runner.definitions.preflight import StandaloneStep, preflight
from runner.issues import Issue, has_errors
from runner.json_values import canonical_json, comparable_json, digest
from store.runs.reads import FOUND_BY_WORDS, read_run
from store.runs.unit_types import IdempotencyClashError, NewRun, NewStep, QueueFullError, SpentKeyError
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from catalog.memory.learning import LearnedField
    from resolvers.context import Context
    from resolvers.pipelines.versions import Version
    from runner.definitions.compiled import CompiledPipeline
    from runner.failures import JSONValue
    from store.database.dialects import Connection
    from store.pipelines.reads import PipelineRecord
    from store.runs.reads import RunRecord
    from store.runs.unit_types import Submitted

#: Characters of a run's inputs that can be searched.
SEARCHED_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Started:
    """Result of a start.

    Attributes:
        run_id: None for a dry run.
        run: The run right after the start; None if the start waited for its end.
    """

    run_id: str | None
    coalesced: bool = False
    replayed: bool = False
    warnings: tuple[Issue, ...] = ()
    run: RunRecord | None = None


@operation(
    "run_pipeline",
    scope=Scope.RUN,
    kind="command",
    target="pipeline",
    tool=Tool(
        title="Run a pipeline",
        description="Starts a run of a pipeline and waits a few seconds for it to end. get_pipeline describes "
        "the inputs. Returns the run; if it is still in progress, call wait_run.",
        open_world=True,
        parameters={
            "inputs": Parameter(description="Inputs by name; input_schema of get_pipeline describes them."),
            "wait_seconds": WAIT,
            "from_memory": FROM_MEMORY,
            "idempotency_key": IDEMPOTENCY,
            "start_at": START_AT,
            "deadline_seconds": Parameter(hidden=True),
            "force": Parameter(hidden=True),
            "title": Parameter(hidden=True),
            "agent": Parameter(description="Agent profile for its agent steps. Set it only if the user asks for one."),
        },
    ),
)
async def run_pipeline(
    context: Context,
    *,
    pipeline: str,
    inputs: JSONValue,
    from_memory: Sequence[LearnedField] = (),
    version: int | None = None,
    title: str | None = None,
    deadline_seconds: float | None = None,
    force: bool = False,
    agent: str | None = None,
    start_at: datetime | None = None,
    wait_seconds: int = 0,
    idempotency_key: str | None = None,
    dry_run: bool = False,
    run_id: str | None = None,
) -> Started:
    """Start a run of a pipeline, or return the equal run that is already in progress.

    A run with a reserved id is always a new one: somebody already knows it by that id.
    """
    refuse_bad_start(context, title, deadline_seconds, wait_seconds, idempotency_key, start_at)
    asked = (pipeline, version, inputs, title, deadline_seconds, force, agent, *_at(start_at))
    request = request_digest(idempotency_key, "run_pipeline", *asked)
    if not dry_run and (earlier := await find_replay(context, idempotency_key, request, wait_seconds)) is not None:
        return earlier
    found = await get_pipeline(context, pipeline)
    context.audit_target(found.id)
    prepared = await prepare_run(
        context,
        found,
        ref=pipeline,
        inputs=inputs,
        from_memory=from_memory,
        version=version,
        title=title,
        deadline_seconds=deadline_seconds,
        force=force,
        agent=agent,
        start_at=start_at,
    )
    if dry_run:
        await context.commit_unchanged()
        return Started(None, warnings=prepared.warnings)
    new = replace(prepared.new, idempotency_key=idempotency_key, request_digest=request)
    if run_id is not None:
        new = replace(new, id=run_id, flight=None)
    return await start(context, new, wait_seconds, prepared.warnings)


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run that passed all checks of a start, with their warnings."""

    new: NewRun
    warnings: tuple[Issue, ...]


async def prepare_run(
    context: Context,
    found: PipelineRecord,
    *,
    ref: str,
    inputs: JSONValue,
    from_memory: Sequence[LearnedField] = (),
    version: int | None = None,
    title: str | None = None,
    deadline_seconds: float | None = None,
    force: bool = False,
    agent: str | None = None,
    start_at: datetime | None = None,
    unsaved: Version | None = None,
) -> PreparedRun:
    """Check a start of a pipeline, and make the run.

    Args:
        context: That of the run's caller.
        found: The pipeline.
        ref: The caller's name for it.
        inputs: The run inputs.
        from_memory: Fields whose values come from memory.
        version: Number of the version; None for the current one.
        title: The run's title; None to make it from the inputs.
        deadline_seconds: Its deadline; None for the pipeline's or the server's.
        force: Whether to ignore cached results.
        agent: The agent of its agent steps; None for theirs.
        start_at: When it starts; None for now.
        unsaved: A version that is about to be saved and passed its check, to check a later start.

    Raises:
        Problem: The run would be refused.
    """
    chosen = unsaved or await context.services.versions.get(context, found, version)
    definition = await chosen.compiled(context)
    refuse_wrong_agent(context, definition, agent)
    schema = chosen.input_schema
    warnings: list[Issue] = []
    issues: list[Issue] = []
    if (alias := found.alias(ref)) is not None:
        inputs, renamed = translated(alias, found.key, inputs)
        warnings = [issue for issue in renamed if issue.severity == "warning"]
        issues = [issue for issue in renamed if issue.severity == "error"]
    issues += not_from_memory(inputs, from_memory)
    known = {issue.path for issue in issues}
    issues += [
        issue for issue in await found_issues(context, partial(check_inputs, schema), inputs) if issue.path not in known
    ]
    missing = preflight(
        definition.steps, context.services.registry, check=context.requirement_check(found.id, agent=agent)
    )
    unfit: tuple[Issue, ...] = ()
    if unsaved is None:
        unfit = await context.services.versions.misfits(
            context, chosen.record.id, chosen.body.document, chosen.body.input_schema
        )
    if has_errors(issues) or not isinstance(inputs, dict):
        raise Invalid(
            [*(issue.under_argument("inputs") for issue in issues), *unfit, *missing_issues(missing)],
            summary=f"The inputs do not fit pipeline {found.key}",
        )
    if unfit:
        raise no_longer_fits(found.key, [*unfit, *missing_issues(missing)])
    if missing:
        raise unavailable(missing)
    values = await in_background_if_large(context.caller.id, partial(with_defaults, schema, inputs), inputs)
    text = canonical_json(values)
    wrong = oversized_inputs(definition.steps, values, text, context.services.limits.step_input_bytes)
    if wrong := wrong or await unreadable_inputs(context, definition.steps, values, text):
        raise Invalid(wrong, summary=f"The inputs do not fit pipeline {found.key}")
    steps = new_steps(context, definition, agent)
    group, group_limit = concurrency_of(definition, found.id, values)
    caller = context.caller
    labels = Labels.of(context, values, title=title, name=found.name)
    new = NewRun(
        caller_id=caller.id,
        title=labels.title,
        cause=context.cause,
        inputs=text,
        inputs_digest=digest(text),
        deadline_seconds=deadline_of(context, definition, deadline_seconds),
        steps=steps,
        pipeline_id=found.id,
        version_id=chosen.record.id,
        client_name=context.client_name,
        force=force,
        flight=_flight(caller.id, chosen.record.id, force, _agents_of(steps) + comparable_json(values), *_at(start_at)),
        search_text=labels.search_text,
        from_memory=named(from_memory),
        start_at=start_at,
        concurrency_key=group,
        concurrency_limit=group_limit,
    )
    return PreparedRun(new, tuple(warnings))


def _at(start_at: datetime | None) -> tuple[str, ...]:
    """Return what a start time adds to the values by which starts are compared."""
    return () if start_at is None else (start_at.isoformat(),)


def _flight(*parts: object) -> str:
    """Return the single-flight key of a start: an equal one joins the run while that is active."""
    return digest("\n".join(map(str, parts)))


def _agents_of(steps: Sequence[NewStep]) -> str:
    """Serialize the agents of a run's steps to compare runs for single flight; empty without agent steps."""
    return "".join(f"{step.key}={step.pack_version}\n" for step in steps if step.pack == AGENT)


@operation(
    "run_pack",
    scope=Scope.RUN,
    kind="command",
    target="pack",
    tool=Tool(
        title="Run one pack",
        description="Calls one pack; the call is recorded as a run with one step. Prefer a pipeline if one fits. "
        "search_catalog with detail `full` returns the input_schema.",
        open_world=True,
        parameters={
            "input": Parameter(description="Input by name; the pack's input_schema describes it."),
            "wait_seconds": WAIT,
            "from_memory": FROM_MEMORY,
            "idempotency_key": IDEMPOTENCY,
            "start_at": Parameter(hidden=True),
            "force": Parameter(hidden=True),
            "version": Parameter(hidden=True),
            "dry_run": Parameter(hidden=True),
        },
    ),
)
async def run_pack(
    context: Context,
    *,
    pack: str,
    input: JSONValue,
    from_memory: Sequence[LearnedField] = (),
    version: str | None = None,
    force: bool = False,
    start_at: datetime | None = None,
    wait_seconds: int = 0,
    idempotency_key: str | None = None,
    dry_run: bool = False,
) -> Started:
    """Call a single pack; recorded as a run of one step."""
    refuse_bad_start(context, None, None, wait_seconds, idempotency_key, start_at)
    request = request_digest(idempotency_key, "run_pack", pack, version, input, force, *_at(start_at))
    if not dry_run and (earlier := await find_replay(context, idempotency_key, request, wait_seconds)) is not None:
        return earlier
    registry = context.services.registry
    found = registry.find(pack, version)
    if found is None:
        versions = registry.versions(pack)
        if context.services.engine.resources.fleet.major(pack, version) is not None:
            raise Unavailable(
                f"Only other workers have {pack}{f' {version}' if version else ''}. This server does not know its "
                "input, so it cannot check a single call.",
                hint="Start a pipeline that calls the pack, or install the pack on this server, too.",
            )
        if registry.unloaded(pack) is not None:
            raise unavailable(preflight([StandaloneStep(CALL_STEP, pack, version)], registry))
        if versions:
            raise NotFound("version", str(version), of=f"pack `{pack}`", hint=f"Installed: {', '.join(versions)}.")
        raise await no_pack(context, pack)
    issues = [
        *await found_issues(context, partial(pack_call_issues, found), input),
        *not_from_memory(input, from_memory),
    ]
    called = [StandaloneStep(CALL_STEP, found.name, found.version)]
    missing = preflight(called, context.services.registry, check=context.requirement_check())
    if issues or not isinstance(input, dict):
        where = ".".join(issues[0].path)
        raise Invalid(
            [issue.under_argument("input") for issue in issues] + missing_issues(missing),
            summary=f"The input does not fit pack {found.name}{f' at {where}' if where else ''}",
        )
    if missing:
        raise unavailable(missing)
    text, document = canonical_json(input), canonical_json(pack_call_document(found.name, found.version))
    steps = (await compiled(context, document, None)).steps
    wrong = oversized_inputs(steps, input, text, context.services.limits.step_input_bytes)
    if wrong := wrong or await unreadable_inputs(context, steps, input, text):
        raise Invalid(
            [replace(issue, path=("input", *issue.path[1:])) for issue in wrong],
            summary=f"The input does not fit pack {found.name}",
        )
    if dry_run:
        await context.commit_unchanged()
        return Started(None)
    caller = context.caller
    labels = Labels.of(context, input, name=found.name)
    new = NewRun(
        caller_id=caller.id,
        title=labels.title,
        cause=context.cause,
        inputs=text,
        inputs_digest=digest(text),
        deadline_seconds=context.services.limits.deadline_seconds,
        steps=(NewStep(CALL_STEP, 1, found.name, found.version),),
        pack=found.name,
        document=document,
        client_name=context.client_name,
        force=force,
        flight=_flight(caller.id, f"{found.name} {found.version}", force, comparable_json(input), *_at(start_at)),
        idempotency_key=idempotency_key,
        request_digest=request,
        search_text=labels.search_text,
        from_memory=named(from_memory),
        start_at=start_at,
    )
    return await start(context, new, wait_seconds)


async def start(context: Context, new: NewRun, wait_seconds: int, warnings: Sequence[Issue] = ()) -> Started:
    """Submit a run and wait up to `wait_seconds` for its end.

    The command's audit row is written with the run, so an accepted start is one commit.

    Raises:
        Conflict: The idempotency key belongs to another request, or its run was deleted.
        Limited: The caller has too many queued runs.
    """
    engine = context.services.engine
    run: RunRecord | None = None

    def note(conn: Connection, submitted: Submitted) -> None:
        nonlocal run
        if not wait_seconds:
            run = read_run(conn, submitted.run_id)
        context.record(conn, run=submitted.run_id, coalesced=submitted.coalesced, replayed=submitted.replayed)

    try:
        submitted = await engine.submit(new, note)
    except IdempotencyClashError as clash:
        raise used_for_another(new.idempotency_key, clash.run_id) from clash
    except SpentKeyError as spent:
        raise run_is_gone(new.idempotency_key, spent.run_id) from spent
    except QueueFullError as full:
        raise queue_full(full) from full
    if wait_seconds:
        await engine.wait_ended(submitted.run_id, wait_seconds, just_started=submitted.started)
    return Started(submitted.run_id, submitted.coalesced, submitted.replayed, tuple(warnings), run)


async def find_replay(context: Context, key: str | None, request: str | None, wait_seconds: int) -> Started | None:
    """Find the run that an earlier call with the same idempotency key started, in any state.

    Comes before all other checks: later changes do not matter to a repeated request.

    Raises:
        Conflict: The key belongs to another request, or its run was deleted.
    """
    run_id = None if key is None else await earlier_run(context, key, request)
    if run_id is None:
        return None
    await context.commit_unchanged(run=run_id, coalesced=False, replayed=True)
    if wait_seconds:
        await context.services.engine.wait_ended(run_id, wait_seconds)
    return Started(run_id, replayed=True)


def queue_full(full: QueueFullError) -> Limited:
    """Make the refusal of a start when the caller's queue is full."""
    whose = "runs of your triggers" if full.by_trigger else "of your runs"
    return Limited(
        f"{full.waiting} {whose} are already queued, which is the limit.",
        retry_after_seconds=10,
        hint="Wait until some have ended, or cancel some.",
    )


def deadline_of(context: Context, definition: CompiledPipeline, asked: float | None) -> float:
    """Return a run's deadline in seconds: the requested one, else the pipeline's, else the server's."""
    if asked is not None:
        return asked
    declared = definition.deadline_seconds
    return declared if declared is not None else context.services.limits.deadline_seconds


@dataclass(frozen=True, slots=True)
class Labels:
    """A run's title and search text.

    Attributes:
        title: The caller's, or made from the inputs.
        search_text: The title, and texts and numbers of the inputs up to `SEARCHED_CHARACTERS`, in lower case.
    """

    title: str
    search_text: str

    @classmethod
    def of(cls, context: Context, values: dict[str, JSONValue], *, title: str | None = None, name: str) -> Labels:
        """Make the labels; masks before it cuts, since half a secret is not recognised.

        Args:
            context: Has the redactor.
            values: Inputs of the run.
            title: The caller's title.
            name: Name of the pipeline or pack, for a run without a title.
        """
        redactor = context.services.redactor
        masked = _masked(context, values)
        label = redactor.text(title) if title is not None else run_title(redactor.text(name), masked)
        return cls(label, f"{FOUND_BY_WORDS}{label}\n{_searchable_text(masked)}".lower())

    @classmethod
    def changed(
        cls,
        context: Context,
        before: dict[str, JSONValue],
        after: dict[str, JSONValue],
        *,
        title: str,
        name: str,
    ) -> Labels:
        """Make the labels of a run whose inputs change: a title made from an input is made again, another one is kept.

        Args:
            context: Has the redactor.
            before: The inputs until now.
            after: The inputs from now on.
            title: The run's title until now.
            name: Name of the pipeline or pack.
        """
        shown = context.services.redactor.text(name)
        sources: list[dict[str, JSONValue]] = [{key: value} for key, value in before.items()]
        for source in ({}, *sources):
            if run_title(shown, _masked(context, source)) == title:
                # The same input first: stored inputs are no longer in the order in which they were given.
                first = {key: after[key] for key in source if key in after}
                return cls.of(context, {**first, **after}, name=name)
        return cls.of(context, after, title=title, name=name)


def _masked(context: Context, values: dict[str, JSONValue]) -> dict[str, JSONValue]:
    masked = context.services.redactor.value(values)
    assert isinstance(masked, dict), "masking keeps the shape"
    return masked


def _searchable_text(inputs: dict[str, JSONValue]) -> str:
    """Return the texts and numbers of inputs, one per line, up to `SEARCHED_CHARACTERS`."""
    lines: list[str] = []
    left = SEARCHED_CHARACTERS
    pending: list[JSONValue] = [inputs]
    while pending and left > 0:
        value = pending.pop()
        if isinstance(value, dict):
            pending.extend(reversed(value.values()))
        elif isinstance(value, list):
            pending.extend(reversed(value))
        elif value is not None and not isinstance(value, bool):
            lines.append((value if isinstance(value, str) else canonical_json(value))[:left])
            left -= len(lines[-1]) + 1
    return "\n".join(lines)
