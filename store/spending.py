"""What models were paid for, summed over attempts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, case, cast, func, select

from store.tables import ATTEMPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.ext.asyncio import AsyncConnection


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


async def spending_of_runs(connection: AsyncConnection, run_ids: Sequence[str]) -> dict[str, Spending]:
    """Sums over all attempts of each run, by run id; every id asked for has an entry."""
    return await _spending(connection, ATTEMPT.c.run_id, run_ids)


async def spending_of_steps(connection: AsyncConnection, step_ids: Sequence[str]) -> dict[str, Spending]:
    """Sums over all attempts of each step, by step id; every id asked for has an entry."""
    return await _spending(connection, ATTEMPT.c.step_id, step_ids)


async def _spending(connection: AsyncConnection, by: ColumnElement[str], ids: Sequence[str]) -> dict[str, Spending]:
    attempt = ATTEMPT.c
    untold = (attempt.state == "lost") & attempt.models.is_(None)
    told = [attempt.input_tokens, attempt.output_tokens, attempt.cost_micros]
    rows = await connection.execute(
        select(
            by,
            func.sum(case((untold, 1), else_=0)),
            func.count(attempt.models),
            *(func.count(column) for column in told),
            *(cast(func.sum(column), BigInteger) for column in told),
        )
        .where(by.in_(ids))
        .group_by(by)
    )
    found = dict.fromkeys(ids, NOTHING)
    for name, lost, asked, *counted in rows:
        if asked:
            counts, sums = counted[:3], counted[3:]
            found[name] = Spending(
                *(total if count == asked and not lost else None for count, total in zip(counts, sums, strict=True))
            )
    return found
