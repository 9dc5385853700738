"""Texts that are read in parts: which parts may be asked for, and how a text is cut into them.

An offset and a limit count bytes of UTF-8. A part begins and ends with a whole character, so parts that follow each
other make the text.
"""

from __future__ import annotations

from typing import NamedTuple

from resolvers.problems import Invalid
from runner.issues import argument_error

#: A part has at least one character, which has up to this many bytes.
_CHARACTER_BYTES = 4


class Part(NamedTuple):
    """Part of a text; `next_offset` is None at its end."""

    text: str
    next_offset: int | None


def check_part(offset: int, limit_bytes: int, most: int) -> None:
    """Check which part is asked for.

    Raises:
        Invalid: The offset is negative, or the limit is not 1 to `most`.
    """
    issues = []
    if offset < 0:
        issues.append(argument_error("offset", "out_of_range", f"The offset is {offset} bytes; use 0 or more."))
    if not 1 <= limit_bytes <= most:
        message = f"The limit is {limit_bytes} bytes; use 1 to {most}."
        issues.append(argument_error("limit_bytes", "out_of_range", message))
    if issues:
        raise Invalid(issues)


def part_of(data: bytes, offset: int, limit_bytes: int) -> Part:
    """Return the characters of a UTF-8 text that begin in a part, whose secrets are already masked."""
    end = offset + max(limit_bytes, _CHARACTER_BYTES)
    # Leave a character that is not complete to the next part.
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return Part(data[offset:end].decode(errors="ignore"), end if end < len(data) else None)
