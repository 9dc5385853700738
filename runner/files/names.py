"""Checks the file names that people and packs give."""

from __future__ import annotations

import re
import unicodedata

#: Longest file name, in bytes of UTF-8, which is what file systems limit.
NAME_CHARACTERS = 200
_PLAIN = re.compile(r"[^\x00-\x1f\x7f/\\\ud800-\udfff]+\Z")
#: Characters that change the writing direction: with them `exe.fdp` can look like `pdf.exe`.
_DIRECTION_MARKS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain_name(name: str) -> str | None:
    """Return a file name in Unicode's composed form (NFC), without blanks around it.

    None when it is not a plain name: empty, too long, or with folders, control characters or direction marks.
    """
    name = unicodedata.normalize("NFC", name).strip()
    if name in ("", ".", "..") or len(name) > NAME_CHARACTERS:
        return None
    return name if _PLAIN.match(name) and _DIRECTION_MARKS.isdisjoint(name) else None


def without_turning(name: str) -> str:
    """Remove direction marks from a name, which titles in right-to-left scripts may contain."""
    return name if _DIRECTION_MARKS.isdisjoint(name) else "".join(sign for sign in name if sign not in _DIRECTION_MARKS)
