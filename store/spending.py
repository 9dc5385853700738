"""What models were paid for, summed over attempts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from store.models.declaring import columns_of
from store.models.runs import ATTEMPT, RUN, RUN_STEP

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy import ColumnElement, Subquery

    from store.engine import Store


@dataclass(frozen=True, slots=True)
class Spending:
    """What the models of some attempts were paid for; None where a part of it is not known.

    Where no model was asked all of it is zero. An attempt that was lost with its process has told nothing: where other
    attempts asked models, the sums are not known.
    """

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_micros: int | None = 0


NOTHING = Spending()


async def spending_of_runs(
    store: Store, run_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, Spending]:
    """Sums over all attempts of each run, by run id; every id asked for has an entry.

    Of other callers' runs than `visible_to` nothing is known to be spent.
    """
    wanted = [ATTEMPT.c.run_id.in_(run_ids), *_visible(visible_to)]
    return await _spending(store, ATTEMPT.c.run_id, wanted, run_ids, run_ids)


async def spending_of_steps(
    store: Store, steps: Sequence[tuple[str, str]], *, visible_to: str | None = None
) -> dict[tuple[str, str], Spending]:
    """Sums over all attempts of each step, by run id and step id, as `spending_of_runs` has them."""
    run_ids = {run_id for run_id, _ in steps}
    step_ids = {step for _, step in steps}
    wanted = [ATTEMPT.c.run_id.in_(run_ids), ATTEMPT.c.step_id.in_(step_ids), *_visible(visible_to)]
    found = await _spending(store, ATTEMPT.c.step_id, wanted, [step for _, step in steps], run_ids)
    return {(run_id, step): found[step] for run_id, step in steps}


def _visible(visible_to: str | None) -> list[ColumnElement[bool]]:
    if visible_to is None:
        return []
    return [sa.select(RUN.c.id).where(RUN.c.id == ATTEMPT.c.run_id, RUN.c.caller_id == visible_to).exists()]


async def _spending(
    store: Store,
    by: ColumnElement[str],
    wanted: Sequence[ColumnElement[bool]],
    ids: Sequence[str],
    run_ids: Collection[str],
) -> dict[str, Spending]:
    told = columns_of(ATTEMPT, Spending)
    # Both are read from an index or from the front of the rows, never from behind their payloads.
    rows = await store.read(
        sa.select(
            by.label("id"),
            sa.func.count().label("attempts"),
            *(sa.func.count(column).label(f"{column.name}_told") for column in told),
            *(sa.cast(sa.func.sum(column), sa.BigInteger).label(column.name) for column in told),
        )
        .where(*wanted, ATTEMPT.c.models.is_not(None))
        .group_by(by)
    )
    asked = {row["id"]: row for row in rows.mappings()}
    found = dict.fromkeys(ids, NOTHING)
    if not asked:
        return found
    # By way of the steps: attempts that asked no model have no index by run.
    own = sa.select(RUN_STEP.c.id).where(RUN_STEP.c.run_id.in_(run_ids))
    untold = sa.select(by).where(ATTEMPT.c.step_id.in_(own), by.in_(asked), ATTEMPT.c.state == "lost").distinct()
    lost = set((await store.read(untold)).scalars())
    for name, sums in asked.items():
        is_told = {column.name: name not in lost and sums[f"{column.name}_told"] == sums["attempts"] for column in told}
        found[name] = Spending(**{column: sums[column] if known else None for column, known in is_told.items()})
    return found


def costs_by(column: ColumnElement[str]) -> Subquery:
    """What each run or step with a known cost cost, in micros: columns `id` and `micros`."""
    return (
        sa.select(column.label("id"), sa.cast(sa.func.sum(ATTEMPT.c.cost_micros), sa.BigInteger).label("micros"))
        .where(ATTEMPT.c.models.is_not(None))
        .group_by(column)
        .having(sa.func.count() == sa.func.count(ATTEMPT.c.cost_micros))
        .subquery()
    )
