"""Who has spent what on models in a month, and the budgets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from resolvers.operations import operation
from resolvers.permissions import visible_to
from resolvers.problems import Invalid
from runner.gateway.budgets import BudgetState, states_of
from runner.issues import argument_error
from store.runs.budgets import CallerSpendingRecord, count_spending, list_spending, month_of, spent_so_far
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Context
    from store.database.paging import PageWindow

_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


@operation("spending", scope=Scope.READ, kind="query")
async def list_month(context: Context, *, month: str, window: PageWindow) -> list[CallerSpendingRecord]:
    """List what callers spent in a month, the most expensive first; without `observe`, only the current caller.

    Raises:
        Invalid: The month is malformed.
    """
    if not _MONTH.fullmatch(month):
        message = f"`{context.services.redactor.excerpt(month, 40)}` is not a month."
        raise Invalid([argument_error("month", "malformed", message, "Write it as 2026-11.")])
    return await list_spending(context.services.store, month, window, visible_to=visible_to(context.caller))


async def count_month(context: Context, month: str) -> int:
    """Count what `list_month` lists, up to `COUNT_CAP`."""
    return await count_spending(context.services.store, month, visible_to=visible_to(context.caller))


async def this_month(context: Context) -> str:
    """Return the month, in UTC, by the store's clock."""
    return await context.services.store.snapshot(lambda conn: month_of(conn.now()))


@operation("budgets", scope=Scope.READ, kind="query")
async def list_budgets(context: Context) -> list[BudgetState]:
    """List the budgets of this month that are limited: the caller's and, with `observe`, that of all callers."""
    caller = context.caller
    spent = await context.services.store.snapshot(lambda conn: spent_so_far(conn, caller.id, None))
    states = states_of(context.services.limits.budgets, spent)
    return [state for state in states if state.is_monthly and (state.is_own or caller.may(Scope.OBSERVE))]
