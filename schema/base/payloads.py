"""JSON values that may be too large to return at once."""

# mypy: disallow-untyped-decorators=False
from typing import TYPE_CHECKING, Annotated, cast

import orjson
import strawberry

from resolvers.text_parts import check_part, part_of
from schema.base.scalars import JSON, Long
from schema.base.text_parts import TextPart

if TYPE_CHECKING:
    from runner.failures import JSONValue

#: Maximum and default `limitBytes` of a payload.
LONGEST = 1 << 20
USUAL = 1 << 16

LimitBytes = Annotated[
    int, strawberry.argument(description=f"Maximum size of the JSON or the part, in bytes; 1 to {LONGEST}.")
]


@strawberry.type(description="A JSON value, or part of its text if it is too large to return at once.")
class Payload(TextPart):
    json: JSON | None = strawberry.field(
        description="The value, with secrets masked. Null if only part of it is returned, in `text`."
    )
    text: str | None = strawberry.field(
        description="Part of the value's JSON text, with secrets masked; empty past the end. Null if `json` is the "
        "whole value."
    )
    next_offset: Long | None = strawberry.field(description="Offset of the next part, in bytes. Null at the end.")
    size_bytes: Long = strawberry.field(description="Size of the whole value as JSON, in bytes.")


def payload_of(text: str | None, offset: int, limit_bytes: int) -> Payload | None:
    """Wrap a stored JSON text, or part of it; None stays None.

    Raises:
        Invalid: The offset or the limit is out of range.
    """
    check_part(offset, limit_bytes, LONGEST)
    if text is None:
        return None
    data = text.encode()
    size = Long(len(data))
    if offset == 0 and size <= limit_bytes:
        return Payload(json=JSON(orjson.loads(data)), text=None, next_offset=None, size_bytes=size)
    part, following = part_of(data, offset, limit_bytes)
    return Payload(json=None, text=part, next_offset=None if following is None else Long(following), size_bytes=size)


def as_json(value: JSON | None) -> "JSONValue":
    """Narrow a JSON argument to the type that use cases take; the scalar has already validated it."""
    return cast("JSONValue", value)
