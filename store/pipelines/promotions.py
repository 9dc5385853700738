"""Reads of successful pack calls, with input and output, from which pipelines are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from store.models.runs import ATTEMPT, RUN, RUN_STEP
from store.states import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from store.database.engine import Store

#: Larger outputs are not searched for values that reappear, in characters of JSON.
OUTPUT_CHARACTERS = 256 * 1024


class CallRecord(NamedTuple):
    """A pack call that succeeded; input and output are JSON text, the input as the caller gave it."""

    run_id: str
    caller_id: str
    pack: str
    pack_version: str | None
    input: str
    output: str
    created_at: datetime


_CALLS = (
    sa.select(
        RUN.c.id.label("run_id"),
        RUN.c.caller_id,
        RUN.c.pack,
        ATTEMPT.c.pack_version,
        RUN.c.inputs.label("input"),
        ATTEMPT.c.output,
        RUN.c.created_at,
    )
    .join(RUN_STEP, RUN_STEP.c.run_id == RUN.c.id)
    .join(ATTEMPT, ATTEMPT.c.id == RUN_STEP.c.attempt_id)
    .where(
        RUN.c.pack.is_not(None),
        RUN.c.state == RunState.SUCCEEDED,
        RUN_STEP.c.retired_at.is_(None),
        ATTEMPT.c.output != "",
    )
)


async def find_calls(store: Store, run_ids: Sequence[str]) -> dict[str, CallRecord]:
    """Read pack calls that succeeded, by run id."""
    rows = await store.read(_CALLS.where(RUN.c.id.in_(run_ids)))
    return {row["run_id"]: CallRecord(**row) for row in rows.mappings()}


async def calls_before(
    store: Store, caller_id: str, run_id: str, *, limit: int, output_max: int = OUTPUT_CHARACTERS
) -> list[CallRecord]:
    """List a caller's pack calls from before a run, newest first, without those whose output exceeds `output_max`."""
    wanted = (
        _CALLS.where(RUN.c.caller_id == caller_id, RUN.c.id < run_id, sa.func.length(ATTEMPT.c.output) <= output_max)
        .order_by(RUN.c.id.desc())
        .limit(limit)
    )
    return [CallRecord(**row) for row in (await store.read(wanted)).mappings()]
