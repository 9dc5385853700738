"""Exports traces over OTLP, with the OpenTelemetry SDK; importing this module imports the SDK.

The SDK reads its variables of the environment by itself. Spans are sent by a thread, from a queue of limited length, so
that a collector which is slow or away costs spans, never time. The provider is not the global one: spans of libraries
may contain addresses and messages, and so secrets.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from resolvers.problems import Problem
from runner.failures import PackError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runner.tracing import Attribute, Carrier, Kind

#: How long a stopping process waits for the last spans to be sent.
STOP_SECONDS = 3.0
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
        self._provider = TracerProvider(resource=given.merge(Resource(own)), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("packline", version)

    @contextlib.contextmanager
    def span(
        self, name: str, kind: Kind, attributes: Mapping[str, Attribute], parent: Carrier | None, *, own_trace: bool
    ) -> Iterator[_OpenSpan]:
        """Open a span; see `runner.tracing.span`."""
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


def _type_of(error: BaseException) -> str:
    """Return the code of a failure or refusal, else the name of the class."""
    match error:
        case PackError():
            return error.failure.code.value
        case Problem():
            return error.code.value
    return type(error).__name__
