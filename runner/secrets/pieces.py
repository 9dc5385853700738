"""Finds pieces of known secrets: what another program cut off, wrapped or showed a window of.

A piece of 16 characters holds one of the secret's blocks whole: 8 characters that begin at a multiple of 8. So the
blocks are looked for, in one pass, and a block that is found is extended both ways as far as text and secret agree.
Letter case is ignored, because host names and escapes change it.

Not looked for is what says nothing: the armour of PEM, the host of an address, and blocks of fewer than four different
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
#: What may be public of a secret, in lower case: the armour of PEM; an address up to its path, but for the account.
_PUBLIC = re.compile(
    r"-----[a-z0-9 +%]{1,80}-----"
    rf"|[a-z][a-z0-9+.-]{{1,20}}(?::|%(?:25)?3a){_SLASH}{{2}}(?![^\s/@\"']*(?:@|%(?:25)?40))(?:{_HOST})?"
    rf"|(?:@|%(?:25)?40){_HOST}(?={_SLASH})"
)


class SecretPieces:
    """Finds pieces of texts in other texts. May be shared by threads.

    Args:
        forms: The ways secrets may be written, with the name of each.
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
        """Where pieces are that no other span leaves 16 characters of; they may overlap."""
        found: list[Span] = []
        if len(text) < PIECE_LENGTH or not self._places:
            return found
        text, covered = _folded(text), 0
        for _, begin, end in self._blocks.find_matches_as_indexes(text, overlapping=True):
            for form, at in self._places[text[begin:end]]:
                if end <= covered:
                    break  # what sticks out of the span holds a block, or is shorter than a piece
                start, stop = _stretch(text, begin, form, at)
                if stop - start >= PIECE_LENGTH:
                    found.append((start, stop, self._names[form]))
                    covered = stop
        return found


def _blocks(form: str) -> Iterator[int]:
    """Where the blocks begin that are looked for; of a block that recurs, the first few: any hit tries them all."""
    start, seen = 0, Counter[str]()
    for public in (*_PUBLIC.finditer(form), None):
        stop = len(form) if public is None else public.start()
        for at in range(start, stop - _BLOCK_LENGTH + 1, _BLOCK_LENGTH):
            block = form[at : at + _BLOCK_LENGTH]
            if len(set(block)) >= _LEAST_DIFFERENT and seen[block] < _MOST_PLACES:
                seen[block] += 1
                yield at
        start = stop if public is None else public.end()


def _stretch(text: str, begin: int, form: str, at: int) -> tuple[int, int]:
    """Where the text agrees with the form around a block they share."""
    start, before = begin, at
    while start and before and text[start - 1] == form[before - 1]:
        start, before = start - 1, before - 1
    stop, after = begin + _BLOCK_LENGTH, at + _BLOCK_LENGTH
    while stop < len(text) and after < len(form) and text[stop] == form[after]:
        stop, after = stop + 1, after + 1
    return start, stop


def _folded(text: str) -> str:
    """The text in lower case, character by character; `İ` alone would become two."""
    return text.lower() if text.isascii() else text.replace("İ", "i").lower()
