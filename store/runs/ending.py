"""Ends runs: on a cancel, at the deadline, with success or failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from store.database.dialects import Sql
from store.database.wakes import Topic
from store.runs.admission import admit_next
from store.runs.ledger import Ledger
from store.runs.unit_types import Settled
from store.states import AttemptState, RunState, StepState, require_run_transition, require_step_transition

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection
    from store.runs.fence import FencedRun
    from store.runs.unit_types import Fence, Spent

LOCK_RUN = Sql(
    """
    SELECT state, caller_id, lease_until, not_before, idle_since, deadline_at, deadline_seconds, cancel_requested,
        epoch, next_seq, lost_in_row, owner, last_owner, resume_count, admitted, needs
    FROM run WHERE id = :id FOR UPDATE
    """
)
# Joined through the step, because attempts are indexed by their step only.
RUNNING_ATTEMPT = Sql(
    """
    SELECT attempt.id AS attempt_id, step.id AS step_id
    FROM run_step AS step JOIN attempt ON attempt.id = step.attempt_id
    WHERE step.run_id = :id AND step.state = 'running' AND attempt.state = 'running'
    """
)
END_ATTEMPT = Sql(
    """
    UPDATE attempt SET state = :state, output = :output, failure = :failure, ended_at = :now
    WHERE id = :id AND state = 'running'
    """
)
# The attempt ends at its worker's last sign of life, not when the loss is noticed. A clock may have been set back.
LEAVE_ATTEMPT = Sql(
    """
    UPDATE attempt SET state = :state, ended_at = CASE WHEN started_at > :left_at THEN started_at ELSE :left_at END
    WHERE id = :id AND state = 'running'
    """
)
_RECORD_SPENT = Sql(
    """
    UPDATE attempt SET input_tokens = :input_tokens, output_tokens = :output_tokens, cost_micros = :cost_micros,
        models = :models
    WHERE id = :id AND state = 'running'
    """
)
SET_STEP = Sql("UPDATE run_step SET state = :state, ended_at = :ended_at, wait_until = NULL WHERE id = :id")
_OPEN_STEPS = Sql(
    "SELECT id, state FROM run_step WHERE run_id = :id AND state IN ('running', 'waiting') AND retired_at IS NULL"
)
# Also answers whether a trigger may fire for the end. Without such triggers, that reads only an empty index.
_END_RUN = Sql(
    """
    UPDATE run SET state = :state, failure = :failure, ended_at = :now, owner = NULL, lease_until = NULL,
        flight = NULL, not_before = NULL, idle_since = NULL, priority = 0, admitted = false,
        memory_due = :yes,
        progress = CASE WHEN :state = 'succeeded' THEN 1.0 ELSE progress END,
        search_text = search_text || :message
    WHERE id = :id RETURNING concurrency_key, resume_count, EXISTS (
        SELECT 1 FROM trigger
        WHERE kind = 'run_ended' AND enabled AND trigger.pipeline_id <> run.pipeline_id) AS triggers_due
    """
)
_KEEP_END = Sql(
    """INSERT INTO run_end (run_id, resume_count, state, failure, ended_at)
    VALUES (:id, :resume_count, :state, :failure, :now)"""
)


#: What to do about a run that passed its deadline.
DEADLINE_HINT: Final = "Resume the run: its deadline starts again. Or give the run, or its pipeline, a longer deadline."
_DEADLINE_MESSAGE = "The run passed its deadline."
#: Stored failure of a run that passed its deadline; never retried.
DEADLINE_FAILURE = (
    f'{{"code":"timeout","message":"{_DEADLINE_MESSAGE}","hint":"{DEADLINE_HINT}","safe_to_repeat":true}}'
)


def record_spent(conn: Connection, attempt_id: str, spent: Spent | None) -> None:
    """Record what the models cost, before the attempt ends; no statement for the many steps that ask none."""
    if spent is not None:
        conn.run(
            _RECORD_SPENT,
            {
                "id": attempt_id,
                "input_tokens": spent.input_tokens,
                "output_tokens": spent.output_tokens,
                "cost_micros": spent.cost_micros,
                "models": spent.models,
            },
        )


def end_early(conn: Connection, fence: Fence, run: FencedRun, *, heeds_deadline: bool) -> Settled | None:
    """End the run if it was cancelled, or late and `heeds_deadline`, and write the ledger; None otherwise."""
    ledger, state = run.ledger, run.state
    if run.cancelled:
        close_steps(conn, fence.run_id, ledger, StepState.CANCELLED)
        end_run(conn, fence.run_id, fence.caller_id, ledger, state, RunState.CANCELLED)
        ledger.write()
        return Settled(RunState.CANCELLED)
    if run.late and heeds_deadline:
        close_steps(conn, fence.run_id, ledger, StepState.FAILED)
        end_run(
            conn,
            fence.run_id,
            fence.caller_id,
            ledger,
            state,
            RunState.FAILED,
            failure=DEADLINE_FAILURE,
            message=_DEADLINE_MESSAGE,
        )
        ledger.write()
        return Settled(RunState.FAILED, failure=DEADLINE_FAILURE)
    return None


def close_steps(
    conn: Connection, run_id: str, ledger: Ledger, state: StepState, *, left_at: datetime | None = None
) -> None:
    """End steps that are still running or waiting, and the attempt that has no result.

    `left_at` is the last sign of life of the worker that abandoned the attempt, if one did.
    """
    now = ledger.stamp
    attempt = AttemptState.CANCELLED if state is StepState.CANCELLED else AttemptState.FAILED
    running = conn.one(RUNNING_ATTEMPT, {"id": run_id})
    if running is not None and left_at is not None and left_at < ledger.now:
        left = {"id": running.attempt_id, "state": attempt.value, "left_at": conn.bindable(left_at)}
        conn.run(LEAVE_ATTEMPT, left)
        ledger.attempt(running.step_id, running.attempt_id, attempt)
    elif running is not None:
        ended = {"id": running.attempt_id, "state": attempt.value, "output": None, "failure": None, "now": now}
        conn.run(END_ATTEMPT, ended)
        ledger.attempt(running.step_id, running.attempt_id, attempt)
    for step in conn.all(_OPEN_STEPS, {"id": run_id}):
        before = StepState(step.state)
        require_step_transition(before, state)
        conn.run(SET_STEP, {"id": step.id, "state": state.value, "ended_at": now})
        ledger.step(step.id, before, state)


def end_run(
    conn: Connection,
    run_id: str,
    caller_id: str,
    ledger: Ledger,
    before: RunState,
    after: RunState,
    *,
    failure: str | None = None,
    message: str = "",
    reason: str | None = None,
) -> None:
    """End a run: set its state, failure and last event; release its lease, flight and wait; pass its slot on."""
    require_run_transition(before, after)
    end = {"id": run_id, "state": after.value, "failure": failure, "now": ledger.stamp}
    ended = conn.one(_END_RUN, {**end, "yes": True, "message": "\n" + message.lower() if message else ""})
    ledger.run(before, after, reason or message or None)
    conn.wake(Topic.RUN_ENDED, run_id)
    if ended is not None and ended.triggers_due:
        conn.run(_KEEP_END, {**end, "resume_count": ended.resume_count})
        conn.wake(Topic.TRIGGERS_DUE, run_id)
    admit_next(conn, caller_id, None if ended is None else ended.concurrency_key)


def end_cancelled(
    conn: Connection,
    run_id: str,
    caller_id: str,
    state: RunState,
    now: datetime,
    next_seq: int,
    reason: str | None = None,
    *,
    left_at: datetime | None = None,
) -> None:
    """End a cancelled run that nobody holds; `left_at` is the last sign of life of its last worker."""
    ledger = Ledger(conn, run_id, now, next_seq=next_seq, reserved=0)
    close_steps(conn, run_id, ledger, StepState.CANCELLED, left_at=left_at)
    end_run(conn, run_id, caller_id, ledger, state, RunState.CANCELLED, reason=reason)
    ledger.write()
