"""Cursors of lists and streams that several modules share."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from resolvers.runs.watching import OutputPosition
from schema.base.masking import PublicError
from schema.base.pagination import DEFAULT_LOG_PAGE_SIZE, MAX_LOG_PAGE_SIZE, CursorKind

RUNS = CursorKind("runs", (str,))
#: Run and sequence; used by pages of the history and by the subscription.
EVENTS = CursorKind("events", (str, int), page_size=DEFAULT_LOG_PAGE_SIZE, max_page_size=MAX_LOG_PAGE_SIZE)
#: Attempt, line of its log, and entry of its transcript.
OUTPUT = CursorKind("output", (str, int, int))
#: The format from before output contained transcripts, without the entry.
_OUTPUT_OF_LINES = CursorKind("output", (str, int))
#: Line of one attempt's log.
LOG_LINES = CursorKind("log", (int,), page_size=DEFAULT_LOG_PAGE_SIZE, max_page_size=MAX_LOG_PAGE_SIZE)
#: Entry of one attempt's transcript.
TRANSCRIPT = CursorKind("transcript", (int,), page_size=DEFAULT_LOG_PAGE_SIZE, max_page_size=MAX_LOG_PAGE_SIZE)


def event_position(cursor: str | None, run_id: str) -> int | None:
    """Return the sequence number in a cursor of a run's events.

    Raises:
        PublicError: INVALID; the cursor belongs to another list or run.
    """
    return None if cursor is None else _position(EVENTS, cursor, run_id, "run")


def output_position(cursor: str | None, attempt_id: str) -> OutputPosition:
    """Return the position in an attempt's output that a cursor encodes; the beginning if it is None.

    Cursors of the attempt's log and transcript pages are accepted as well, so a client can subscribe after the last
    item it read.

    Raises:
        PublicError: INVALID; the cursor belongs to another list or attempt.
    """
    if cursor is None:
        return OutputPosition()
    with suppress(PublicError):
        return OutputPosition(lines=_counted(*LOG_LINES.decode(cursor)))
    with suppress(PublicError):
        return OutputPosition(entries=_counted(*TRANSCRIPT.decode(cursor)))
    with suppress(PublicError):
        return OutputPosition(lines=_position(_OUTPUT_OF_LINES, cursor, attempt_id, "attempt"))
    of, lines, entries = OUTPUT.decode(cursor)
    _check_owner(of, attempt_id, "attempt")
    return OutputPosition(_counted(lines), _counted(entries))


def _position(kind: CursorKind, cursor: str, owner: str, noun: str) -> int:
    of, position = kind.decode(cursor)
    _check_owner(of, owner, noun)
    return _counted(position)


def _check_owner(of: object, owner: str, noun: str) -> None:
    if of != owner:
        raise PublicError(f"This cursor does not belong to the {noun} {owner}.", "INVALID", reason="BAD_CURSOR")


def _counted(position: object) -> int:
    if not isinstance(position, int) or position < 0:
        raise PublicError("This cursor does not point to a position in a list.", "INVALID", reason="BAD_CURSOR")
    return position


def by_instant(place: tuple[Any, ...] | None, of: str) -> tuple[Any, ...] | None:
    """Return a decoded cursor with its first value parsed into an instant.

    Args:
        place: Order keys from the cursor; None means the end of the list.
        of: Plural noun of the list's items, for the error message.

    Raises:
        PublicError: INVALID; the first value is not an instant.
    """
    if place is None:
        return None
    try:
        return datetime.fromisoformat(place[0]).astimezone(UTC), *place[1:]
    except (ValueError, OverflowError):
        raise PublicError(f"This is not a cursor of the list of {of}.", "INVALID", reason="BAD_CURSOR") from None
