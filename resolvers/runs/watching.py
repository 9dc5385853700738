"""Watching runs live: their events, which of them change, and what attempts log."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvers import visible
from resolvers.operations import operation
from resolvers.permissions import readable_run, visible_to
from resolvers.problems import NotFound
from resolvers.runs.runs import RunQuery, filter_of
from runner.watching.bus import wait_flag
from store.database.paging import PageWindow
from store.database.wakes import Topic
from store.runs.logs import LogLineRecord, list_log
from store.runs.reads import RunFilter, RunRecord, find_runs, list_matching, list_runs
from store.runs.step_reads import AttemptRecord, find_attempts
from store.runs.transcripts import entries_after
from store.states import AttemptState, Scope, TranscriptKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from resolvers.context import Context
    from runner.watching.tail import Batch, End, Gap

#: Lists are told of changes at most this often, in seconds.
CHANGES_SECONDS = 1.0
#: Runs told in one message; beyond it the list is read again.
CHANGES_TOLD = 100
#: Matching runs that are remembered for one list, so that it is told of those that leave it.
CHANGES_KNOWN = 1_000
#: Log lines in one message, and transcript entries with characters of their text together.
LINES = 500
ENTRIES = 500
ENTRY_CHARACTERS = 256_000
#: Output is looked for this often even when no wake-up comes, in seconds.
POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Changes:
    """Runs that appeared or changed, as they are now, and ids of those that are gone."""

    runs: tuple[RunRecord, ...]
    deleted_ids: tuple[str, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class OutputPosition:
    """A place in what an attempt prints: the last line of its log and the last entry of its transcript told."""

    lines: int = 0
    entries: int = 0


@dataclass(frozen=True, slots=True)
class Output:
    """Log lines and transcript entries; `position` to go on after, `live` when all that is stored was told."""

    lines: tuple[LogLineRecord, ...]
    entries: tuple[dict[str, object], ...]
    position: OutputPosition
    live: bool


@dataclass(frozen=True, slots=True)
class OutputGap:
    """Entries of the transcript were left out when it was written: more than is kept."""

    position: OutputPosition


@dataclass(frozen=True, slots=True)
class OutputEnd:
    """The attempt has ended and all its output was told."""

    attempt: AttemptRecord
    position: OutputPosition


@dataclass(frozen=True, slots=True)
class Behind:
    """The position asked for is not this run's, as after a restored backup: read the run again, go on after this."""

    position: int
    missed: int | None = None


@operation("watch_run", scope=Scope.READ, kind="query")
async def watch_run(context: Context, *, id: str, after: int) -> AsyncIterator[Batch | Gap | Behind | End]:
    """A run's events after a position; see `runner.watching.tail.Tails.follow`. Close the iterator when done early."""
    run = await readable_run(context, id)
    newest = run.next_seq - 1
    if after <= newest:
        return context.services.tails.follow(id, after)
    return _behind(context, id, newest)


async def _behind(context: Context, run_id: str, newest: int) -> AsyncIterator[Batch | Gap | Behind | End]:
    yield Behind(newest)
    # What follows a run is a generator, to be closed with this one.
    async with aclosing(context.services.tails.follow(run_id, newest)) as messages:  # type: ignore[type-var]
        async for message in messages:
            yield message


@operation("watch_runs", scope=Scope.READ, kind="query")
async def watch_runs(context: Context, *, query: RunQuery) -> AsyncIterator[Changes]:
    """Runs of a query that change: one message at once, then at most one a second. There is no replay."""
    wanted = await filter_of(context, query)
    return _changes(context, wanted)


async def _changes(context: Context, wanted: RunFilter) -> AsyncIterator[Changes]:
    with context.services.engine.bus.collect() as collector:
        shown = _ShownRuns(context, wanted)
        await shown.open()
        yield Changes((), (), more=False)
        while True:
            await collector.flag.wait()
            changes = await shown.changes(*collector.take())
            if changes is not None:
                yield changes
            await asyncio.sleep(CHANGES_SECONDS)


class _ShownRuns:
    """Tracks which runs a list may be showing, to report those that leave it."""

    def __init__(self, context: Context, wanted: RunFilter) -> None:
        self._store = context.services.store
        self._wanted = wanted
        self._only = visible_to(context.caller)
        # Runs that match now and may cease to; an ordered set. Where nothing about a match can change, none are kept.
        self._matching: dict[str, None] = {}
        self._may_leave = wanted.states is not None or wanted.needs_attention is not None

    async def open(self) -> None:
        """Record the runs that match already, newest first."""
        if self._may_leave:
            rows = await list_runs(self._store, self._wanted, PageWindow(limit=CHANGES_KNOWN), visible_to=self._only)
            self._note(reversed([row.id for row in rows]))

    async def changes(self, changed: set[str], gone: set[str], more: bool) -> Changes | None:
        """Return what to report of changed and deleted runs; None when nothing concerns this list."""
        runs: list[RunRecord] = []
        if changed:
            if self._wanted.needs_attention is not None:
                changed |= await self._repeated(changed)
            matching = await list_matching(self._store, self._wanted, sorted(changed), visible_to=self._only)
            # A run that no longer matches is told once more, so that the list can drop it.
            left = sorted((changed & self._matching.keys()) - matching.keys())
            former = await find_runs(self._store, left, visible_to=self._only) if left else {}
            runs = [*matching.values(), *former.values()]
            for run_id in left:
                self._matching.pop(run_id, None)
            self._note(matching)
        deleted = self._deleted(gone)
        for run_id in deleted:
            self._matching.pop(run_id, None)
        if not (runs or deleted or more):
            return None
        return Changes(tuple(runs[:CHANGES_TOLD]), deleted, more or len(runs) > CHANGES_TOLD)

    def _note(self, run_ids: Iterable[str]) -> None:
        if not self._may_leave:
            return
        for run_id in run_ids:
            self._matching.pop(run_id, None)
            self._matching[run_id] = None
        while len(self._matching) > CHANGES_KNOWN:
            del self._matching[next(iter(self._matching))]

    def _deleted(self, gone: set[str]) -> tuple[str, ...]:
        """Ids of deleted runs the caller could see: those that say whose they were, or that matched here."""
        deleted = set()
        for key in gone:
            run_id, _, caller_id = key.partition("@")
            if self._only is None or caller_id == self._only or run_id in self._matching:
                deleted.add(run_id)
        return tuple(sorted(deleted))

    async def _repeated(self, changed: set[str]) -> set[str]:
        """Runs that changed ones repeat, over any number of re-runs: the success of those settles these."""
        found: set[str] = set()
        level = changed
        while level:
            rows = await find_runs(self._store, sorted(level))
            level = {run.rerun_of for run in rows.values() if run.rerun_of is not None} - found - changed
            found |= level
        return found


@operation("watch_attempt", scope=Scope.READ, kind="query")
async def watch_attempt(
    context: Context, *, id: str, after: OutputPosition, lines: bool = True, entries: bool = True
) -> AsyncIterator[Output | OutputGap | OutputEnd]:
    """What an attempt logs, and its agent says and does, after a position, until it has ended.

    Args:
        context: The caller's.
        id: The attempt.
        after: Go on after this.
        lines: Whether its log is told.
        entries: Whether its transcript is told.
    """
    found = (await visible.attempts(context, [id])).get(id)
    if found is None:
        raise NotFound("attempt", id)
    return _output(context, found, after, with_lines=lines, with_entries=entries)


async def _output(
    context: Context, attempt: AttemptRecord, position: OutputPosition, *, with_lines: bool, with_entries: bool
) -> AsyncIterator[Output | OutputGap | OutputEnd]:
    with context.services.engine.bus.watch((Topic.OUTPUT, attempt.id), (Topic.RUN, attempt.run_id)) as flag:
        while True:
            flag.clear()
            rows: list[LogLineRecord] = []
            said: list[dict[str, object]] = []
            # State before output: output is stored before an attempt is settled, so none can come after this read.
            now = (await find_attempts(context.services.store, [attempt.id])).get(attempt.id)
            if with_lines:
                rows = await list_log(context.services.store, attempt.id, PageWindow((position.lines,), None, LINES))
            if with_entries:
                said = await entries_after(context.services.store, attempt.id, position.entries, limit=ENTRIES + 1)
            told = tuple(rows[:LINES])
            entries = _together(said)
            if told or entries:
                position = OutputPosition(
                    lines=told[-1].sequence if told else position.lines,
                    entries=_sequence(entries[-1]) if entries else position.entries,
                )
                yield Output(told, entries, position, live=len(told) == len(rows) and len(entries) == len(said))
            elif said:
                position = OutputPosition(position.lines, _sequence(said[0]))
                yield OutputGap(position)
            elif now is None or now.state is not AttemptState.RUNNING:
                yield OutputEnd(now or attempt, position)
                return
            else:
                await wait_flag(flag, POLL_SECONDS)


def _together(entries: list[dict[str, object]]) -> tuple[dict[str, object], ...]:
    """The first entries that fit one message: none when what was left out comes first."""
    found: list[dict[str, object]] = []
    characters = 0
    for entry in entries[:ENTRIES]:
        characters += len(str(entry.get("text", "")))
        if entry["kind"] == TranscriptKind.CUT.value or (found and characters > ENTRY_CHARACTERS):
            break
        found.append(entry)
    return tuple(found)


def _sequence(entry: dict[str, object]) -> int:
    return int(str(entry["sequence"]))
