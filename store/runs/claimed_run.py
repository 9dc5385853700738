"""What a worker writes about its claimed run outside attempts; every unit starts with the fenced UPDATE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.runs.admission import UNDER_WAY, offer
from store.runs.ending import END_ATTEMPT, close_steps, end_early, end_run, record_spent
from store.runs.fence import fenced
from store.runs.unit_types import Fail, Fence, Settled
from store.states import (
    AttemptState,
    EventType,
    RunState,
    StepState,
    require_run_transition,
    require_step_transition,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.database.dialects import Connection
    from store.runs.ledger import Ledger
    from store.runs.unit_types import Spent

_STEP_STATE = Sql("SELECT state FROM run_step WHERE id = :id")
_PENDING = "state = 'pending', ended_at = NULL, wait_until = NULL, progress = NULL, milestones = '[]'"
RELEASE_STEP = Sql(f"UPDATE run_step SET {_PENDING} WHERE id = :id")
# Its session is gone: a step that leaves none next time must not keep the old id.
_REWIND_STEP = Sql(f"UPDATE run_step SET {_PENDING}, session_id = NULL WHERE id = :id")
# It keeps its slot: it goes on before any other run of its caller.
_RELEASE_RUN = Sql(
    """
    UPDATE run SET state = 'queued', owner = NULL, lease_until = NULL, idle_since = :now, priority = -10
    WHERE id = :id
    """
)
_SET_NEEDS = Sql("UPDATE run SET needs = :needs WHERE id = :id")
# An attempt that the server cut short does not use up one of the step's retries.
UNCOUNT_ATTEMPT = Sql("UPDATE run_step SET stretch_attempts = stretch_attempts - 1 WHERE id = :id")
_PROGRESS_STEP = Sql("UPDATE run_step SET progress = :fraction, milestones = :milestones WHERE id = :id")


def fail_run(conn: Connection, fence: Fence, fail: Fail) -> Settled:
    """Fail the run and its open step between two attempts; records no attempt.

    Raises:
        LostLeaseError: another worker owns the run.
    """
    run = fenced(conn, fence, 1)
    if (ended := end_early(conn, fence, run, heeds_deadline=False)) is not None:
        return ended
    ledger, state = run.ledger, run.state
    close_steps(conn, fence.run_id, ledger, StepState.FAILED)
    end_run(
        conn, fence.run_id, fence.caller_id, ledger, state, RunState.FAILED, failure=fail.failure, message=fail.message
    )
    ledger.write()
    return Settled(RunState.FAILED, failure=fail.failure)


def rewind(conn: Connection, fence: Fence, step_ids: Sequence[str], reason: str) -> None:
    """Put steps back to pending because the session they used is gone; their attempts stay.

    Raises:
        LostLeaseError: another worker owns the run.
    """
    ledger = fenced(conn, fence, len(step_ids), settles=False).ledger
    for step_id in step_ids:
        row = conn.one(_STEP_STATE, {"id": step_id})
        assert row is not None, "steps are never deleted under a run that is held"
        before = StepState(row.state)
        if before is StepState.PENDING:
            continue
        require_step_transition(before, StepState.PENDING)
        conn.run(_REWIND_STEP, {"id": step_id})
        ledger.step(step_id, before, StepState.PENDING, reason)
    ledger.write()


def release(
    conn: Connection,
    fence: Fence,
    attempt: tuple[str, str] | None,
    reason: str,
    spent: Spent | None = None,
    *,
    needs: str | None = None,
) -> Settled:
    """Return a run to the front of the queue and offer it; an attempt in progress becomes `lost` and its step pending.

    `attempt` is the step id and attempt id of the attempt in progress, if any, and `spent` what its models cost.
    `needs` replaces what the next step needs. A cancelled run ends instead.

    Raises:
        LostLeaseError: another worker owns the run.
    """
    run = fenced(conn, fence, 3 if attempt else 1)
    if attempt is not None:
        record_spent(conn, attempt[1], spent)
    if (ended := end_early(conn, fence, run, heeds_deadline=False)) is not None:
        return ended
    ledger = run.ledger
    now = ledger.stamp
    if attempt is not None:
        step_id, attempt_id = attempt
        conn.run(
            END_ATTEMPT,
            {"id": attempt_id, "state": AttemptState.LOST.value, "output": None, "failure": None, "now": now},
        )
        ledger.attempt(step_id, attempt_id, AttemptState.LOST)
        conn.run(RELEASE_STEP, {"id": step_id})
        conn.run(UNCOUNT_ATTEMPT, {"id": step_id})
        ledger.step(step_id, StepState.RUNNING, StepState.PENDING, reason)
    set_needs(conn, fence.run_id, needs)
    requeue(conn, ledger, fence.run_id, run.state, reason)
    ledger.write()
    return Settled(RunState.QUEUED)


def set_needs(conn: Connection, run_id: str, needs: str | None) -> None:
    """Record what the next step of a run needs; None if it is what is recorded."""
    if needs is not None:
        conn.run(_SET_NEEDS, {"id": run_id, "needs": needs})


def requeue(conn: Connection, ledger: Ledger, run_id: str, state: RunState, reason: str) -> None:
    """Give a run back, with its slot, and offer it to all workers; `ledger` is not written here."""
    require_run_transition(state, RunState.QUEUED)
    conn.run(_RELEASE_RUN, {"id": run_id, "now": ledger.stamp})
    ledger.run(state, RunState.QUEUED, reason)
    offer(conn, run_id, UNDER_WAY)


def record_progress(
    conn: Connection, fence: Fence, step_id: str, fraction: float | None, milestones: str, milestone: str
) -> None:
    """Record the progress that a step reported.

    `milestones` is JSON text of the last 100, oldest first; `milestone` is the newest one, for the event.

    Raises:
        LostLeaseError: another worker owns the run.
    """
    ledger = fenced(conn, fence, 1, settles=False).ledger
    conn.run(_PROGRESS_STEP, {"id": step_id, "fraction": fraction, "milestones": milestones})
    ledger.add(EventType.STEP_PROGRESS, step_id=step_id, data=milestone)
    ledger.write()
