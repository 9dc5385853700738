"""Reads of runs: by id, in filtered lists, in the queue, and counted. Lists never fetch inputs, documents or payloads.

One run by id, and the counts of queued and held runs, are read most often: they are prepared statements, since through
SQLAlchemy Core one run costs 0.6 ms of CPU instead of 0.05.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql, instant
from store.database.lookups import Lookup
from store.database.paging import (
    COUNT_CAP,
    PageWindow,
    SortKey,
    capped_count,
    created_within,
    fetch_rows,
    windowed,
    words_in,
    words_in_json,
)
from store.models.callers import CALLER
from store.models.runs import ADMISSION, RUN
from store.states import FINAL_RUN_STATES, HELD_RUN_STATES, RunCause, RunState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnClause, ColumnElement, Select

    from store.database.dialects import Connection
    from store.database.engine import Store


class RunRecord(NamedTuple):
    """A run without inputs, document and search text; see `store.models.RunRow` for the fields.

    Attributes:
        failure: JSON text of the failure, or None.
        next_seq: The next event's sequence; events up to the one before exist when this was read.
    """

    id: str
    caller_id: str
    pipeline_id: str | None
    version_id: str | None
    pack: str | None
    title: str
    state: RunState
    cause: RunCause
    client_name: str | None
    rerun_of: str | None
    force: bool
    failure: str | None
    cancel_requested: bool
    cancel_reason: str | None
    priority: int
    not_before: datetime | None
    start_at: datetime | None
    deadline_seconds: float
    deadline_at: datetime | None
    owner: str | None
    epoch: int
    lease_until: datetime | None
    next_seq: int
    resume_count: int
    progress: float
    acknowledged_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    needs: str
    trigger_id: str | None
    ended_run_id: str | None
    chain_depth: int


class RunPayload(NamedTuple):
    """What a run was given, as JSON text.

    Attributes:
        id: The run's.
        document: Set for single pack calls only.
        from_memory: List of the learned fields whose values were taken from memory; None when none were.
    """

    id: str
    inputs: str
    inputs_digest: str
    document: str | None
    from_memory: str | None


class Ahead(NamedTuple):
    """How many queued runs start before one, among all that may hold it up, and among those of its caller.

    `paused` says that it starts only once an operator ends the pause of admission, `is_held_back` that its pipeline
    admits no more runs like it at the moment, `is_after_run` that it waits for the end of another run of its trigger,
    `is_disabled` that its caller is disabled.

    Other callers' runs hold up an admitted run until there is a free lane; a run that is not admitted waits for runs of
    its caller alone.
    """

    of_all: int
    of_caller: int
    paused: bool = False
    is_held_back: bool = False
    is_after_run: bool = False
    is_disabled: bool = False


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs; fields are joined by and, values within a field by or. None does not ask.

    Attributes:
        pipeline_ids: Ids alone; keys and aliases are looked up before (`find_pipeline`).
        packs: Names of packs called by themselves.
        needs_attention: Failed, not acknowledged and not succeeded by a later re-run, over any number of re-runs; false
            asks for all others.
        text: Words that all occur in title, inputs or failure message.
        created_from: Created at or after.
        created_before: Created before.
    """

    states: tuple[RunState, ...] | None = None
    pipeline_ids: tuple[str, ...] | None = None
    packs: tuple[str, ...] | None = None
    caller_ids: tuple[str, ...] | None = None
    causes: tuple[RunCause, ...] | None = None
    rerun_of: str | None = None
    ended_run: str | None = None
    needs_attention: bool | None = None
    text: str | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None

    @property
    def may_stop_matching(self) -> bool:
        """Whether a matching run may stop matching when its state changes."""
        return self.states is not None or self.needs_attention is not None


#: First character of a search text that holds plain words; earlier releases stored JSON.
FOUND_BY_WORDS = "\n"
#: Rows of runs as the driver hands them out become records here, whichever way they were found.
RUNS = Lookup(
    RUN,
    RunRecord,
    "run.id",
    visible="run.caller_id = :visible_to",
    decode={
        "state": {state.value: state for state in RunState}.__getitem__,
        "cause": {cause.value: cause for cause in RunCause}.__getitem__,
    },
)
_PAYLOADS = Lookup(RUN, RunPayload, "run.id", visible="run.caller_id = :visible_to")
_ONE_RUN = Sql(f"{RUNS.head} WHERE run.id = :id")
# Walk the index of states: health checks ask both, and a command that waits for an idle server polls them.
_COUNT_QUEUED = Sql(f"SELECT count(*) AS runs FROM (SELECT 1 FROM run WHERE state = 'queued' LIMIT {COUNT_CAP}) AS few")
_HELD = ", ".join(f"'{state.value}'" for state in sorted(HELD_RUN_STATES))
_COUNT_HELD = Sql(f"SELECT count(*) AS runs FROM (SELECT 1 FROM run WHERE state IN ({_HELD}) LIMIT {COUNT_CAP}) AS few")
# A run that was resumed, released or waited for a retry waits since then.
_OLDEST_QUEUED = f"""
    SELECT min(coalesce(idle_since, created_at)) AS since FROM (
        SELECT idle_since, created_at FROM run WHERE {{}} LIMIT {COUNT_CAP}
    ) AS oldest
    """
_OLDEST_OF_ALL = Sql(_OLDEST_QUEUED.format("state = 'queued' ORDER BY id"))
# Ordered, SQLite would read the queued runs of all callers; the limit of the queue bounds those of one.
_TARGET = Sql(
    """
    SELECT coalesce(pipeline.key, run.pack, run.pipeline_id) AS target
    FROM run LEFT JOIN pipeline ON pipeline.id = run.pipeline_id WHERE run.id = :id
    """
)
_OLDEST_WITHOUT_WORKER = Sql(
    _OLDEST_QUEUED.format("(admitted AND state = 'queued') OR (state = 'waiting' AND not_before IS NULL)")
)
_OLDEST_OF_CALLER = Sql(_OLDEST_QUEUED.format("caller_id = :caller_id AND state = 'queued' AND ended_at IS NULL"))
#: More values than this are one IN, not one branch each.
_BRANCHES = 32

# A re-run of a re-run counts, hence the recursion; `ix_run_rerun_of` answers each level.
_NEEDS_ATTENTION = """run.state = 'failed' AND run.acknowledged_at IS NULL AND NOT EXISTS (
        WITH RECURSIVE later(id, state) AS (
            SELECT again.id, again.state FROM run AS again WHERE again.rerun_of = run.id
            UNION
            SELECT again.id, again.state FROM run AS again JOIN later ON again.rerun_of = later.id
        ) SELECT 1 FROM later WHERE later.state = 'succeeded')"""


async def find_run_by_id(store: Store, run_id: str, *, visible_to: str | None = None) -> RunRecord | None:
    """One run, as `find_runs` reads it; None also when it is another caller's than `visible_to`."""
    for row in await store.rows(_ONE_RUN, {"id": run_id}, few=True):
        record = RUNS.make(row)
        return record if visible_to is None or record.caller_id == visible_to else None
    return None


def read_run(conn: Connection, run_id: str) -> RunRecord | None:
    """One run as a unit of work sees it; None when there is none."""
    row = conn.one(_ONE_RUN, {"id": run_id})
    return None if row is None else RUNS.make(row)


async def find_runs(store: Store, ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, RunRecord]:
    """Runs by id; those that do not exist, or are another caller's than `visible_to`, are left out."""
    return {run.id: run for run in await RUNS.read(store, ids, visible_to=visible_to)}


async def find_payloads(store: Store, ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, RunPayload]:
    """What runs were given, by run id; without those of other callers than `visible_to`."""
    return {payload.id: payload for payload in await _PAYLOADS.read(store, ids, visible_to=visible_to)}


async def list_runs(
    store: Store, wanted: RunFilter, window: PageWindow, *, visible_to: str | None = None
) -> list[RunRecord]:
    """Runs, newest first; the sort key is `(id,)`.

    Args:
        store: Where to read.
        wanted: Which ones.
        window: The page to read.
        visible_to: Only this caller's; None for everybody's.
    """
    driver, values = _driver(wanted, visible_to)
    conditions = _conditions(wanted, visible_to)
    statement = RUNS.select.where(*conditions)
    if driver is not None and 1 < len(values) <= _BRANCHES:
        # An IN over an index loses the order, and sorting grows with history: one short ordered read for each value
        # instead, of which the newest are taken.
        branches = [
            sa.select(_page_of(driver == value, conditions, window).subquery().c.id) for value in dict.fromkeys(values)
        ]
        statement = RUNS.select.where(RUN.c.id.in_(sa.union_all(*branches)))
    order = _newest_of_few() if _only_active(wanted) else _newest()
    return [*map(RUNS.make, await fetch_rows(store, statement, order, window))]


async def list_matching(
    store: Store, wanted: RunFilter, ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, RunRecord]:
    """Those of these runs that match, by id."""
    conditions = [*_conditions(wanted, visible_to), RUN.c.id.in_(ids)]
    found = map(RUNS.make, await store.read(RUNS.select.where(*conditions)))
    return {run.id: run for run in found}


async def count_runs(store: Store, wanted: RunFilter, *, visible_to: str | None = None) -> int:
    """How many runs match, up to `store.database.paging.COUNT_CAP`."""
    return await capped_count(store, sa.select(RUN.c.id).where(*_conditions(wanted, visible_to)))


async def count_queued(store: Store) -> int:
    """How many runs of all callers wait for a worker, up to `store.database.paging.COUNT_CAP`."""
    (found,) = await store.rows(_COUNT_QUEUED)
    return int(found.runs)


async def count_held(store: Store) -> int:
    """How many runs of all callers workers hold, up to `store.database.paging.COUNT_CAP`."""
    (found,) = await store.rows(_COUNT_HELD)
    return int(found.runs)


async def oldest_queued(store: Store, *, visible_to: str | None = None) -> datetime | None:
    """Since when the longest waiting queued run waits, among the first `COUNT_CAP`; None when none waits."""
    statement = _OLDEST_OF_ALL if visible_to is None else _OLDEST_OF_CALLER
    (found,) = await store.rows(statement, {} if visible_to is None else {"caller_id": visible_to})
    return instant(found.since)


async def target_of_run(store: Store, run_id: str) -> str | None:
    """Return the key of the pipeline or the name of the pack that a run executes; None if there is no such run."""
    for row in await store.rows(_TARGET, {"id": run_id}):
        target: str = row.target
        return target
    return None


async def oldest_without_worker(store: Store) -> datetime | None:
    """Since when the longest waiting run waits of those that only a worker is missing for; None when none waits.

    A run that waits for a slot of its caller, or of its pipeline, is not one of them.
    """
    (found,) = await store.rows(_OLDEST_WITHOUT_WORKER)
    return instant(found.since)


async def queue_places(store: Store, ids: Sequence[str], *, visible_to: str | None = None) -> dict[str, Ahead]:
    """Places of queued runs in the queue, by run id; without runs that are not queued or not `visible_to`'s.

    One statement whatever the number of runs asked for: it numbers the whole queue, which the queue limit bounds.
    """
    order = (RUN.c.priority, RUN.c.id)
    peer = RUN.alias("peer")
    in_group = (
        sa.select(sa.func.count())
        .where(peer.c.concurrency_key == RUN.c.concurrency_key, peer.c.admitted, peer.c.ended_at.is_(None))
        .correlate(RUN)
        .scalar_subquery()
    )
    earlier = RUN.alias("earlier")
    is_after_run = sa.exists().where(earlier.c.id == RUN.c.after_run_id, earlier.c.ended_at.is_(None)).correlate(RUN)
    is_paused = sa.exists().where(ADMISSION.c.paused_at.is_not(None))
    is_disabled = sa.exists().where(CALLER.c.id == RUN.c.caller_id, CALLER.c.disabled_at.is_not(None)).correlate(RUN)
    of_admitted = sa.func.row_number().over(partition_by=RUN.c.admitted, order_by=order)
    of_caller = sa.func.row_number().over(partition_by=RUN.c.caller_id, order_by=(RUN.c.admitted.desc(), *order))
    queue = (
        sa.select(
            RUN.c.id,
            RUN.c.caller_id,
            (sa.case((RUN.c.admitted, of_admitted), else_=of_caller) - 1).label("of_all"),
            (of_caller - 1).label("of_caller"),
            sa.and_(~RUN.c.admitted, is_paused).label("paused"),
            sa.and_(~RUN.c.admitted, RUN.c.concurrency_key.is_not(None), in_group >= RUN.c.concurrency_limit).label(
                "is_held_back"
            ),
            is_after_run.label("is_after_run"),
            is_disabled.label("is_disabled"),
        )
        .where(RUN.c.state == RunState.QUEUED.value)
        .subquery()
    )
    wanted = sa.select(
        queue.c.id,
        queue.c.of_all,
        queue.c.of_caller,
        queue.c.paused,
        queue.c.is_held_back,
        queue.c.is_after_run,
        queue.c.is_disabled,
    ).where(queue.c.id.in_(ids))
    if visible_to is not None:
        wanted = wanted.where(queue.c.caller_id == visible_to)
    return {
        row.id: Ahead(
            row.of_all,
            row.of_caller,
            bool(row.paused),
            bool(row.is_held_back),
            bool(row.is_after_run),
            bool(row.is_disabled),
        )
        for row in await store.read(wanted)
    }


async def newest_runs(
    store: Store, pipeline_ids: Sequence[str], each: int, *, visible_to: str | None = None
) -> dict[str, list[RunRecord]]:
    """So many of the newest runs of each pipeline that has any, newest first, by pipeline id."""
    if not pipeline_ids:
        return {}
    newest = []
    for pipeline_id in dict.fromkeys(pipeline_ids):
        some = sa.select(RUN.c.id).where(RUN.c.pipeline_id == pipeline_id).order_by(RUN.c.id.desc()).limit(each)
        if visible_to is not None:
            some = some.where(RUN.c.caller_id == visible_to)
        newest.append(sa.select(some.subquery().c.id))
    rows = await store.read(RUNS.select.where(RUN.c.id.in_(sa.union_all(*newest))).order_by(RUN.c.id.desc()))
    found: dict[str, list[RunRecord]] = {}
    for run in map(RUNS.make, rows):
        assert run.pipeline_id is not None, "it was looked up by it"
        found.setdefault(run.pipeline_id, []).append(run)
    return found


def _conditions(wanted: RunFilter, visible_to: str | None) -> list[Any]:
    conditions: list[Any] = []
    if visible_to is not None:
        conditions.append(RUN.c.caller_id == visible_to)
    for column, values in (
        (RUN.c.state, wanted.states),
        (RUN.c.pipeline_id, wanted.pipeline_ids),
        (RUN.c.pack, wanted.packs),
        (RUN.c.caller_id, wanted.caller_ids),
        (RUN.c.cause, wanted.causes),
    ):
        if values is not None:
            plain = [str(value) for value in values]
            conditions.append(column == plain[0] if len(plain) == 1 else column.in_(plain))
    if _only_active(wanted):
        # Spelled as in the partial index `ix_run_active`, or SQLite would not use it.
        conditions.append(sa.literal_column("run.ended_at IS NULL"))
    if wanted.rerun_of is not None:
        conditions.append(RUN.c.rerun_of == wanted.rerun_of)
    if wanted.ended_run is not None:
        conditions.append(RUN.c.ended_run_id == wanted.ended_run)
    if wanted.needs_attention is not None:
        conditions.append(sa.text(_NEEDS_ATTENTION if wanted.needs_attention else f"NOT ({_NEEDS_ATTENTION})"))
    if wanted.text:
        conditions.extend(_words_in_run(wanted.text))
    conditions += created_within(RUN, "run", wanted.created_from, wanted.created_before)
    return conditions


def _words_in_run(text: str) -> list[ColumnElement[bool]]:
    """Conditions that all words of `text` occur in the search text of a run.

    A search text of an earlier release, which does not begin with `FOUND_BY_WORDS`, holds inputs as JSON.
    """
    column = RUN.c.search_text
    is_words = column.startswith(FOUND_BY_WORDS)
    return [
        plain if plain.compare(in_json) else sa.case((is_words, plain), else_=in_json)
        for plain, in_json in zip(words_in(column, text), words_in_json(column, text), strict=True)
    ]


def _newest() -> list[SortKey]:
    return [(RUN.c.id, True)]


def _newest_of_few() -> list[SortKey]:
    # Few runs are active, but SQLite would walk all of history by the index that has the order. An expression has none,
    # so it takes the partial index and sorts what little it finds.
    return [(sa.literal_column("run.id || ''", sa.String), True)]


def _only_active(wanted: RunFilter) -> bool:
    return bool(wanted.states) and FINAL_RUN_STATES.isdisjoint(wanted.states or ())


def _driver(wanted: RunFilter, visible_to: str | None) -> tuple[ColumnClause[Any] | None, list[str]]:
    """The column whose index is to lead, and its values: the most selective one that is asked for."""
    if wanted.pipeline_ids is not None:
        return RUN.c.pipeline_id, list(wanted.pipeline_ids)
    if visible_to is not None:
        return RUN.c.caller_id, [visible_to]
    if wanted.caller_ids is not None:
        return RUN.c.caller_id, list(wanted.caller_ids)
    if wanted.states is not None and not wanted.needs_attention and not _only_active(wanted):
        return RUN.c.state, [state.value for state in wanted.states]
    return None, []


def _page_of(branch: ColumnElement[bool], conditions: list[Any], window: PageWindow) -> Select[Any]:
    return windowed(sa.select(RUN.c.id).where(branch, *conditions), _newest(), window)
