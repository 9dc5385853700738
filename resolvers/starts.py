"""Starting runs: of a pipeline, or of a single pack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from resolvers.operations import operation
from resolvers.problems import Conflict, Invalid, Limited, NotFound, Unavailable
from resolvers.versions import get_pipeline
from runner.availability import preflight
from runner.compiled import CALL_STEP, pack_call_document
from runner.document import canonical_json, digest, forbidden_text
from runner.inputs import check_inputs, run_title, with_defaults
from runner.issues import Issue, error, has_errors, nearest
from store.runs import IdempotencyClashError, NewRun, NewStep, QueueFullError
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from resolvers.context import Context
    from resolvers.versions import Version
    from runner.compiled import CompiledPipeline
    from runner.failures import JSONValue
    from runner.pack import Pack

#: Longest deadline a run may be given, in seconds.
DEADLINE_MAX_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Started:
    """What a start led to; `run_id` is None for a dry run."""

    run_id: str | None
    coalesced: bool = False
    replayed: bool = False
    warnings: tuple[Issue, ...] = ()


@operation("run_pipeline", scope=Scope.RUN, kind="command", target="pipeline")
async def run_pipeline(
    context: Context,
    *,
    pipeline: str,
    inputs: Mapping[str, JSONValue],
    version: int | None = None,
    title: str | None = None,
    deadline_seconds: float | None = None,
    force: bool = False,
    wait_seconds: int = 0,
    idempotency_key: str | None = None,
    dry_run: bool = False,
) -> Started:
    """Starts a run of a pipeline, or finds the one it amounts to (CONTRACT 2.1 to 2.4)."""
    refuse_bad_start(context, title, deadline_seconds, wait_seconds, idempotency_key)
    found = await get_pipeline(context, pipeline)
    chosen = await context.services.versions.get(context, found, version)
    schema = chosen.input_schema
    issues = check_inputs(schema, dict(inputs))
    if has_errors(issues):
        raise Invalid(f"The inputs do not fit pipeline {found.key}: {issues[0].message}", issues)
    values = with_defaults(schema, inputs)
    steps = resolved_steps(context, chosen.compiled)
    if dry_run:
        return Started(None, warnings=tuple(issues))
    caller = context.caller
    text = canonical_json(values)
    shown = context.services.redactor.text(title or run_title(found.name, values))
    new = NewRun(
        caller_id=caller.id,
        title=shown,
        cause=context.cause,
        inputs=text,
        inputs_digest=digest(text),
        deadline_seconds=deadline_of(context, chosen, deadline_seconds),
        steps=steps,
        pipeline_id=found.id,
        version_id=chosen.record.id,
        client_name=context.client_name,
        force=force,
        flight=digest(f"{caller.id}\n{chosen.record.id}\n{force}\n{text}"),
        idempotency_key=idempotency_key,
        request_digest=digest(canonical_json([found.id, version, dict(inputs), title, deadline_seconds, force])),
        search_text=search_text(context, shown, text),
    )
    return await start(context, new, wait_seconds, issues)


@operation("run_pack", scope=Scope.RUN, kind="command", target="pack")
async def run_pack(
    context: Context,
    *,
    pack: str,
    input: Mapping[str, JSONValue],
    version: str | None = None,
    wait_seconds: int = 0,
    idempotency_key: str | None = None,
    dry_run: bool = False,
) -> Started:
    """Calls a single pack; recorded like a run of one step."""
    refuse_bad_start(context, None, None, wait_seconds, idempotency_key)
    registry = context.services.registry
    found = registry.find(pack, version)
    if found is None:
        versions = registry.versions(pack)
        if versions:
            raise NotFound(f"version of pack {pack}", str(version), hint=f"Installed: {', '.join(versions)}.")
        raise NotFound("pack", pack, suggestion=nearest(pack, registry.names()))
    issues = pack_input_issues(found, input)
    if issues:
        raise Invalid(f"The input does not fit pack {found.name}: {issues[0].message}", issues)
    refuse_missing(context, [(CALL_STEP, found.name, found.version)])
    if dry_run:
        return Started(None)
    caller = context.caller
    text = canonical_json(dict(input))
    shown = context.services.redactor.text(run_title(found.name, input))
    new = NewRun(
        caller_id=caller.id,
        title=shown,
        cause=context.cause,
        inputs=text,
        inputs_digest=digest(text),
        deadline_seconds=context.services.limits.deadline_seconds,
        steps=(NewStep(CALL_STEP, 1, found.name, found.version),),
        pack=found.name,
        document=canonical_json(pack_call_document(found.name, found.version)),
        client_name=context.client_name,
        flight=digest(f"{caller.id}\n{found.name} {found.version}\n{text}"),
        idempotency_key=idempotency_key,
        request_digest=digest(canonical_json([pack, version, dict(input)])),
        search_text=search_text(context, shown, text),
    )
    return await start(context, new, wait_seconds, ())


async def start(context: Context, new: NewRun, wait_seconds: int, warnings: Sequence[Issue]) -> Started:
    """Submits a run and holds the answer until it has ended, at most some seconds.

    Raises:
        Conflict: the idempotency key belongs to another request.
        Limited: the caller has too many runs waiting.
    """
    engine = context.services.engine
    try:
        submitted = await engine.submit(new)
    except IdempotencyClashError as clash:
        raise Conflict(
            f"The idempotency key `{new.idempotency_key}` was used for another request.",
            current_id=clash.run_id,
            hint="Use a new key for a new request, or repeat the first request word for word.",
        ) from clash
    except QueueFullError as full:
        raise queue_full(full) from full
    if wait_seconds:
        await engine.wait_ended(submitted.run_id, wait_seconds)
    return Started(submitted.run_id, submitted.coalesced, submitted.replayed, tuple(warnings))


def queue_full(full: QueueFullError) -> Limited:
    """The refusal of a caller whose queue is full."""
    return Limited(
        f"{full.waiting} of your runs are waiting already; more are not accepted.",
        retry_after_seconds=10,
        hint="Wait until some have ended, or cancel some.",
    )


def resolved_steps(context: Context, compiled: CompiledPipeline) -> tuple[NewStep, ...]:
    """The steps of a new run, each with the pack version it is to run on.

    Raises:
        Unavailable: packs or services are missing here, over all steps at once.
    """
    refuse_missing(context, [(step.key, step.pack, step.version) for step in compiled.steps])
    steps = []
    for step in compiled.steps:
        pack = context.services.registry.find(step.pack, step.version)
        assert pack is not None, "the preflight found it"
        steps.append(NewStep(step.key, step.position, pack.name, pack.version))
    return tuple(steps)


def refuse_missing(context: Context, steps: Sequence[tuple[str, str, str | None]]) -> None:
    """Refuses what cannot run here, before anything is spent (CONTRACT 2.3).

    Raises:
        Unavailable: it tells everything that is missing.
    """
    missing = preflight(steps, context.services.registry)
    if missing:
        names = ", ".join(f"{lack.kind} {lack.name}" for lack in missing)
        raise Unavailable(f"It cannot run here: missing {names}.", missing)


def pack_input_issues(pack: Pack, value: Mapping[str, JSONValue]) -> list[Issue]:
    """What is wrong with a pack's input, as issues."""
    if unsafe := forbidden_text(dict(value)):
        return unsafe
    try:
        pack.input_model.model_validate({key: field for key, field in value.items() if key != "_session_id"})
    except ValidationError as refused:
        known = list(pack.input_model.model_fields)
        return [
            error(
                tuple(str(part) for part in found["loc"]),
                found["type"],
                found["msg"],
                f"Did you mean `{near}`?"
                if found["type"] == "extra_forbidden" and (near := nearest(str(found["loc"][-1]), known))
                else None,
            )
            for found in refused.errors(include_url=False, include_context=False, include_input=False)
        ]
    return []


def deadline_of(context: Context, version: Version, asked: float | None) -> float:
    """Deadline of a run in seconds: as asked, the pipeline's, or the server's."""
    if asked is not None:
        return asked
    declared = version.compiled.deadline_seconds
    return declared if declared is not None else context.services.limits.deadline_seconds


def search_text(context: Context, title: str, inputs: str) -> str:
    """What a run is found by: title and inputs in lower case, secrets masked, the first 4,000 characters."""
    return f"{title}\n{context.services.redactor.text(inputs[:4000])}".lower()


def refuse_bad_start(
    context: Context,
    title: str | None,
    deadline_seconds: float | None,
    wait_seconds: int,
    idempotency_key: str | None,
) -> None:
    """Refuses arguments of a start that are out of range.

    Raises:
        Invalid: it tells all of them.
    """
    longest = context.services.limits.wait_seconds
    issues = []
    if not 0 <= wait_seconds <= longest:
        issues.append(error(("wait_seconds",), "out_of_range", f"wait_seconds is {wait_seconds}; use 0 to {longest}."))
    if deadline_seconds is not None and not 0 < deadline_seconds <= DEADLINE_MAX_SECONDS:
        issues.append(
            error(
                ("deadline_seconds",),
                "out_of_range",
                f"deadline_seconds is {deadline_seconds:g}; use more than 0 and at most {DEADLINE_MAX_SECONDS}.",
            )
        )
    for name, text, limit in (("idempotency_key", idempotency_key, 200), ("title", title, 300)):
        if text is None:
            continue
        if not text.strip() or len(text) > limit:
            issues.append(error((name,), "out_of_range", f"{name} must have 1 to {limit} characters."))
        issues.extend(issue.under(name) for issue in forbidden_text(text))
    if issues:
        raise Invalid(issues[0].message, issues)
