"""Runs: look up, list, wait, cancel, acknowledge, delete."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from resolvers.not_found import no_pipeline, pipeline_ids
from resolvers.operations import operation
from resolvers.permissions import changeable_run, readable_run, visible_to
from resolvers.pipelines.start_checks import wait_out_of_range
from resolvers.problems import Invalid, NotFound, WrongState
from resolvers.query_limits import check_query_size
from resolvers.tools import RUN_ID, WAIT_SECONDS_MAX, Parameter, Tool
from runner.running.run_log import record_cancelled
from runner.watching.bus import wait_flag
from store.database.wakes import Topic
from store.pipelines.reads import find_pipelines
from store.runs.commands import acknowledge, delete_run, request_cancel
from store.runs.events import events_after
from store.runs.reads import RunFilter, RunRecord, count_runs, list_runs
from store.runs.unit_types import WrongStateError
from store.states import FINAL_RUN_STATES, RunCause, RunState, Scope, predicate

if TYPE_CHECKING:
    from datetime import datetime

    from resolvers.context import Context
    from store.database.dialects import Connection
    from store.database.paging import PageWindow
    from store.runs.reads import Ahead

#: A waiter looks at the run this often even when no wake-up comes, in seconds.
POLL_SECONDS = 1.0


class RunAction(StrEnum):
    """What can be done with a run, most frequent first."""

    RESUME = "resume"
    RERUN = "rerun"
    CANCEL = "cancel"
    ACKNOWLEDGE = "acknowledge"
    PROMOTE = "promote"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class RunQuery:
    """Filter of runs, with pipelines by id, key or alias; see `store.runs.reads.RunFilter`."""

    states: tuple[RunState, ...] | None = None
    pipelines: tuple[str, ...] | None = None
    packs: tuple[str, ...] | None = None
    callers: tuple[str, ...] | None = None
    causes: tuple[RunCause, ...] | None = None
    rerun_of: str | None = None
    ended_run: str | None = None
    needs_attention: bool | None = None
    text: str | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Waited:
    """Result of waiting for a run; `sequence` is the position to continue waiting from."""

    run: RunRecord
    timed_out: bool
    sequence: int


def run_actions(context: Context, run: RunRecord) -> tuple[RunAction, ...]:
    """List what the caller may do with a run now."""
    caller = context.caller
    owns = run.caller_id == caller.id or caller.may(Scope.MANAGE)
    may_run = caller.may(Scope.RUN)
    actions = []
    if owns and may_run and run.state in {RunState.FAILED, RunState.CANCELLED}:
        actions.append(RunAction.RESUME)
    if owns and may_run and run.state not in FINAL_RUN_STATES and run.state is not RunState.CANCELLING:
        actions.append(RunAction.CANCEL)
    if may_run:
        actions.append(RunAction.RERUN)
    if owns and may_run and run.state is RunState.FAILED and run.acknowledged_at is None:
        actions.append(RunAction.ACKNOWLEDGE)
    if caller.may(Scope.WRITE) and run.state is RunState.SUCCEEDED:
        actions.append(RunAction.PROMOTE)  # reading the proposal needs no `write`; saving it does
    if owns and caller.may(Scope.WRITE) and run.state in FINAL_RUN_STATES:
        actions.append(RunAction.DELETE)
    return tuple(actions)


def queue_message(place: Ahead | None) -> str:
    """Describe what a queued run waits for."""
    if place is not None and place.paused:
        return "starts are paused by an operator"
    if place is not None and place.is_disabled:
        return "waits until its caller is enabled"
    if place is not None and place.is_held_back and place.of_caller == 0:
        return "waits for another run of its pipeline"
    if place is not None and place.is_after_run:
        return "waits for the end of the last run of its trigger"
    if place is None or place.of_all == 0:
        return "starts next"
    if place.of_caller == 0:
        return _ahead(place.of_all, "of other callers")
    return _ahead(place.of_caller, "of yours")


def _ahead(count: int, owner: str) -> str:
    return f"{count} {'run' if count == 1 else 'runs'} {owner} ahead"


async def filter_of(context: Context, query: RunQuery) -> RunFilter:
    """Make the store's filter for a query; a pipeline that is not found matches nothing."""
    check_query_size(query)
    return RunFilter(
        states=query.states,
        pipeline_ids=None if query.pipelines is None else await pipeline_ids(context, query.pipelines),
        packs=query.packs,
        caller_ids=query.callers,
        causes=query.causes,
        rerun_of=query.rerun_of,
        ended_run=query.ended_run,
        needs_attention=query.needs_attention,
        text=query.text,
        created_from=query.created_from,
        created_before=query.created_before,
    )


async def _note_unknown(context: Context, wanted: RunFilter) -> None:
    """Note pipelines in a filter that do not exist; deleted pipelines still have their runs and id."""
    ids = wanted.pipeline_ids or ()
    known = await find_pipelines(context.services.store, ids) if ids else {}
    for ref in ids:
        if ref not in known:
            context.note_miss(await no_pipeline(context, ref))


@operation(
    "get_run",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Get a run",
        description="Returns a run: its state, error and output, and each step's state, error and artifacts. Use "
        "detail `full` for the inputs, outputs and tracebacks of the steps, and wait_run to wait for the end.",
        parameters={"id": RUN_ID},
    ),
)
async def get_run(context: Context, *, id: str) -> RunRecord | None:
    """Find a run the caller may see."""
    try:
        return await readable_run(context, id)
    except NotFound:
        return None


@operation(
    "list_runs",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="List runs",
        description="Lists runs, newest first. Use get_run for details.",
        parameters={
            "callers": Parameter(hidden=True),
            "rerun_of": Parameter(hidden=True),
            "ended_run": Parameter(hidden=True),
            "created_before": Parameter(hidden=True),
            "causes": Parameter(hidden=True),
            "packs": Parameter(hidden=True),
            "created_from": Parameter(hidden=True),
        },
        when_empty="No run matches. run_pipeline starts one; search_catalog finds pipelines.",
    ),
)
async def list_visible_runs(context: Context, *, query: RunQuery, window: PageWindow) -> list[RunRecord]:
    """List runs the caller may see, newest first, and one more than the window asks for if there are more."""
    wanted = await filter_of(context, query)
    await _note_unknown(context, wanted)
    return await list_runs(context.services.store, wanted, window, visible_to=visible_to(context.caller))


async def count_visible_runs(context: Context, query: RunQuery) -> int:
    """Count the runs of a query that the caller may see, up to 10,000."""
    wanted = await filter_of(context, query)
    return await count_runs(context.services.store, wanted, visible_to=visible_to(context.caller))


@operation(
    "wait_run",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Wait for a run",
        description="Waits for a run to end. A timeout is a normal result; call again to keep waiting. "
        "Cancelling the call does not cancel the run.",
        parameters={
            "id": RUN_ID,
            "wait_seconds": Parameter(minimum=0, maximum=WAIT_SECONDS_MAX, description="Maximum wait in seconds."),
            "until_change": Parameter(description="Return at the first change instead of at the end."),
            "after": Parameter(name="cursor", description="`cursor` of the previous answer; only later changes count."),
        },
    ),
)
async def wait_run(
    context: Context,
    *,
    id: str,
    wait_seconds: int = 45,
    until_change: bool = False,
    after: int | None = None,
) -> Waited | None:
    """Wait until a run has ended or changed; a timeout is a normal answer and cancels nothing.

    `after` is the sequence number after which events count as a change; None means from now on.
    """
    longest = context.services.limits.wait_seconds
    if not 0 <= wait_seconds <= longest:
        raise Invalid([wait_out_of_range(wait_seconds, longest)])
    try:
        run = await readable_run(context, id)
    except NotFound:
        return None
    position = after if after is not None else run.next_seq - 1
    if run.state not in FINAL_RUN_STATES:
        if until_change:
            await _wait_changed(context, id, position, wait_seconds)
        else:
            await context.services.engine.wait_ended(id, wait_seconds)
        try:
            run = await readable_run(context, id)
        except NotFound:  # deleted meanwhile
            return None
    changed = until_change and run.next_seq - 1 > position
    return Waited(run, run.state not in FINAL_RUN_STATES and not changed, run.next_seq - 1)


async def _wait_changed(context: Context, run_id: str, position: int, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    with context.services.engine.bus.watch((Topic.RUN, run_id)) as flag:
        while True:
            flag.clear()
            if await events_after(context.services.store, run_id, position, limit=1):
                return
            left = until - loop.time()
            if left <= 0:
                return
            await wait_flag(flag, min(left, POLL_SECONDS))


@operation(
    "cancel_run",
    scope=Scope.RUN,
    kind="command",
    idempotent=True,
    destructive=True,
    target="id",
    tool=Tool(
        title="Cancel a run",
        description="Cancels a run. It stays CANCELLING until its step has stopped; resume_run can continue it later.",
        parameters={"id": RUN_ID},
    ),
)
async def cancel_run(context: Context, *, id: str, reason: str | None = None) -> str:
    """Cancel a run, which is `cancelling` until its step has stopped; returns the run's id."""
    await changeable_run(context, id)
    shown = context.services.redactor.excerpt(reason, 500) if reason else None
    try:
        state = await context.commit(lambda conn: request_cancel(conn, id, shown))
    except WrongStateError as wrong:
        if wrong.state is RunState.CANCELLED:
            await context.commit_unchanged()
            return id
        raise WrongState(
            f"Run {id} has already ended: it {predicate(wrong.state)}.", id, hint="There is nothing to cancel."
        ) from wrong
    if state is RunState.CANCELLED:
        await record_cancelled(context.services.engine.resources, id)
    return id


@operation("acknowledge_run", scope=Scope.RUN, kind="command", idempotent=True, target="id")
async def acknowledge_run(context: Context, *, id: str, acknowledged: bool = True) -> str:
    """Acknowledge a failed run or undo that; returns the run's id."""
    await changeable_run(context, id)
    try:
        await context.commit(lambda conn: acknowledge(conn, id, acknowledged=acknowledged))
    except WrongStateError as wrong:
        raise WrongState(
            f"Run {id} {predicate(wrong.state)}; only failed runs can be acknowledged.",
            id,
            hint="There is nothing to do.",
        ) from wrong
    return id


@operation("delete_run", scope=Scope.WRITE, kind="command", destructive=True, target="id")
async def delete_one_run(context: Context, *, id: str) -> str:
    """Delete a run that has ended with its outputs, except pinned artifacts; returns the run's id."""
    run = await changeable_run(context, id)

    def unit(conn: Connection) -> None:
        delete_run(conn, id)
        # With the caller, which watchers of lists can no longer look up.
        conn.wake(Topic.RUN_DELETED, f"{id}@{run.caller_id}")

    try:
        await context.commit(unit)
    except WrongStateError as wrong:
        raise WrongState(
            f"Run {id} {predicate(wrong.state)}; only runs that have ended can be deleted.", id, hint="Cancel it first."
        ) from wrong
    return id
