"""The arguments and the result of every field that returns a text in parts."""

# mypy: disallow-untyped-decorators=False
from typing import Annotated

import strawberry

from schema.base.scalars import Long

Offset = Annotated[Long, strawberry.argument(description="Byte to start at: 0, or `nextOffset` of the previous part.")]
START = Long(0)


@strawberry.interface(description="A text that is read in parts. Pass `nextOffset` as `offset` to read the next one.")
class TextPart:
    text: str | None = strawberry.field(description="The part of the text. Null if there is none.")
    next_offset: Long | None = strawberry.field(description="Offset of the next part, in bytes. Null at the end.")
