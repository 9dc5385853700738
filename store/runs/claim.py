"""Claims runs, renews and releases their leases, and finds runs that are due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import orjson

from store.database.dialects import Sql, by_name, instant, some_instant
from store.runs.admission import admit_waiting
from store.runs.claimed_run import UNCOUNT_ATTEMPT
from store.runs.ending import LEAVE_ATTEMPT, LOCK_RUN, RUNNING_ATTEMPT, end_cancelled
from store.runs.ledger import Ledger
from store.runs.needs import needs_of
from store.runs.unit_types import Claim, ClaimedStep, NotClaimed, Refusal
from store.states import FINAL_RUN_STATES, AttemptState, EventType, RunState, StepState, require_run_transition

if TYPE_CHECKING:
    from store.database.dialects import Connection, Row

_CLAIM = Sql(
    """
    UPDATE run SET state = 'running', owner = :owner, last_owner = :owner, epoch = epoch + 1,
        lease_until = :lease_until, not_before = NULL, idle_since = NULL, deadline_at = :deadline_at,
        started_at = coalesce(started_at, :now), lost_in_row = :lost_in_row, next_seq = next_seq + :count
    WHERE id = :id
    """
)
# Its time in the queue begins at the end of its wait, which is not when a run with a start time was made.
_QUEUE = Sql("UPDATE run SET state = 'queued', idle_since = not_before, not_before = NULL WHERE id = :id")
_CLAIMED_RUN = Sql(
    """
    SELECT run.pipeline_id, run.version_id, coalesce(version.document, run.document) AS document,
        version.input_schema, run.inputs, run.force, run.cause, run.trace, caller.subject,
        coalesce(pipeline.key, run.pack, run.pipeline_id) AS target
    FROM run JOIN caller ON caller.id = run.caller_id
        LEFT JOIN pipeline_version AS version ON version.id = run.version_id
        LEFT JOIN pipeline ON pipeline.id = run.pipeline_id
    WHERE run.id = :id
    """
)
_CLAIMED_STEPS = Sql(
    """
    SELECT step.id, step.key, step.position, step.pack, step.pack_version, step.state, step.attempt_id, step.attempts,
        step.stretch_attempts, step.session_id, step.input_override, attempt.session_used,
        CASE WHEN step.state = 'succeeded' THEN attempt.output END AS output
    FROM run_step AS step LEFT JOIN attempt ON attempt.id = step.attempt_id
    WHERE step.run_id = :id AND step.retired_at IS NULL ORDER BY step.position
    """
)
# The attempt that one of the last losses in a row ended, which no worker has decided about: the run began to wait for a
# worker (see `store.runs.serving`), or the next worker was lost, too, before it decided.
_LOST_ATTEMPT = Sql(
    """
    SELECT attempt.id AS attempt_id, step.id AS step_id
    FROM run_step AS step JOIN attempt ON attempt.id = step.attempt_id
    WHERE step.run_id = :id AND step.state IN ('pending', 'running') AND attempt.state = 'lost'
        AND attempt.epoch > :before
    """
)
_STEP_STATES = {state.value: state for state in StepState}
_RENEW = Sql(
    """
    UPDATE run SET lease_until = :lease_until
    WHERE owner = :owner AND state IN ('running', 'cancelling') AND ended_at IS NULL
    RETURNING id, epoch, cancel_requested
    """
)
_HELD = Sql("SELECT id, lease_until FROM run WHERE state IN ('running', 'cancelling') AND ended_at IS NULL")
_DROP_LEASE = Sql(
    """
    UPDATE run SET owner = NULL, lease_until = NULL, idle_since = coalesce(idle_since, :idle_since), priority = -10
    WHERE id = :id
    """
)
_ABANDON = Sql(
    """
    UPDATE run SET owner = NULL, lease_until = NULL, idle_since = :now, priority = -10
    WHERE id = :id AND epoch = :epoch AND owner = :owner AND state IN ('running', 'cancelling')
    """
)
# Reads admitted runs alone, however many wait. Runs of a dead worker get the same urgency as abandoned ones
# (`_ABANDON`): no worker is left to set their priority.
_DUE = Sql(
    """
    SELECT id, CASE WHEN state IN ('running', 'cancelling') THEN -10 ELSE priority END AS urgency
    FROM run
    WHERE admitted AND (state = 'queued' OR lease_until IS NULL OR lease_until < :now)
    ORDER BY urgency, id LIMIT :limit
    """
)
_WAITING = Sql(
    """
    SELECT id, not_before,
        CASE WHEN not_before > :now THEN (
            SELECT attempt.ended_at FROM run_step AS step JOIN attempt ON attempt.id = step.attempt_id
            WHERE step.run_id = run.id AND step.state = 'waiting'
        ) END AS waits_since
    FROM run WHERE not_before IS NOT NULL ORDER BY not_before LIMIT :limit
    """
)


_CUT_LEASES = Sql(
    """
    UPDATE run SET lease_until = :longest
    WHERE state IN ('running', 'cancelling') AND ended_at IS NULL AND lease_until > :longest
    """
)


def claim(
    conn: Connection,
    run_id: str,
    *,
    owner: str,
    lease_seconds: float,
    waited_for: datetime | None = None,
    offers: frozenset[str] | None = None,
) -> Claim | NotClaimed:
    """Claim a run if it is admitted, no worker holds it, and this worker offers what its next step needs.

    `offers` is what the worker offers; None if it serves every run.

    A waiting run whose time has come is admitted here if its caller has a free slot; otherwise it is queued.

    `waited_for` is the stored instant that the worker has waited for by the monotonic clock: the store's clock may have
    been set back meanwhile.

    Ends a cancelled run whose owner is gone instead. An attempt that the last owner left without a result becomes
    `lost`, as of that owner's last sign of life; it does not use up a retry. An owner that was lost before it started
    an attempt counts in `lost_in_row`, too. The first claim after a start or resume
    sets the deadline; later claims extend it by the time since that sign of life.
    """
    row = conn.one(LOCK_RUN, {"id": run_id})
    if row is None:
        return NotClaimed(Refusal.GONE)
    now = conn.now()
    state = RunState(row.state)
    caller_id: str = row.caller_id
    lease_until, not_before = instant(row.lease_until), instant(row.not_before)
    deadline_at = instant(row.deadline_at)
    if state in FINAL_RUN_STATES:
        return NotClaimed(Refusal.GONE, caller_id)
    if lease_until is not None and lease_until >= now:
        return NotClaimed(Refusal.HELD, caller_id)
    since = instant(row.idle_since) or last_sign(lease_until, lease_seconds)
    if row.cancel_requested:
        end_cancelled(conn, run_id, caller_id, state, now, row.next_seq, left_at=since)
        return NotClaimed(Refusal.ENDED, caller_id)
    if not_before is not None and not_before > now and not_before != waited_for:
        return NotClaimed(Refusal.LATER, caller_id, (not_before - now).total_seconds(), not_before)
    if offers is not None and not needs_of(row.needs) <= offers:
        return NotClaimed(Refusal.LACKS, caller_id)
    if not row.admitted:
        if state is RunState.WAITING and not admit_waiting(conn, caller_id, run_id):
            _queue(conn, run_id, now, row.next_seq)
            return NotClaimed(Refusal.NOT_ADMITTED, caller_id)
        if state is RunState.QUEUED:
            return NotClaimed(Refusal.NOT_ADMITTED, caller_id)
    if state is not RunState.RUNNING:
        require_run_transition(state, RunState.RUNNING)
    if deadline_at is None:
        deadline_at = now + timedelta(seconds=row.deadline_seconds)
    elif since is not None and since < now:
        deadline_at += now - since
    lost = conn.one(RUNNING_ATTEMPT, {"id": run_id}) if row.epoch else None  # nobody has held it before
    count = 1 if lost is None else 2
    ledger = Ledger(conn, run_id, now, next_seq=row.next_seq + count, reserved=count)
    lost_in_row = row.lost_in_row
    if lost is not None:
        lose_attempt(conn, ledger, lost, since)
    if state is RunState.RUNNING:
        lost_in_row += 1
    if lost is None and lost_in_row:
        lost = conn.one(_LOST_ATTEMPT, {"id": run_id, "before": row.epoch - lost_in_row})
    was_lost = lost_in_row > 0
    previous = row.last_owner if row.last_owner != owner else None
    _record_claim(ledger, state, owner, previous, was_lost=was_lost)
    conn.run(
        _CLAIM,
        {
            "id": run_id,
            "owner": owner,
            "lease_until": conn.later(lease_seconds),
            "deadline_at": conn.bindable(deadline_at),
            "now": ledger.stamp,
            "lost_in_row": lost_in_row,
            "count": count,
        },
    )
    ledger.write()
    return _claimed(
        conn,
        run_id,
        caller_id,
        row.epoch + 1,
        deadline_at,
        now,
        deadline_seconds=row.deadline_seconds,
        taken_over=was_lost,
        worker=owner,
        previous_worker=previous,
        lost_attempt=lost.attempt_id if lost else None,
        lost_in_row=lost_in_row,
        next_seq=row.next_seq + count,
        needs=row.needs,
    )


def _queue(conn: Connection, run_id: str, now: datetime, next_seq: int) -> None:
    """Queue a run that has waited long enough."""
    conn.run(_QUEUE, {"id": run_id})
    ledger = Ledger(conn, run_id, now, next_seq=next_seq, reserved=0)
    ledger.run(RunState.WAITING, RunState.QUEUED, "its wait is over")
    ledger.write()


def lose_attempt(conn: Connection, ledger: Ledger, attempt: Row, left_at: datetime | None) -> None:
    """End the attempt in progress, as `RUNNING_ATTEMPT` finds it, as `lost`; its step keeps its state.

    `left_at` is its worker's last sign of life, if that is known.
    """
    at = ledger.now if left_at is None else min(left_at, ledger.now)
    conn.run(LEAVE_ATTEMPT, {"id": attempt.attempt_id, "state": AttemptState.LOST.value, "left_at": conn.bindable(at)})
    conn.run(UNCOUNT_ATTEMPT, {"id": attempt.step_id})
    ledger.attempt(attempt.step_id, attempt.attempt_id, AttemptState.LOST)


def _record_claim(ledger: Ledger, before: RunState, worker: str, previous: str | None, *, was_lost: bool) -> None:
    """Append the event of a claim, with both workers if another one had the run before.

    It has to be the last event of its unit: see `store.runs.workers.takeovers_of_runs`.
    """
    if previous is None:
        ledger.run(before, RunState.RUNNING, "taken over: its worker was lost" if was_lost else None)
        return
    reason = f"{worker} took over from {previous}, which was lost" if was_lost else f"moved from {previous} to {worker}"
    data = orjson.dumps({"worker": worker, "previous_worker": previous, "lost": was_lost}).decode()
    ledger.add(EventType.RUN_STATE, before=before.value, after=RunState.RUNNING.value, reason=reason, data=data)


def last_sign(lease_until: datetime | None, lease_seconds: float) -> datetime | None:
    """Return when the last owner renewed its lease; all workers of a database have leases of one length."""
    return None if lease_until is None else lease_until - timedelta(seconds=lease_seconds)


def _claimed(
    conn: Connection,
    run_id: str,
    caller_id: str,
    epoch: int,
    deadline_at: datetime,
    now: datetime,
    *,
    deadline_seconds: float,
    taken_over: bool,
    worker: str,
    previous_worker: str | None,
    lost_attempt: str | None,
    lost_in_row: int,
    next_seq: int,
    needs: str,
) -> Claim:
    row = conn.one(_CLAIMED_RUN, {"id": run_id})
    assert row is not None, "the run was locked above"
    return Claim(
        run_id=run_id,
        epoch=epoch,
        caller_id=caller_id,
        subject=row.subject,
        pipeline_id=row.pipeline_id,
        version_id=row.version_id,
        target=row.target,
        cause=row.cause,
        document=row.document,
        input_schema=row.input_schema,
        inputs=row.inputs,
        force=bool(row.force),
        deadline_at=deadline_at,
        deadline_seconds=deadline_seconds,
        steps=_steps(conn, run_id),
        taken_over=taken_over,
        worker=worker,
        previous_worker=previous_worker,
        lost_attempt=lost_attempt,
        lost_in_row=lost_in_row,
        now=now,
        next_seq=next_seq,
        needs=needs,
        trace=row.trace,
    )


def _steps(conn: Connection, run_id: str) -> tuple[ClaimedStep, ...]:
    rows = conn.all(_CLAIMED_STEPS, {"id": run_id})
    return tuple(ClaimedStep(**by_name(row) | {"state": _STEP_STATES[row.state]}) for row in rows)


def renew(conn: Connection, owner: str, lease_seconds: float) -> dict[str, tuple[int, bool]]:
    """Renew all leases of a worker at once.

    Returns:
        Epoch and whether a cancel is requested, by run id; a missing run was claimed by another worker.
    """
    until = conn.now() + timedelta(seconds=lease_seconds)
    held = conn.all(_RENEW, {"owner": owner, "lease_until": until})
    return {row.id: (row.epoch, bool(row.cancel_requested)) for row in held}


def release_leases(conn: Connection, lease_seconds: float = 0.0) -> int:
    """Release every lease; for the embedded server at boot, when no other process can hold one.

    Args:
        conn: The transaction.
        lease_seconds: Length of a lease, from which its owner's last sign of life is computed.

    Returns:
        How many runs were held.
    """
    now = conn.now()
    held = conn.all(_HELD)
    for row in held:
        idle_since = last_sign(instant(row.lease_until), lease_seconds) or now
        conn.run(_DROP_LEASE, {"id": row.id, "idle_since": min(idle_since, now)})
    return len(held)


def abandon(conn: Connection, run_id: str, epoch: int, owner: str) -> bool:
    """Release a claimed run that its worker cannot continue, so that it is due at once; return whether it held it.

    The next claim finds the attempt in progress without a result, as after a crash.
    """
    return conn.run(_ABANDON, {"id": run_id, "epoch": epoch, "owner": owner, "now": conn.now()}) > 0


def cut_leases(conn: Connection, lease_seconds: float) -> None:
    """Shorten the leases that are longer than they may be.

    After the clock was set back, the lease of a lost worker would hold its run until the clock catches up. A living
    worker renews its own.
    """
    conn.run(_CUT_LEASES, {"longest": conn.later(lease_seconds)})


@dataclass(frozen=True, slots=True)
class Due:
    """A run to dispatch in `wait_seconds`; 0 or less means now.

    Attributes:
        not_before: The instant it waits for, as stored.
    """

    run_id: str
    priority: int
    wait_seconds: float = 0.0
    not_before: datetime | None = None


def due(conn: Connection, lease_seconds: float, *, limit: int = 5_000) -> list[Due]:
    """List admitted runs that no living worker holds, most urgent first, then those that wait, the soonest first.

    Works from the store alone.
    After the clock was set back, a run waits at most the length of its wait, and a lost worker holds its runs at most
    the length of a lease.
    """
    now = conn.now()
    cut_leases(conn, lease_seconds)
    span = {"now": now, "limit": limit}
    found = [Due(row.id, row.urgency) for row in conn.all(_DUE, span)]
    for row in conn.all(_WAITING, span):
        not_before, waits_since = some_instant(row.not_before), instant(row.waits_since)
        seconds = (not_before - now).total_seconds()
        if waits_since is not None:
            seconds = min(seconds, (not_before - waits_since).total_seconds())
        found.append(Due(row.id, 0, seconds, not_before))
    return found


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The run that a resume or re-run starts from."""

    run_id: str
    caller_id: str
    state: RunState
    pipeline_id: str | None
    version_id: str | None
    pack: str | None
    document: str
    input_schema: str | None
    inputs: str
    title: str
    force: bool
    deadline_seconds: float
    resume_count: int
    steps: tuple[ClaimedStep, ...]


_SNAPSHOT = Sql(
    """
    SELECT run.caller_id, run.state, run.pipeline_id, run.version_id, run.pack,
        coalesce(version.document, run.document) AS document, version.input_schema, run.inputs, run.title, run.force,
        run.deadline_seconds, run.resume_count
    FROM run LEFT JOIN pipeline_version AS version ON version.id = run.version_id
    WHERE run.id = :id
    """
)


def snapshot(conn: Connection, run_id: str) -> Snapshot | None:
    """Read a run with its steps and the outputs of succeeded ones, at one instant; None when there is none."""
    row = conn.one(_SNAPSHOT, {"id": run_id})
    if row is None:
        return None
    decoded = {"state": RunState(row.state), "force": bool(row.force), "steps": _steps(conn, run_id)}
    return Snapshot(run_id=run_id, **by_name(row) | decoded)
