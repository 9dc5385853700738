"""The reads of runs that come most often, by prepared statements: a page of all runs, one run, how many are under way.

Through SQLAlchemy Core a page of 100 runs costs 2.3 ms of CPU, more than showing it, of which SQLite itself takes 0.3:
the rest are 28 columns, eight of them instants, and four hops to the connection's thread. Here only what is asked for
is read and decoded, in one hop (`make bench`, row "graphql"). One run costs 0.05 ms instead of 0.6.
"""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from store.dialects import Sql, instant
from store.paging import COUNT_CAP, PAGE_OF_FEW
from store.run_reads import RunRecord
from store.states import HELD_RUN_STATES, RunCause, RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from store.dialects import Connection, Row
    from store.engine import Store
    from store.paging import PageWindow


_FIELDS = RunRecord._fields
_DECODERS: dict[str, Callable[[Any], Any]] = {
    "state": {state.value: state for state in RunState}.__getitem__,
    "cause": {cause.value: cause for cause in RunCause}.__getitem__,
    "force": bool,
    "cancel_requested": bool,
    **{name: instant for name in _FIELDS if name.endswith("_at") or name in {"not_before", "lease_until"}},
}
#: What a head can hold; columns of `store.models.RunRow`, which statements name as they are.
HEAD_COLUMNS = frozenset(
    {
        "id",
        "title",
        "state",
        "cause",
        "client_name",
        "created_at",
        "started_at",
        "ended_at",
        "deadline_at",
        "progress",
        "resume_count",
        "acknowledged_at",
        "pipeline_id",
        "pack",
        "failure",
    }
)
_ONE_RUN = Sql(f"SELECT {', '.join(_FIELDS)} FROM run WHERE id = :id")
# Walk the index of states; a look at the server asks both, and whoever waits for it to be idle asks again and again.
_COUNT_QUEUED = Sql(f"SELECT count(*) FROM (SELECT 1 FROM run WHERE state = 'queued' LIMIT {COUNT_CAP}) AS found")
_HELD = ", ".join(f"'{state.value}'" for state in sorted(HELD_RUN_STATES))
_COUNT_HELD = Sql(f"SELECT count(*) FROM (SELECT 1 FROM run WHERE state IN ({_HELD}) LIMIT {COUNT_CAP}) AS found")


async def find_run_by_id(store: Store, run_id: str, *, visible_to: str | None = None) -> RunRecord | None:
    """One run, as `run_reads.find_runs` reads it; None also when it is another caller's than `visible_to`."""
    for row in await store.rows(_ONE_RUN, {"id": run_id}, few=True):
        record = RunRecord._make(_decoded(row, _decoders(_FIELDS)))
        return record if visible_to is None or record.caller_id == visible_to else None
    return None


def read_run(conn: Connection, run_id: str) -> RunRecord | None:
    """One run as a unit of work sees it; None when there is none."""
    row = conn.one(_ONE_RUN, {"id": run_id})
    return None if row is None else RunRecord._make(_decoded(row, _decoders(_FIELDS)))


async def count_queued(store: Store) -> int:
    """How many runs of all callers wait for a worker, up to `store.paging.COUNT_CAP`."""
    return int((await store.rows(_COUNT_QUEUED))[0][0])


async def count_held(store: Store) -> int:
    """How many runs of all callers workers hold, up to `store.paging.COUNT_CAP`."""
    return int((await store.rows(_COUNT_HELD))[0][0])


async def list_whole(store: Store, window: PageWindow, *, visible_to: str | None = None) -> list[RunRecord]:
    """Runs, newest first, as `run_reads.list_runs` lists them without a filter; the sort key is `(id,)`."""
    return [*map(RunRecord._make, await _page(store, _FIELDS, window, visible_to))]


async def list_heads(
    store: Store, columns: Sequence[str], window: PageWindow, *, visible_to: str | None = None
) -> list[Row]:
    """Some columns of the runs that `list_whole` lists, as named tuples.

    Args:
        store: Where to read.
        columns: Some of `HEAD_COLUMNS`; the values come in this order.
        window: Which stretch.
        visible_to: Only this caller's; None for everybody's.

    Raises:
        ValueError: a column is none of them.
    """
    if unknown := set(columns) - HEAD_COLUMNS:
        raise ValueError(f"A head of a run has no columns {sorted(unknown)}.")
    asked = tuple(columns)
    return [*map(_head(asked), await _page(store, asked, window, visible_to))]


@lru_cache(maxsize=256)
def _head(columns: tuple[str, ...]) -> Callable[[Iterable[Any]], Row]:
    head: Any = namedtuple("RunHead", columns)  # type: ignore[misc] # whatever is asked for
    make: Callable[[Iterable[Any]], Row] = head._make
    return make


async def _page(store: Store, columns: tuple[str, ...], window: PageWindow, visible_to: str | None) -> list[list[Any]]:
    given = {
        "caller_id": visible_to,
        "after": None if window.after is None else window.after[0],
        "before": None if window.before is None else window.before[0],
    }
    parameters = {name: value for name, value in given.items() if value is not None}
    few = window.limit <= PAGE_OF_FEW
    statement = _statement(columns, frozenset(parameters), window.reverse)
    decoders = _decoders(columns)
    found = await store.rows(statement, {**parameters, "limit": window.limit + 1}, few=few)
    rows = [_decoded(row, decoders) for row in found]
    if window.reverse:
        rows.reverse()
    return rows


@lru_cache(maxsize=256)
def _decoders(columns: tuple[str, ...]) -> list[tuple[int, Callable[[Any], Any]]]:
    return [(index, _DECODERS[column]) for index, column in enumerate(columns) if column in _DECODERS]


def _decoded(row: Row, decoders: Iterable[tuple[int, Callable[[Any], Any]]]) -> list[Any]:
    values = list(row)
    for index, decode in decoders:
        values[index] = decode(values[index])
    return values


_BOUNDS = {"caller_id": "caller_id = :caller_id", "after": "id < :after", "before": "id > :before"}


@lru_cache(maxsize=256)
def _statement(columns: tuple[str, ...], bounds: frozenset[str], reverse: bool) -> Sql:
    conditions = [text for name, text in _BOUNDS.items() if name in bounds]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    order = "ASC" if reverse else "DESC"
    return Sql(f"SELECT {', '.join(columns)} FROM run {where} ORDER BY id {order} LIMIT :limit")
