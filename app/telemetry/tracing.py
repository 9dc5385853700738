"""Makes spans by the rules of the OpenTelemetry SDK; importing this module imports the SDK, without its exporters.

The SDK reads its variables of the environment by itself. The provider is not the global one: spans of libraries may
contain addresses and messages, and so secrets.
"""

from __future__ import annotations

from contextvars import ContextVar
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
from app.telemetry.records import context_of
from resolvers.problems import Problem
from runner.failures import PackError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextvars import Token
    from types import TracebackType

    from app.telemetry.records import Place
    from runner.tracing import Attribute, Carrier, Kind

_PROPAGATOR = TraceContextTextMapPropagator()
_NOWHERE = Context()
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
        inside = _current.get()
        above = _NOWHERE if parent is None else _PROPAGATOR.extract(parent, _NOWHERE)
        # A parent that is malformed leaves the span in progress as it is.
        if inside is not None and not above and not own_trace:
            # No sampler that `OTEL_TRACES_SAMPLER` can name decides about it: each follows the parent or the trace.
            trace_id, parent_id, _, flags, state = inside.place
            if not flags & TraceFlags.SAMPLED:
                return None
            place = (trace_id, self._ids.generate_span_id(), False, flags, state)
            return _Span(self._export, name, kind, attributes, place, parent_id)
        return self._begin(name, kind, attributes, above, None if inside is None or not own_trace else inside.place)

    def _begin(
        self, name: str, kind: Kind, attributes: Mapping[str, Attribute], above: Context, linked: Place | None
    ) -> _Span:
        """Make a span whose parent, if any, is remote, as the SDK does."""
        parent = trace.get_current_span(above).get_span_context()
        trace_id, is_random = parent.trace_id, parent.trace_flags.random_trace_id
        if not parent.is_valid:
            trace_id, is_random = self._ids.generate_trace_id(), self._ids.is_trace_id_random()
        links = () if linked is None else (linked,)
        sampling = self._sampler.should_sample(
            above, trace_id, name, SpanKind[kind.name], attributes, [Link(context_of(each)) for each in links]
        )
        is_sampled = sampling.decision is Decision.RECORD_AND_SAMPLE
        flags = is_sampled * TraceFlags.SAMPLED | is_random * TraceFlags.RANDOM_TRACE_ID
        state = sampling.trace_state.to_header() if sampling.trace_state else ""
        place = (trace_id, self._ids.generate_span_id(), False, flags, state)
        return _Span(self._export, name, kind, attributes, place, parent.span_id, parent.is_remote, links)

    def current(self) -> _Span | None:
        """Return the span in progress."""
        return _current.get()

    def carrier(self) -> dict[str, str]:
        """Return the context of the span in progress."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier, _VISIBLE)
        return carrier

    def ids(self) -> tuple[str, str] | None:
        """Return the ids of the trace and of the span in progress."""
        if (span := _current.get()) is None:
            return None
        trace_id, span_id, *_ = span.place
        return trace.format_trace_id(trace_id), trace.format_span_id(span_id)

    async def stop(self) -> None:
        """Send the last spans; see `SpanExport.stop`."""
        await self._export.stop()


class _Span:
    """A span in progress, which is a record when it has ended."""

    __slots__ = (
        "_attributes",
        "_began",
        "_export",
        "_is_failed",
        "_kind",
        "_links",
        "_name",
        "_parent_id",
        "_parent_is_remote",
        "_token",
        "_visible",
        "place",
    )

    def __init__(
        self,
        export: SpanExport,
        name: str,
        kind: Kind,
        attributes: Mapping[str, Attribute],
        place: Place,
        parent_id: int,
        parent_is_remote: bool = False,
        links: tuple[Place, ...] = (),
    ) -> None:
        self._export, self._name, self._kind, self._attributes = export, name, kind, attributes
        self.place, self._parent_id, self._parent_is_remote, self._links = place, parent_id, parent_is_remote, links
        self._visible: Token[Context] | None = None
        self._is_failed = False

    def __enter__(self) -> _Span:
        self._token = _current.set(self)
        if self._parent_is_remote or not self._parent_id:  # nested spans reuse it
            self._visible = context.attach(trace.set_span_in_context(_IN_PROGRESS))
        self._began = time_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        ended = time_ns()
        _current.reset(self._token)
        if self._visible is not None:
            context.detach(self._visible)
        if error is not None:
            self.fail(_type_of(error))
        if self.place[3] & TraceFlags.SAMPLED:
            self._export.put(
                (
                    self._name,
                    self._kind.value,
                    self.place,
                    self._parent_id,
                    self._parent_is_remote,
                    self._began,
                    ended,
                    self._attributes,
                    self._links,
                    self._is_failed,
                )
            )

    def set(self, name: str, value: Attribute | None) -> None:
        """Set an attribute; None sets nothing."""
        if value is not None:
            self._attributes = {**self._attributes, name: value}

    def fail(self, error_type: str) -> None:
        """Mark the span as failed; without a message, which may contain a secret."""
        self.set("error.type", error_type)
        self._is_failed = True


class _InProgress(NonRecordingSpan):
    """Our span in progress for libraries that read OpenTelemetry's context to pass a trace on, as that for MCP does."""

    def __init__(self) -> None:
        super().__init__(trace.INVALID_SPAN_CONTEXT)

    def get_span_context(self) -> SpanContext:
        span = _current.get()
        return trace.INVALID_SPAN_CONTEXT if span is None else context_of(span.place)


_current: ContextVar[_Span | None] = ContextVar("span", default=None)
_IN_PROGRESS = _InProgress()
_VISIBLE = trace.set_span_in_context(_IN_PROGRESS, _NOWHERE)


def _type_of(error: BaseException) -> str:
    """Return the code of a failure or refusal, else the name of the class."""
    match error:
        case PackError():
            return error.failure.code.value
        case Problem():
            return error.code.value
    return type(error).__name__
