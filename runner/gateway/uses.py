"""Tokens and cost of model calls, as recorded on an attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from store.runs.unit_types import Spent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.failures import JSONValue


@dataclass(frozen=True, slots=True)
class ModelUse:
    """One answered call. Unknown values are None, never 0.

    Attributes:
        model: The model that answered, `provider:name`.
        input_tokens: Tokens read.
        output_tokens: Tokens written, thinking included.
        cost_micros: Millionths of a US dollar.
        role: The role it was called for; the gateway fills it in.
        elapsed_seconds: From the request to the whole answer; the gateway fills it in.
    """

    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_micros: int | None = None
    role: str = ""
    elapsed_seconds: float = 0.0

    def to_json(self) -> dict[str, JSONValue]:
        return {
            "role": self.role,
            "model": self.model,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_micros": self.cost_micros,
            "elapsed_seconds": round(self.elapsed_seconds, 3),
        }


def spent_on(uses: Sequence[ModelUse]) -> Spent | None:
    """Sum up the calls; None when no model was called. A sum with an unknown part is unknown."""
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
