"""Ended spans as plain values, as they travel to the process that exports them."""

from __future__ import annotations

import marshal
import struct
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from opentelemetry.trace import StatusCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext
    from opentelemetry.util.types import AttributeValue

#: Ids of trace and span, whether the span is remote, flags and `tracestate`.
Place: TypeAlias = tuple[int, int, bool, int, str]
#: Name, number of the kind, place, id of the parent (0 if there is none), whether the parent is remote, start and end
#: in nanoseconds, attributes, linked spans, whether it failed.
Record: TypeAlias = tuple[str, int, Place, int, bool, int, int, "Mapping[str, AttributeValue]", tuple[Place, ...], bool]

_SIZE = struct.Struct("<I")


def place_of(context: SpanContext) -> Place:
    trace_id, span_id, is_remote, flags, state, _ = context
    # Subclasses of `int` and `str` cannot be marshalled.
    return trace_id, span_id, is_remote, int(flags), state.to_header() if state else ""


def record_of(span: ReadableSpan) -> Record:
    """Return the record of an ended span of the SDK. Ours have neither events nor a description of their status."""
    parent = span.parent
    attributes = span.attributes or {}
    return (
        span.name,
        span.kind.value,
        place_of(span.context),
        0 if parent is None else parent.span_id,
        parent is not None and parent.is_remote,
        span.start_time or 0,
        span.end_time or 0,
        {name: str(value) if isinstance(value, str) else value for name, value in attributes.items()},
        tuple(place_of(link.context) for link in span.links),
        span.status.status_code is StatusCode.ERROR,
    )


def frame_of(value: object) -> bytes:
    """Return a value with its length in front of it.

    Raises:
        ValueError: It contains an object of another type than Python's plain ones.
    """
    body = marshal.dumps(cast("Any", value))
    return _SIZE.pack(len(body)) + body


def read_frame(stream: IO[bytes]) -> object:
    """Read the next value; block until it is there.

    Raises:
        EOFError: The other end is closed.
    """
    header = stream.read(_SIZE.size)
    if len(header) < _SIZE.size:
        raise EOFError
    return marshal.loads(stream.read(_SIZE.unpack(header)[0]))
