"""The processes that execute runs: their signs of life, and which of them took a run over from another."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import orjson

from store.database.dialects import Sql, by_name, some_instant
from store.database.lookups import Lookup, of_run
from store.database.paging import COUNT_CAP
from store.database.wakes import Topic
from store.models.runs import RUN_EVENT
from store.runs.claim import renew
from store.runs.needs import needs_of
from store.states import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store

#: A worker that was not seen for so many leases is removed; operators have noticed by then.
FORGET_LEASES = 20
#: Most takeovers of a run that are listed, the latest ones.
TAKEOVERS_MAX = 100

_SIGN_OF_LIFE = Sql(
    """
    INSERT INTO worker (id, machine, release, lanes, offers, draining, started_at, seen_at)
    VALUES (:id, :machine, :release, :lanes, :offers, :draining, :started_at, :now)
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, offers = excluded.offers
    RETURNING draining
    """
)
# Skips what another worker is writing or deleting: two of them could otherwise wait for each other.
_FORGET = Sql("DELETE FROM worker WHERE id IN (SELECT id FROM worker WHERE seen_at < :before FOR UPDATE SKIP LOCKED)")
_FORGET_OTHERS = Sql("DELETE FROM worker WHERE id <> :id")
_DRAIN = Sql("UPDATE worker SET draining = :draining WHERE id = :id")
_REMOVE = Sql("DELETE FROM worker WHERE id = :id")
# The index of states finds the held runs, which are few.
_WORKERS = Sql(
    """
    SELECT worker.id, worker.machine, worker.release, worker.lanes, worker.offers, worker.draining,
        worker.started_at, worker.seen_at,
        clock_timestamp() AS now, coalesce(held.runs, 0) AS running
    FROM worker LEFT JOIN (
        SELECT owner, count(*) AS runs FROM run WHERE state IN ('running', 'cancelling') GROUP BY owner
    ) AS held ON held.owner = worker.id
    ORDER BY worker.started_at, worker.id
    """
)

# The indexes of queued runs find them: the limit of the queue bounds each caller's.
_QUEUE = Sql(
    f"""
    SELECT needs, count(*) AS runs, min(since) AS since FROM (
        SELECT needs, coalesce(idle_since, created_at) AS since FROM run
        WHERE state = 'queued' OR (state = 'waiting' AND not_before IS NULL)
        ORDER BY id LIMIT {COUNT_CAP}
    ) AS waiting GROUP BY needs ORDER BY since
    """
)


@dataclass(frozen=True, slots=True)
class WorkerIdentity:
    """What a worker says about itself.

    Attributes:
        id: Its name in leases; unique among all that share the database.
        machine: Its machine and data folder.
        release: Version of Packline.
        lanes: How many runs it executes at once.
    """

    id: str
    machine: str
    release: str
    lanes: int


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """A worker and its last sign of life.

    Attributes:
        offers: What the steps it executes may need; empty with SQLite.
        draining: Whether it takes no further runs.
        running: How many runs it holds.
        alive: Whether it was seen within a lease.
        unseen_seconds: Time since it was seen, by the database's clock.
    """

    id: str
    machine: str
    release: str
    lanes: int
    offers: frozenset[str]
    draining: bool
    started_at: datetime
    seen_at: datetime
    running: int
    alive: bool
    unseen_seconds: float


class QueueRecord(NamedTuple):
    """Queued runs whose next step needs the same.

    Attributes:
        needs: What it needs, sorted.
        runs: How many they are.
        since: Since when the oldest waits.
    """

    needs: tuple[str, ...]
    runs: int
    since: datetime


class Renewal(NamedTuple):
    """What a worker learns when it renews its row.

    Attributes:
        held: What `store.runs.claim.renew` returns.
        draining: Whether an operator wants it to take no further runs.
    """

    held: dict[str, tuple[int, bool]]
    draining: bool


class TakeoverRecord(NamedTuple):
    """A worker claimed a run that another one had before.

    Attributes:
        lost: Whether the previous worker held the run and was lost.
    """

    at: datetime
    worker: str
    previous_worker: str
    lost: bool


def sign_of_life(
    conn: Connection,
    worker: WorkerIdentity,
    offers: str,
    up_seconds: float,
    lease_seconds: float,
    *,
    draining: bool = False,
) -> Renewal:
    """Renew a worker's row and all its leases.

    Also removes workers that were not seen for `FORGET_LEASES`. One that was only frozen writes its row again.

    Args:
        conn: The transaction.
        worker: The worker.
        offers: What the steps it executes may need, as `store.runs.needs` writes it.
        up_seconds: How long ago it started.
        lease_seconds: Length of a lease.
        draining: Whether it takes no further runs; written only if its row is gone.
    """
    held = renew(conn, worker.id, lease_seconds)
    now = conn.now()
    started_at = now - timedelta(seconds=up_seconds)
    instants = {"started_at": conn.bindable(started_at), "now": conn.bindable(now)}
    row = conn.one(_SIGN_OF_LIFE, asdict(worker) | instants | {"offers": offers, "draining": draining})
    assert row is not None, "inserted or updated"
    if conn.shared:
        before = now - timedelta(seconds=FORGET_LEASES * lease_seconds)
        conn.run(_FORGET, {"before": conn.bindable(before)})
    else:  # this process alone owns the file
        conn.run(_FORGET_OTHERS, {"id": worker.id})
    return Renewal(held, bool(row.draining))


def drain_worker(conn: Connection, worker_id: str, *, draining: bool) -> bool:
    """Have a worker take no further runs, or take runs again; return whether there is one of that name."""
    conn.wake(Topic.WORKER, worker_id)
    return conn.run(_DRAIN, {"id": worker_id, "draining": draining}) == 1


def remove_worker(conn: Connection, worker_id: str) -> None:
    """Remove the row of a worker that stops."""
    conn.run(_REMOVE, {"id": worker_id})


async def list_workers(store: Store, lease_seconds: float) -> list[WorkerRecord]:
    """List all workers of the database, the longest running first; a lost one until it is removed."""
    found = []
    for row in await store.rows(_WORKERS):
        values = by_name(row)
        now, seen_at = some_instant(values.pop("now")), some_instant(row.seen_at)
        unseen = max(0.0, (now - seen_at).total_seconds())
        decoded = {"started_at": some_instant(row.started_at), "seen_at": seen_at, "offers": needs_of(row.offers)}
        decoded["draining"] = bool(row.draining)  # SQLite has no booleans
        found.append(WorkerRecord(**values | decoded, alive=unseen <= lease_seconds, unseen_seconds=unseen))
    return found


async def list_queue(store: Store) -> list[QueueRecord]:
    """List the runs of all callers that are queued or wait for a worker, by what they need, the longest waiting first.

    Counts the first `COUNT_CAP` runs.
    """
    return [
        QueueRecord(tuple(sorted(needs_of(row.needs))), int(row.runs), some_instant(row.since))
        for row in await store.rows(_QUEUE)
    ]


class _Move(NamedTuple):
    run_id: str
    at: datetime
    before: str
    data: str


# The event of a claim is the last of its row, so that its columns are not in `earlier`.
_MOVES = Lookup(
    RUN_EVENT,
    _Move,
    "run_event.run_id",
    also="run_event.type = 'run_state' AND run_event.data IS NOT NULL",
    order="run_event.run_id, run_event.sequence",
    visible=of_run("run_event.run_id"),
)


async def takeovers_of_runs(
    store: Store, run_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, list[TakeoverRecord]]:
    """List the last `TAKEOVERS_MAX` takeovers of each run, oldest first, by run id; every id has an entry."""
    found: dict[str, deque[TakeoverRecord]] = {run_id: deque(maxlen=TAKEOVERS_MAX) for run_id in run_ids}
    for move in await _MOVES.read(store, run_ids, visible_to=visible_to):
        data = orjson.loads(move.data)
        lost = data.get("lost", move.before == RunState.RUNNING.value)  # older events do not say it
        found[move.run_id].append(TakeoverRecord(move.at, data["worker"], data["previous_worker"], lost))
    return {run_id: list(takeovers) for run_id, takeovers in found.items()}
