"""Batched reads of the graph's objects, limited to what the caller may see.

Every GraphQL field that leads to a run reads it here, so that none skips the check (guarantee V1). Each batch function
takes keys and returns what it finds by key; those documented as "of each" have an entry for every key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from resolvers.permissions import visible_to
from resolvers.query_limits import check_query_size
from store.access.callers import find_callers
from store.files import artifacts as stored_artifacts
from store.pipelines import reads as pipeline_reads
from store.runs import events, logs, sessions, spending, step_reads, transcripts, workers
from store.runs import reads as run_reads
from store.triggers import reads as trigger_reads
from store.triggers import webhooks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from resolvers.context import Context
    from resolvers.pipelines.versions import Version
    from store.database.engine import Store
    from store.database.paging import PageWindow
    from store.pipelines.usage import Usage
    from store.runs.events import EventRecord
    from store.runs.logs import LogLineRecord, LogQuery
    from store.runs.reads import RunRecord
    from store.triggers.reads import TriggerRecord

K = TypeVar("K")
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)

Batch: TypeAlias = "Callable[[Context, Sequence[K]], Awaitable[Mapping[K, V]]]"


class _Read(Protocol[K, V_co]):
    def __call__(
        self, store: Store, keys: Sequence[K], /, *, visible_to: str | None
    ) -> Awaitable[Mapping[K, V_co]]: ...


def _visible(read: _Read[K, V]) -> Batch[K, V]:
    """Make a batch function for parts of runs the caller may see."""

    async def batch(context: Context, keys: Sequence[K]) -> Mapping[K, V]:
        return await read(context.services.store, keys, visible_to=visible_to(context.caller))

    return batch


def _open(read: Callable[[Store, Sequence[K]], Awaitable[Mapping[K, V]]]) -> Batch[K, V]:
    """Make a batch function for what every caller may see."""

    async def batch(context: Context, keys: Sequence[K]) -> Mapping[K, V]:
        return await read(context.services.store, keys)

    return batch


#: Runs by id.
runs = _visible(run_reads.find_runs)
#: Inputs of runs, by run id.
run_payloads = _visible(run_reads.find_payloads)
#: How many queued runs are ahead of a queued run, by run id.
queue_places = _visible(run_reads.queue_places)
#: Spending on models of each run and its steps, by run id.
run_spending = _visible(spending.spending_of_runs)
#: The last takeovers of each run, oldest first, by run id.
takeovers_of_runs = _visible(workers.takeovers_of_runs)
#: Triggers by id.
triggers = _visible(trigger_reads.find_triggers)
#: The newest firing of each trigger that has one, by trigger id.
last_firings = _visible(trigger_reads.find_last_firings)
#: Addresses of webhooks, the last part of their URLs, by trigger id.
webhook_addresses = _visible(webhooks.find_addresses)
#: Until when the secrets before the last rotations are valid, or were, by trigger id.
overlap_ends = _visible(webhooks.find_overlap_ends)
#: Deliveries of webhooks, by firing id.
deliveries = _visible(webhooks.find_deliveries)
#: Steps by id.
steps = _visible(step_reads.find_steps)
#: The steps of each run in order, by run id.
steps_of_runs = _visible(step_reads.steps_of_runs)
#: Milestones of steps as JSON, by step id.
milestones = _visible(step_reads.milestones_of)
#: Sessions by id.
sessions_by_id = _visible(sessions.find_sessions)
#: Attempts by id.
attempts = _visible(step_reads.find_attempts)
#: The attempts of each step, first to last, by step id.
attempts_of_steps = _visible(step_reads.attempts_of_steps)
#: Inputs and outputs of attempts, by attempt id.
attempt_payloads = _visible(step_reads.attempt_payloads)
#: Artifacts by id, erased ones too.
artifacts = _visible(stored_artifacts.find_artifacts)
#: The artifacts of each step, oldest first, by step id.
artifacts_of_steps = _visible(stored_artifacts.artifacts_of_steps)
#: The artifacts of each attempt, oldest first, by attempt id.
artifacts_of_attempts = _visible(stored_artifacts.artifacts_of_attempts)

#: Callers by id; every caller may see their names.
callers = _open(find_callers)
#: Pipelines by id, deleted ones too.
pipelines = _open(pipeline_reads.find_pipelines)
#: Pipeline versions by id.
versions = _open(pipeline_reads.find_versions)
#: Texts of versions, by version id.
version_bodies = _open(pipeline_reads.find_bodies)


async def own_triggers(context: Context, pipeline_ids: Sequence[str]) -> Mapping[str, list[TriggerRecord]]:
    """Return the caller's own triggers of each pipeline, oldest first, by pipeline id."""
    return await trigger_reads.find_triggers_of(context.services.store, pipeline_ids, owner_id=context.caller.id)


async def current_versions(context: Context, wanted: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], Version]:
    """Return the versions that new runs use, with their documents, by pipeline id and current number."""
    return await context.services.versions.current(context, wanted)


async def latest_runs(context: Context, pipeline_ids: Sequence[str]) -> Mapping[str, RunRecord]:
    """Return the newest run of each pipeline that has one, by pipeline id."""
    only = visible_to(context.caller)
    found = await run_reads.newest_runs(context.services.store, pipeline_ids, 1, visible_to=only)
    return {key: run for key, (run,) in found.items()}


async def newest_runs(context: Context, wanted: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], list[RunRecord]]:
    """Return the newest runs of each pipeline, newest first, by pipeline id and number of runs."""
    ids, most = [key for key, _ in wanted], max(each for _, each in wanted)
    found = await run_reads.newest_runs(context.services.store, ids, most, visible_to=visible_to(context.caller))
    return {(key, each): found.get(key, [])[:each] for key, each in wanted}


async def pipeline_usage(context: Context, ids: Sequence[str]) -> Mapping[str, Usage]:
    """Return the recent usage of each pipeline, by id, over the runs that the caller may see."""
    return await context.services.usage.of(context, "pipeline", ids)


async def pack_usage(context: Context, names: Sequence[str]) -> Mapping[str, Usage]:
    """Return the recent usage of each pack, by name, over the runs that the caller may see."""
    return await context.services.usage.of(context, "pack", names)


async def events_of_run(context: Context, run_id: str, window: PageWindow) -> list[EventRecord]:
    """List a page of a run's events, oldest first."""
    if visible_to(context.caller) is not None and not await runs(context, [run_id]):
        return []
    return await events.list_events(context.services.store, run_id, window)


async def count_events_of_run(context: Context, run_id: str) -> int:
    if visible_to(context.caller) is not None and not await runs(context, [run_id]):
        return 0
    return await events.count_events(context.services.store, run_id)


async def log_of_attempt(
    context: Context, attempt_id: str, window: PageWindow, wanted: LogQuery
) -> list[LogLineRecord]:
    """List a page of an attempt's log, oldest first.

    Raises:
        Invalid: The filter's text is too long.
    """
    check_query_size(wanted)
    if visible_to(context.caller) is not None and not await attempts(context, [attempt_id]):
        return []
    return await logs.list_log(context.services.store, attempt_id, window, wanted)


async def count_log_of_attempt(context: Context, attempt_id: str, wanted: LogQuery) -> int:
    if visible_to(context.caller) is not None and not await attempts(context, [attempt_id]):
        return 0
    return await logs.count_log(context.services.store, attempt_id, wanted)


async def transcript_of_attempt(context: Context, attempt_id: str, window: PageWindow) -> list[dict[str, object]]:
    """List a page of an attempt's transcript, oldest first."""
    if visible_to(context.caller) is not None and not await attempts(context, [attempt_id]):
        return []
    return await transcripts.list_transcript(context.services.store, attempt_id, window)


async def count_transcript_of_attempt(context: Context, attempt_id: str) -> int:
    if visible_to(context.caller) is not None and not await attempts(context, [attempt_id]):
        return 0
    return await transcripts.count_transcript(context.services.store, attempt_id)
