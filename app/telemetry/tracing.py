"""Opens spans with the OpenTelemetry SDK; importing this module imports the SDK, without its exporters.

The SDK reads its variables of the environment by itself. The provider is not the global one: spans of libraries may
contain addresses and messages, and so secrets.
"""

from __future__ import annotations

import contextlib
from time import time_ns
from typing import TYPE_CHECKING

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.telemetry.export import SpanExport
from app.telemetry.records import place_of
from resolvers.problems import Problem
from runner.failures import PackError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from types import TracebackType

    from runner.tracing import Attribute, Carrier, Kind

_PROPAGATOR = TraceContextTextMapPropagator()
_UNNAMED = "unknown_service"
_INTERNAL = SpanKind.INTERNAL.value


class OpenTelemetry:
    """The `runner.tracing.Tracing` that exports over OTLP.

    Args:
        version: The release.
        log_level: Lowest level that the exporting process logs.
        log_format: How it logs.
    """

    def __init__(self, version: str, log_level: str = "info", log_format: str = "auto") -> None:
        own = {SERVICE_VERSION: version}
        given = Resource.create()
        if str(given.attributes.get(SERVICE_NAME, _UNNAMED)).startswith(_UNNAMED):
            own[SERVICE_NAME] = "packline"
        resource = given.merge(Resource(own))
        self._ids = RandomIdGenerator()
        self._export = SpanExport(resource, version, log_level, log_format)
        provider = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=self._ids)
        provider.add_span_processor(self._export)
        self._tracer = provider.get_tracer("packline", version)

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
        """Open a span that the SDK never sees here; see `runner.tracing.deferred_span`."""
        above = trace.get_current_span().get_span_context()
        if not above.trace_flags.sampled:
            return None
        own = SpanContext(above.trace_id, self._ids.generate_span_id(), False, above.trace_flags, above.trace_state)
        return _DeferredSpan(self._export, name, attributes, own, above)

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
        """Send the last spans; see `SpanExport.stop`."""
        await self._export.stop()


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
    """A span in progress that is only a record once it has ended; what belongs to it needs no more than its ids."""

    __slots__ = ("_above", "_attributes", "_began", "_export", "_is_failed", "_name", "_own", "_token")

    def __init__(
        self,
        export: SpanExport,
        name: str,
        attributes: Mapping[str, Attribute],
        own: SpanContext,
        above: SpanContext,
    ) -> None:
        self._export, self._name, self._own, self._above = export, name, own, above
        self._attributes = dict(attributes)
        self._is_failed = False

    def __enter__(self) -> _DeferredSpan:
        self._token = context.attach(trace.set_span_in_context(NonRecordingSpan(self._own)))
        self._began = time_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        ended = time_ns()
        context.detach(self._token)
        if error is not None:
            self.fail(_type_of(error))
        above, place = self._above, place_of(self._own)
        self._export.put(
            (
                self._name,
                _INTERNAL,
                place,
                above.span_id,
                above.is_remote,
                self._began,
                ended,
                self._attributes,
                (),
                self._is_failed,
            )
        )

    def set(self, name: str, value: Attribute | None) -> None:
        """Set an attribute; None sets nothing."""
        if value is not None:
            self._attributes[name] = value

    def fail(self, error_type: str) -> None:
        """Mark the span as failed; without a message, which may contain a secret."""
        self._attributes["error.type"] = error_type
        self._is_failed = True


def _type_of(error: BaseException) -> str:
    """Return the code of a failure or refusal, else the name of the class."""
    match error:
        case PackError():
            return error.failure.code.value
        case Problem():
            return error.code.value
    return type(error).__name__
