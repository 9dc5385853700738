"""What the store has of a run, for tests; attempts of a run at once, which the product reads step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.database.dialects import Sql
from store.runs.reads import find_run_by_id
from store.runs.step_reads import find_attempts

if TYPE_CHECKING:
    from store.database.engine import Store
    from store.runs.reads import RunRecord
    from store.runs.step_reads import AttemptRecord

_ATTEMPT_IDS = Sql("SELECT id FROM attempt WHERE run_id = :run_id ORDER BY started_at, id")


async def record(store: Store, run_id: str) -> RunRecord:
    """The run, which must be there."""
    found = await find_run_by_id(store, run_id)
    assert found is not None
    return found


async def attempts_of_run(store: Store, run_id: str) -> list[AttemptRecord]:
    """In the order they started, those of steps that a switched definition retired too."""
    ids = [str(row[0]) for row in await store.rows(_ATTEMPT_IDS, {"run_id": run_id})]
    found = await find_attempts(store, ids)
    return [found[each] for each in ids]
