"""Exports traces over OTLP, with the OpenTelemetry SDK; importing this module imports the SDK.

The SDK reads its variables of the environment by itself. Spans are sent by a thread, from a queue of limited length, so
that a collector which is slow or away costs spans, never time. The provider is not the global one: spans of libraries
may contain addresses and messages, and so secrets.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from time import time_ns
from typing import TYPE_CHECKING

import structlog
from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from resolvers.problems import Problem
from runner.failures import PackError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from types import TracebackType

    from runner.tracing import Attribute, Carrier, Kind

log = structlog.get_logger(__name__)

#: How long a stopping process waits for the last spans to be sent.
STOP_SECONDS = 3.0
#: When deferred spans are built: after most short runs have ended, so that these do not wait for it.
DEFER_SECONDS = 0.25
#: How many deferred spans are built in one turn of the event loop; 50 take about a millisecond.
_BUILT_AT_ONCE = 50
#: Most ended spans that wait; the oldest ones are dropped.
_MOST_DEFERRED = 10_000
_PROPAGATOR = TraceContextTextMapPropagator()
_UNNAMED = "unknown_service"


class OpenTelemetry:
    """The `runner.tracing.Tracing` that exports over OTLP.

    Args:
        version: The release.
    """

    def __init__(self, version: str) -> None:
        own = {SERVICE_VERSION: version}
        given = Resource.create()
        if str(given.attributes.get(SERVICE_NAME, _UNNAMED)).startswith(_UNNAMED):
            own[SERVICE_NAME] = "packline"
        self._ids = _Ids()
        self._provider = TracerProvider(
            resource=given.merge(Resource(own)), shutdown_on_exit=False, id_generator=self._ids
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("packline", version)
        self._deferred: deque[_DeferredSpan] = deque(maxlen=_MOST_DEFERRED)
        self._is_scheduled = False

    def span(
        self, name: str, kind: Kind, attributes: Mapping[str, Attribute], parent: Carrier | None, *, own_trace: bool
    ) -> AbstractContextManager[_OpenSpan] | None:
        """Open a span; see `runner.tracing.span`."""
        if parent is None and not own_trace:
            inside = trace.get_current_span().get_span_context()
            if inside.is_valid and not inside.trace_flags.sampled:
                return None
        return self._open(name, kind, attributes, parent, own_trace=own_trace)

    @contextlib.contextmanager
    def _open(
        self, name: str, kind: Kind, attributes: Mapping[str, Attribute], parent: Carrier | None, *, own_trace: bool
    ) -> Iterator[_OpenSpan]:
        # A parent that is malformed leaves the span in progress as it is.
        above = None if parent is None else _PROPAGATOR.extract(parent)
        links: tuple[Link, ...] = ()
        if own_trace:
            before = trace.get_current_span(above).get_span_context()
            above, links = Context(), (Link(before),) if before.is_valid else ()
        with self._tracer.start_as_current_span(
            name,
            above,
            SpanKind[kind.name],
            attributes,
            links,
            # Their messages may contain secrets.
            record_exception=False,
            set_status_on_exception=False,
        ) as started:
            opened = _OpenSpan(started)
            try:
                yield opened
            except BaseException as error:
                opened.fail(_type_of(error))
                raise

    def deferred_span(self, name: str, attributes: Mapping[str, Attribute]) -> _DeferredSpan | None:
        """Open a span that the SDK builds after its end; see `runner.tracing.deferred_span`."""
        above = trace.get_current_span().get_span_context()
        if not above.trace_flags.sampled:
            return None
        own = SpanContext(above.trace_id, self._ids.generate_span_id(), False, above.trace_flags, above.trace_state)
        return _DeferredSpan(self, name, attributes, own)

    def defer(self, span: _DeferredSpan) -> None:
        """Queue an ended span; the SDK builds it later, so the step does not wait."""
        self._deferred.append(span)
        if not self._is_scheduled:
            with contextlib.suppress(RuntimeError):  # the loop has ended, with the block in progress
                asyncio.get_running_loop().call_later(DEFER_SECONDS, self._build_some)
                self._is_scheduled = True

    def _build_some(self) -> None:
        self._build(_BUILT_AT_ONCE)
        self._is_scheduled = bool(self._deferred)
        if self._is_scheduled:
            asyncio.get_running_loop().call_soon(self._build_some)

    def _build(self, at_most: int) -> None:
        for _ in range(min(at_most, len(self._deferred))):
            span = self._deferred.popleft()
            try:
                span.build(self._tracer, self._ids)
            except Exception:
                log.exception("a span cannot be built")

    def current(self) -> _OpenSpan | None:
        """Return the span in progress."""
        span = trace.get_current_span()
        return _OpenSpan(span) if span.get_span_context().is_valid else None

    def carrier(self) -> dict[str, str]:
        """Return the context of the span in progress."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        return carrier

    def ids(self) -> tuple[str, str] | None:
        """Return the ids of the trace and of the span in progress."""
        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return trace.format_trace_id(context.trace_id), trace.format_span_id(context.span_id)

    async def stop(self) -> None:
        """Send the last spans; give up after `STOP_SECONDS`."""
        self._build(len(self._deferred))
        loop, sent = asyncio.get_running_loop(), asyncio.Event()

        def send() -> None:
            self._provider.shutdown()
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(sent.set)

        # Not in a thread of the pool, which the end of the process would wait for.
        threading.Thread(target=send, name="last-spans", daemon=True).start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await sent.wait()


class _OpenSpan:
    """A span of the SDK that is in progress."""

    __slots__ = ("_span",)

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set(self, name: str, value: Attribute | None) -> None:
        """Set an attribute; None sets nothing."""
        if value is not None:
            self._span.set_attribute(name, value)

    def fail(self, error_type: str) -> None:
        """Mark the span as failed; without a message, which may contain a secret."""
        self._span.set_attribute("error.type", error_type)
        self._span.set_status(StatusCode.ERROR)


class _DeferredSpan:
    """A span in progress that the SDK builds after its end; until then, what belongs to it only needs its ids."""

    __slots__ = ("_above", "_attributes", "_began", "_ended", "_error_type", "_name", "_own", "_telemetry", "_token")

    def __init__(
        self, telemetry: OpenTelemetry, name: str, attributes: Mapping[str, Attribute], own: SpanContext
    ) -> None:
        self._telemetry, self._name, self._own = telemetry, name, own
        self._attributes = dict(attributes)
        self._error_type: str | None = None

    def __enter__(self) -> _DeferredSpan:
        self._above = context.get_current()
        self._token = context.attach(trace.set_span_in_context(NonRecordingSpan(self._own), self._above))
        self._began = time_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended = time_ns()
        context.detach(self._token)
        if error is not None:
            self.fail(_type_of(error))
        self._telemetry.defer(self)

    def set(self, name: str, value: Attribute | None) -> None:
        """Set an attribute; None sets nothing."""
        if value is not None:
            self._attributes[name] = value

    def fail(self, error_type: str) -> None:
        """Mark the span as failed; without a message, which may contain a secret."""
        self._error_type = error_type

    def build(self, tracer: trace.Tracer, ids: _Ids) -> None:
        """Build the span of the SDK."""
        ids.given = self._own.span_id
        try:
            span = tracer.start_span(
                self._name, self._above, SpanKind.INTERNAL, self._attributes, start_time=self._began
            )
        finally:
            ids.given = None
        if self._error_type is not None:
            _OpenSpan(span).fail(self._error_type)
        span.end(self._ended)


class _Ids(threading.local, RandomIdGenerator):
    """Random ids, but for a deferred span, which has had its id since it began.

    Attributes:
        given: The id of the deferred span that this thread starts; None for a random one.
    """

    given: int | None = None

    def generate_span_id(self) -> int:
        return super().generate_span_id() if self.given is None else self.given


def _type_of(error: BaseException) -> str:
    """Return the code of a failure or refusal, else the name of the class."""
    match error:
        case PackError():
            return error.failure.code.value
        case Problem():
            return error.code.value
    return type(error).__name__
