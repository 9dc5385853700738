"""Starts a run, or finds the existing one that the start coalesces with or repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.database.dialects import Sql, instant, some_instant
from store.database.errors import StoreError
from store.database.ids import new_id
from store.runs.admission import admit_new, admit_next, lock_slots
from store.runs.idempotency_keys import IDEMPOTENCY_KEEP, refuse_spent
from store.runs.ledger import Ledger
from store.runs.unit_types import IdempotencyClashError, LostLeaseError, NewRun, NewStep, QueueFullError, Submitted
from store.states import RunState, StepState

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection

#: Attempts at a start that keeps meeting others which end before it can join them.
_TRIES = 4

_FIND_IDEMPOTENT = Sql(
    "SELECT id AS run_id, request_digest, created_at FROM run WHERE caller_id = :caller_id AND idempotency_key = :key"
)
_DROP_IDEMPOTENT = Sql("UPDATE run SET idempotency_key = NULL WHERE id = :id")
_FIND_JOINED = Sql(
    """
    SELECT run_id, request_digest, created_at FROM joined_key
    WHERE caller_id = :caller_id AND idempotency_key = :key
    """
)
_DROP_JOINED = Sql("DELETE FROM joined_key WHERE caller_id = :caller_id AND idempotency_key = :key")
_FIND_FLIGHT = Sql("SELECT id, state, lease_until, admitted FROM run WHERE flight = :flight FOR UPDATE")
_DROP_FLIGHT = Sql("UPDATE run SET flight = NULL WHERE id = :id")
# A start that joins an active run stores its key next to the run's own, so that a repeat finds the run.
_JOIN_KEY = Sql(
    """
    INSERT INTO joined_key (caller_id, idempotency_key, run_id, request_digest, created_at)
    VALUES (:caller_id, :key, :run_id, :digest, :now) ON CONFLICT DO NOTHING
    """
)
# What a caller starts and what its triggers start have a limit each, so that neither fills the other's queue.
#
# At most the queue limit of rows. The order, which the count does not need, is that of the index `ix_run_queue`:
# without it PostgreSQL reads the whole table when most of it is one caller's queue, and so for every other caller, too.
# With 10,000 runs of triggers ahead, a start takes 2 ms longer on SQLite and 8 ms on PostgreSQL.
_COUNT_QUEUED = Sql(
    """
    SELECT count(*) AS runs FROM (
        SELECT 1 FROM run WHERE caller_id = :caller_id AND state = 'queued' AND NOT admitted
        AND (trigger_id IS NOT NULL) = :by_trigger
        ORDER BY priority, id LIMIT :limit) AS queue
    """
)
_COUNT_WAITING = Sql(
    """
    SELECT count(*) AS runs FROM run WHERE caller_id = :caller_id AND state IN ('queued', 'waiting')
    AND ended_at IS NULL AND (trigger_id IS NOT NULL) = :by_trigger
    """
)
# This close to the limit, starts count once more when they hold the slots row, so that each counts the others' runs.
# Further away they need not: no server has as many writing connections.
_NEAR_FULL = 64
_INSERT_RUN = Sql(
    """
    INSERT INTO run (id, caller_id, pipeline_id, version_id, pack, document, title, state, cause, client_name, rerun_of,
        inputs, inputs_digest, force, flight, idempotency_key, request_digest, cancel_requested, priority, admitted,
        start_at, not_before, idle_since, deadline_seconds, epoch, next_seq, lost_in_row, resume_count, progress,
        search_text, from_memory, concurrency_key, concurrency_limit, trigger_id,
        after_run_id, ended_run_id, chain_depth, trace, needs, created_at)
    VALUES (:id, :caller_id, :pipeline_id, :version_id, :pack, :document, :title, :state, :cause, :client_name,
        :rerun_of, :inputs, :inputs_digest, :force, :flight, :idempotency_key, :request_digest, :no, 0, :no,
        :start_at, :not_before, :now, :deadline_seconds, 0, :next_seq, 0, 0, :progress,
        :search_text, :from_memory, :concurrency_key, :concurrency_limit, :trigger_id,
        :after_run_id, :ended_run_id, :chain_depth, :trace, :needs, :now)
    ON CONFLICT DO NOTHING
    """
)
INSERT_STEP = Sql(
    """
    INSERT INTO run_step (id, run_id, position, key, pack, pack_version, state, attempts, stretch_attempts,
        input_override, warnings, milestones)
    VALUES (:id, :run_id, :position, :key, :pack, :pack_version, 'pending', 0, 0, :input_override, '[]', '[]')
    """
)
# The run may be another caller's, so its step's input and id are not copied: reads follow `reused_from` and check
# visibility.
_REUSE_ATTEMPT = Sql(
    """
    INSERT INTO attempt (id, run_id, step_id, number, epoch, state, idempotency_key, output, pack_version, session_used,
        reused_from, notes, started_at, ended_at)
    SELECT :id, :run_id, :step_id, 1, 0, 'succeeded', '', output, pack_version, session_used, coalesce(reused_from, id),
        '[]', :now, :now
    FROM attempt WHERE id = :source AND state = 'succeeded'
    """
)
# The other run's sessions are recorded although this run cannot use them: a later step that needs one finds it gone,
# and the steps that made and used it run again instead of being skipped.
_REUSE_STEP = Sql(
    """
    UPDATE run_step SET state = 'succeeded', attempt_id = :attempt_id, attempts = 1, started_at = :now, ended_at = :now,
        pack_version = (SELECT pack_version FROM attempt WHERE id = :attempt_id),
        session_id = (SELECT step.session_id FROM run_step AS step JOIN attempt ON attempt.step_id = step.id
            WHERE attempt.id = :source)
    WHERE id = :id
    """
)


def submit(conn: Connection, new: NewRun, *, queue_limit: int | None, run_id: str | None = None) -> Submitted:
    """Store a run with its steps and first events, or find the run that it coalesces with or repeats.

    Args:
        conn: The transaction.
        new: The run.
        queue_limit: Maximum number of the caller's runs that wait for a slot, and of those that wait for their start,
            without those that its triggers started; for a run of a trigger only those. None to refuse none.
        run_id: Its id; made here when absent.

    Raises:
        IdempotencyClashError: the key belongs to another request.
        SpentKeyError: the run the key led to is gone.
        QueueFullError: the caller has `queue_limit` runs waiting.
    """
    now = conn.now()
    counts = _COUNT_QUEUED if _wait(new, now) is None else _COUNT_WAITING
    # A taken flight is rare and shows when the run is inserted. A key may belong to a start that joined
    # another's run.
    looks_first = new.idempotency_key is not None
    for _ in range(_TRIES):
        if looks_first and (earlier := _earlier(conn, new, now)) is not None:
            return earlier
        try:
            waiting = 0 if queue_limit is None else _refuse_full(conn, new, queue_limit, counts)
        except QueueFullError:
            if looks_first or (earlier := _earlier(conn, new, now)) is None:
                raise
            return earlier
        run_id = run_id or new_id("run")
        if _insert(conn, new, run_id, now):
            _insert_steps(conn, new, run_id, now)
            if conn.shared and queue_limit is not None and waiting + _NEAR_FULL >= queue_limit:
                lock_slots(conn, new.caller_id)
                _refuse_full(conn, new, queue_limit, counts, own=1)
            if (seconds := _wait(new, now)) is not None:
                return Submitted(run_id, wait_seconds=seconds)
            return Submitted(run_id, admitted=admit_new(conn, new.caller_id, run_id))
        # Another start has the same flight or key; on PostgreSQL perhaps a concurrent one that has committed by now.
        looks_first = True
    raise StoreError(f"A start of caller {new.caller_id} met {_TRIES} others that ended at once. Try again.")


def refuse_full(
    conn: Connection,
    caller_id: str,
    queue_limit: int,
    counts: Sql = _COUNT_QUEUED,
    *,
    by_trigger: bool = False,
    own: int = 0,
) -> int:
    """Refuse a start if the caller's queue is full; return how many runs wait, without `own` of this unit.

    Raises:
        QueueFullError: the caller has `queue_limit` runs waiting.
    """
    given = {"caller_id": caller_id, "by_trigger": by_trigger, "limit": queue_limit + own}
    (queued,) = conn.all(counts, given)
    waiting: int = queued.runs - own
    if waiting >= queue_limit:
        raise QueueFullError(waiting, by_trigger=by_trigger)
    return waiting


def _refuse_full(conn: Connection, new: NewRun, queue_limit: int, counts: Sql, *, own: int = 0) -> int:
    by_trigger = new.trigger_id is not None
    return refuse_full(conn, new.caller_id, queue_limit, counts, by_trigger=by_trigger, own=own)


def _insert(conn: Connection, new: NewRun, run_id: str, now: datetime) -> bool:
    """Insert the run; return false if its flight or key is taken."""
    reused = sum(step.reused_attempt is not None for step in new.steps)
    inserted = conn.run(
        _INSERT_RUN,
        {
            "id": run_id,
            "caller_id": new.caller_id,
            "pipeline_id": new.pipeline_id,
            "version_id": new.version_id,
            "pack": new.pack,
            "document": new.document,
            "title": new.title,
            "state": _first_state(new, now).value,
            "cause": new.cause,
            "client_name": new.client_name,
            "rerun_of": new.rerun_of,
            "inputs": new.inputs,
            "inputs_digest": new.inputs_digest,
            "force": new.force,
            "flight": new.flight,
            "idempotency_key": new.idempotency_key,
            "request_digest": new.request_digest,
            "no": False,
            "start_at": new.start_at,
            "not_before": None if _wait(new, now) is None else new.start_at,
            "now": now,
            "deadline_seconds": new.deadline_seconds,
            "next_seq": 1 + _first_events(new),
            "progress": reused / len(new.steps) if new.steps else 0.0,
            "search_text": new.search_text,
            "from_memory": new.from_memory,
            "concurrency_key": new.concurrency_key,
            "concurrency_limit": new.concurrency_limit,
            "trigger_id": new.trigger_id,
            "after_run_id": new.after_run_id,
            "ended_run_id": new.ended_run_id,
            "chain_depth": new.chain_depth,
            "trace": new.trace,
            "needs": new.needs,
        },
    )
    return inserted > 0


def _insert_steps(conn: Connection, new: NewRun, run_id: str, now: datetime) -> None:
    ids = [new_id("step") for _ in new.steps]
    conn.many(
        INSERT_STEP,
        [
            {
                "id": step_id,
                "run_id": run_id,
                "position": step.position,
                "key": step.key,
                "pack": step.pack,
                "pack_version": step.pack_version,
                "input_override": step.input_override,
            }
            for step_id, step in zip(ids, new.steps, strict=True)
        ],
    )
    events = _first_events(new)
    ledger = Ledger(conn, run_id, now, next_seq=1 + events, reserved=events)
    ledger.run(None, _first_state(new, now))
    for step_id, step in zip(ids, new.steps, strict=True):
        if step.reused_attempt is not None:
            _reuse(conn, ledger, run_id, step_id, step)
    ledger.write()


def _wait(new: NewRun, now: datetime) -> float | None:
    """Return the seconds until a new run may start; None when it may start now."""
    return None if new.start_at is None or new.start_at <= now else (new.start_at - now).total_seconds()


def _first_state(new: NewRun, now: datetime) -> RunState:
    return RunState.QUEUED if _wait(new, now) is None else RunState.WAITING


def _first_events(new: NewRun) -> int:
    """Count a new run's events: one for its state, one for each reused step."""
    return 1 + sum(step.reused_attempt is not None for step in new.steps)


def _earlier(conn: Connection, new: NewRun, now: datetime) -> Submitted | None:
    """Find the run of an earlier start with the same idempotency key or the same flight."""
    if new.idempotency_key is not None:
        key = {"caller_id": new.caller_id, "key": new.idempotency_key}
        for find, drop in ((_FIND_IDEMPOTENT, _DROP_IDEMPOTENT), (_FIND_JOINED, _DROP_JOINED)):
            row = conn.one(find, key)
            if row is None:
                continue
            if now - some_instant(row.created_at) > IDEMPOTENCY_KEEP:
                conn.run(drop, {"id": row.run_id} if drop is _DROP_IDEMPOTENT else key)
            elif row.request_digest != new.request_digest:
                raise IdempotencyClashError(row.run_id)
            else:
                return Submitted(row.run_id, replayed=True)
        refuse_spent(conn, new.caller_id, new.idempotency_key, now)
    if new.flight is not None:
        row = conn.one(_FIND_FLIGHT, {"flight": new.flight})
        if row is not None:
            until = instant(row.lease_until)
            if row.state == RunState.RUNNING and until is not None and until < now:
                conn.run(_DROP_FLIGHT, {"id": row.id})  # its worker is dead; never coalesce onto it
            else:
                if new.idempotency_key is not None:
                    conn.run(
                        _JOIN_KEY,
                        {
                            "caller_id": new.caller_id,
                            "key": new.idempotency_key,
                            "run_id": row.id,
                            "digest": new.request_digest,
                            "now": now,
                        },
                    )
                if conn.shared and row.state == RunState.QUEUED and not row.admitted:
                    # The run is locked here, so a unit that has freed a slot meanwhile has skipped it.
                    admit_next(conn, new.caller_id)
                return Submitted(row.id, coalesced=True)
    return None


def _reuse(conn: Connection, ledger: Ledger, run_id: str, step_id: str, step: NewStep) -> None:
    attempt_id = new_id("att")
    copied = conn.run(
        _REUSE_ATTEMPT,
        {
            "id": attempt_id,
            "run_id": run_id,
            "step_id": step_id,
            "source": step.reused_attempt,
            "now": ledger.now,
        },
    )
    if copied == 0:
        raise LostLeaseError(f"The output of step {step.key} in {step.reused_run} is gone; run it again instead.")
    conn.run(_REUSE_STEP, {"id": step_id, "attempt_id": attempt_id, "source": step.reused_attempt, "now": ledger.now})
    ledger.step(step_id, StepState.PENDING, StepState.SUCCEEDED, "its output is reused")
