"""Exports traces over OTLP, with the OpenTelemetry SDK; importing this module imports the SDK.

The SDK reads its variables of the environment by itself. Spans are sent by a thread, from a queue of limited length, so
that a collector which is slow or away costs spans, never time. The provider is not the global one: spans of libraries
may contain addresses and messages, and so secrets.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from resolvers.problems import Problem
from runner.failures import PackError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextvars import Token
    from types import TracebackType

    from runner.tracing import Attribute, Carrier, Kind

#: How long a stopping process waits for the last spans to be sent.
STOP_SECONDS = 3.0
_KINDS = {kind.name: kind for kind in SpanKind}
_PROPAGATOR = TraceContextTextMapPropagator()
_UNNAMED = "unknown_service"
_UNSET, _FAILED = Status(), Status(StatusCode.ERROR)


class OpenTelemetry:
    """The `runner.tracing.Tracing` that exports over OTLP.

    The SDK makes the ids, decides about sampling and sends. A span is put together here when it ends, which costs a
    step 8 µs instead of the 25 µs of the SDK's spans, whose events and limits these do not need.

    Args:
        version: The release.
    """

    def __init__(self, version: str) -> None:
        own = {SERVICE_VERSION: version}
        given = Resource.create()
        if str(given.attributes.get(SERVICE_NAME, _UNNAMED)).startswith(_UNNAMED):
            own[SERVICE_NAME] = "packline"
        self._provider = TracerProvider(resource=given.merge(Resource(own)), shutdown_on_exit=False)
        self._processor = BatchSpanProcessor(OTLPSpanExporter())
        self._provider.add_span_processor(self._processor)
        self._scope = InstrumentationScope("packline", version)

    def span(
        self, name: str, kind: Kind, attributes: Mapping[str, Attribute], parent: Carrier | None, *, own_trace: bool
    ) -> _OpenSpan:
        """Open a span; see `runner.tracing.span`."""
        current = _current.get()
        before = None if current is None else current.context
        links: Sequence[Link] = ()
        if parent is not None:
            found = trace.get_current_span(_PROPAGATOR.extract(parent)).get_span_context()
            before = found if found.is_valid else before
        if own_trace:
            links = () if before is None else (Link(before),)
            before = None
        found_kind = _KINDS[kind]
        if before is None or before.is_remote:
            own = self._sampled(name, found_kind, attributes, before, links)
        else:  # the decision about the first span of this process holds for those below it
            own = SpanContext(before.trace_id, self._new_id(), False, before.trace_flags, before.trace_state)
        return _OpenSpan(self, name, found_kind, attributes, own, before, links)

    def current(self) -> _OpenSpan | None:
        """Return the span in progress."""
        return _current.get()

    def carrier(self) -> dict[str, str]:
        """Return the context of the span in progress."""
        carrier: dict[str, str] = {}
        if (current := _current.get()) is not None:
            _PROPAGATOR.inject(carrier, _above(current.context))
        return carrier

    def ids(self) -> tuple[str, str] | None:
        """Return the ids of the trace and of the span in progress."""
        if (current := _current.get()) is None:
            return None
        return trace.format_trace_id(current.context.trace_id), trace.format_span_id(current.context.span_id)

    async def stop(self) -> None:
        """Send the last spans; give up after `STOP_SECONDS`."""
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

    def export(self, ended: _OpenSpan) -> None:
        """Queue a span that has ended."""
        self._processor.on_end(
            ReadableSpan(
                name=ended.name,
                context=ended.context,
                parent=ended.parent,
                resource=self._provider.resource,
                attributes=ended.attributes,
                links=ended.links,
                kind=ended.kind,
                instrumentation_scope=self._scope,
                status=ended.status,
                start_time=ended.began_at,
                end_time=ended.began_at + time.perf_counter_ns() - ended.began,
            )
        )

    def _sampled(
        self,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, Attribute],
        parent: SpanContext | None,
        links: Sequence[Link],
    ) -> SpanContext:
        """Make the context of the first span of a trace in this process, as the sampler decides."""
        trace_id = self._provider.id_generator.generate_trace_id() if parent is None else parent.trace_id
        above = Context() if parent is None else _above(parent)
        decided = self._provider.sampler.should_sample(above, trace_id, name, kind, attributes, links)
        flags = TraceFlags(TraceFlags.SAMPLED if decided.decision is Decision.RECORD_AND_SAMPLE else TraceFlags.DEFAULT)
        return SpanContext(trace_id, self._new_id(), False, flags, decided.trace_state)

    def _new_id(self) -> int:
        return self._provider.id_generator.generate_span_id()


class _OpenSpan:
    """A span that is in progress inside its `with` block."""

    __slots__ = (
        "_telemetry",
        "_token",
        "attributes",
        "began",
        "began_at",
        "context",
        "kind",
        "links",
        "name",
        "parent",
        "status",
    )

    def __init__(
        self,
        telemetry: OpenTelemetry,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, Attribute],
        context: SpanContext,
        parent: SpanContext | None,
        links: Sequence[Link],
    ) -> None:
        self._telemetry = telemetry
        self._token: Token[_OpenSpan | None] | None = None
        self.name = name
        self.kind = kind
        self.attributes = dict(attributes)
        self.context = context
        self.parent = parent
        self.links = links
        self.status = _UNSET
        self.began_at = time.time_ns()
        self.began = time.perf_counter_ns()

    def __enter__(self) -> _OpenSpan:
        self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            _current.reset(self._token)
        if error is not None:
            self.fail(_type_of(error))
        if self.context.trace_flags.sampled:
            self._telemetry.export(self)

    def set(self, name: str, value: Attribute | None) -> None:
        """Set an attribute; None sets nothing."""
        if value is not None:
            self.attributes[name] = value

    def fail(self, error_type: str) -> None:
        """Mark the span as failed; without a message, which may contain a secret."""
        self.attributes["error.type"] = error_type
        self.status = _FAILED


#: Not the SDK's own context, which takes several times as long.
_current: ContextVar[_OpenSpan | None] = ContextVar("packline_span", default=None)


def _above(context: SpanContext) -> Context:
    """Return a context of the SDK in which this is the span in progress."""
    return trace.set_span_in_context(NonRecordingSpan(context), Context())


def _type_of(error: BaseException) -> str:
    """Return the code of a failure or refusal, else the name of the class."""
    match error:
        case PackError():
            return error.failure.code.value
        case Problem():
            return error.code.value
    return type(error).__name__
