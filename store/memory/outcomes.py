"""Records the outcomes of ended runs in memory, after the commit that ended them.

The UPDATE that ends a run marks it as due (`run.memory_due`); `record_outcomes` writes its rows and removes the mark in
one transaction, so a crash, a second server or a clock that is set back neither loses nor doubles an outcome. Attempts
of epochs up to `run.memory_epoch` were recorded before: deleted rows of them do not come back.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from store.database.dialects import Sql, by_name, instant
from store.database.ids import new_id
from store.memory.state import note_change, note_removal
from store.secrets.vault_proof import require_proof
from store.states import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.database.dialects import Connection, Row
    from store.database.engine import Store
    from store.memory.entries import TargetKind


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run that ended and is not recorded yet.

    Attributes:
        inputs: JSON text, when it succeeded.
        memory_epoch: Attempts of later epochs are new; None when none of it was ever recorded.
        resume_count: Distinguishes one end of the run from the next.
    """

    id: str
    caller_id: str
    pipeline_id: str | None
    pack: str | None
    state: RunState
    failure: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime
    epoch: int
    memory_epoch: int | None
    resume_count: int
    inputs: str


@dataclass(frozen=True, slots=True)
class DueStep:
    """The attempt that counts for an executed step; `input` is the stored JSON text, secrets masked."""

    run_id: str
    step_id: str
    pack: str
    state: str
    failure: str | None
    input: str | None
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewOutcome:
    """A row to insert; `sealed` is dropped where its caller has paused learning."""

    kind: TargetKind
    target: str
    step_id: str
    at: datetime
    outcome: RunState
    failure_code: str | None
    duration_seconds: float
    sealed: str | None


_MARK_RECORDED = Sql(
    """UPDATE run SET memory_due = NULL, memory_epoch = epoch
    WHERE id = :id AND memory_due AND ended_at IS NOT NULL AND epoch = :epoch AND resume_count = :resume_count"""
)
_REPLACED = Sql("DELETE FROM memory_entry WHERE run_id = :run_id AND step_id = :step_id")
# Only successes are counted, so the counts still hold when a failure is replaced, as most resumes do.
_REPLACED_SUCCESS = Sql(
    "DELETE FROM memory_entry WHERE run_id = :run_id AND step_id = :step_id AND outcome = 'succeeded'"
)
_INSERT = Sql(
    """INSERT INTO memory_entry (id, caller_id, kind, target, run_id, step_id, at, outcome, failure_code,
        duration_seconds, sealed, revision, expires_at)
    VALUES (:id, :caller_id, :kind, :target, :run_id, :step_id, :at, :outcome, :failure_code,
        :duration_seconds, :sealed, :revision, :expires_at) ON CONFLICT DO NOTHING"""
)
# Spelled as in the partial index `ix_run_memory_due`, or SQLite would not use it.
_ANY_DUE = Sql("SELECT id FROM run WHERE memory_due ORDER BY id LIMIT 1")
_DUE = Sql(
    f"""SELECT {", ".join(field.name for field in fields(DueRun))}
    FROM run WHERE memory_due AND ended_at IS NOT NULL ORDER BY id LIMIT :limit"""
)
_DUE_STEPS = Sql(
    """SELECT step.run_id, step.id AS step_id, step.pack, attempt.state, attempt.failure, attempt.input,
        attempt.started_at, attempt.ended_at, attempt.epoch
    FROM run JOIN run_step AS step ON step.run_id = run.id JOIN attempt ON attempt.id = step.attempt_id
    WHERE run.memory_due AND run.id BETWEEN :first AND :last
        AND step.pack IS NOT NULL AND attempt.reused_from IS NULL
    ORDER BY step.run_id, step.position"""
)


def record_outcomes(
    conn: Connection,
    outcomes: Sequence[tuple[DueRun, Sequence[NewOutcome]]],
    *,
    proof: str | None,
    keep_days: float,
) -> int:
    """Insert the rows of ended runs, replacing those that a resume ran again; return how many were inserted.

    Skips runs that another server recorded, or that were resumed meanwhile.

    Args:
        conn: The unit's connection.
        outcomes: Runs by id in ascending order, each with its rows.
        proof: The vault's proof when values were sealed; None when none were.
        keep_days: How long a row is kept after the run ended.

    Raises:
        VaultChangedError: the vault key was changed since the values were sealed.
    """
    if proof is not None:
        require_proof(conn, proof)
    taken = [
        (run, rows)
        for run, rows in outcomes
        if conn.run(_MARK_RECORDED, {"id": run.id, "epoch": run.epoch, "resume_count": run.resume_count})
    ]
    now = conn.now()
    count = 0
    for caller_id in sorted({run.caller_id for run, _ in taken}):
        revision, paused_at = note_change(conn, caller_id)
        new: list[dict[str, Any]] = []
        replaced = 0
        for run, rows in taken:
            if run.caller_id != caller_id:
                continue
            for row in rows:
                if run.memory_epoch is not None:
                    place = {"run_id": run.id, "step_id": row.step_id}
                    replaced += conn.run(_REPLACED_SUCCESS, place)
                    conn.run(_REPLACED, place)
                expires_at = row.at + timedelta(days=keep_days)
                if expires_at > now:
                    new.append(_values(run, row, revision, expires_at, learns=paused_at is None))
        if replaced:
            note_removal(conn, caller_id)
        conn.many(_INSERT, new)
        count += len(new)
    return count


def _values(run: DueRun, row: NewOutcome, revision: int, expires_at: datetime, *, learns: bool) -> dict[str, Any]:
    return {
        "id": new_id("mem"),
        "caller_id": run.caller_id,
        "kind": row.kind,
        "target": row.target,
        "run_id": run.id,
        "step_id": row.step_id,
        "at": row.at,
        "outcome": row.outcome.value,
        "failure_code": row.failure_code,
        "duration_seconds": row.duration_seconds,
        "sealed": row.sealed if learns else None,
        "revision": revision,
        "expires_at": expires_at,
    }


async def any_due(store: Store) -> bool:
    """Return whether any ended run is not recorded yet."""
    return bool(await store.rows(_ANY_DUE))


async def due_runs(store: Store, *, limit: int) -> list[tuple[DueRun, list[DueStep]]]:
    """List ended runs that are not recorded, by id, each with the steps executed since it was last recorded."""
    runs = [_due_run(row) for row in await store.rows(_DUE, {"limit": limit})]
    if not runs:
        return []
    since = {run.id: run.memory_epoch or 0 for run in runs}
    found: dict[str, list[DueStep]] = {}
    for row in await store.rows(_DUE_STEPS, {"first": runs[0].id, "last": runs[-1].id}):
        values = by_name(row)
        if (
            row.run_id in since and values.pop("epoch") > since[row.run_id]
        ):  # and not a run that ended after the first query
            values |= {"started_at": instant(row.started_at), "ended_at": instant(row.ended_at)}
            found.setdefault(row.run_id, []).append(DueStep(**values))
    return [(run, found.get(run.id, [])) for run in runs]


def _due_run(row: Row) -> DueRun:
    decoded = {
        "state": RunState(row.state),
        "created_at": instant(row.created_at),
        "started_at": instant(row.started_at),
        "ended_at": instant(row.ended_at),
    }
    return DueRun(**by_name(row) | decoded)
