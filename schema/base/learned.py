"""The inputs that are learned, and the values they had."""

import strawberry

from catalog.memory.learning import LearnedField
from schema.base.enums import described_enum

described_enum(
    LearnedField,
    "The only inputs that are learned, all short texts.",
    {field.name: f"Input `{field.value}`." for field in LearnedField},
)


@strawberry.type(description="A field and the value it had.")
class LearnedValue:
    field: LearnedField = strawberry.field(description="The field.")
    value: str = strawberry.field(description="The value.")


__all__ = ["LearnedField", "LearnedValue"]
