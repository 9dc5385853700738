"""What people and agents do to a run: cancel, resume, acknowledge, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.database.dialects import Sql, instant
from store.database.ids import new_id
from store.database.wakes import Topic
from store.runs.admission import admit_next, lock_slots
from store.runs.ending import LOCK_RUN, end_cancelled
from store.runs.idempotency_keys import keep_keys
from store.runs.ledger import Ledger
from store.runs.submit import INSERT_STEP, refuse_full
from store.runs.unit_types import Resume, WrongStateError
from store.states import FINAL_RUN_STATES, RUN_TRANSITIONS, RunState, StepState, require_step_transition

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection

_REQUEST_CANCEL = Sql(
    """
    UPDATE run SET state = 'cancelling', cancel_requested = :yes, cancel_reason = :reason, flight = NULL
    WHERE id = :id
    """
)
_NOTE_CANCEL = Sql("UPDATE run SET cancel_requested = :yes, cancel_reason = :reason WHERE id = :id")
_RESUME_RUN = Sql(
    """
    UPDATE run SET state = 'queued', failure = NULL, ended_at = NULL, acknowledged_at = NULL, cancel_requested = :no,
        cancel_reason = NULL, deadline_at = NULL, idle_since = :now, not_before = NULL, lost_in_row = 0, priority = -10,
        resume_count = resume_count + 1, inputs = coalesce(:inputs, inputs),
        inputs_digest = coalesce(:inputs_digest, inputs_digest), version_id = coalesce(:version_id, version_id),
        title = coalesce(:title, title), search_text = coalesce(:search_text, search_text),
        progress = :progress, needs = :needs
    WHERE id = :id
    """
)
_RESUME_STEP = Sql(
    """
    UPDATE run_step SET state = 'pending', stretch_attempts = 0, ended_at = NULL, wait_until = NULL, progress = NULL,
        milestones = '[]', warnings = '[]', session_id = NULL, input_override = :input_override
    WHERE id = :id
    """
)
_KEEP_ARTIFACTS = Sql("UPDATE artifact SET expires_at = NULL WHERE run_id = :id")
_MOVE_STEP = Sql("UPDATE run_step SET position = :position WHERE id = :id")
_REFIT_STEP = Sql("UPDATE run_step SET pack = :pack, pack_version = :pack_version WHERE id = :id")
_RETIRE_STEP = Sql("UPDATE run_step SET retired_at = :now WHERE id = :id")
_ACKNOWLEDGE = Sql("UPDATE run SET acknowledged_at = :at WHERE id = :id AND state = 'failed'")
# Artifacts of deleted runs that only this run still reused.
_DELETE_REUSED = Sql(
    """DELETE FROM artifact WHERE NOT pinned
    AND attempt_id IN (SELECT reused_from FROM attempt WHERE run_id = :id AND reused_from IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM run WHERE run.id = artifact.run_id)
    AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.reused_from = artifact.attempt_id AND attempt.run_id <> :id)"""
)
_DELETE_ARTIFACTS = Sql(
    """DELETE FROM artifact WHERE run_id = :id AND NOT pinned
    AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.reused_from = artifact.attempt_id)"""
)
# Foreign keys delete its steps, attempts, log lines, events and sessions.
_DELETE_RUN = Sql("DELETE FROM run WHERE id = :id AND ended_at IS NOT NULL")


def request_cancel(conn: Connection, run_id: str, reason: str | None) -> RunState:
    """Cancel a run: at once if no living worker holds it; otherwise it is `cancelling` until its worker ends it.

    Returns:
        Its new state.

    Raises:
        WrongStateError: the run is final or does not exist.
    """
    row = conn.one(LOCK_RUN, {"id": run_id})
    if row is None:
        raise WrongStateError(run_id, None)
    state = RunState(row.state)
    now = conn.now()
    next_seq = row.next_seq
    until = instant(row.lease_until)
    is_held = until is not None and until >= now
    if state is RunState.CANCELLING and is_held:
        return state
    if state is RunState.RUNNING and is_held:
        conn.run(_REQUEST_CANCEL, {"id": run_id, "reason": reason, "yes": True})
        ledger = Ledger(conn, run_id, now, next_seq=next_seq, reserved=0)
        ledger.run(state, RunState.CANCELLING, reason)
        ledger.write()
        conn.wake(Topic.RUN_CANCELLING, run_id)
        return RunState.CANCELLING
    if RunState.CANCELLED in RUN_TRANSITIONS[state]:
        conn.run(_NOTE_CANCEL, {"id": run_id, "reason": reason, "yes": True})
        # The lease ended at most its own length after the worker's last sign of life.
        left_at = instant(row.idle_since) or until
        end_cancelled(conn, run_id, row.caller_id, state, now, next_seq, reason, left_at=left_at)
        return RunState.CANCELLED
    raise WrongStateError(run_id, state)


def resume(conn: Connection, change: Resume, *, queue_limit: int) -> None:
    """Put a failed or cancelled run back into the queue, before new ones, as `runner.resuming.plan` decided.

    Raises:
        WrongStateError: the run is neither failed nor cancelled, was resumed meanwhile, or does not exist.
        QueueFullError: the caller has `queue_limit` runs waiting.
    """
    row = conn.one(LOCK_RUN, {"id": change.run_id})
    if row is None:
        raise WrongStateError(change.run_id, None)
    state = RunState(row.state)
    if state not in {RunState.FAILED, RunState.CANCELLED} or row.resume_count != change.based_on:
        raise WrongStateError(change.run_id, state)
    lock_slots(conn, row.caller_id)
    refuse_full(conn, row.caller_id, queue_limit)
    now = conn.now()
    ledger = Ledger(conn, change.run_id, now, next_seq=row.next_seq, reserved=0)
    kept = sum(not step.rerun for step in change.steps)
    total = len(change.steps) + len(change.added_steps)
    conn.run(
        _RESUME_RUN,
        {
            "id": change.run_id,
            "no": False,
            "now": now,
            "inputs": change.inputs,
            "inputs_digest": change.inputs_digest,
            "title": change.title,
            "search_text": change.search_text,
            "needs": change.needs,
            "version_id": change.version_id,
            "progress": kept / total if total else 0.0,
        },
    )
    conn.run(_KEEP_ARTIFACTS, {"id": change.run_id})
    ledger.run(state, RunState.QUEUED, "resumed")
    for step in change.steps:
        if not step.rerun:
            continue
        conn.run(_RESUME_STEP, {"id": step.step_id, "input_override": step.input_override})
        if step.state is not StepState.PENDING:
            require_step_transition(step.state, StepState.PENDING)
            ledger.step(step.step_id, step.state, StepState.PENDING, "resumed")
    _replace_steps(conn, change, now)
    ledger.write()
    admit_next(conn, row.caller_id)


def _replace_steps(conn: Connection, change: Resume, now: datetime) -> None:
    for step_id in change.retired_steps:
        conn.run(_RETIRE_STEP, {"id": step_id, "now": now})
    rerun = {step.step_id for step in change.steps if step.rerun}
    for step_id, step in change.moved_steps.items():
        conn.run(_MOVE_STEP, {"id": step_id, "position": step.position})
        if step_id in rerun:
            conn.run(_REFIT_STEP, {"id": step_id, "pack": step.pack, "pack_version": step.pack_version})
    conn.many(
        INSERT_STEP,
        [
            {
                "id": new_id("step"),
                "run_id": change.run_id,
                "position": step.position,
                "key": step.key,
                "pack": step.pack,
                "pack_version": step.pack_version,
                "input_override": None,
            }
            for step in change.added_steps
        ],
    )


def acknowledge(conn: Connection, run_id: str, *, acknowledged: bool) -> None:
    """Mark a failed run as acknowledged, or remove the mark.

    Raises:
        WrongStateError: the run has not failed.
    """
    if not conn.run(_ACKNOWLEDGE, {"id": run_id, "at": conn.now() if acknowledged else None}):
        row = conn.one(Sql("SELECT state FROM run WHERE id = :id"), {"id": run_id})
        raise WrongStateError(run_id, RunState(row.state) if row else None)
    conn.wake(Topic.RUN, run_id)


def delete_run(conn: Connection, run_id: str) -> None:
    """Delete a run that has ended; see `remove_run`.

    Raises:
        WrongStateError: the run has not ended or does not exist.
    """
    row = conn.one(LOCK_RUN, {"id": run_id})
    if row is None or RunState(row.state) not in FINAL_RUN_STATES:
        raise WrongStateError(run_id, RunState(row.state) if row else None)
    remove_run(conn, run_id)


def remove_run(conn: Connection, run_id: str) -> None:
    """Delete a run that has ended, with its steps, attempts, events and artifacts, and wake its watchers.

    Artifacts that are pinned or that another run reuses stay; the reused ones are deleted with that run (guarantees F2
    and F3).
    """
    keep_keys(conn, run_id)
    conn.run(_DELETE_REUSED, {"id": run_id})
    conn.run(_DELETE_ARTIFACTS, {"id": run_id})
    conn.run(_DELETE_RUN, {"id": run_id})
    conn.wake(Topic.RUN_DELETED, run_id)
