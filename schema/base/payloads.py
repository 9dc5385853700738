"""JSON values that may be too large to return at once."""

# mypy: disallow-untyped-decorators=False
from typing import TYPE_CHECKING, Annotated, cast

import orjson
import strawberry

from schema.base.masking import PublicError
from schema.base.scalars import JSON, Long

if TYPE_CHECKING:
    from runner.failures import JSONValue

#: Maximum `limitBytes` of one payload.
LONGEST = 1 << 20
#: Characters of the excerpt that replaces a truncated value.
EXCERPT = 2_000
#: Default characters of a stretch; fits in a tool result in any script, with escapes.
STRETCH = 8_000
STRETCH_MAX = 200_000


@strawberry.type(description="A JSON value that may be too large to return at once.")
class Payload:
    json: JSON | None = strawberry.field(description="The value, with secrets masked. Null if it is truncated.")
    excerpt: str | None = strawberry.field(
        description="The beginning of the value as text, at most 2000 characters. Null unless it is truncated."
    )
    truncated: bool = strawberry.field(description="Whether the value is longer than the requested limit.")
    size_bytes: Long = strawberry.field(description="Size of the whole value as JSON, in bytes.")
    text: strawberry.Private[str]

    @strawberry.field(
        description="Part of the value's JSON text, with secrets masked; empty past the end. Use it to read "
        "a truncated value piece by piece."
    )
    def stretch(
        self,
        offset: Annotated[int, strawberry.argument(description="Position of the first character.")] = 0,
        limit: Annotated[int, strawberry.argument(description="Maximum number of characters, 1 to 200000.")] = STRETCH,
    ) -> str:
        if offset < 0:
            raise PublicError(f"offset is {offset}; use 0 or more.", "INVALID")
        if not 1 <= limit <= STRETCH_MAX:
            raise PublicError(f"limit is {limit}; use 1 to {STRETCH_MAX}.", "INVALID")
        return self.text[offset : offset + limit]


def payload_of(text: str | None, limit_bytes: int) -> Payload | None:
    """Wrap a stored JSON text; None stays None.

    Raises:
        PublicError: INVALID; the limit is out of range.
    """
    if not 0 <= limit_bytes <= LONGEST:
        raise PublicError(f"limitBytes is {limit_bytes}; use 0 to {LONGEST}.", "INVALID")
    if text is None:
        return None
    size = len(text.encode())
    if size > limit_bytes:
        excerpt = text[: min(EXCERPT, limit_bytes)]
        return Payload(json=None, excerpt=excerpt, truncated=True, size_bytes=Long(size), text=text)
    return Payload(json=JSON(orjson.loads(text)), excerpt=None, truncated=False, size_bytes=Long(size), text=text)


def as_json(value: JSON | None) -> "JSONValue":
    """Narrow a JSON argument to the type that use cases take; the scalar has already validated it."""
    return cast("JSONValue", value)
