"""Live views: the events of a run, changes of a list of runs, and the output of an attempt."""

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

#: Shortest interval between two messages about a list, in seconds.
CHANGES_SECONDS = 1.0
#: Runs in one message about a list; if more change, the client reads the list again.
CHANGED_RUNS_MAX = 100
#: Matching runs tracked per list, to report those that leave it.
TRACKED_RUNS_MAX = 1_000
#: Log lines, transcript entries and characters of their texts in one message.
LINES = 500
ENTRIES = 500
ENTRY_CHARACTERS = 256_000
#: Interval of looking for output without a wake-up, in seconds.
POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Changes:
    """New and changed runs as they are now, ids of deleted runs, and whether there are more."""

    runs: tuple[RunRecord, ...]
    deleted_ids: tuple[str, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class OutputPosition:
    """Position in the output of an attempt: the last log line and the last transcript entry sent."""

    lines: int = 0
    entries: int = 0


@dataclass(frozen=True, slots=True)
class Output:
    """Log lines and transcript entries; `position` to continue after, `live` if nothing more is stored yet."""

    lines: tuple[LogLineRecord, ...]
    entries: tuple[dict[str, object], ...]
    position: OutputPosition
    live: bool


@dataclass(frozen=True, slots=True)
class OutputGap:
    """The transcript exceeded its limit here, and entries were not stored."""

    position: OutputPosition


@dataclass(frozen=True, slots=True)
class OutputEnd:
    """The attempt has ended and all its output was sent."""

    attempt: AttemptRecord
    position: OutputPosition


@dataclass(frozen=True, slots=True)
class Behind:
    """The client is ahead of the run, as after a restored backup: it reads the run and continues after `position`."""

    position: int
    missed: int | None = None


@operation("watch_run", scope=Scope.READ, kind="query")
async def watch_run(context: Context, *, id: str, after: int) -> AsyncIterator[Batch | Gap | Behind | End]:
    """Follow a run's events after a position; see `runner.watching.tail.Tails.follow`. Close the iterator to stop."""
    run = await readable_run(context, id)
    newest = run.next_seq - 1
    if after <= newest:
        return context.services.tails.follow(id, after)
    return _behind(context, id, newest)


async def _behind(context: Context, run_id: str, newest: int) -> AsyncIterator[Batch | Gap | Behind | End]:
    yield Behind(newest)
    # `follow` is a generator, to be closed with this one.
    async with aclosing(context.services.tails.follow(run_id, newest)) as messages:  # type: ignore[type-var]
        async for message in messages:
            yield message


@operation("watch_runs", scope=Scope.READ, kind="query")
async def watch_runs(context: Context, *, query: RunQuery) -> AsyncIterator[Changes]:
    """Report changed runs of a query: one message at once, then at most one a second. There is no replay."""
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
        # Runs that match now and may stop matching; an ordered set.
        self._matching: dict[str, None] = {}

    async def open(self) -> None:
        """Record the runs that match already, newest first."""
        if self._wanted.may_stop_matching:
            window = PageWindow(limit=TRACKED_RUNS_MAX)
            rows = await list_runs(self._store, self._wanted, window, visible_to=self._only)
            self._note(reversed([row.id for row in rows]))

    async def changes(self, changed: set[str], gone: set[str], more: bool) -> Changes | None:
        """Return what to report of changed and deleted runs; None if nothing concerns this list."""
        runs: list[RunRecord] = []
        if changed:
            if self._wanted.needs_attention is not None:
                changed |= await self._repeated(changed)
            matching = await list_matching(self._store, self._wanted, sorted(changed), visible_to=self._only)
            # A run that no longer matches is sent once more, so that the list can drop it.
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
        return Changes(tuple(runs[:CHANGED_RUNS_MAX]), deleted, more or len(runs) > CHANGED_RUNS_MAX)

    def _note(self, run_ids: Iterable[str]) -> None:
        if not self._wanted.may_stop_matching:
            return
        for run_id in run_ids:
            self._matching.pop(run_id, None)
            self._matching[run_id] = None
        while len(self._matching) > TRACKED_RUNS_MAX:
            del self._matching[next(iter(self._matching))]

    def _deleted(self, gone: set[str]) -> tuple[str, ...]:
        """Return ids of deleted runs the caller could see: by the caller in the wake-up, or because they matched."""
        deleted = set()
        for key in gone:
            run_id, _, caller_id = key.partition("@")
            if self._only is None or caller_id == self._only or run_id in self._matching:
                deleted.add(run_id)
        return tuple(sorted(deleted))

    async def _repeated(self, changed: set[str]) -> set[str]:
        """Return earlier runs of changed re-runs, at any depth: a re-run's success ends their need for attention."""
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
    """Follow the log and transcript of an attempt after a position until it has ended.

    Args:
        context: The caller's.
        id: The attempt.
        after: Position to continue after.
        lines: Whether to send its log.
        entries: Whether to send its transcript.
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
            transcript: list[dict[str, object]] = []
            # State before output: output is stored before an attempt is settled, so none can come after this read.
            now = (await find_attempts(context.services.store, [attempt.id])).get(attempt.id)
            if with_lines:
                rows = await list_log(context.services.store, attempt.id, PageWindow((position.lines,), None, LINES))
            if with_entries:
                store = context.services.store
                transcript = await entries_after(store, attempt.id, position.entries, limit=ENTRIES + 1)
            lines = tuple(rows[:LINES])
            entries = _entries_of_one_message(transcript)
            if lines or entries:
                position = OutputPosition(
                    lines=lines[-1].sequence if lines else position.lines,
                    entries=_sequence(entries[-1]) if entries else position.entries,
                )
                live = len(lines) == len(rows) and len(entries) == len(transcript)
                yield Output(lines, entries, position, live)
            elif transcript:
                position = OutputPosition(position.lines, _sequence(transcript[0]))
                yield OutputGap(position)
            elif now is None or now.state is not AttemptState.RUNNING:
                yield OutputEnd(now or attempt, position)
                return
            else:
                await wait_flag(flag, POLL_SECONDS)


def _entries_of_one_message(entries: list[dict[str, object]]) -> tuple[dict[str, object], ...]:
    """Return the first entries that fit one message; none if a gap comes first."""
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
