"""Finding entries of the catalog: by words, best match first, and by what they take and make. Pure.

An entry matches words when it has at least half of them; a word may stand for the beginning of a longer one. Where a
word is found decides what it is worth, and words that few entries have are worth more.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from runner.failures import JSONValue
    from runner.metadata import Metadata

RefT = TypeVar("RefT")
EntryKind = Literal["pack", "pipeline"]
#: An entry's place in the order: rank (lower is better, 0 without words), name in lower case, id.
Place = tuple[int, str, str]

#: What a word is worth by where it stands: name, keywords, kinds, examples, use, description.
_WEIGHTS = (8.0, 5.0, 3.0, 3.0, 2.0, 1.0)
#: Entries whose words are remembered.
_REMEMBERED = 4_096
#: A word that only begins like one of the entry's is worth this share of it.
_PREFIX_SHARE = 0.6
_PREFIX_LENGTH = 3
#: Share of the words asked for that an entry must have.
_COVERAGE = 0.5
_WORD = re.compile(r"[^\W_]+")
#: Words that say nothing about what is wanted.
_EMPTY_WORDS = (
    "a an and are as at be by can could do for from give has have how i in into is it its like make me my of on or our "
    "out please some something that the their them then there this to turn up us want we what when which will with "
    "would you your"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


@dataclass(frozen=True, slots=True)
class Entry(Generic[RefT]):
    """Something that can be run by name.

    Attributes:
        ref: What the caller knows it by; not looked at here.
        kind: What sort of thing; among equals pipelines come before packs.
        input_schema: JSON Schema of what it must be given; only routing looks at it.
    """

    ref: RefT
    id: str
    kind: EntryKind
    name: str
    description: str
    metadata: Metadata
    input_schema: Mapping[str, JSONValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placed(Generic[RefT]):
    """An entry and its place in the order of a search."""

    entry: Entry[RefT]
    place: Place


def by_kinds(
    entries: Iterable[Entry[RefT]],
    *,
    accepts: Collection[str] | None = None,
    produces: Collection[str] | None = None,
) -> list[Entry[RefT]]:
    """Entries that take one of some kinds of thing and make one of others; None does not ask."""
    return [
        entry
        for entry in entries
        if (accepts is None or not set(accepts).isdisjoint(entry.metadata.accepts))
        and (produces is None or not set(produces).isdisjoint(entry.metadata.produces))
    ]


def placed(entries: Sequence[Entry[RefT]], text: str | None = None) -> list[Placed[RefT]]:
    """Entries in order: by how well they match the words, else by name. Those that do not match are left out."""
    words = _asked(text or "")
    if not words:
        found = [Placed(entry, (0, entry.name.casefold(), entry.id)) for entry in entries]
        return sorted(found, key=lambda item: item.place)
    indexed = [_words_of(entry) for entry in entries]
    rarity = {word: _rarity(word, indexed) for word in words}
    matches = []
    for entry, where in zip(entries, indexed, strict=True):
        worth = {word: where.worth(word) for word in words}
        covered = sum(1 for value in worth.values() if value) / len(words)
        if covered < _COVERAGE:
            continue
        score = covered * sum(value * rarity[word] for word, value in worth.items())
        if entry.kind == "pipeline":
            score *= 1.05
        matches.append(Placed(entry, (-round(score * 1000), entry.name.casefold(), entry.id)))
    return sorted(matches, key=lambda item: item.place)


def _asked(text: str) -> list[str]:
    words = list(dict.fromkeys(_words(text)))[:32]
    telling = [word for word in words if word not in _EMPTY]
    return telling or words


def _words(text: str) -> list[str]:
    """Words in lower case, the plain plural taken off."""
    return [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in _WORD.findall(text.casefold())
    ]


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of an entry.

    Attributes:
        weights: What each is worth where it is worth most.
        ordered: The same words in order, so that those that begin alike stand together.
    """

    weights: dict[str, float]
    ordered: tuple[str, ...]

    def worth(self, word: str) -> float:
        """What a word asked for is worth here; 0 where it is not found."""
        best = self.weights.get(word, 0.0)
        if len(word) >= _PREFIX_LENGTH:
            place = bisect_left(self.ordered, word)
            while place < len(self.ordered) and self.ordered[place].startswith(word):
                best = max(best, self.weights[self.ordered[place]] * _PREFIX_SHARE)
                place += 1
        return best


def _words_of(entry: Entry[RefT]) -> _Words:
    metadata = entry.metadata
    return _indexed(
        (entry.id, entry.name),
        tuple(metadata.intent_keywords),
        (*metadata.accepts, *metadata.produces),
        tuple(metadata.example_intents),
        metadata.typical_use or "",
        entry.description,
    )


@lru_cache(maxsize=_REMEMBERED)
def _indexed(
    names: tuple[str, ...],
    keywords: tuple[str, ...],
    kinds: tuple[str, ...],
    examples: tuple[str, ...],
    use: str,
    description: str,
) -> _Words:
    """The words of an entry that says these; entries seldom change, and taking them apart is most of a search."""
    weights: dict[str, float] = {}
    for weight, texts in zip(_WEIGHTS, (names, keywords, kinds, examples, (use,), (description,)), strict=True):
        for text in texts:
            for word in _words(text):
                weights[word] = max(weights.get(word, 0.0), weight)
    return _Words(weights, tuple(sorted(weights)))


def _rarity(word: str, indexed: Sequence[_Words]) -> float:
    having = sum(1 for where in indexed if word in where.weights)
    return math.log(1 + len(indexed) / (1 + having))
