"""Input fields whose values are learned as defaults."""

import strawberry

from catalog.memory.learning import LearnedField
from schema.base.enums import described_enum

described_enum(
    LearnedField,
    "Inputs that Packline learns defaults for. All are short texts.",
    {field.name: f"Input `{field.value}`." for field in LearnedField},
)


@strawberry.type(description="An input field and its value.")
class LearnedValue:
    field: LearnedField = strawberry.field(description="The input field.")
    value: str = strawberry.field(description="The value it had.")


__all__ = ["LearnedField", "LearnedValue"]
