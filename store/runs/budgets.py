"""Counts what models cost: of each run, and of each caller by month, in one row each.

The rows are written with each answered call, so that the next call of any server sees them; attempts keep the details.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from store.database.dialects import Sql
from store.database.paging import capped_count, fetch_page
from store.models.callers import CALLER_SPENDING
from store.models.declaring import columns_of

if TYPE_CHECKING:
    from datetime import datetime

    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.database.paging import PageWindow


class Amount(NamedTuple):
    """Tokens, read and written, and millionths of a US dollar; what is unknown counts as 0."""

    tokens: int = 0
    cost_micros: int = 0


class Totals(NamedTuple):
    """What was spent by a run, by its caller this month, and by all callers this month."""

    run: Amount
    caller_month: Amount
    month: Amount


class CallerSpendingRecord(NamedTuple):
    """What models cost a caller in a month; `store.models.callers` describes the fields."""

    caller_id: str
    month: str
    tokens: int
    cost_micros: int
    unpriced_calls: int


_ADD_TO_RUN = Sql(
    """INSERT INTO run_spending (run_id, tokens, cost_micros) VALUES (:run_id, :tokens, :cost_micros)
    ON CONFLICT (run_id) DO UPDATE SET tokens = run_spending.tokens + excluded.tokens,
        cost_micros = run_spending.cost_micros + excluded.cost_micros"""
)
_ADD_TO_CALLER = Sql(
    """INSERT INTO caller_spending (caller_id, month, tokens, cost_micros, unpriced_calls)
    VALUES (:caller_id, :month, :tokens, :cost_micros, :unpriced)
    ON CONFLICT (caller_id, month) DO UPDATE SET tokens = caller_spending.tokens + excluded.tokens,
        cost_micros = caller_spending.cost_micros + excluded.cost_micros,
        unpriced_calls = caller_spending.unpriced_calls + excluded.unpriced_calls"""
)
_OF_RUN = Sql("SELECT tokens, cost_micros FROM run_spending WHERE run_id = :run_id")
_OF_CALLER = Sql("SELECT tokens, cost_micros FROM caller_spending WHERE caller_id = :caller_id AND month = :month")
_OF_MONTH = Sql(
    """SELECT CAST(coalesce(sum(tokens), 0) AS BIGINT) AS tokens,
        CAST(coalesce(sum(cost_micros), 0) AS BIGINT) AS cost_micros
    FROM caller_spending WHERE month = :month"""
)


def month_of(at: datetime) -> str:
    """Return the month of an instant, in UTC, as rows name it."""
    return f"{at:%Y-%m}"


def add_spending(
    conn: Connection, caller_id: str, run_id: str | None, *, tokens: int, cost_micros: int | None
) -> Totals:
    """Count an answered call; return what was spent with it.

    Args:
        conn: The transaction.
        caller_id: Whose call it was.
        run_id: The run that made it; None for a call outside a run, such as one that routes a request.
        tokens: Tokens read and written, as far as reported.
        cost_micros: Its cost in millionths of a US dollar; None if it is unknown.
    """
    added = {"tokens": tokens, "cost_micros": cost_micros or 0}
    if run_id is not None:
        conn.run(_ADD_TO_RUN, {"run_id": run_id, **added})
    unpriced = int(cost_micros is None)
    month = month_of(conn.now())
    conn.run(_ADD_TO_CALLER, {"caller_id": caller_id, "month": month, "unpriced": unpriced, **added})
    return spent_so_far(conn, caller_id, run_id)


def spent_so_far(conn: Connection, caller_id: str, run_id: str | None) -> Totals:
    """Return what was spent, this month by the clock of the store."""
    month = month_of(conn.now())
    run = None if run_id is None else conn.one(_OF_RUN, {"run_id": run_id})
    of_caller = conn.one(_OF_CALLER, {"caller_id": caller_id, "month": month})
    (of_all,) = conn.all(_OF_MONTH, {"month": month})
    return Totals(
        Amount() if run is None else Amount(run.tokens, run.cost_micros),
        Amount() if of_caller is None else Amount(of_caller.tokens, of_caller.cost_micros),
        Amount(of_all.tokens, of_all.cost_micros),
    )


async def list_spending(
    store: Store, month: str, window: PageWindow, *, visible_to: str | None = None
) -> list[CallerSpendingRecord]:
    """List what callers spent in a month, the most expensive first; the sort key is `(cost_micros, caller_id)`."""
    order = [(CALLER_SPENDING.c.cost_micros, True), (CALLER_SPENDING.c.caller_id, True)]
    statement = sa.select(*columns_of(CALLER_SPENDING, CallerSpendingRecord)).where(*_conditions(month, visible_to))
    return [CallerSpendingRecord(**row) for row in await fetch_page(store, statement, order, window)]


async def count_spending(store: Store, month: str, *, visible_to: str | None = None) -> int:
    """Count what `list_spending` lists, up to `COUNT_CAP`."""
    return await capped_count(store, sa.select(CALLER_SPENDING.c.caller_id).where(*_conditions(month, visible_to)))


def _conditions(month: str, visible_to: str | None) -> list[sa.ColumnElement[bool]]:
    conditions = [CALLER_SPENDING.c.month == month]
    if visible_to is not None:
        conditions.append(CALLER_SPENDING.c.caller_id == visible_to)
    return conditions
