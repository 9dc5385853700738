"""The process that exports spans: builds them with the SDK as it comes, and sends them over OTLP.

It reads records from its standard input and writes a byte for each span that it has sent or lost. At the end of its
input, that is when the server has stopped or died, it sends what it has and ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, cast

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Link, NonRecordingSpan, SpanKind, StatusCode, TraceFlags

from app.logging import configure_logging
from app.telemetry.collector import Complaints
from app.telemetry.records import LOST, SENT, context_of, read_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan

    from app.telemetry.records import Place, Record

log = structlog.get_logger(__name__)

#: Below the steps, and above the workers that packs run in.
_NICE = 3


def main() -> None:
    """Export until the input ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the server decides when to stop
    os.nice(_NICE)
    records = sys.stdin.buffer
    try:
        hello = cast("tuple[dict[str, Any], str, str, str, Any, float]", read_frame(records))
        attributes, schema, version, level, style, stop_seconds = hello
        configure_logging(level, style)
        spans = _Spans(Resource(attributes, schema), version)
        while True:
            for record in cast("list[Record]", read_frame(records)):
                try:
                    spans.add(record)
                except Exception:
                    log.exception("a span cannot be built")
                    os.write(sys.stdout.fileno(), LOST)
    except EOFError:
        pass
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, stop_seconds)  # a collector that is away does not keep this process
    spans.stop()


class _Spans(IdGenerator):
    """Builds spans from their records, with the ids and times that they had."""

    def __init__(self, resource: Resource, version: str) -> None:
        # What is not sampled has no record.
        self._provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, id_generator=self)
        self._exporter = _Confirming(OTLPSpanExporter())
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("packline", version)
        self._own: Place = (0, 0, False, 0, "")

    def add(self, record: Record) -> None:
        name, kind, self._own, parent_id, is_remote, began, ended, attributes, links, is_failed = record
        above = Context()
        if parent_id:
            # The SDK takes flags and state from the parent; given those of the span, it gets what it had.
            trace_id, _, _, flags, state = self._own
            parent = NonRecordingSpan(context_of((trace_id, parent_id, is_remote, flags, state)))
            above = trace.set_span_in_context(parent, above)
        span = self._tracer.start_span(
            name,
            above,
            SpanKind[kind],
            attributes,
            [Link(context_of(link)) for link in links],
            began,
        )
        if is_failed:
            span.set_status(StatusCode.ERROR)
        self._exporter.expect(self._own[1])
        span.end(ended)

    def stop(self) -> None:
        """Send what there is."""
        self._provider.shutdown()

    def generate_span_id(self) -> int:
        return self._own[1]

    def generate_trace_id(self) -> int:
        return self._own[0]

    def is_trace_id_random(self) -> bool:
        return TraceFlags(self._own[3]).random_trace_id


class _Confirming(SpanExporter):
    """Tells the server which spans were sent and which were lost, and logs when sending fails and works again."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._expected: deque[int] = deque()
        self._lost = 0
        self._complaints = Complaints()

    def expect(self, span_id: int) -> None:
        """Expect a span. Spans come in order; those that do not come before a later one were dropped."""
        self._expected.append(span_id)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._complaints.first = None
        result = SpanExportResult.FAILURE
        try:
            result = self._exporter.export(spans)
        finally:
            self._confirm(spans, is_sent=result is SpanExportResult.SUCCESS)
        return result

    def _confirm(self, spans: Sequence[ReadableSpan], *, is_sent: bool) -> None:
        last, done = spans[-1].context.span_id, 1
        while self._expected.popleft() != last:
            done += 1
        dropped = done - len(spans)
        if is_sent:
            if self._lost:
                log.warning("traces are sent again", lost_spans=self._lost + dropped)
            self._lost = 0
        else:
            if not self._lost:
                log.warning("traces cannot be sent, so spans are lost", spans=done, error=self._complaints.first)
            self._lost += done
        answer = LOST * dropped + (SENT if is_sent else LOST) * len(spans)
        with contextlib.suppress(BrokenPipeError):  # the server was killed
            os.write(sys.stdout.fileno(), answer)

    def shutdown(self) -> None:
        self._exporter.shutdown()
