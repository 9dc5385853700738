"""What models cost callers in a month, and the budgets."""

# mypy: disallow-untyped-decorators=False
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.access.spending import count_month, list_budgets, list_month, this_month
from schema.access.callers import Caller, load_caller
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
from schema.base.scalars import Long
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.records import BudgetState, CallerSpendingRecord

_SPENDING = CursorKind("spending", (int, str))
_MICROS = 1_000_000


@strawberry.type(description="What models cost a caller in a month.")
class CallerSpending:
    month: str = strawberry.field(description="The month in UTC, such as `2026-11`.")
    tokens: Long = strawberry.field(description="Tokens read and written, as far as models reported them.")
    amount_usd: float = strawberry.field(description="Amount in US dollars, as far as prices are known.")
    unpriced_calls: int = strawberry.field(description="Number of answered calls whose cost is unknown.")
    caller_id: strawberry.Private[str]

    @classmethod
    def of(cls, record: "CallerSpendingRecord") -> "CallerSpending":
        return cls(
            month=record.month,
            tokens=Long(record.tokens),
            amount_usd=record.cost_micros / _MICROS,
            unpriced_calls=record.unpriced_calls,
            caller_id=record.caller_id,
        )

    @strawberry.field(description="The caller.")
    async def caller(self, info: Info) -> Caller:
        found = await load_caller(info, self.caller_id)
        assert found is not None, "a caller is never deleted"
        return found


@strawberry.type(description="A budget of models, and what is spent of it this month (UTC).")
class Budget:
    setting: str = strawberry.field(description="The setting that limits it.")
    of_caller: bool = strawberry.field(description="Whether it is that of the current caller; else of all callers.")
    limit_usd: float | None = strawberry.field(description="The limit in US dollars. Null if it limits tokens.")
    spent_usd: float | None = strawberry.field(description="Spent US dollars. Null if it limits tokens.")
    limit_tokens: Long | None = strawberry.field(description="The limit in tokens. Null if it limits money.")
    spent_tokens: Long | None = strawberry.field(description="Spent tokens. Null if it limits money.")
    nearly_spent: bool = strawberry.field(description="Whether 80% or more is spent.")
    message: str = strawberry.field(description="What is spent, for display, such as `$8.50 of $10.00`.")

    @classmethod
    def of(cls, state: "BudgetState") -> "Budget":
        money, tokens = state.is_money, not state.is_money
        return cls(
            setting=state.setting,
            of_caller=state.is_own,
            limit_usd=state.limit / _MICROS if money else None,
            spent_usd=state.spent / _MICROS if money else None,
            limit_tokens=Long(state.limit) if tokens else None,
            spent_tokens=Long(state.spent) if tokens else None,
            nearly_spent=state.is_near,
            message=state.text,
        )


CallerSpendingConnection = Connection[CallerSpending]


@strawberry.type
class SpendingQueries:
    @strawberry.field(
        description="What models cost callers in a month, the most expensive caller first. Without the `observe` "
        "scope, only the current caller.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def spending(
        self,
        info: Info,
        month: Annotated[
            str | None,
            strawberry.argument(description="The month in UTC, such as `2026-11`. Defaults to the current month."),
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> CallerSpendingConnection:
        arguments = PageArguments.parse(_SPENDING, first=first, after=after, last=last, before=before)
        context = info.context.context
        wanted = await this_month(context) if month is None else month
        rows = await list_month(context, month=wanted, window=arguments.window)
        page = page_of(rows, arguments, lambda row: _SPENDING.encode((row.cost_micros, row.caller_id)))
        return CallerSpendingConnection.of(page, CallerSpending.of, lambda: count_month(context, wanted))

    @strawberry.field(
        description="Budgets of this month that are limited: the current caller's and, with the `observe` scope, that "
        "of all callers.",
        directives=[Requires(scope=Scope.READ)],
    )
    async def budgets(self, info: Info) -> list[Budget]:
        return [Budget.of(state) for state in await list_budgets(info.context.context)]
