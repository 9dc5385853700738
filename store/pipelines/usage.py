"""Usage statistics of pipelines and packs: runs, failures, median duration and cost.

Each call reads all runs since an instant: cache its result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from store.database.dialects import seconds_between
from store.database.paging import oldest_id
from store.models.runs import ATTEMPT, RUN, RUN_STEP
from store.runs.spending import costs_by

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select

    from store.database.engine import Store


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of one pipeline or pack.

    Attributes:
        runs: Number of runs, or of steps that called the pack.
        failed: How many of them failed.
        median_duration_seconds: How long the attempts of those that succeeded worked; None when none did.
        median_cost_usd: Of those that succeeded and called models whose price is known; None when none did.
        last_run_at: When the newest run was created, or the newest step started.
    """

    runs: int
    failed: int
    median_duration_seconds: float | None
    last_run_at: datetime | None
    median_cost_usd: float | None = None


async def usage_of_pipelines(
    store: Store, pipeline_ids: Sequence[str] | None, since: datetime, *, visible_to: str | None = None
) -> dict[str, Usage]:
    """Read usage by pipeline id, of all pipelines when `pipeline_ids` is None; those without a run are left out.

    With `visible_to`, only that caller's runs count.
    """
    # Ids sort by creation: the index on (pipeline_id, id) bounds the time, too.
    conditions: list[Any] = [RUN.c.id >= oldest_id("run", since)]
    if pipeline_ids is None:
        conditions.append(RUN.c.pipeline_id.is_not(None))
    else:
        conditions.append(RUN.c.pipeline_id.in_(pipeline_ids))
    if visible_to is not None:
        conditions.append(RUN.c.caller_id == visible_to)
    return await _usage(
        store,
        (RUN.c.pipeline_id, RUN.c.id, ATTEMPT.c.run_id),
        RUN.c.state,
        RUN.c.created_at,
        # Through the steps: no index has the run of every attempt.
        (RUN_STEP.c.run_id == RUN.c.id, ATTEMPT.c.step_id == RUN_STEP.c.id),
        conditions,
    )


async def usage_of_packs(
    store: Store, names: Sequence[str] | None, since: datetime, *, visible_to: str | None = None
) -> dict[str, Usage]:
    """Read usage by pack name, as a step or called directly, of all packs when `names` is None.

    With `visible_to`, only steps of that caller's runs count.
    """
    conditions: list[Any] = [
        RUN_STEP.c.run_id >= oldest_id("run", since),
        RUN_STEP.c.started_at.is_not(None),
        RUN_STEP.c.pack.is_not(None) if names is None else RUN_STEP.c.pack.in_(names),
    ]
    if visible_to is not None:
        # By id as well, so that the index on a caller's runs bounds the time, too.
        own = sa.select(RUN.c.id).where(RUN.c.caller_id == visible_to, RUN.c.id >= oldest_id("run", since))
        conditions.append(RUN_STEP.c.run_id.in_(own))
    step = RUN_STEP.c
    return await _usage(
        store,
        (step.pack, step.id, ATTEMPT.c.step_id),
        step.state,
        step.started_at,
        (ATTEMPT.c.step_id == step.id,),
        conditions,
    )


async def _usage(
    store: Store,
    names: tuple[ColumnElement[str], ColumnElement[str], ColumnElement[str]],
    state: ColumnElement[str],
    at: ColumnElement[datetime],
    attempts: tuple[ColumnElement[bool], ...],
    conditions: list[Any],
) -> dict[str, Usage]:
    group, identity, spender = names
    failed = sa.func.sum(sa.case((state == "failed", 1), else_=0))
    totals = await store.read(
        sa.select(
            group.label("name"),
            sa.func.count().label("runs"),
            sa.cast(failed, sa.Integer).label("failed"),
            sa.func.max(at).label("last_run_at"),
        )
        .where(*conditions)
        .group_by(group)
    )
    succeeded = [*conditions, state == "succeeded"]
    # As `Run.workSeconds`: waits between attempts do not count, such as those for a resume.
    worked = (
        sa.select(
            group.label("name"),
            sa.func.sum(seconds_between(ATTEMPT.c.started_at, ATTEMPT.c.ended_at)).label("value"),
        )
        .where(*succeeded, *attempts, ATTEMPT.c.reused_from.is_(None), ATTEMPT.c.ended_at.is_not(None))
        .group_by(group, identity)
    )
    durations = await _medians(store, worked)
    costs = costs_by(spender)
    spent = sa.select(group.label("name"), costs.c.micros.label("value")).where(*succeeded, identity == costs.c.id)
    micros = await _medians(store, spent)
    return {
        row.name: Usage(
            row.runs,
            row.failed,
            durations.get(row.name),
            row.last_run_at,
            None if row.name not in micros else micros[row.name] / 1_000_000,
        )
        for row in totals
    }


async def _medians(store: Store, values: Select[str, Any]) -> dict[str, float]:
    """Read the median of each `name`'s values, by row numbers, since SQLite has no percentile function."""
    given = values.subquery()
    ranked = sa.select(
        given.c.name,
        given.c.value,
        sa.func.row_number().over(partition_by=given.c.name, order_by=given.c.value).label("place"),
        sa.func.count().over(partition_by=given.c.name).label("of"),
    ).subquery()
    middle = ranked.c.place.in_([(ranked.c.of + 1) // 2, (ranked.c.of + 2) // 2])
    medians = await store.read(
        sa.select(ranked.c.name, sa.func.avg(ranked.c.value).label("median")).where(middle).group_by(ranked.c.name)
    )
    return {row.name: float(row.median) for row in medians}
