"""Triggers that fire when a run ends: their settings are checked here, and their runs are started."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import orjson
import structlog

from resolvers.permissions import lost_access
from resolvers.pipelines.versions import get_pipeline
from resolvers.problems import Forbidden, Invalid, Problem
from resolvers.triggers.firing import (
    BUG,
    PausedError,
    audit_firing,
    count_firing,
    firing_span,
    owner_context,
    prepare_firing,
    refuse_and_pause,
)
from runner import tracing
from runner.failures import Failure
from runner.issues import lacking_scope
from runner.templates.references import TRIGGER
from runner.templates.templating import compile_template
from runner.triggers.run_ends import RunEndedSettings, RunsOf, check_run_ended
from store.access.callers import find_callers
from store.database.errors import StoreError
from store.runs.unit_types import QueueFullError
from store.states import RunState, Scope, TriggerKind
from store.triggers.firings import (
    FiredBeforeError,
    FiringOutcome,
    NewFiring,
    TriggerChangedError,
    record_once,
    record_unfired,
)
from store.triggers.run_ends import (
    CHAIN_MAX,
    ended_run_of,
    finish_ended_run,
    last_output,
    run_ended_triggers,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from resolvers.context import Context, Services
    from runner.failures import JSONValue
    from store.database.dialects import Connection
    from store.runs.unit_types import NewRun
    from store.triggers.reads import FiringRecord, TriggerRecord
    from store.triggers.run_ends import EndedRun

log = structlog.get_logger(__name__)

#: Ended runs whose triggers are fired at the same time.
_AT_ONCE = 32
_CHAIN_ENDS = f"This run is the end of a chain of {CHAIN_MAX} runs that triggers started, which is the limit."


def run_ended_of(trigger: TriggerRecord) -> RunEndedSettings | None:
    """Read which runs a trigger fires for; None for a trigger of another kind."""
    return RunEndedSettings.read(orjson.loads(trigger.settings)) if trigger.kind == TriggerKind.RUN_ENDED else None


def ended_run_id(firing: FiringRecord) -> str | None:
    """Return the id of the run whose end was this firing; None for other firings."""
    return ended_run_of(firing.key)


async def checked_run_ended(
    context: Context, settings: RunEndedSettings, own_pipeline: str, *, may_observe: bool
) -> RunEndedSettings:
    """Check which runs a trigger is to fire for, and replace the names of pipelines by their ids.

    Args:
        context: That of the caller.
        settings: With ids, keys or aliases of pipelines.
        own_pipeline: Id of the pipeline that the trigger starts.
        may_observe: Whether the trigger's owner may see runs of other callers.

    Raises:
        Problem: They are wrong, or its owner may not see these runs.
    """
    if settings.runs_of is RunsOf.ALL and not may_observe:
        what = lacking_scope("A trigger that fires for runs of all callers", "`observe`")
        raise Forbidden(what, requires=Scope.OBSERVE)
    refuse_unfit(settings, own_pipeline)  # before each is looked up
    found = [(await get_pipeline(context, pipeline)).id for pipeline in settings.pipelines]
    known = replace(settings, pipelines=tuple(dict.fromkeys(found)))
    refuse_unfit(known, own_pipeline)
    return known


def refuse_unfit(settings: RunEndedSettings, own_pipeline: str) -> None:
    """Check settings as they are, without a look for the pipelines.

    Raises:
        Invalid: They are wrong.
    """
    if issues := check_run_ended(settings, own_pipeline):
        raise Invalid([issue.under_argument("run_ended") for issue in issues], summary="The trigger cannot be saved")


async def fire_ended(services: Services, ended: Sequence[EndedRun]) -> int:
    """Fire the triggers of runs that ended; return how many runs were dealt with.

    One that cannot be dealt with, for example because the store is full, stays due.
    """
    room = asyncio.Semaphore(_AT_ONCE)
    found = await run_ended_triggers(services.store)
    triggers = [(trigger, RunEndedSettings.read(orjson.loads(trigger.settings))) for trigger in found]

    async def fire(run: EndedRun) -> bool:
        async with room:
            try:
                for trigger, settings in triggers:
                    if _fires_for(trigger, settings, run):
                        with firing_span(trigger):
                            await _fire(services, trigger, run)
                await services.store.write(finish_ended_run, run)
            except StoreError as refused:
                log.warning("the triggers of a run could not be fired yet", run=run.id, error=str(refused))
                return False
            return True

    return sum(await asyncio.gather(*(fire(run) for run in ended)))


def _fires_for(trigger: TriggerRecord, settings: RunEndedSettings, run: EndedRun) -> bool:
    """Whether a trigger fires for the end of a run: never for its own pipeline, or for what ended before its edit."""
    return (
        trigger.pipeline_id != run.pipeline_id
        and trigger.updated_at <= run.ended_at
        and settings.wants(run.pipeline_id, run.state, is_own=run.caller_id == trigger.owner_id)
    )


async def _fire(services: Services, trigger: TriggerRecord, run: EndedRun) -> None:
    """Start the run of a trigger for an ended one, or record why not; do nothing if it has a firing.

    Raises:
        StoreError: Nothing was recorded.
    """
    key = run.firing_key
    try:
        if run.chain_depth >= CHAIN_MAX:
            firing = NewFiring(key, FiringOutcome.REFUSED, reason=_CHAIN_ENDS)
        else:
            await _start(services, trigger, run)
            count_firing(services, trigger, FiringOutcome.FIRED)
            return
    except (TriggerChangedError, FiredBeforeError):  # what ended before an edit does not fire
        return
    except StoreError:
        raise
    except PausedError as paused:
        firing = NewFiring(key, FiringOutcome.REFUSED, reason=paused.reason)
        with suppress(TriggerChangedError):
            await services.store.write(refuse_and_pause, trigger, firing)
            count_firing(services, trigger, firing.outcome)
        return
    except QueueFullError as full:
        reason = f"{full.waiting} runs of its owner's triggers are queued, which is the limit."
        firing = NewFiring(key, FiringOutcome.REFUSED, reason=reason)
    except Problem as problem:
        tracing.current().fail(problem.code.value)
        firing = NewFiring(key, FiringOutcome.FAILED, reason=services.redactor.message(problem.message))
    except Exception as bug:
        tracing.current().fail(type(bug).__name__)
        log.exception("a trigger could not be fired because of a bug", trigger=trigger.id, run=run.id)
        firing = NewFiring(key, FiringOutcome.FAILED, reason=BUG)
    if await services.store.write(_record_unfired, trigger, firing):
        count_firing(services, trigger, firing.outcome)


async def _start(services: Services, trigger: TriggerRecord, run: EndedRun) -> None:
    """Start the run of a trigger, with its firing in the same transaction."""
    context = await owner_context(services, trigger)
    if run.caller_id != trigger.owner_id:
        await _require_observe(services, trigger)
    prepared = await prepare_firing(
        context, trigger, fired_at=run.ended_at, run=await _described(services, trigger, run)
    )
    new = replace(prepared.new, ended_run_id=run.id, chain_depth=run.chain_depth + 1)
    await services.engine.submit(new, before=partial(_begin, trigger, run.firing_key))


def _begin(trigger: TriggerRecord, key: str, conn: Connection, run_id: str, new: NewRun) -> NewRun:
    firing = NewFiring(key, FiringOutcome.FIRED, run_id=run_id)
    record_once(conn, trigger.id, firing, revision=trigger.revision)
    audit_firing(conn, trigger, firing)
    return new


def _record_unfired(conn: Connection, trigger: TriggerRecord, firing: NewFiring) -> bool:
    if not record_unfired(conn, trigger.id, firing):
        return False
    audit_firing(conn, trigger, firing)
    return True


async def _require_observe(services: Services, trigger: TriggerRecord) -> None:
    """Check that the owner may still see runs of other callers.

    Raises:
        PausedError: The owner may not.
    """
    owner = (await find_callers(services.store, [trigger.owner_id]))[trigger.owner_id]
    if (why := await lost_access(services, owner, Scope.OBSERVE)) is not None:
        raise PausedError(f"{why} It reacts to runs of other callers.")
    if Scope.OBSERVE.value not in orjson.loads(trigger.scopes):
        raise PausedError("It was saved without the `observe` scope, which runs of other callers need.")


async def _described(services: Services, trigger: TriggerRecord, run: EndedRun) -> JSONValue:
    """Describe an ended run for the inputs of a trigger; its output is read only if they use it."""
    output = None
    if run.state == RunState.SUCCEEDED and _reads_output(trigger):
        text = await last_output(services.store, run.id)
        output = None if text is None else orjson.loads(text)
    failure: dict[str, JSONValue] | None = None
    if run.failure is not None:
        failed = Failure.from_json(orjson.loads(run.failure))
        failure = {"code": failed.code.value, "message": failed.message, "hint": failed.what_to_do}
    return {
        "id": run.id,
        "state": run.state,
        "title": run.title,
        "pipeline": run.pipeline,
        "output": output,
        "failure": failure,
        "url": f"{services.runs_url}/{run.id}" if services.runs_url else "",
        "resume_count": run.resume_count,
        "started_at": None if run.started_at is None else run.started_at.isoformat().replace("+00:00", "Z"),
        "ended_at": run.ended_at.isoformat().replace("+00:00", "Z"),
    }


def _reads_output(trigger: TriggerRecord) -> bool:
    references = compile_template(orjson.loads(trigger.inputs), root=TRIGGER).references
    return any(reference.source_path[:2] in (("run",), ("run", "output")) for reference in references)
