"""Finds known secrets in files of any type, by their bytes in the usual encodings of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ahocorasick_rs import BytesAhoCorasick, Implementation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


@dataclass(frozen=True, slots=True)
class SecretPatterns:
    """The patterns of secrets in files.

    Attributes:
        automaton: Finds the patterns.
        names: The name of each pattern's secret.
        longest: Length of the longest pattern, in bytes.
    """

    automaton: BytesAhoCorasick
    names: tuple[str, ...]
    longest: int

    @classmethod
    def of(cls, forms: Mapping[str, str]) -> SecretPatterns | None:
        """Make the patterns of forms and their names; None when there are no forms."""
        found: dict[bytes, str] = {}
        for form, name in forms.items():
            for encoding in _ENCODINGS:
                found.setdefault(form.encode(encoding, "surrogatepass"), name)
        if not found:
            return None
        patterns = list(found)
        automaton = BytesAhoCorasick(patterns, implementation=implementation_for(patterns))
        return cls(automaton, tuple(found.values()), max(map(len, patterns)))


class SecretFinder:
    """Finds known values in files that are read in chunks."""

    def __init__(self, patterns: SecretPatterns) -> None:
        self._patterns = patterns
        self._keep = patterns.longest - 1
        self._tail = b""

    def begin(self) -> None:
        """Start another file."""
        self._tail = b""

    def feed(self, chunk: bytes) -> str | None:
        """Take the next chunk; return the name of a secret that ends in it, or None."""
        data = self._tail + chunk
        found = self._patterns.automaton.find_matches_as_indexes(data)
        if found:
            return self._patterns.names[found[0][0]]
        self._tail = data[-self._keep :] if self._keep else b""
        return None


def implementation_for(patterns: Sequence[str] | Sequence[bytes]) -> Implementation:
    """Choose the fastest automaton that stays small: a DFA takes about 1 KiB per character of its patterns."""
    return Implementation.DFA if sum(map(len, patterns)) < 4000 else Implementation.ContiguousNFA
