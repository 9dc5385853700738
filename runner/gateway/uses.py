"""What calls of models used, as it is recorded on an attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.failures import JSONValue


@dataclass(frozen=True, slots=True)
class ModelUse:
    """One answered call. Unknown is None, never 0.

    Attributes:
        model: The model that answered, `provider:name`.
        input_tokens: Tokens read.
        output_tokens: Tokens written, thinking included.
        cost_micros: Millionths of a US dollar.
        role: The part it played; the gateway fills it in.
        elapsed_seconds: From the request to the whole answer; the gateway fills it in.
    """

    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_micros: int | None = None
    role: str = ""
    elapsed_seconds: float = 0.0

    def to_json(self) -> dict[str, JSONValue]:
        """The stored form."""
        return {
            "role": self.role,
            "model": self.model,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_micros": self.cost_micros,
            "elapsed_seconds": round(self.elapsed_seconds, 3),
        }
