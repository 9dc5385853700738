"""Tokens and cost of model calls."""

# mypy: disallow-untyped-decorators=False
from typing import TYPE_CHECKING

import strawberry

from resolvers.records import NOTHING, Spending
from schema.base.scalars import Long
from store.states import AttemptState

if TYPE_CHECKING:
    from resolvers.records import AttemptRecord


@strawberry.type(description="Number of tokens used by models.")
class ModelUsage:
    input: Long = strawberry.field(description="Tokens read by the models.")
    output: Long = strawberry.field(description="Tokens written by the models.")


@strawberry.type(name="Cost", description="The cost of model calls. Unknown values are null, never 0.")
class SpendingCost:
    usage: ModelUsage | None = strawberry.field(description="Tokens used. Null if a model did not report them.")
    amount_usd: float | None = strawberry.field(description="Amount in US dollars. Null if a price is unknown.")

    @classmethod
    def of(cls, spending: Spending) -> "SpendingCost":
        usage = None
        if spending.input_tokens is not None and spending.output_tokens is not None:
            usage = ModelUsage(input=Long(spending.input_tokens), output=Long(spending.output_tokens))
        return cls(usage=usage, amount_usd=None if spending.cost_micros is None else spending.cost_micros / 1_000_000)

    @classmethod
    def of_attempt(cls, record: "AttemptRecord") -> "SpendingCost":
        """The cost an attempt reported; null while it runs, or if its process was lost."""
        if record.models is None:
            is_untold = record.state in (AttemptState.RUNNING, AttemptState.LOST)
            return cls(usage=None, amount_usd=None) if is_untold else cls.of(NOTHING)
        return cls.of(Spending(record.input_tokens, record.output_tokens, record.cost_micros))
