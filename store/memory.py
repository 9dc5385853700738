"""Memory: what ended, taken up from runs after their commit, and forgotten again.

The UPDATE that ends a run marks it as due (`run.memory_due`); `take_up` writes its rows and takes the mark off in one
transaction, so a crash, a second server or a clock that goes back neither loses nor doubles an outcome. Attempts of
epochs up to `run.memory_epoch` were taken up before: what was forgotten of them does not come back.

A caller's `memory_state.revision` counts the changes of its memory; each row carries the one it came with, and
`removed` is the last one that took rows away. What is made from memory is kept up to date by those two numbers. What
was counted is stored with its revision, so that a start need not open every row; it goes with the first row that goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, cast

from store import core as sa
from store.dialects import Sql, instant
from store.ids import new_id
from store.paging import capped_count, fetch_page
from store.states import RunState
from store.tables import MEMORY_ENTRY, columns_of
from store.vault_proof import demand_proof

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from store.dialects import Connection
    from store.engine import Store
    from store.paging import PageWindow

TargetKind = Literal["pack", "pipeline"]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A remembered outcome; see `store.models.MemoryEntryRow`.

    Attributes:
        target: The pack's name or the pipeline's id; either may be gone.
        run_id: The run; it may be gone.
        step_id: Empty for a run, and for a pack called by itself.
        sealed: The learned values, sealed for `place_of`; None when there are none.
    """

    id: str
    caller_id: str
    kind: TargetKind
    target: str
    run_id: str
    step_id: str
    at: datetime
    outcome: RunState
    failure_code: str | None
    duration_seconds: float
    sealed: str | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run that ended and was not taken up yet.

    Attributes:
        inputs: JSON text, when it succeeded.
        memory_epoch: Attempts of later epochs are new; None when nothing of it was ever taken up.
        resume_count: Tells one end of it from the next.
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
    """The attempt that counts of a step that was executed; `input` is JSON text as it was kept, secrets masked."""

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
    """A row to be; `sealed` is dropped where its caller has paused learning."""

    kind: TargetKind
    target: str
    step_id: str
    at: datetime
    outcome: RunState
    failure_code: str | None
    duration_seconds: float
    sealed: str | None


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """Which rows: of everything, of a kind, of one pack or pipeline, or one row by id."""

    kind: TargetKind | None = None
    target: str | None = None
    entry_id: str | None = None


EVERYTHING = MemoryScope()


@dataclass(frozen=True, slots=True)
class MemoryState:
    """How far a caller's memory has come; `paused_at` is since when nothing is learned."""

    revision: int = 0
    removed: int = 0
    paused_at: datetime | None = None


_TAKE_UP = Sql(
    """UPDATE run SET memory_due = NULL, memory_epoch = epoch
    WHERE id = :id AND memory_due AND ended_at IS NOT NULL AND epoch = :epoch AND resume_count = :resume_count"""
)
_CHANGE = Sql(
    """INSERT INTO memory_state (caller_id, revision, removed) VALUES (:caller_id, 1, 0)
    ON CONFLICT (caller_id) DO UPDATE SET revision = memory_state.revision + 1
    RETURNING revision, paused_at"""
)
_REMOVED = Sql("UPDATE memory_state SET removed = revision, counted = NULL, counts = NULL WHERE caller_id = :caller_id")
_KEEP_COUNTS = Sql(
    """UPDATE memory_state SET counted = :revision, counts = :sealed
    WHERE caller_id = :caller_id AND removed <= :revision AND (counted IS NULL OR counted < :revision)"""
)
_COUNTS = Sql("SELECT counted, counts FROM memory_state WHERE caller_id = :caller_id AND counts IS NOT NULL")
_PAUSE = Sql("UPDATE memory_state SET paused_at = :at WHERE caller_id = :caller_id")
_STATE = Sql("SELECT revision, removed, paused_at FROM memory_state WHERE caller_id = :caller_id")
_REPLACED = Sql("DELETE FROM memory_entry WHERE run_id = :run_id AND step_id = :step_id")
# Successes alone are counted: what was counted holds when a failure goes, as at most resumes it does.
_REPLACED_SUCCESS = Sql(
    "DELETE FROM memory_entry WHERE run_id = :run_id AND step_id = :step_id AND outcome = 'succeeded'"
)
_INSERT = Sql(
    """INSERT INTO memory_entry (id, caller_id, kind, target, run_id, step_id, at, outcome, failure_code,
        duration_seconds, sealed, revision, expires_at)
    VALUES (:id, :caller_id, :kind, :target, :run_id, :step_id, :at, :outcome, :failure_code,
        :duration_seconds, :sealed, :revision, :expires_at) ON CONFLICT DO NOTHING"""
)
_OWN = "FROM memory_entry WHERE caller_id = :caller_id"
_SCOPED = {
    "all": _OWN,
    "kind": f"{_OWN} AND kind = :kind",
    "target": f"{_OWN} AND kind = :kind AND target = :target",
    # A run takes its steps' rows along; they alone share its id.
    "entry": f"""{_OWN} AND (id = :entry_id OR run_id =
        (SELECT run_id FROM memory_entry WHERE id = :entry_id AND caller_id = :caller_id AND step_id = ''))""",
}
_COUNT_SCOPED = {name: Sql(f"SELECT count(*) {rows}") for name, rows in _SCOPED.items()}
_DELETE_SCOPED = {name: Sql(f"DELETE {rows}") for name, rows in _SCOPED.items()}
_EXPIRED = Sql(
    """SELECT DISTINCT caller_id FROM
    (SELECT caller_id FROM memory_entry WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit) AS oldest
    ORDER BY caller_id"""
)
_SWEEP = Sql(
    """DELETE FROM memory_entry WHERE id IN (SELECT id FROM memory_entry
    WHERE expires_at <= :now AND caller_id = :caller_id ORDER BY expires_at LIMIT :limit)"""
)
_SEALED = Sql("SELECT id, caller_id, run_id, step_id, sealed FROM memory_entry WHERE sealed IS NOT NULL ORDER BY id")
_RESEAL = Sql("UPDATE memory_entry SET sealed = :sealed WHERE id = :id")
_UNREADABLE = Sql("UPDATE memory_entry SET sealed = NULL WHERE sealed IS NOT NULL")
_EVERY_STATE = Sql(
    "UPDATE memory_state SET revision = revision + 1, removed = revision + 1, counted = NULL, counts = NULL"
)
# Spelled as in the partial index `ix_run_memory_due`, or SQLite would not use it.
_ANY_DUE = Sql("SELECT id FROM run WHERE memory_due ORDER BY id LIMIT 1")
# In the order of the fields of `DueRun` and `DueStep`.
_DUE = Sql(
    """SELECT id, caller_id, pipeline_id, pack, state, failure, created_at, started_at, ended_at, epoch, memory_epoch,
        resume_count, inputs
    FROM run WHERE memory_due AND ended_at IS NOT NULL ORDER BY id LIMIT :limit"""
)
_DUE_STEPS = Sql(
    """SELECT step.run_id, step.id, step.pack, attempt.state, attempt.failure, attempt.input, attempt.started_at,
        attempt.ended_at, attempt.epoch
    FROM run JOIN run_step AS step ON step.run_id = run.id JOIN attempt ON attempt.id = step.attempt_id
    WHERE run.memory_due AND run.id BETWEEN :first AND :last
        AND step.pack IS NOT NULL AND attempt.reused_from IS NULL
    ORDER BY step.run_id, step.position"""
)
_EVIDENCE = Sql(
    """SELECT kind, target, run_id, step_id, at, sealed, revision FROM memory_entry
    WHERE caller_id = :caller_id AND revision > :after AND outcome = 'succeeded'
    ORDER BY revision DESC LIMIT :limit"""
)
_COLUMNS = columns_of(MEMORY_ENTRY, MemoryRecord)


def place_of(caller_id: str, run_id: str, step_id: str) -> str:
    """Where a row's learned values are sealed for, so that they open in no other row and for no other caller."""
    return f"memory:{caller_id}:{run_id}:{step_id}"


def counts_place(caller_id: str) -> str:
    """Where what was counted of a caller is sealed for."""
    return f"memory-counts:{caller_id}"


# ------------------------------------------------------------------------------------------------ units


def take_up(
    conn: Connection,
    outcomes: Sequence[tuple[DueRun, Sequence[NewOutcome]]],
    *,
    proof: str | None,
    keep_days: float,
) -> int:
    """Writes the rows of runs that ended, in place of what a resume did again; how many rows.

    A run that somebody else took up, or that was resumed meanwhile, is left out.

    Args:
        conn: The unit's connection.
        outcomes: Runs by id in ascending order, each with its rows.
        proof: The vault's when the values were sealed; None when none were.
        keep_days: How long a row is kept after its end.

    Raises:
        VaultChangedError: the vault key was changed since the values were sealed.
    """
    if proof is not None:
        demand_proof(conn, proof)
    taken = [
        (run, rows)
        for run, rows in outcomes
        if conn.run(_TAKE_UP, {"id": run.id, "epoch": run.epoch, "resume_count": run.resume_count})
    ]
    now = conn.now()
    count = 0
    for caller_id in sorted({run.caller_id for run, _ in taken}):
        revision, paused_at = _change(conn, caller_id)
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
            conn.run(_REMOVED, {"caller_id": caller_id})
        conn.many(_INSERT, new)
        count += len(new)
    return count


def forget(conn: Connection, caller_id: str, scope: MemoryScope, *, dry_run: bool = False) -> int:
    """Deletes a caller's rows in a scope, or counts them; how many."""
    which = "entry" if scope.entry_id else "target" if scope.target is not None else "kind" if scope.kind else "all"
    values = {"caller_id": caller_id, "kind": scope.kind, "target": scope.target, "entry_id": scope.entry_id}
    if dry_run:
        row = conn.one(_COUNT_SCOPED[which], values)
        return int(row[0]) if row else 0
    _change(conn, caller_id)  # before the rows: whoever takes up an outcome locks in the same order
    count = conn.run(_DELETE_SCOPED[which], values)
    if count:
        conn.run(_REMOVED, {"caller_id": caller_id})
    return count


def set_learning(conn: Connection, caller_id: str, *, paused: bool) -> None:
    """Pauses learning, or takes it up again; what was learned stays."""
    _, since = _change(conn, caller_id)
    if not paused or since is None:
        conn.run(_PAUSE, {"caller_id": caller_id, "at": conn.now() if paused else None})


def note_change(conn: Connection, caller_id: str) -> None:
    """Counts a change of what a caller's defaults are made from, beside the rows."""
    _change(conn, caller_id)


def keep_counts(conn: Connection, caller_id: str, revision: int, sealed: str, *, proof: str) -> None:
    """Stores what was counted up to a revision, unless rows went away since or somebody counted further.

    Raises:
        VaultChangedError: the vault key was changed since it was sealed.
    """
    demand_proof(conn, proof)
    conn.run(_KEEP_COUNTS, {"caller_id": caller_id, "revision": revision, "sealed": sealed})


def sweep_memory(conn: Connection, *, limit: int = 500) -> int:
    """Removes rows whose time is over, oldest first; how many."""
    now = conn.now()
    count = 0
    for (caller_id,) in conn.all(_EXPIRED, {"now": now, "limit": limit}):
        _change(conn, caller_id)  # before the rows, as `forget` does
        count += conn.run(_SWEEP, {"now": now, "caller_id": caller_id, "limit": limit})
        conn.run(_REMOVED, {"caller_id": caller_id})
        if count >= limit:
            break
    return count


def sealed_memory(conn: Connection) -> list[tuple[str, str, str]]:
    """Id, place and sealed values of every row that has any, for a change of the vault key."""
    return [(row[0], place_of(row[1], row[2], row[3]), row[4]) for row in conn.all(_SEALED)]


def reseal_memory(conn: Connection, sealed: Mapping[str, str | None]) -> None:
    """Replaces the sealed values of rows by id; None takes them away."""
    conn.many(_RESEAL, [{"id": entry_id, "sealed": text} for entry_id, text in sealed.items()])
    conn.run(_EVERY_STATE)


def empty_sealed(conn: Connection) -> None:
    """Takes every learned value away, for a vault whose key is lost; the rows stay."""
    conn.run(_UNREADABLE)
    conn.run(_EVERY_STATE)


def _change(conn: Connection, caller_id: str) -> tuple[int, datetime | None]:
    row = conn.one(_CHANGE, {"caller_id": caller_id})
    assert row is not None, "inserted or updated"
    return int(row[0]), instant(row[1])


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


# ------------------------------------------------------------------------------------------------ reads


async def any_due(store: Store) -> bool:
    """Whether a run has ended that was not taken up yet."""
    return bool(await store.rows(_ANY_DUE))


async def due_runs(store: Store, *, limit: int) -> list[tuple[DueRun, list[DueStep]]]:
    """Runs that ended and were not taken up, by id, each with what was executed of it since it last was."""
    runs = [_due_run(row) for row in await store.rows(_DUE, {"limit": limit})]
    if not runs:
        return []
    since = {run.id: run.memory_epoch or 0 for run in runs}
    found: dict[str, list[DueStep]] = {}
    for row in await store.rows(_DUE_STEPS, {"first": runs[0].id, "last": runs[-1].id}):
        *values, epoch = row
        if values[0] in since and epoch > since[values[0]]:  # not of what ended only now
            values[6:8] = [instant(value) for value in values[6:8]]
            found.setdefault(values[0], []).append(DueStep(*values))
    return [(run, found.get(run.id, [])) for run in runs]


def _due_run(row: Sequence[Any]) -> DueRun:
    values = list(row)
    values[4] = RunState(values[4])
    values[6:9] = [instant(value) for value in values[6:9]]
    return DueRun(*values)


async def memory_state(store: Store, caller_id: str) -> MemoryState:
    """How far a caller's memory has come."""
    rows = await store.rows(_STATE, {"caller_id": caller_id})
    return MemoryState(int(rows[0][0]), int(rows[0][1]), instant(rows[0][2])) if rows else MemoryState()


async def find_counts(store: Store, caller_id: str) -> tuple[int, str] | None:
    """The revision up to which a caller's rows were counted, and what came of it, sealed; None when nothing is kept."""
    rows = await store.rows(_COUNTS, {"caller_id": caller_id})
    return (int(rows[0][0]), str(rows[0][1])) if rows else None


async def evidence(
    store: Store, caller_id: str, *, after: int, limit: int
) -> list[tuple[TargetKind, str, str, str, datetime, str | None, int]]:
    """Successes that came after a revision: kind, target, run, step, end, sealed values and revision."""
    rows = await store.rows(_EVIDENCE, {"caller_id": caller_id, "after": after, "limit": limit})
    return [(row[0], row[1], row[2], row[3], cast("datetime", instant(row[4])), row[5], int(row[6])) for row in rows]


async def list_memory(
    connection: AsyncConnection, caller_id: str, scope: MemoryScope, window: PageWindow
) -> list[MemoryRecord]:
    """A caller's rows in a scope, newest first; the sort key is `(at, id)`."""
    keys = [(MEMORY_ENTRY.c.at, True), (MEMORY_ENTRY.c.id, True)]
    wanted = sa.select(*_COLUMNS).where(*_conditions(caller_id, scope))
    return [_record(row) for row in await fetch_page(connection, wanted, keys, window)]


async def count_memory(connection: AsyncConnection, caller_id: str, scope: MemoryScope) -> int:
    """How many rows a caller has in a scope, up to `store.paging.COUNT_CAP`."""
    return await capped_count(connection, sa.select(MEMORY_ENTRY.c.id).where(*_conditions(caller_id, scope)))


async def find_memory(connection: AsyncConnection, ids: Sequence[str]) -> dict[str, MemoryRecord]:
    """Rows by id, whoever's they are."""
    rows = await connection.execute(sa.select(*_COLUMNS).where(MEMORY_ENTRY.c.id.in_(ids)))
    return {row[0]: _record(row) for row in rows}


def _record(row: Sequence[Any]) -> MemoryRecord:
    values = list(row)
    values[7] = RunState(values[7])
    return MemoryRecord(*values)


def _conditions(caller_id: str, scope: MemoryScope) -> list[Any]:
    conditions: list[Any] = [MEMORY_ENTRY.c.caller_id == caller_id]
    if scope.entry_id is not None:
        own = sa.select(MEMORY_ENTRY.c.run_id).where(
            MEMORY_ENTRY.c.id == scope.entry_id,
            MEMORY_ENTRY.c.caller_id == caller_id,
            MEMORY_ENTRY.c.step_id == "",
        )
        conditions.append((MEMORY_ENTRY.c.id == scope.entry_id) | MEMORY_ENTRY.c.run_id.in_(own))
    if scope.kind is not None:
        conditions.append(MEMORY_ENTRY.c.kind == scope.kind)
    if scope.target is not None:
        conditions.append(MEMORY_ENTRY.c.target == scope.target)
    return conditions
