"""The collector of traces: whether it takes spans, and why not."""

from __future__ import annotations

import logging

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult


class Complaints(logging.Handler):
    """Keeps what OpenTelemetry's exporter logs, instead of a line for each attempt while the collector is away.

    Attributes:
        first: What it has logged first since this was None: the cause, before it says that it gives up.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.first: str | None = None
        logger = logging.getLogger("opentelemetry.exporter")
        logger.addHandler(self)
        logger.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or record.getMessage()


def refusal(timeout_seconds: float) -> str | None:
    """Send the collector a request without spans, as they would be sent; return why it fails, None if it does not."""
    complaints = Complaints()
    exporter: SpanExporter = OTLPSpanExporter(timeout=timeout_seconds)
    try:
        is_taken = exporter.export([]) is SpanExportResult.SUCCESS
    finally:
        exporter.shutdown()
    return None if is_taken else complaints.first or "unknown"
