"""What an attempt's calls of models come to together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from store.runs.values import Spent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.gateway.uses import ModelUse


def spent_on(uses: Sequence[ModelUse]) -> Spent | None:
    """The sums, and each call; None when no model was asked. A sum with an unknown part is unknown."""
    if not uses:
        return None
    return Spent(
        input_tokens=_sum(use.input_tokens for use in uses),
        output_tokens=_sum(use.output_tokens for use in uses),
        cost_micros=_sum(use.cost_micros for use in uses),
        models=orjson.dumps([use.to_json() for use in uses]).decode(),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total
