"""Watching runs live: their events, which of them change, and what attempts log."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvers.access import readable_run, visible_to
from resolvers.operations import operation
from resolvers.problems import NotFound
from resolvers.runs import RunQuery, filter_of
from runner.bus import wait_flag
from store.logs import LogLineRecord, list_log
from store.paging import PageWindow
from store.run_reads import RunFilter, RunRecord, find_runs, list_matching
from store.states import AttemptState, Scope
from store.step_reads import AttemptRecord, find_attempts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from resolvers.context import Context
    from runner.tail import Batch, End, Gap

#: Lists are told of changes at most this often, in seconds.
CHANGES_SECONDS = 1.0
#: Runs told in one message; beyond it the list is read again.
CHANGES_TOLD = 100
#: Log lines in one message.
LINES = 500
#: Output is looked for this often even when no wake-up comes, in seconds.
POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Changes:
    """Runs that appeared or changed, as they are now, and ids of those that are gone."""

    runs: tuple[RunRecord, ...]
    deleted_ids: tuple[str, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of an attempt's log; `position` to go on after, `live` when all that is stored was told."""

    lines: tuple[LogLineRecord, ...]
    position: int
    live: bool


@dataclass(frozen=True, slots=True)
class OutputEnd:
    """The attempt has ended and all its output was told."""

    attempt: AttemptRecord
    position: int


@operation("watch_run", scope=Scope.READ, kind="query")
async def watch_run(
    context: Context,
    *,
    id: str,
    after: int,
) -> AsyncIterator[Batch | Gap | End]:
    """A run's events after a position; see `runner.tail.Tails.follow`. Close the iterator when done early."""
    await readable_run(context, id)
    return context.services.tails.follow(id, after)


@operation("watch_runs", scope=Scope.READ, kind="query")
async def watch_runs(context: Context, *, query: RunQuery) -> AsyncIterator[Changes]:
    """Runs of a query that change: one message at once, then at most one a second. There is no replay."""
    wanted = await filter_of(context, query)
    return _changes(context, wanted)


async def _changes(context: Context, wanted: RunFilter) -> AsyncIterator[Changes]:
    only = visible_to(context)
    told: set[str] = set()
    with context.services.engine.bus.collect() as collector:
        yield Changes((), (), more=False)
        while True:
            await collector.flag.wait()
            changed, gone, more = collector.take()
            runs: list[RunRecord] = []
            if changed:
                async with context.services.store.read() as connection:
                    matching = await list_matching(connection, wanted, sorted(changed), visible_to=only)
                    # A run that no longer matches is told once more, so that the list can drop it.
                    left = sorted(changed & told - matching.keys())
                    former = await find_runs(connection, left, visible_to=only) if left else {}
                runs = [*matching.values(), *former.values()]
                told.difference_update(former)
                told.update(matching)
            deleted = tuple(sorted(gone & told)) if only is not None else tuple(sorted(gone))
            told.difference_update(gone)
            if len(told) > 10 * CHANGES_TOLD:
                told.clear()
            if runs or deleted or more:
                yield Changes(tuple(runs[:CHANGES_TOLD]), deleted, more or len(runs) > CHANGES_TOLD)
            await asyncio.sleep(CHANGES_SECONDS)


@operation("watch_attempt", scope=Scope.READ, kind="query")
async def watch_attempt(
    context: Context,
    *,
    id: str,
    after: int,
) -> AsyncIterator[Lines | OutputEnd]:
    """What an attempt logs after a position, until it has ended."""
    async with context.services.store.read() as connection:
        found = (await find_attempts(connection, [id])).get(id)
    if found is None:
        raise NotFound("attempt", id)
    try:
        await readable_run(context, found.run_id)
    except NotFound as hidden:
        raise NotFound("attempt", id) from hidden
    return _output(context, found, after)


async def _output(context: Context, attempt: AttemptRecord, after: int) -> AsyncIterator[Lines | OutputEnd]:
    position = after
    with context.services.engine.bus.watch(f"log:{attempt.id}", attempt.run_id) as flag:
        while True:
            flag.clear()
            async with context.services.store.read() as connection:
                # State before lines: lines are stored before an attempt is settled, so none can come after this read.
                now = (await find_attempts(connection, [attempt.id])).get(attempt.id)
                rows = await list_log(connection, attempt.id, PageWindow((position,), None, LINES))
            lines = tuple(rows[:LINES])
            if lines:
                position = lines[-1].sequence
                yield Lines(lines, position, live=len(rows) <= LINES)
                continue
            if now is None or now.state is not AttemptState.RUNNING:
                yield OutputEnd(now or attempt, position)
                return
            await wait_flag(flag, POLL_SECONDS)
