"""Traces: spans of requests, commands, runs, steps and calls, and the W3C trace context that connects them.

`app.telemetry` puts an exporter in force if the operator configures one. Without it, everything here returns at once
and OpenTelemetry is not imported. Attributes are ids, names and numbers, after OpenTelemetry's semantic conventions:
never inputs, outputs, addresses or messages, which may contain secrets.
"""

from __future__ import annotations

import contextlib
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from types import TracebackType

Attribute: TypeAlias = str | int | float | bool
#: `traceparent` and perhaps `tracestate` (https://www.w3.org/TR/trace-context/).
Carrier: TypeAlias = "Mapping[str, str]"

TRACEPARENT, TRACESTATE = "traceparent", "tracestate"
#: Longest values that are read: a version of today has 55 characters, and a `tracestate` of 512 must be passed on.
_PARENT_CHARACTERS, _STATE_CHARACTERS = 128, 512


class Kind(StrEnum):
    """Kinds of spans, by OpenTelemetry's names."""

    INTERNAL = "INTERNAL"
    SERVER = "SERVER"
    CLIENT = "CLIENT"


class Span(Protocol):
    """A span in progress."""

    def set(self, name: str, value: Attribute | None) -> None:
        """Set an attribute; None sets nothing."""

    def fail(self, error_type: str) -> None:
        """Mark the span as failed."""


class Tracing(Protocol):
    """Makes spans and exports them."""

    def span(
        self, name: str, kind: Kind, attributes: Mapping[str, Attribute], parent: Carrier | None, *, own_trace: bool
    ) -> AbstractContextManager[Span] | None:
        """Open a span; see `span`. None if the span in progress is not sampled."""

    def current(self) -> Span | None:
        """Return the span in progress."""

    def carrier(self) -> dict[str, str]:
        """Return the context of the span in progress."""

    def ids(self) -> tuple[str, str] | None:
        """Return the ids of the trace and of the span in progress."""


class _NoSpan:
    """A span that is not recorded."""

    def __enter__(self) -> _NoSpan:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass

    def set(self, name: str, value: Attribute | None) -> None:
        pass

    def fail(self, error_type: str) -> None:
        pass


_NO_SPAN = _NoSpan()
_all: list[Tracing] = []
_in_force: Tracing | None = None


@contextlib.contextmanager
def in_force(tracing: Tracing) -> Iterator[None]:
    """Trace with this until the block ends."""
    global _in_force
    _all.append(tracing)
    _in_force = tracing
    try:
        yield
    finally:
        _all.remove(tracing)
        _in_force = _all[-1] if _all else None


def is_on() -> bool:
    return _in_force is not None


def span(
    name: str,
    kind: Kind = Kind.INTERNAL,
    attributes: Mapping[str, Attribute] | None = None,
    *,
    parent: Carrier | None = None,
    own_trace: bool = False,
) -> AbstractContextManager[Span]:
    """Open a span for a block. An exception ends it as failed, with the code or class of the exception.

    Args:
        name: What is done; a name for many spans, without ids.
        kind: Its role in a call.
        attributes: By dotted name.
        parent: The span it belongs to, if that is not the one in progress.
        own_trace: Whether it begins a trace, linked to the span in progress; not together with `parent`.
    """
    if _in_force is None:
        return _NO_SPAN
    return _in_force.span(name, kind, attributes or {}, parent, own_trace=own_trace) or _NO_SPAN


def call_span(name: str, attributes: Mapping[str, Attribute]) -> AbstractContextManager[Span]:
    """Open a span for a call to another program; only inside another span, since on its own it explains nothing."""
    if _in_force is None or _in_force.ids() is None:
        return _NO_SPAN
    return _in_force.span(name, Kind.CLIENT, attributes, None, own_trace=False) or _NO_SPAN


def current() -> Span:
    """Return the span in progress; one that is not recorded if there is none."""
    return (None if _in_force is None else _in_force.current()) or _NO_SPAN


def carrier() -> dict[str, str]:
    """Return the context of the span in progress, to send with a call or to keep; empty if there is none."""
    return {} if _in_force is None else _in_force.carrier()


def ids() -> tuple[str, str] | None:
    """Return the ids of the trace and the span in progress, as in their W3C form."""
    return None if _in_force is None else _in_force.ids()


def received(values: Mapping[str, object] | None) -> dict[str, str] | None:
    """Take the trace context from what a caller sent: headers, or members of a JSON object.

    Returns:
        None if it has none or is too long; a `tracestate` that is too long is left out. What is malformed in another
        way is ignored where a span gets it as its parent.
    """
    parent = None if values is None or _in_force is None else values.get(TRACEPARENT)
    if not isinstance(parent, str) or len(parent) > _PARENT_CHARACTERS:
        return None
    assert values is not None
    state = values.get(TRACESTATE)
    if not isinstance(state, str) or len(state) > _STATE_CHARACTERS:
        return {TRACEPARENT: parent}
    return {TRACEPARENT: parent, TRACESTATE: state}
