"""Starts and settles attempts, and starts what follows them; every unit starts with the fenced UPDATE."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.files.blob_rows import record_blob
from store.runs.admission import admit_next
from store.runs.claimed_run import requeue, set_needs
from store.runs.ending import END_ATTEMPT, end_early, end_run, record_spent
from store.runs.fence import fenced
from store.runs.unit_types import (
    AttemptEnd,
    AttemptStart,
    Fail,
    FailNext,
    Fence,
    GoOn,
    HandOver,
    LostLeaseError,
    Pause,
    Settled,
    Succeed,
    Wait,
)
from store.states import (
    ArtifactStatus,
    AttemptState,
    EventType,
    RunState,
    StepState,
    require_run_transition,
    require_step_transition,
)

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection
    from store.runs.ledger import Ledger

# Half of the SQL of most settles. They omit what a success does not change, such as the failure, which makes them a
# quarter faster than the general statements.
_SUCCEED_ATTEMPT = Sql(
    """
    UPDATE attempt SET state = 'succeeded', output = :output, ended_at = :now
    WHERE id = :id AND state = 'running'
    """
)
_SUCCEED_STEP = Sql(
    """
    UPDATE run_step SET state = 'succeeded', warnings = :warnings, ended_at = :now, wait_until = NULL, progress = 1.0
    WHERE id = :id
    """
)
_END_STEP = Sql(
    """
    UPDATE run_step SET state = :state, warnings = :warnings, session_id = coalesce(:session_id, session_id),
        ended_at = :now, wait_until = NULL, progress = CASE WHEN :state = 'succeeded' THEN 1.0 ELSE progress END
    WHERE id = :id
    """
)
_WAIT_STEP = Sql(
    """
    UPDATE run_step SET state = 'waiting', warnings = :warnings, wait_until = :until, progress = NULL, milestones = '[]'
    WHERE id = :id
    """
)
_START_ATTEMPT = Sql(
    """
    INSERT INTO attempt (step_id, id, number, input, idempotency_key, pack_version, session_used, notes, run_id, epoch,
        state, started_at)
    VALUES (:step_id, :attempt_id, :number, :input, :idempotency_key, :pack_version, :session_used, :notes, :run_id,
        :epoch, 'running', :now)
    """
)
_START_STEP = Sql(
    """
    UPDATE run_step SET state = 'running', attempt_id = :attempt_id, attempts = :number,
        stretch_attempts = stretch_attempts + 1, started_at = coalesce(started_at, :now), ended_at = NULL,
        wait_until = NULL, progress = NULL, milestones = '[]'
    WHERE id = :id
    """
)
_WAIT_RUN = Sql(
    """
    UPDATE run SET state = 'waiting', owner = NULL, lease_until = NULL, not_before = :until, idle_since = :until,
        admitted = false
    WHERE id = :id RETURNING concurrency_key
    """
)
_END_SESSION = Sql("UPDATE session SET ended_at = :now WHERE id = :id AND ended_at IS NULL")
_INSERT_ARTIFACT = Sql(
    """
    INSERT INTO artifact (id, caller_id, run_id, step_id, attempt_id, name, media_type, size_bytes, digest, status,
        pinned, created_at)
    SELECT :id, caller_id, :run_id, :step_id, :attempt_id, :name, :media_type, :size_bytes, :digest, :status, :no, :now
    FROM run WHERE id = :run_id
    """
)
_VERIFY_ARTIFACT = Sql(
    """
    UPDATE artifact SET status = 'verified', verified_by = :step_id
    WHERE id = :id AND run_id = :run_id AND status = 'proposed'
    """
)
_RECORD_AGENT = Sql("UPDATE attempt SET isolation = :isolation, receipt = :receipt WHERE id = :id")
_EXPIRE_ARTIFACTS = Sql("UPDATE artifact SET expires_at = :at WHERE run_id = :id AND erased_at IS NULL AND NOT pinned")

_DAY_SECONDS = 24 * 3600
_GOES_ON = (GoOn, Pause, HandOver)
_STEP_STATES = {
    state: StepState(state.value) for state in (AttemptState.SUCCEEDED, AttemptState.FAILED, AttemptState.CANCELLED)
}
_STARTED = Settled(RunState.RUNNING, started=True)


def start_attempt(conn: Connection, fence: Fence, start: AttemptStart, before: StepState) -> Settled:
    """Start an attempt in its own transaction: the first after a claim, or of an at-most-once step.

    Returns the run's state. If a cancel or the deadline came first, ends the run instead.

    Raises:
        LostLeaseError: another worker owns the run.
    """
    run = fenced(conn, fence, 1 if before is StepState.RUNNING else 2, settles=False)
    if (ended := end_early(conn, fence, run, heeds_deadline=True)) is not None:
        return ended
    _begin(conn, run.ledger, fence, start, before)
    run.ledger.write()
    return _STARTED


def settle(
    conn: Connection,
    fence: Fence,
    end: AttemptEnd,
    then: GoOn | Pause | HandOver | Succeed | Fail | FailNext | Wait,
    *,
    artifact_days: float,
) -> Settled:
    """Record how an attempt ended and what follows, in one transaction.

    A committed cancel wins: the result is recorded and the run ends `cancelled`. A passed deadline ends it with
    `timeout`, unless the attempt failed, since its failure says more. A resume reuses a result recorded this way.

    Raises:
        LostLeaseError: another worker owns the run; the result must be dropped.
    """
    following = type(then)
    reserved = 2 + len(end.artifacts) + (2 if following is GoOn else 0 if following is Pause else 1)
    progress = then.progress if isinstance(then, _GOES_ON) else None
    run = fenced(conn, fence, reserved, progress=progress)
    ledger, state = run.ledger, run.state
    now = ledger.stamp
    _record_artifacts(conn, ledger, fence.run_id, end)
    record_spent(conn, end.attempt_id, end.spent)
    if end.isolation is not None or end.receipt is not None:
        conn.run(_RECORD_AGENT, {"id": end.attempt_id, "isolation": end.isolation, "receipt": end.receipt})
    if not _end_attempt(conn, end, now):
        raise LostLeaseError(f"Attempt {end.attempt_id} has been settled already.")
    ledger.attempt(end.step_id, end.attempt_id, end.state)
    if end.read and end.state is AttemptState.SUCCEEDED:
        _verify_artifacts(conn, ledger, fence.run_id, end)
    if end.session_ended is not None:
        conn.run(_END_SESSION, {"id": end.session_ended, "now": now})
    if isinstance(then, Wait) and not (run.cancelled or run.late):
        conn.run(_WAIT_STEP, {"id": end.step_id, "warnings": end.warnings, "until": conn.later(then.seconds)})
        ledger.step(end.step_id, StepState.RUNNING, StepState.WAITING, then.reason)
    else:
        ledger.step(end.step_id, StepState.RUNNING, _end_step(conn, end, now))
    if (ended := end_early(conn, fence, run, heeds_deadline=following is not Fail)) is not None:
        return ended
    match then:
        case GoOn(start, before, _, needs):
            _begin(conn, ledger, fence, start, before)
            set_needs(conn, fence.run_id, needs)
            outcome = _STARTED
        case Pause(_, needs):
            set_needs(conn, fence.run_id, needs)
            outcome = Settled(RunState.RUNNING)
        case HandOver(_, needs, reason):
            set_needs(conn, fence.run_id, needs)
            requeue(conn, ledger, fence.run_id, state, reason)
            outcome = Settled(RunState.QUEUED)
        case Wait(seconds, reason):
            require_run_transition(state, RunState.WAITING)
            left = conn.one(_WAIT_RUN, {"id": fence.run_id, "until": conn.later(seconds)})
            ledger.run(state, RunState.WAITING, reason)
            admit_next(conn, fence.caller_id, None if left is None else left.concurrency_key)
            outcome = Settled(RunState.WAITING, False, seconds, conn.now() + timedelta(seconds=seconds))
        case Succeed():
            outcome = _succeed(conn, ledger, fence, state, artifact_days)
        case Fail(failure, message):
            end_run(
                conn, fence.run_id, fence.caller_id, ledger, state, RunState.FAILED, failure=failure, message=message
            )
            outcome = Settled(RunState.FAILED, failure=failure)
        case FailNext(start, before, failure, message):
            _fail_at_once(conn, ledger, fence, start, before, failure)
            end_run(
                conn, fence.run_id, fence.caller_id, ledger, state, RunState.FAILED, failure=failure, message=message
            )
            outcome = Settled(RunState.FAILED, failure=failure)
    ledger.write()
    return outcome


def finish_run(conn: Connection, fence: Fence, *, artifact_days: float) -> Settled:
    """End a run whose steps have all succeeded, such as one cancelled after its last result and then resumed.

    Raises:
        LostLeaseError: another worker owns the run.
    """
    run = fenced(conn, fence, 1)
    if (ended := end_early(conn, fence, run, heeds_deadline=False)) is not None:
        return ended
    outcome = _succeed(conn, run.ledger, fence, run.state, artifact_days)
    run.ledger.write()
    return outcome


def fail_step(conn: Connection, fence: Fence, start: AttemptStart, before: StepState, fail: Fail) -> Settled:
    """Fail a step that could not start, for example because its input does not resolve; it gets an attempt anyway.

    Raises:
        LostLeaseError: another worker owns the run.
    """
    run = fenced(conn, fence, 5)
    if (ended := end_early(conn, fence, run, heeds_deadline=True)) is not None:
        return ended
    ledger, state = run.ledger, run.state
    _fail_at_once(conn, ledger, fence, start, before, fail.failure)
    end_run(
        conn, fence.run_id, fence.caller_id, ledger, state, RunState.FAILED, failure=fail.failure, message=fail.message
    )
    ledger.write()
    return Settled(RunState.FAILED, failure=fail.failure)


def _end_attempt(conn: Connection, end: AttemptEnd, now: datetime | str) -> bool:
    """End the attempt; return whether it was running."""
    if end.state is AttemptState.SUCCEEDED:
        return conn.run(_SUCCEED_ATTEMPT, {"id": end.attempt_id, "output": end.output, "now": now}) > 0
    values = {"id": end.attempt_id, "state": end.state.value, "output": end.output, "failure": end.failure, "now": now}
    return conn.run(END_ATTEMPT, values) > 0


def _end_step(conn: Connection, end: AttemptEnd, now: datetime | str) -> StepState:
    """End the step of an attempt; return its new state."""
    state = _STEP_STATES[end.state]
    if state is StepState.SUCCEEDED and end.session_id is None:
        conn.run(_SUCCEED_STEP, {"id": end.step_id, "warnings": end.warnings, "now": now})
    else:
        values = {"id": end.step_id, "warnings": end.warnings, "session_id": end.session_id, "now": now}
        conn.run(_END_STEP, {**values, "state": state.value})
    return state


def _begin(conn: Connection, ledger: Ledger, fence: Fence, start: AttemptStart, before: StepState) -> None:
    conn.run(
        _START_ATTEMPT,
        {
            "step_id": start.step_id,
            "attempt_id": start.attempt_id,
            "number": start.number,
            "input": start.input,
            "idempotency_key": start.idempotency_key,
            "pack_version": start.pack_version,
            "session_used": start.session_used,
            "notes": start.notes,
            "run_id": fence.run_id,
            "epoch": fence.epoch,
            "now": ledger.stamp,
        },
    )
    conn.run(
        _START_STEP,
        {"id": start.step_id, "attempt_id": start.attempt_id, "number": start.number, "now": ledger.stamp},
    )
    if before is not StepState.RUNNING:
        require_step_transition(before, StepState.RUNNING)
        ledger.step(start.step_id, before, StepState.RUNNING)
    ledger.attempt(start.step_id, start.attempt_id, AttemptState.RUNNING)


def _fail_at_once(
    conn: Connection, ledger: Ledger, fence: Fence, start: AttemptStart, before: StepState, failure: str
) -> None:
    _begin(conn, ledger, fence, start, before)
    now = ledger.stamp
    conn.run(
        END_ATTEMPT,
        {"id": start.attempt_id, "state": AttemptState.FAILED.value, "output": None, "failure": failure, "now": now},
    )
    ledger.attempt(start.step_id, start.attempt_id, AttemptState.FAILED)
    conn.run(
        _END_STEP,
        {"id": start.step_id, "state": StepState.FAILED.value, "warnings": "[]", "session_id": None, "now": now},
    )
    ledger.step(start.step_id, StepState.RUNNING, StepState.FAILED)


def _record_artifacts(conn: Connection, ledger: Ledger, run_id: str, end: AttemptEnd) -> None:
    for artifact in end.artifacts:
        values = {
            "id": artifact.id,
            "run_id": run_id,
            "step_id": end.step_id,
            "attempt_id": end.attempt_id,
            "name": artifact.name,
            "media_type": artifact.media_type,
            "size_bytes": artifact.size_bytes,
            "digest": artifact.digest,
            "status": artifact.status,
            "no": False,
            "now": ledger.stamp,
        }
        record_blob(conn, artifact.digest, artifact.size_bytes, ledger.stamp)
        conn.run(_INSERT_ARTIFACT, values)
        ledger.add(
            EventType.ARTIFACT,
            step_id=end.step_id,
            attempt_id=end.attempt_id,
            artifact_id=artifact.id,
            after=artifact.status,
        )


def _verify_artifacts(conn: Connection, ledger: Ledger, run_id: str, end: AttemptEnd) -> None:
    """Mark artifacts as verified that an agent of this run proposed and this step read."""
    for artifact_id in end.read:
        if conn.run(_VERIFY_ARTIFACT, {"id": artifact_id, "run_id": run_id, "step_id": end.step_id}):
            ledger.add(
                EventType.ARTIFACT,
                step_id=end.step_id,
                attempt_id=end.attempt_id,
                artifact_id=artifact_id,
                before=ArtifactStatus.PROPOSED.value,
                after=ArtifactStatus.VERIFIED.value,
            )


def _succeed(conn: Connection, ledger: Ledger, fence: Fence, state: RunState, artifact_days: float) -> Settled:
    end_run(conn, fence.run_id, fence.caller_id, ledger, state, RunState.SUCCEEDED)
    conn.run(_EXPIRE_ARTIFACTS, {"id": fence.run_id, "at": conn.later(artifact_days * _DAY_SECONDS)})
    return Settled(RunState.SUCCEEDED)
