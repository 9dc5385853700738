"""The cursors of lists and streams that several modules share."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from resolvers.runs.watching import OutputPosition
from schema.base.masking import PublicError
from schema.base.pagination import CursorKind

RUNS = CursorKind("runs", (str,))
#: Run and sequence; a page of the history and the subscription have the same.
EVENTS = CursorKind("events", (str, int))
#: Attempt, line of its log, entry of its transcript.
OUTPUT = CursorKind("output", (str, int, int))
#: Without the entry: as it was before output held transcripts.
_OUTPUT_OF_LINES = CursorKind("output", (str, int))
#: Line of one attempt's log.
LOG_LINES = CursorKind("log", (int,))
#: Entry of one attempt's transcript.
TRANSCRIPT = CursorKind("transcript", (int,))


def event_position(cursor: str | None, run_id: str) -> int | None:
    """The sequence number a cursor of a run's events stands for.

    Raises:
        PublicError: INVALID; it is no cursor of this run's events.
    """
    return None if cursor is None else _position(EVENTS, cursor, run_id, "run")


def output_position(cursor: str | None, attempt_id: str) -> OutputPosition:
    """The place in an attempt's output a cursor stands for; its beginning without one.

    A cursor of a page of its log or of its transcript is one, too: whoever has read that page goes on after it.

    Raises:
        PublicError: INVALID; it is no cursor of this attempt's output.
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
        raise PublicError(f"This cursor belongs to another {noun} than {owner}.", "INVALID", reason="BAD_CURSOR")


def _counted(position: object) -> int:
    if not isinstance(position, int) or position < 0:
        raise PublicError("This cursor stands for no place in a list.", "INVALID", reason="BAD_CURSOR")
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
