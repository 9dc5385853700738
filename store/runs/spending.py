"""Token counts and costs of models, summed over attempts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from store.database.lookups import Lookup, of_run
from store.models.runs import ATTEMPT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Subquery

    from store.database.engine import Store


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens and cost of some attempts; a sum is None when a part of it is unknown.

    All are zero where no model was asked. An attempt that was lost with its process reported nothing: if other attempts
    asked models, the sums are unknown.
    """

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_micros: int | None = 0


NOTHING = Spending()
_UNKNOWN = Spending(None, None, None)


@dataclass(frozen=True, slots=True)
class RunSpending:
    """The sums over all attempts of a run.

    Attributes:
        by_step: The sums by step id, for steps that asked a model.
    """

    total: Spending = NOTHING
    by_step: Mapping[str, Spending] = field(default_factory=dict)


class _Paid(NamedTuple):
    run_id: str
    step_id: str
    input_tokens: int | None
    output_tokens: int | None
    cost_micros: int | None


class _Lost(NamedTuple):
    run_id: str
    step_id: str


# Both read an index or the front of the rows, never the columns behind the large payloads.
_PAID = Lookup(ATTEMPT, _Paid, "attempt.run_id", also="attempt.models IS NOT NULL", visible=of_run("attempt.run_id"))
# Joined through the steps: attempts that asked no model have no index by run.
_LOST = Lookup(
    ATTEMPT,
    _Lost,
    "run_step.run_id",
    source="run_step JOIN attempt ON attempt.step_id = run_step.id",
    also="attempt.state = 'lost'",
    visible=of_run("run_step.run_id"),
)


async def spending_of_runs(
    store: Store, run_ids: Sequence[str], *, visible_to: str | None = None
) -> dict[str, RunSpending]:
    """Sum the spending of each run, by run id; every id asked for has an entry.

    Runs of callers other than `visible_to` count as having spent nothing.
    """
    found = dict.fromkeys(run_ids, RunSpending())
    paid: dict[str, list[_Paid]] = {}
    for attempt in await _PAID.read(store, run_ids, visible_to=visible_to):
        paid.setdefault(attempt.run_id, []).append(attempt)
    if not paid:
        return found
    lost: dict[str, set[str]] = {}
    for run_id, step_id in await _LOST.read(store, [*paid], visible_to=visible_to):
        lost.setdefault(run_id, set()).add(step_id)
    for run_id, attempts in paid.items():
        of_steps: dict[str, list[_Paid]] = {}
        for attempt in attempts:
            of_steps.setdefault(attempt.step_id, []).append(attempt)
        untold = lost.get(run_id, set())
        by_step = {step: _sum(some) for step, some in of_steps.items() if step not in untold}
        by_step |= dict.fromkeys(of_steps.keys() & untold, _UNKNOWN)
        found[run_id] = RunSpending(_UNKNOWN if untold else _sum(attempts), by_step)
    return found


def _sum(attempts: Sequence[_Paid]) -> Spending:
    return Spending(
        _total(attempt.input_tokens for attempt in attempts),
        _total(attempt.output_tokens for attempt in attempts),
        _total(attempt.cost_micros for attempt in attempts),
    )


def _total(amounts: Iterable[int | None]) -> int | None:
    """Sum the values; None when one is unknown."""
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def costs_by(column: ColumnElement[str]) -> Subquery:
    """Select the known cost of each run or step, in micros: columns `id` and `micros`."""
    return (
        sa.select(column.label("id"), sa.cast(sa.func.sum(ATTEMPT.c.cost_micros), sa.BigInteger).label("micros"))
        .where(ATTEMPT.c.models.is_not(None))
        .group_by(column)
        .having(sa.func.count() == sa.func.count(ATTEMPT.c.cost_micros))
        .subquery()
    )
