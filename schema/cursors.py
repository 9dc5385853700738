"""The cursors of lists and streams that several modules share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from schema.masking import PublicError
from schema.pagination import CursorKind

RUNS = CursorKind("runs", (str,))
#: Run and sequence; a page of the history and the subscription have the same.
EVENTS = CursorKind("events", (str, int))
#: Attempt and line.
OUTPUT = CursorKind("output", (str, int))


def event_position(cursor: str | None, run_id: str) -> int | None:
    """The sequence number a cursor of a run's events stands for.

    Raises:
        PublicError: INVALID; it is no cursor of this run's events.
    """
    return None if cursor is None else _position(EVENTS, cursor, run_id, "run")


def output_position(cursor: str | None, attempt_id: str) -> int:
    """The line a cursor of an attempt's output stands for; 0 without one.

    Raises:
        PublicError: INVALID; it is no cursor of this attempt's output.
    """
    return 0 if cursor is None else _position(OUTPUT, cursor, attempt_id, "attempt")


def _position(kind: CursorKind, cursor: str, owner: str, noun: str) -> int:
    of, position = kind.decode(cursor)
    if of != owner or not isinstance(position, int) or position < 0:
        raise PublicError(f"This cursor belongs to another {noun} than {owner}.", "INVALID", reason="BAD_CURSOR")
    return position


def by_instant(place: tuple[Any, ...] | None, of: str) -> tuple[Any, ...] | None:
    """The place a cursor stands for, its first value read back from text to an instant.

    Args:
        place: What the cursor held; None stands for the list's end.
        of: What the list holds, for the message.

    Raises:
        PublicError: INVALID; it holds no instant.
    """
    if place is None:
        return None
    try:
        return datetime.fromisoformat(place[0]).astimezone(UTC), *place[1:]
    except (ValueError, OverflowError):
        raise PublicError(f"This is not a cursor of the list of {of}.", "INVALID", reason="BAD_CURSOR") from None
