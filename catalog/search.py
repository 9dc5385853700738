"""Searches the catalog by words, best match first, and by kinds. Pure.

An entry matches when it has at least half of the words; a word also matches longer words that begin with it. A word's
weight depends on the field where it is found, and is higher for words that few entries have.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from catalog.words import EMPTY_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from runner.failures import JSONValue
    from runner.packs.metadata import Metadata

RefT = TypeVar("RefT")
EntryKind = Literal["pack", "pipeline"]
#: An entry's place in the order: rank (lower is better, 0 without words), name in lower case, id.
Place = tuple[int, str, str]

#: Weights of a word by field: name, keywords, kinds, examples, use, description.
_WEIGHTS = (8.0, 5.0, 3.0, 3.0, 2.0, 1.0)
#: Entries whose words are cached.
_CACHED_ENTRIES = 4_096
#: Indexes that are cached: one of the whole catalog, and some of entries of certain kinds.
_CACHED_INDEXES = 8
#: Share of its weight that a match of a word's beginning has.
_PREFIX_SHARE = 0.6
_PREFIX_LENGTH = 3
#: Share of the query's words that an entry must have.
_COVERAGE = 0.5
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, eq=False)
class Entry(Generic[RefT]):
    """A pack or pipeline of the catalog. Compared by identity, so that searches notice changes cheaply.

    Attributes:
        ref: The caller's reference to it; not used here.
        kind: Of equal matches pipelines come before packs.
        aliases: Its other names: a pipeline's key and earlier keys.
        input_schema: JSON Schema of its inputs; only routing uses it.
    """

    ref: RefT
    id: str
    kind: EntryKind
    name: str
    description: str
    metadata: Metadata
    input_schema: Mapping[str, JSONValue] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()


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
    """Return the entries that accept one of some kinds and produce one of others; None does not filter."""
    return [
        entry
        for entry in entries
        if (accepts is None or not set(accepts).isdisjoint(entry.metadata.accepts))
        and (produces is None or not set(produces).isdisjoint(entry.metadata.produces))
    ]


def placed(entries: Sequence[Entry[RefT]], text: str | None = None) -> list[Placed[RefT]]:
    """Return the entries that match a text, best match first; without words all of them, by name."""
    words = _query_words(text or "")
    if not words:
        found = [Placed(entry, (0, entry.name.casefold(), entry.id)) for entry in entries]
        return sorted(found, key=lambda item: item.place)
    index = _index_of(tuple(entries))
    scores: dict[int, float] = {}
    covered: dict[int, int] = {}
    for word in words:
        rarity = index.rarity(word)
        for number, worth in index.having(word).items():
            scores[number] = scores.get(number, 0.0) + worth * rarity
            covered[number] = covered.get(number, 0) + 1
    matches = []
    for number, count in covered.items():
        share = count / len(words)
        if share < _COVERAGE:
            continue
        entry = entries[number]
        score = share * scores[number]
        if entry.kind == "pipeline":
            score *= 1.05
        matches.append(Placed(entry, (-round(score * 1000), entry.name.casefold(), entry.id)))
    return sorted(matches, key=lambda item: item.place)


def reduced(item: Placed[RefT], share: float) -> Placed[RefT]:
    """Return an entry with its rank reduced to a share."""
    rank, name, entry_id = item.place
    return Placed(item.entry, (round(rank * share), name, entry_id))


def _query_words(text: str) -> list[str]:
    words = _WORD.findall(text.casefold())
    telling = [word for word in words if word not in EMPTY_WORDS]
    return list(dict.fromkeys(map(_singular, telling or words)))[:32]


def _words(text: str) -> list[str]:
    """Return the words in lower case, without a plural -s."""
    return [_singular(word) for word in _WORD.findall(text.casefold())]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


class _Index:
    """An inverted index: the entries that have a word, with the word's highest weight in each.

    Args:
        entries: The entries; the index refers to them by position.
    """

    def __init__(self, entries: Sequence[Entry[Any]]) -> None:
        self._count = len(entries)
        self._having: dict[str, dict[int, float]] = {}
        for number, entry in enumerate(entries):
            for word, worth in _weights_of(entry).items():
                self._having.setdefault(word, {})[number] = worth
        #: Sorted, so that words with a common beginning are neighbours.
        self._ordered = sorted(self._having)

    def rarity(self, word: str) -> float:
        """Return the weight of a word: higher when few entries have it."""
        return math.log(1 + self._count / (1 + len(self._having.get(word, ()))))

    def having(self, word: str) -> Mapping[int, float]:
        """Return the entries that have a word, or one that begins with it, and its weight in each."""
        exact = self._having.get(word, {})
        if len(word) < _PREFIX_LENGTH:
            return exact
        place = bisect_left(self._ordered, word)
        found = dict(exact)
        while place < len(self._ordered) and self._ordered[place].startswith(word):
            for number, worth in self._having[self._ordered[place]].items():
                found[number] = max(found.get(number, 0.0), worth * _PREFIX_SHARE)
            place += 1
        return found


@lru_cache(maxsize=_CACHED_INDEXES)
def _index_of(entries: tuple[Entry[Any], ...]) -> _Index:
    """Return the cached index of these entries; a changed entry makes a new one."""
    return _Index(entries)


@lru_cache(maxsize=_CACHED_ENTRIES)
def _weights_of(entry: Entry[Any]) -> dict[str, float]:
    """Return the words of an entry with their weights; cached, as splitting texts is most of the work of an index."""
    metadata = entry.metadata
    parts: tuple[Iterable[str], ...] = (
        (entry.id, entry.name),
        metadata.intent_keywords,
        (*metadata.accepts, *metadata.produces),
        metadata.example_intents,
        (metadata.typical_use or "",),
        (entry.description,),
    )
    weights: dict[str, float] = {}
    for weight, texts in zip(_WEIGHTS, parts, strict=True):
        for text in texts:
            for word in _words(text):
                weights[word] = max(weights.get(word, 0.0), weight)
    return weights
