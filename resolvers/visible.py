"""Batched reads of runs and what belongs to them, without what the caller may not see.

Every GraphQL field that leads to a run reads it here, so that none skips the check (guarantee V1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.access import visible_to
from store import artifacts as stored_artifacts
from store import events, logs, run_reads, sessions, spending, start_reads, step_reads, transcripts
from store.run_heads import find_run_by_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from resolvers.context import Context
    from store.artifacts import ArtifactRecord
    from store.events import EventRecord
    from store.logs import LogLineRecord
    from store.paging import PageWindow
    from store.run_reads import RunPayload, RunRecord
    from store.sessions import SessionRecord
    from store.spending import Spending
    from store.start_reads import Ahead
    from store.step_reads import AttemptPayload, AttemptRecord, StepRecord


async def runs(context: Context, ids: Sequence[str]) -> Mapping[str, RunRecord]:
    """Runs by id."""
    store, only = context.services.store, visible_to(context.caller)
    if len(ids) == 1:
        found = await find_run_by_id(store, ids[0], visible_to=only)
        return {} if found is None else {found.id: found}
    return await run_reads.find_runs(store, ids, visible_to=only)


async def newest_runs(context: Context, pipeline_ids: Sequence[str], each: int) -> Mapping[str, list[RunRecord]]:
    """The `each` newest runs of each pipeline, newest first, by pipeline id."""
    return await run_reads.newest_runs(
        context.services.store, pipeline_ids, each, visible_to=visible_to(context.caller)
    )


async def run_payloads(context: Context, ids: Sequence[str]) -> Mapping[str, RunPayload]:
    """Inputs of runs, by run id."""
    return await run_reads.find_payloads(context.services.store, ids, visible_to=visible_to(context.caller))


async def run_spending(context: Context, ids: Sequence[str]) -> Mapping[str, Spending]:
    """Spending on models, by run id."""
    return await spending.spending_of_runs(context.services.store, ids, visible_to=visible_to(context.caller))


async def queue_places(context: Context, ids: Sequence[str]) -> Mapping[str, Ahead]:
    """How many queued runs are ahead of each, by run id."""
    return await start_reads.queue_places(context.services.store, ids, visible_to=visible_to(context.caller))


async def events_of_run(context: Context, run_id: str, window: PageWindow) -> list[EventRecord]:
    """A page of a run's events, oldest first."""
    if visible_to(context.caller) is not None and not await runs(context, [run_id]):
        return []
    return await events.list_events(context.services.store, run_id, window)


async def steps(context: Context, ids: Sequence[str]) -> Mapping[str, StepRecord]:
    """Steps by id."""
    return await step_reads.find_steps(context.services.store, ids, visible_to=visible_to(context.caller))


async def steps_of_runs(context: Context, run_ids: Sequence[str]) -> Mapping[str, list[StepRecord]]:
    """The steps of runs in order, by run id."""
    return await step_reads.steps_of_runs(context.services.store, run_ids, visible_to=visible_to(context.caller))


async def milestones(context: Context, step_ids: Sequence[str]) -> Mapping[str, str]:
    """Milestones of steps as JSON, by step id."""
    return await step_reads.milestones_of(context.services.store, step_ids, visible_to=visible_to(context.caller))


async def step_spending(context: Context, of_steps: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], Spending]:
    """Spending on models, by run id and step id."""
    return await spending.spending_of_steps(context.services.store, of_steps, visible_to=visible_to(context.caller))


async def sessions_by_id(context: Context, ids: Sequence[str]) -> Mapping[str, SessionRecord]:
    """Sessions by id."""
    return await sessions.find_sessions(context.services.store, ids, visible_to=visible_to(context.caller))


async def attempts(context: Context, ids: Sequence[str]) -> Mapping[str, AttemptRecord]:
    """Attempts by id."""
    return await step_reads.find_attempts(context.services.store, ids, visible_to=visible_to(context.caller))


async def attempts_of_steps(context: Context, step_ids: Sequence[str]) -> Mapping[str, list[AttemptRecord]]:
    """The attempts of steps, first to last, by step id."""
    return await step_reads.attempts_of_steps(context.services.store, step_ids, visible_to=visible_to(context.caller))


async def attempt_payloads(context: Context, ids: Sequence[str]) -> Mapping[str, AttemptPayload]:
    """Inputs and outputs of attempts, by attempt id."""
    return await step_reads.attempt_payloads(context.services.store, ids, visible_to=visible_to(context.caller))


async def log_of_attempt(context: Context, attempt_id: str, window: PageWindow) -> list[LogLineRecord]:
    """A page of an attempt's log, oldest first."""
    if visible_to(context.caller) is not None and not await attempts(context, [attempt_id]):
        return []
    return await logs.list_log(context.services.store, attempt_id, window)


async def transcript_of_attempt(context: Context, attempt_id: str, window: PageWindow) -> list[dict[str, object]]:
    """A page of an attempt's transcript, oldest first."""
    if visible_to(context.caller) is not None and not await attempts(context, [attempt_id]):
        return []
    return await transcripts.list_transcript(context.services.store, attempt_id, window)


async def artifacts(context: Context, ids: Sequence[str]) -> Mapping[str, ArtifactRecord]:
    """Artifacts by id, erased ones too."""
    return await stored_artifacts.find_artifacts(context.services.store, ids, visible_to=visible_to(context.caller))


async def artifacts_of_runs(context: Context, run_ids: Sequence[str]) -> Mapping[str, list[ArtifactRecord]]:
    """The artifacts of runs, oldest first, by run id."""
    return await stored_artifacts.artifacts_of_runs(
        context.services.store, run_ids, visible_to=visible_to(context.caller)
    )


async def artifacts_of_attempts(context: Context, attempt_ids: Sequence[str]) -> Mapping[str, list[ArtifactRecord]]:
    """The artifacts of attempts, oldest first, by attempt id."""
    return await stored_artifacts.artifacts_of_attempts(
        context.services.store, attempt_ids, visible_to=visible_to(context.caller)
    )
