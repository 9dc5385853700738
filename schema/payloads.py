"""JSON values that may be too long to send."""

# mypy: disallow-untyped-decorators=False
from typing import TYPE_CHECKING, cast

import orjson
import strawberry

from schema.masking import PublicError
from schema.scalars import JSON, Long

if TYPE_CHECKING:
    from runner.failures import JSONValue

#: Longest JSON one payload may be asked for, in bytes.
LONGEST = 1 << 20
#: Characters of the beginning that are shown in place of a value that is too long.
EXCERPT = 2_000


@strawberry.type(description="A JSON value that may be too long to send.")
class Payload:
    """Make one with `payload_of`."""

    json: JSON | None = strawberry.field(description="The value, secrets masked; null when truncated.")
    excerpt: str | None = strawberry.field(description="The beginning as text, when truncated.")
    truncated: bool = strawberry.field(description="Whether it was longer than the limit asked for.")
    size_bytes: Long = strawberry.field(description="Length of the whole as JSON.")


def payload_of(text: str | None, limit_bytes: int) -> Payload | None:
    """A stored JSON text as a payload; None when there is none.

    Raises:
        PublicError: INVALID; the limit is out of range.
    """
    if not 0 <= limit_bytes <= LONGEST:
        raise PublicError(f"limitBytes is {limit_bytes}; use 0 to {LONGEST}.", "INVALID")
    if text is None:
        return None
    size = len(text.encode())
    if size > limit_bytes:
        return Payload(json=None, excerpt=text[: min(EXCERPT, limit_bytes)], truncated=True, size_bytes=Long(size))
    return Payload(json=JSON(orjson.loads(text)), excerpt=None, truncated=False, size_bytes=Long(size))


def as_json(value: JSON | None) -> "JSONValue":
    """A JSON argument as use cases take it; the scalar has checked it."""
    return cast("JSONValue", value)
