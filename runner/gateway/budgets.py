"""Budgets: what models may cost a run, its caller in a month, and all callers in a month.

Before each call the store is asked what was spent: a call is not made once a budget is. Calls under way together may
exceed it by what they cost, since nobody knows that before they are answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from runner.failures import FailureCode, PackError
from store.database.errors import StoreError
from store.runs.budgets import Amount, Totals, add_spending, spent_so_far

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.gateway.uses import ModelUse
    from store.database.engine import Store

log = structlog.get_logger(__name__)

#: The part of a budget that is spent when Packline warns.
WARN_AT = 0.8
_MICROS = 1_000_000


class BudgetSpentError(PackError):
    """A budget is spent, so a model is not called; another model would not be either."""


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """US dollars and tokens that models may cost; None for no limit. Each is a setting."""

    run_usd: float | None = None
    run_tokens: int | None = None
    caller_month_usd: float | None = None
    caller_month_tokens: int | None = None
    month_usd: float | None = None
    month_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class BudgetState:
    """One budget and what is spent of it; in millionths of a US dollar or in tokens.

    Attributes:
        setting: The variable that sets it.
        whose: What it limits, for people.
        is_money: Whether it counts money; else tokens.
        is_own: Whether it is one caller's, or one run's.
    """

    setting: str
    whose: str
    limit: int
    spent: int
    is_money: bool
    is_monthly: bool
    is_own: bool

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.limit

    @property
    def is_near(self) -> bool:
        """Whether Packline warns about it."""
        return self.spent >= self.limit * WARN_AT

    @property
    def text(self) -> str:
        """What is spent of it, for people."""
        if self.is_money:
            return f"${self.spent / _MICROS:,.2f} of ${self.limit / _MICROS:,.2f}"
        return f"{self.spent:,} of {self.limit:,} tokens"


def states_of(limits: BudgetLimits, spent: Totals) -> list[BudgetState]:
    """List the budgets that are limited, the one of the run first."""
    return [
        BudgetState(
            setting=f"PACKLINE_BUDGET_{name}_{'USD' if is_money else 'TOKENS'}",
            whose=whose,
            limit=round(limit * _MICROS) if is_money else int(limit),
            spent=amount.cost_micros if is_money else amount.tokens,
            is_money=is_money,
            is_monthly=name != "RUN",
            is_own=name != "MONTH",
        )
        for name, whose, amount, usd, tokens in (
            ("RUN", "this run", spent.run, limits.run_usd, limits.run_tokens),
            (
                "CALLER_MONTH",
                "its caller this month",
                spent.caller_month,
                limits.caller_month_usd,
                limits.caller_month_tokens,
            ),
            ("MONTH", "all callers this month", spent.month, limits.month_usd, limits.month_tokens),
        )
        for limit, is_money in ((usd, True), (tokens, False))
        if limit is not None
    ]


class Budget:
    """The budgets that the calls of a caller, or of one of its runs, count towards.

    Args:
        store: What was spent.
        limits: What may be spent.
        caller_id: The caller.
        run_id: The run; None for calls outside a run.
        warn: Called with one sentence when a call used up `WARN_AT` of a budget.
    """

    def __init__(
        self,
        store: Store,
        limits: BudgetLimits,
        caller_id: str,
        run_id: str | None = None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._limits = limits
        self._caller_id = caller_id
        self._run_id = run_id
        self._warn = warn

    async def require(self) -> None:
        """Check that no budget is spent; call it before each request to a model.

        Raises:
            BudgetSpentError: One is.
        """
        if self._limits == BudgetLimits():
            return
        spent = await self._store.snapshot(lambda conn: spent_so_far(conn, self._caller_id, self._run_id))
        for state in states_of(self._limits, spent):
            if state.is_spent:
                again = " It starts again next month (UTC)." if state.is_monthly else ""
                raise BudgetSpentError(
                    FailureCode.QUOTA_EXCEEDED,
                    f"The model was not called: the budget of {state.whose} is spent, {state.text}.{again}",
                    hint=f"Ask an operator to raise {state.setting}, then resume the run.",
                )

    async def spend(self, use: ModelUse) -> None:
        """Count an answered call; while the store cannot be written, as on a full disk, only the log has it."""
        tokens, cost = (use.input_tokens or 0) + (use.output_tokens or 0), use.cost_micros
        try:
            after = await self._store.write(
                add_spending, self._caller_id, self._run_id, tokens=tokens, cost_micros=cost
            )
        except StoreError as error:
            log.warning("could not count a call", caller=self._caller_id, tokens=tokens, cost=cost, error=str(error))
            return
        added = Amount(tokens, cost or 0)
        before = Totals(
            *(Amount(total.tokens - added.tokens, total.cost_micros - added.cost_micros) for total in after)
        )
        for earlier, state in zip(states_of(self._limits, before), states_of(self._limits, after), strict=True):
            if state.is_near and not earlier.is_near:
                log.warning("a budget is nearly spent", setting=state.setting, spent=state.text, caller=self._caller_id)
                self._warn(
                    f"{WARN_AT:.0%} of the budget of {state.whose} is spent: {state.text}. Models are no longer called "
                    "once it is spent."
                )
