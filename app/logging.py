"""How log lines look and where they go: structlog, to standard error.

Lines of libraries that use the standard library's logging (uvicorn, websockets) take the same way. Access is not
logged: addresses may carry signatures, and the audit says who did what. Every line is masked last of all.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Literal

import structlog

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

    from runner.redaction import Redactor

#: Loggers that say too much about every request at `info`.
_QUIET = ("uvicorn", "uvicorn.error", "uvicorn.access", "websockets", "httpx2", "httpcore2", "aiosqlite", "mcp")

#: Masks what is logged; the one of the server that was started last in this process.
_redactor: Redactor | None = None


def mask_logs(redactor: Redactor) -> None:
    """Has every line masked from now on."""
    global _redactor
    _redactor = redactor


def _masked(_logger: WrappedLogger, _method: str, line: EventDict | str) -> EventDict | str:
    return line if _redactor is None or not isinstance(line, str) else _redactor.text(line)


def configure_logging(level: str, style: Literal["auto", "console", "json"] = "auto") -> None:
    """Sets up logging for the whole process; a second call replaces the first.

    Args:
        level: Least level that is logged: `debug`, `info`, `warning` or `error`.
        style: `console` for people, `json` for machines, `auto` by whether standard error is a terminal.
    """
    least = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]
    if style == "console" or (style == "auto" and sys.stderr.isatty()):
        ending: list[Processor] = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), timestamp_key="at")]
    else:
        ending = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    structlog.configure(
        processors=[*shared, *ending, _masked],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *ending,
                _masked,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(least)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(least, logging.WARNING))
