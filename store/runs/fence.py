"""The fenced UPDATE that starts every unit of a worker: it proves that the worker still owns the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from store.database.dialects import Sql, instant
from store.runs.ledger import Ledger
from store.runs.unit_types import Fence, LostLeaseError
from store.states import RunState

if TYPE_CHECKING:
    from store.database.dialects import Connection

# The usual case: no other write since, no cancel, time left. It returns no row, which takes SQLite 8 instead of 19 µs.
_EXPECTED = """
    WHERE id = :id AND epoch = :epoch AND next_seq = :expected AND state = 'running' AND NOT cancel_requested
        AND deadline_at > :now
    """
_PASS = Sql(
    f"""
    UPDATE run SET lease_until = :lease_until, next_seq = :next_seq, lost_in_row = 0,
        progress = coalesce(:progress, progress)
    {_EXPECTED}
    """
)
_PASS_START = Sql(f"UPDATE run SET lease_until = :lease_until, next_seq = :next_seq {_EXPECTED}")
_FENCE = Sql(
    """
    UPDATE run SET lease_until = :lease_until, next_seq = next_seq + :count, lost_in_row = 0,
        progress = coalesce(:progress, progress)
    WHERE id = :id AND epoch = :epoch AND state IN ('running', 'cancelling')
    RETURNING next_seq, cancel_requested, deadline_at, state
    """
)
_FENCE_START = Sql(
    """
    UPDATE run SET lease_until = :lease_until, next_seq = next_seq + :count
    WHERE id = :id AND epoch = :epoch AND state IN ('running', 'cancelling')
    RETURNING next_seq, cancel_requested, deadline_at, state
    """
)


class FencedRun(NamedTuple):
    """A run that the unit's worker has proved to own.

    Attributes:
        ledger: Collects the events of the unit.
        cancelled: Whether a cancel is requested.
        late: Whether the deadline has passed.
    """

    ledger: Ledger
    state: RunState
    cancelled: bool
    late: bool


def fenced(
    conn: Connection, fence: Fence, count: int, *, settles: bool = True, progress: float | None = None
) -> FencedRun:
    """Prove that the worker owns the run, renew its lease and reserve event numbers.

    Args:
        conn: The transaction.
        fence: The run and epoch that the worker claims to own.
        count: How many event numbers to reserve.
        settles: Whether an attempt has a result, which resets the count of lost attempts.
        progress: New progress of the run, for units that settle.

    Raises:
        LostLeaseError: another worker owns the run.
    """
    now = conn.now()
    lease_until = conn.later(fence.lease_seconds)
    if (expected := fence.next_seq) is not None:
        # Set before the UPDATE: the worker may use the fence in another transaction meanwhile, such as one of progress.
        fence.next_seq = following = expected + count
        values = {
            "id": fence.run_id,
            "epoch": fence.epoch,
            "expected": expected,
            "now": conn.bindable(now),
            "lease_until": lease_until,
            "next_seq": following,
            "progress": progress,
        }
        if conn.run(_PASS if settles else _PASS_START, values):
            ledger = Ledger(conn, fence.run_id, now, next_seq=following, reserved=count)
            return FencedRun(ledger, RunState.RUNNING, cancelled=False, late=False)
    values = {
        "id": fence.run_id,
        "epoch": fence.epoch,
        "lease_until": lease_until,
        "count": count,
        "progress": progress,
    }
    row = conn.one(_FENCE if settles else _FENCE_START, values)
    if row is None:
        raise LostLeaseError(f"Run {fence.run_id} is no longer owned with epoch {fence.epoch}.")
    fence.next_seq = row.next_seq
    deadline = instant(row.deadline_at)
    late = deadline is not None and deadline <= now
    ledger = Ledger(conn, fence.run_id, now, next_seq=row.next_seq, reserved=count)
    return FencedRun(ledger, RunState(row.state), bool(row.cancel_requested), late)
