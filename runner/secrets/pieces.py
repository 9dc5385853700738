"""Finds pieces of known secrets, such as another program leaves when it truncates, wraps or excerpts a text.

A piece of 16 characters contains a whole block of the secret: 8 characters that begin at a multiple of 8. Blocks are
found in one pass, and each is extended both ways as far as text and secret are equal. Letter case is ignored, because
host names and escapes change it.

Public parts are not searched for: the armour of PEM, the host of an address, and blocks of fewer than four different
characters, such as `========`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ahocorasick_rs import AhoCorasick

from runner.secrets.finder import implementation_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runner.secrets.token_shapes import Span

#: Pieces are masked from this length on; shorter ones are too common.
PIECE_LENGTH = 16
_BLOCK_LENGTH = PIECE_LENGTH // 2
_LEAST_DIFFERENT = 4
_MOST_PLACES = 8
_SLASH = r"(?:\\*/|%(?:25)?2f)"
_HOST = r"[a-z0-9.-]+(?:(?::|%(?:25)?3a)\d+)?"
#: Public parts of a secret, in lower case: the armour of PEM; an address up to its path, without the account.
_PUBLIC = re.compile(
    r"-----[a-z0-9 +%]{1,80}-----"
    rf"|[a-z][a-z0-9+.-]{{1,20}}(?::|%(?:25)?3a){_SLASH}{{2}}(?![^\s/@\"']*(?:@|%(?:25)?40))(?:{_HOST})?"
    rf"|(?:@|%(?:25)?40){_HOST}(?={_SLASH})"
)


class SecretPieces:
    """Finds pieces of secrets in texts. Thread-safe.

    Args:
        forms: The forms of secrets, with the name of each.
    """

    def __init__(self, forms: Mapping[str, str]) -> None:
        self._names = {_folded(form): name for form, name in forms.items()}
        self._places: dict[str, list[tuple[str, int]]] = {}
        for form in self._names:
            for at in _blocks(form):
                self._places.setdefault(form[at : at + _BLOCK_LENGTH], []).append((form, at))
        blocks = list(self._places)
        self._blocks = AhoCorasick(blocks, implementation=implementation_for(blocks))

    def spans_in(self, text: str) -> list[Span]:
        """Return the spans of pieces, which may overlap; pieces mostly covered by another span are left out."""
        found: list[Span] = []
        if len(text) < PIECE_LENGTH or not self._places:
            return found
        text, covered = _folded(text), 0
        for _, begin, end in self._blocks.find_matches_as_indexes(text, overlapping=True):
            for form, at in self._places[text[begin:end]]:
                if end <= covered:
                    break  # the rest beyond the span contains a further block, or is shorter than a piece
                start, stop = _extended(text, begin, form, at)
                if stop - start >= PIECE_LENGTH:
                    found.append((start, stop, self._names[form]))
                    covered = stop
        return found


def _blocks(form: str) -> Iterator[int]:
    """Yield the positions of the blocks to find; of a repeated block only the first few, as every hit tries all."""
    start, seen = 0, Counter[str]()
    for public in (*_PUBLIC.finditer(form), None):
        stop = len(form) if public is None else public.start()
        for at in range(start, stop - _BLOCK_LENGTH + 1, _BLOCK_LENGTH):
            block = form[at : at + _BLOCK_LENGTH]
            if len(set(block)) >= _LEAST_DIFFERENT and seen[block] < _MOST_PLACES:
                seen[block] += 1
                yield at
        start = stop if public is None else public.end()


def _extended(text: str, begin: int, form: str, at: int) -> tuple[int, int]:
    """Return the span around a shared block in which text and form are equal."""
    start, before = begin, at
    while start and before and text[start - 1] == form[before - 1]:
        start, before = start - 1, before - 1
    stop, after = begin + _BLOCK_LENGTH, at + _BLOCK_LENGTH
    while stop < len(text) and after < len(form) and text[stop] == form[after]:
        stop, after = stop + 1, after + 1
    return start, stop


def _folded(text: str) -> str:
    """Return the text in lower case with the same length; `İ` would become two characters."""
    return text.lower() if text.isascii() else text.replace("İ", "i").lower()
