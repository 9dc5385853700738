"""Ends of runs that triggers have yet to fire for.

The transaction that ends a run writes a row (`store.runs.ending`) if a trigger may fire for it. The row is deleted once
each trigger has its firing, so that a crash loses none; the key of a firing lets none fire twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql, instant, some_instant
from store.models.declaring import columns_of
from store.models.triggers import TRIGGER
from store.states import TriggerKind
from store.triggers.reads import TriggerRecord

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store

#: Most runs one after the other that each start the next by a trigger, after the first.
CHAIN_MAX: Final = 5
_KEY = "run:"


class EndedRun(NamedTuple):
    """The end of a run of a pipeline; `store.models.runs` describes the fields.

    Attributes:
        pipeline: The key of its pipeline.
        state: As it ended, even if it was resumed since.
        failure: Likewise.
    """

    id: str
    caller_id: str
    pipeline_id: str
    pipeline: str
    state: str
    title: str
    failure: str | None
    resume_count: int
    chain_depth: int
    started_at: datetime | None
    ended_at: datetime

    @property
    def firing_key(self) -> str:
        """What a trigger fires for once: this ending, not the one after a resume."""
        return f"{_KEY}{self.id}:{self.resume_count}"


def ended_run_of(firing_key: str) -> str | None:
    """Return the id of the run whose end fired a trigger; None for a firing of another kind."""
    return firing_key.removeprefix(_KEY).partition(":")[0] if firing_key.startswith(_KEY) else None


_DUE = Sql(
    """SELECT run.id, run.caller_id, run.pipeline_id, pipeline.key AS pipeline, run_end.state, run.title,
        run_end.failure, run_end.resume_count, run.chain_depth, run.started_at, run_end.ended_at
    FROM run_end JOIN run ON run.id = run_end.run_id JOIN pipeline ON pipeline.id = run.pipeline_id
    ORDER BY run_end.run_id, run_end.resume_count LIMIT :limit"""
)
_DONE = Sql("DELETE FROM run_end WHERE run_id = :id AND resume_count = :resume_count")
_OUTPUT = Sql(
    """SELECT attempt.output FROM run_step AS step JOIN attempt ON attempt.id = step.attempt_id
    WHERE step.run_id = :id AND step.retired_at IS NULL AND step.state = 'succeeded'
    ORDER BY step.position DESC LIMIT 1"""
)


async def due_ended_runs(store: Store, *, limit: int) -> list[EndedRun]:
    """List ends that triggers have yet to fire for, those of the oldest runs first."""
    return [
        EndedRun(
            id=row.id,
            caller_id=row.caller_id,
            pipeline_id=row.pipeline_id,
            pipeline=row.pipeline,
            state=row.state,
            title=row.title,
            failure=row.failure,
            resume_count=row.resume_count,
            chain_depth=row.chain_depth,
            started_at=instant(row.started_at),
            ended_at=some_instant(row.ended_at),
        )
        for row in await store.rows(_DUE, {"limit": limit})
    ]


async def run_ended_triggers(store: Store) -> list[TriggerRecord]:
    """List the enabled triggers that fire when a run ends, the oldest first."""
    statement = sa.select(*columns_of(TRIGGER, TriggerRecord)).where(
        TRIGGER.c.kind == TriggerKind.RUN_ENDED, TRIGGER.c.enabled.is_(True)
    )
    return [TriggerRecord(**row) for row in (await store.read(statement.order_by(TRIGGER.c.id))).mappings()]


async def last_output(store: Store, run_id: str) -> str | None:
    """Return the output, as JSON text, of the last step of a run that has one."""
    rows = await store.rows(_OUTPUT, {"id": run_id})
    return rows[0].output if rows else None


def finish_ended_run(conn: Connection, run: EndedRun) -> None:
    """Drop the end of a run whose triggers have fired."""
    conn.run(_DONE, {"id": run.id, "resume_count": run.resume_count})
