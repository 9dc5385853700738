"""Ended spans as plain values, as they travel to the process that exports them."""

from __future__ import annotations

import marshal
import struct
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from opentelemetry.trace import SpanContext, TraceFlags, TraceState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.util.types import AttributeValue

#: Ids of trace and span, whether the span is remote, flags and `tracestate`.
Place: TypeAlias = tuple[int, int, bool, int, str]
#: Name, name of the kind, place, id of the parent (0 if there is none), whether the parent is remote, start and end
#: in nanoseconds, attributes, linked spans, whether it failed.
Record: TypeAlias = tuple[str, str, Place, int, bool, int, int, "Mapping[str, AttributeValue]", tuple[Place, ...], bool]

#: What the process writes for each span.
SENT, LOST = b"+", b"-"
_SIZE = struct.Struct("<I")


def context_of(place: Place) -> SpanContext:
    trace_id, span_id, is_remote, flags, state = place
    return SpanContext(
        trace_id, span_id, is_remote, TraceFlags(flags), TraceState.from_header([state]) if state else None
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
