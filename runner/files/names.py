"""Names of files that people and packs give: what is a plain one."""

from __future__ import annotations

import re
import unicodedata

#: Characters of a file's name; bytes are what file systems count.
NAME_CHARACTERS = 200
_PLAIN = re.compile(r"[^\x00-\x1f\x7f/\\\ud800-\udfff]+\Z")
#: Characters that turn the direction of what follows: `exe.fdp` can be made to look like `pdf.exe`.
_TURNING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain_name(name: str) -> str | None:
    """A file's name in the composed form everybody types, without blanks around it.

    None when it is no plain name: empty, too long, or with folders, control characters or what turns the direction.
    """
    name = unicodedata.normalize("NFC", name).strip()
    if name in ("", ".", "..") or len(name) > NAME_CHARACTERS:
        return None
    return name if _PLAIN.match(name) and _TURNING.isdisjoint(name) else None


def without_turning(name: str) -> str:
    """The name without characters that turn the direction, which titles in right-to-left scripts may bring along."""
    return name if _TURNING.isdisjoint(name) else "".join(sign for sign in name if sign not in _TURNING)
