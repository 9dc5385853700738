"""Makes spans by the rules of the OpenTelemetry SDK; importing this module imports the SDK, without its exporters.

The SDK reads its variables of the environment by itself. The provider is not the global one: spans of libraries may
contain addresses and messages, and so secrets.
"""

from __future__ import annotations

from time import time_ns
from typing import TYPE_CHECKING

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.telemetry.export import SpanExport
from app.telemetry.records import context_of, place_of
from resolvers.problems import Problem
from runner.failures import PackError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from opentelemetry.sdk.trace.id_generator import IdGenerator

    from app.telemetry.records import Place
    from runner.tracing import Attribute, Carrier, Kind

_PROPAGATOR = TraceContextTextMapPropagator()
_UNNAMED = "unknown_service"


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
        provider = TracerProvider(resource=given.merge(Resource(own)), shutdown_on_exit=False)
        self._sampler, self._ids = provider.sampler, provider.id_generator
        self._export = SpanExport(provider.resource, version, log_level, log_format)

    def span(
        self, name: str, kind: Kind, attributes: Mapping[str, Attribute], parent: Carrier | None, *, own_trace: bool
    ) -> _Span | None:
        """Make a span; see `runner.tracing.span`."""
        if parent is None and not own_trace and isinstance(inside := trace.get_current_span(), _Span):
            return inside.child(name, kind, attributes)
        # A parent that is malformed leaves the span in progress as it is.
        within = None if parent is None else _PROPAGATOR.extract(parent)
        above = trace.get_current_span(within).get_span_context()
        links: tuple[Link, ...] = ()
        if own_trace:
            links = (Link(above),) if above.is_valid else ()
            within, above = Context(), trace.INVALID_SPAN_CONTEXT
        trace_id, is_random = above.trace_id, above.trace_flags.random_trace_id
        if not above.is_valid:
            trace_id, is_random = self._ids.generate_trace_id(), self._ids.is_trace_id_random()
        sampling = self._sampler.should_sample(within, trace_id, name, SpanKind[kind.name], attributes, links)
        is_sampled = sampling.decision is Decision.RECORD_AND_SAMPLE
        own = SpanContext(
            trace_id,
            self._ids.generate_span_id(),
            False,
            TraceFlags(is_sampled * TraceFlags.SAMPLED | is_random * TraceFlags.RANDOM_TRACE_ID),
            sampling.trace_state,
        )
        return _Span(
            self._export,
            self._ids,
            name,
            kind,
            place_of(own),
            above.span_id,
            above.is_remote,
            attributes,
            tuple(place_of(link.context) for link in links),
        )

    def current(self) -> _Span | None:
        """Return the span in progress."""
        span = trace.get_current_span()
        return span if isinstance(span, _Span) else None

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


class _Span(NonRecordingSpan):
    """A span in progress, which is a record when it has ended.

    It is in OpenTelemetry's context, where libraries that pass the trace on find its ids.
    """

    def __init__(
        self,
        export: SpanExport,
        ids: IdGenerator,
        name: str,
        kind: Kind,
        place: Place,
        parent_id: int,
        parent_is_remote: bool,
        attributes: Mapping[str, Attribute],
        links: tuple[Place, ...] = (),
    ) -> None:
        self._export, self._ids = export, ids
        self._name, self._kind, self._place, self._links = name, kind, place, links
        self._parent_id, self._parent_is_remote = parent_id, parent_is_remote
        self._attributes = dict(attributes)
        self._is_failed = False

    def child(self, name: str, kind: Kind, attributes: Mapping[str, Attribute]) -> _Span | None:
        """Make a span below this one; None if this one is not sampled.

        No sampler that `OTEL_TRACES_SAMPLER` can name decides otherwise: it follows the parent, or the trace's id.
        """
        trace_id, own_id, _, flags, state = self._place
        if not flags & TraceFlags.SAMPLED:
            return None
        place = (trace_id, self._ids.generate_span_id(), False, flags, state)
        return _Span(self._export, self._ids, name, kind, place, own_id, False, attributes)

    def __enter__(self) -> _Span:
        self._token = context.attach(trace.set_span_in_context(self))
        self._began = time_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        ended = time_ns()
        context.detach(self._token)
        if error is not None:
            self.fail(_type_of(error))
        if self._place[3] & TraceFlags.SAMPLED:
            self._export.put(
                (
                    self._name,
                    self._kind.value,
                    self._place,
                    self._parent_id,
                    self._parent_is_remote,
                    self._began,
                    ended,
                    self._attributes,
                    self._links,
                    self._is_failed,
                )
            )

    def get_span_context(self) -> SpanContext:
        return context_of(self._place)

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
