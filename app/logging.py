"""Set up logging: structlog, to standard error.

Lines of libraries that use the standard library's logging (uvicorn, websockets) take the same path. Requests are not
logged: addresses may contain signatures, and the audit records who did what.

Secrets are masked in every key and value before a line is rendered, because rendering escapes them, and again in the
finished line, because some tokens are recognised by the text around them.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Literal

import structlog

from runner import tracing
from runner.excerpts import quoted

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

    from runner.failures import JSONValue

#: Loggers that log every request at `info`.
_QUIET = (
    "uvicorn",
    "uvicorn.error",
    "uvicorn.access",
    "websockets",
    "httpx2",
    "httpcore2",
    "aiosqlite",
    "mcp",
    "urllib3",
)


def _with_trace(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Add the ids of the trace and span in progress, by the names OpenTelemetry gives them in other formats."""
    if (ids := tracing.ids()) is not None:
        event["trace_id"], event["span_id"] = ids
    return event


def _masked_values(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    masked = quoted(_plain(event))
    assert isinstance(masked, dict), "masking keeps the shape"
    return masked


def _masked_line(_logger: WrappedLogger, _method: str, line: EventDict | str) -> EventDict | str:
    return str(quoted(line)) if isinstance(line, str) else line


def _plain(value: object) -> JSONValue:
    """Convert a value to JSON, other objects to their `repr`, so that the renderer gets only masked text."""
    match value:
        case str() | bool() | int() | float() | None:
            return value
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item) for item in value]
    return repr(value)


def configure_logging(level: str, style: Literal["auto", "console", "json"] = "auto") -> None:
    """Set up logging for the process; a second call replaces the first.

    Args:
        level: Lowest level to log: `debug`, `info`, `warning` or `error`.
        style: `console` for people, `json` for machines, `auto` by whether standard error is a terminal.
    """
    lowest = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _with_trace,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]
    if style == "console" or (style == "auto" and sys.stderr.isatty()):
        # structlog's other tracebacks show the values of local variables.
        renderer: Processor = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), timestamp_key="at", exception_formatter=structlog.dev.plain_traceback
        )
    else:
        renderer = structlog.processors.JSONRenderer()
    ending: list[Processor] = [structlog.processors.format_exc_info, _masked_values, renderer, _masked_line]
    structlog.configure(
        processors=[*shared, *ending],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ending],
        )
    )
    logging.captureWarnings(True)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(lowest)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(lowest, logging.WARNING))
