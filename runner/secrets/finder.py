"""Finds known secrets in files, whatever kind of file: by bytes, in the encodings text is kept in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ahocorasick_rs import BytesAhoCorasick, Implementation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


@dataclass(frozen=True, slots=True)
class SecretPatterns:
    """What is looked for in files.

    Attributes:
        automaton: Finds them.
        names: Of the secret each belongs to.
        longest: In bytes.
    """

    automaton: BytesAhoCorasick
    names: tuple[str, ...]
    longest: int

    @classmethod
    def of(cls, forms: Mapping[str, str]) -> SecretPatterns | None:
        """The forms with their names, as bytes; None when there are none."""
        found: dict[bytes, str] = {}
        for form, name in forms.items():
            for encoding in _ENCODINGS:
                found.setdefault(form.encode(encoding, "surrogatepass"), name)
        if not found:
            return None
        needles = list(found)
        automaton = BytesAhoCorasick(needles, implementation=implementation_for(needles))
        return cls(automaton, tuple(found.values()), max(map(len, needles)))


class SecretFinder:
    """Finds known values in files that come in parts; changes nothing."""

    def __init__(self, needles: SecretPatterns) -> None:
        self._needles = needles
        self._keep = needles.longest - 1
        self._tail = b""

    def begin(self) -> None:
        """Begin another file."""
        self._tail = b""

    def feed(self, chunk: bytes) -> str | None:
        """Take a part; the name of a secret in it, or across its beginning, or None."""
        data = self._tail + chunk
        found = self._needles.automaton.find_matches_as_indexes(data)
        if found:
            return self._needles.names[found[0][0]]
        self._tail = data[-self._keep :] if self._keep else b""
        return None


def implementation_for(needles: Sequence[str] | Sequence[bytes]) -> Implementation:
    """The fastest automaton that stays small: a DFA takes about 1 KiB per character of its needles."""
    return Implementation.DFA if sum(map(len, needles)) < 4000 else Implementation.ContiguousNFA
