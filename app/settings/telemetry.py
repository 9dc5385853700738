"""Whether traces are exported: the standard variables of OpenTelemetry, whose SDK reads all the others by itself."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

from runner.egress.web_address import WebAddressError, read_web_address

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
#: Distribution that the extra installs; it needs the SDK.
_EXPORTER = "opentelemetry-exporter-otlp-proto-http"


def exports_traces() -> bool:
    """Whether an endpoint is set, nothing turns traces off, and they can be sent."""
    return traces_endpoint() is not None


def traces_endpoint() -> tuple[str, str] | None:
    """Return the variable of the endpoint that traces are exported to, and its origin; None if they are not."""
    if (endpoint := _endpoint()) is None or telemetry_warning() is not None:
        return None
    name, address = endpoint
    return name, read_web_address(address).origin  # the rest may contain credentials


def telemetry_warning() -> str | None:
    """Why traces are not exported although an endpoint is set, and what to do; None if nothing is wrong."""
    if (endpoint := _endpoint()) is None:
        return None
    name, address = endpoint
    try:
        read_web_address(address)
    except WebAddressError as error:
        return f"{name} is `{error.shown}`, so no traces are exported: {error.reason}. {error.hint}"
    for protocol in _PROTOCOLS:
        if (value := _variable(protocol)) is not None and value.lower() != _PROTOCOL:
            return f"{protocol} is `{value}`, so no traces are exported. Set it to {_PROTOCOL}, usually on port 4318."
    try:
        version(_EXPORTER)
    except PackageNotFoundError:
        return f"{name} is set, but no traces are exported. Install the exporter: `pip install 'packline[otel]'`."
    return None


def surrounding_trace() -> dict[str, str]:
    """Return, as headers, the trace context that this process was started with, such as by an agent step."""
    names = ("traceparent", "tracestate")
    found = ((name, _variable(name.upper())) for name in names)
    return {name: value for name, value in found if value is not None and value.isascii() and value.isprintable()}


def _endpoint() -> tuple[str, str] | None:
    """Return the variable of the endpoint and its value; None without one, and if traces are turned off."""
    if (_variable("OTEL_SDK_DISABLED") or "").lower() == "true":
        return None
    exporters = (_variable("OTEL_TRACES_EXPORTER") or "otlp").lower()
    if "otlp" not in (each.strip() for each in exporters.split(",")):
        return None
    return next(((name, value) for name in _ENDPOINTS if (value := _variable(name)) is not None), None)


def _variable(name: str) -> str | None:
    return os.environ.get(name, "").strip() or None
