"""The catalog indexed for comparing requests with it. Pure; made once for a catalog, then only read.

Words are compared in four groups: an entry's own words, and those of the entries that make the same kinds, take the
same kinds, or consist of the same packs. So a word of one deck pipeline counts a little for every other: synonyms are
learned from the catalog and from the names of its kinds. An unknown word stands for known words with nearly the same
letters, which covers misspellings, other word forms and words that languages share.
"""

from __future__ import annotations

import functools
import math
import re
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic

from catalog.routing.entry_concepts import ConceptIndex
from catalog.routing.facts import read_facts
from catalog.search import Entry, RefT
from catalog.words import MIN_FUZZY_LENGTH, PART_LIKENESS, Spelling, fold, telling_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: What is wanted comes before these words, its topic after them.
TOPIC = re.compile(r"\b(?:about|on|regarding|concerning|topic|uber|sur|sobre)\b|:")
#: Weights of a word by the field of the entry that has it.
FIELD_WEIGHTS = {"name": 3.0, "keywords": 3.0, "examples": 2.0, "use": 1.5, "kinds": 1.0, "description": 1.0}
#: The groups of words that are compared.
GROUPS = ("own", "makes", "takes", "packs")
#: Weight of a group's own words against all entries', so that a word it lacks is unlikely rather than impossible.
_OWN_SHARE = 0.8
#: Weight of a kind's names among the words of its entries; chosen by cross-validation (see `docs/routing.md`).
_NAMES_SHARE = 0.65
#: Assumed frequency of a word that occurs only in the name of a kind.
_NAME_WORD_SHARE = 0.0005
#: Least similarity of two words for one to stand for the other.
LIKENESS = PART_LIKENESS
#: Most words that an unknown word may stand for.
_SUBSTITUTES = 3
#: Most words of a request that are read.
MAX_WORDS = 120
_NAMES_FILE = Path(__file__).with_name("kind_names.yaml")

Shares = dict[str, float]


@functools.cache
def kind_names() -> Mapping[str, tuple[str, ...]]:
    """Return people's names for the kinds of the vocabulary."""
    from ruamel.yaml import YAML

    found = YAML(typ="safe", pure=True).load(_NAMES_FILE)
    return {kind: tuple(str(name) for name in names) for kind, names in found.items()}


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a request, with the words of the catalog it stands for.

    Attributes:
        stem: The stem of the word in the request.
        known: The words of the catalog it stands for, with how surely (1 if it is one of them); empty if unknown.
    """

    stem: str
    known: tuple[tuple[str, float], ...]

    @property
    def best(self) -> str | None:
        return self.known[0][0] if self.known else None

    @property
    def sureness(self) -> float:
        """How surely it stands for a known word; 0 when for none."""
        return self.known[0][1] if self.known else 0.0


class RoutingIndex(Generic[RefT]):
    """A catalog, indexed for comparing requests with it.

    Args:
        entries: The packs and pipelines.
    """

    def __init__(self, entries: Sequence[Entry[RefT]]) -> None:
        self.entries = tuple(entries)
        self.own = [_shares(_frequencies(entry)) for entry in self.entries]
        having = Counter(word for shares in self.own for word in shares)
        self._rarities = {word: math.log(1 + len(self.own) / (1 + count)) for word, count in having.items()}
        self._rarest = math.log(1 + len(self.own))
        everybody: Counter[str] = Counter()
        for shares in self.own:
            everybody.update(shares)
        self._everybody = {word: share / max(1, len(self.own)) for word, share in everybody.items()}
        made = [entry.metadata.produces for entry in self.entries]
        taken = [entry.metadata.accepts for entry in self.entries]
        packs = [entry.metadata.supersedes or [entry.id] for entry in self.entries]
        self._grouped = {
            "makes": _with_names(_by_kind(self.own, made)),
            "takes": _with_names(_by_kind(self.own, taken)),
            "packs": _by_kind(self.own, packs),
        }
        self._members = {"makes": _members(made), "takes": _members(taken), "packs": _members(packs)}
        for shares in (*self._grouped["makes"].values(), *self._grouped["takes"].values()):
            for word in shares.keys() - self._everybody.keys():
                self._everybody[word] = _NAME_WORD_SHARE
        self._spelling = Spelling(self._everybody)
        self._lines = [[Counter(line) for line in _lines(entry)] for entry in self.entries]
        self._norms = [[self._norm(line) for line in lines] for lines in self._lines]
        self._line_places = _line_places(self._lines, self._norms)
        limits = [_word_set(entry.metadata.limitations) for entry in self.entries]
        self._limits = _places([words - self.own[place].keys() for place, words in enumerate(limits)])
        names = [_word_set((entry.id.replace(".", " "), entry.name)) for entry in self.entries]
        self._names = _places(names)
        self._name_weights = [sum(map(self.rarity, words)) or 1.0 for words in names]
        self._only_limits = frozenset(word for words in limits for word in words) - self._everybody.keys()
        self._only_topics = self._everybody.keys() - _said(self.entries)
        self.concepts = ConceptIndex(self.entries)
        self.openness = _openness(self._lines, [len(entry.metadata.example_intents) for entry in self.entries])
        self.worth = functools.lru_cache(maxsize=20_000)(self._worth)
        self.term = functools.lru_cache(maxsize=20_000)(self._term)

    def knows(self, word: str) -> bool:
        """Return whether a word occurs in an entry or in the name of a kind."""
        return word in self._everybody

    def rarity(self, word: str) -> float:
        """Return how well a word distinguishes entries; highest for one that none has."""
        return self._rarities.get(word, self._rarest)

    def terms(self, text: str) -> list[Term]:
        """Return the words of a request, each once, in their order."""
        return [self.term(word) for word in dict.fromkeys(telling_words(text, MAX_WORDS))]

    def is_only_limit(self, word: str) -> bool:
        """Return whether a word occurs only in the limitations of entries."""
        return word in self._only_limits

    def is_only_topic(self, word: str) -> bool:
        """Return whether a word of the catalog occurs only in the topics of examples."""
        return word in self._only_topics

    def likeness(self, terms: Iterable[Term]) -> list[float]:
        """Return for each entry the similarity of its nearest example or keyword to the request, 0 to 1 (cosine)."""
        weights: dict[str, float] = {}
        unknown = 0.0
        for term in terms:
            word = term.best
            if word is None:
                unknown += self.rarity("") ** 2
            else:
                weights[word] = max(weights.get(word, 0.0), term.sureness * self.rarity(word))
        norm = math.sqrt(unknown + sum(weight * weight for weight in weights.values()))
        if not norm:
            return [0.0] * len(self.entries)
        dots: dict[tuple[int, int], float] = {}
        for word, weight in weights.items():
            worth = weight * self.rarity(word) / norm
            for place, share in self._line_places.get(word, ()):
                dots[place] = dots.get(place, 0.0) + worth * share
        best = [0.0] * len(self.entries)
        for (position, _), likeness in dots.items():
            best[position] = max(best[position], likeness)
        return best

    def named(self, terms: Sequence[Term]) -> tuple[list[float], list[float]]:
        """Return for each entry the share of the request's words in its name, and of its name's words in the request.

        Both are weighted by rarity, 0 to 1.
        """
        total = sum(self.rarity(term.best or "") for term in terms) or 1.0
        share = [0.0] * len(self.entries)
        had = [0.0] * len(self.entries)
        surest: dict[str, float] = {}
        for term in terms:
            for place in self._names.get(term.best or "", ()):
                share[place] += self.rarity(term.best or "") / total
            for word, sure in term.known:
                surest[word] = max(surest.get(word, 0.0), sure)
        for word, sure in surest.items():
            for place in self._names.get(word, ()):
                had[place] += self.rarity(word) * sure / self._name_weights[place]
        return share, had

    def limited(self, terms: Sequence[Term]) -> list[float]:
        """Return for each entry the share of a request's words that occur only in its limitations."""
        total = sum(self.rarity(term.best or "") for term in terms) or 1.0
        share = [0.0] * len(self.entries)
        for term in terms:
            for place in self._limits.get(term.stem, ()):
                share[place] += self.rarity(term.best or "") / total
        return share

    def nearest_example(self, position: int, terms: Iterable[Term]) -> str | None:
        """Return the example or keyword of an entry most similar to a request; None when none shares a word."""
        wanted = {term.best: term.sureness * self.rarity(term.best) for term in terms if term.best is not None}
        metadata = self.entries[position].metadata
        texts = [*metadata.example_intents, *metadata.intent_keywords]
        likest = [
            (_dot(line, wanted) / norm, -place)
            for place, (line, norm) in enumerate(
                zip(self._lines[position][: len(texts)], self._norms[position][: len(texts)], strict=True)
            )
            if norm
        ]
        best = max(likest, default=(0.0, 0))
        return texts[-best[1]] if best[0] > 0 else None

    def _norm(self, line: Counter[str]) -> float:
        return math.sqrt(sum((count * self.rarity(word)) ** 2 for word, count in line.items()))

    def _term(self, word: str) -> Term:
        if word in self._everybody:
            return Term(word, ((word, 1.0),))
        if len(word) < MIN_FUZZY_LENGTH:
            return Term(word, ())
        return Term(word, tuple(self._spelling.near(word, LIKENESS)[:_SUBSTITUTES]))

    def _worth(self, word: str) -> tuple[array[float], ...]:
        """Return for each of `GROUPS` and entry how much likelier a known word is there than in all, as a logarithm."""
        everybody = self._everybody[word]
        absent = math.log(1 - _OWN_SHARE)
        rows = [array("d", [absent]) * len(self.entries) for _ in GROUPS]
        for row, shares in zip(rows, self._shares_of(word), strict=True):
            for position, share in shares.items():
                row[position] = math.log((_OWN_SHARE * share + (1 - _OWN_SHARE) * everybody) / everybody)
        return tuple(rows)

    def _shares_of(self, word: str) -> list[dict[int, float]]:
        """Return for each of `GROUPS` the share of a word among the words of each entry that has it."""
        found = [{place: shares[word] for place, shares in enumerate(self.own) if word in shares}]
        for group in GROUPS[1:]:
            sums: dict[int, float] = {}
            for kind, words in self._grouped[group].items():
                if word in words:
                    for place, parts in self._members[group][kind]:
                        sums[place] = sums.get(place, 0.0) + words[word] / parts
            found.append(sums)
        return found


def _dot(line: Counter[str], weights: Mapping[str, float]) -> float:
    return sum(line[word] * weight for word, weight in weights.items() if word in line)


def _texts(entry: Entry[RefT]) -> dict[str, Iterable[str]]:
    """Return the texts whose words are an entry's own, by the fields of `FIELD_WEIGHTS`."""
    metadata = entry.metadata
    return {
        "name": (entry.id.removeprefix("builtin."), entry.name),
        "keywords": metadata.intent_keywords,
        "examples": [read_facts(example).text for example in metadata.example_intents],
        "use": (metadata.typical_use or "",),
        "kinds": (*metadata.accepts, *metadata.produces),
        "description": (entry.description,),
    }


def _frequencies(entry: Entry[RefT]) -> dict[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for field, found in _texts(entry).items():
        for text in found:
            for word in telling_words(text.replace("_", " ")):
                counts[word] += FIELD_WEIGHTS[field]
    return counts


def _said(entries: Iterable[Entry[RefT]]) -> set[str]:
    """Return the words of the catalog and of the names of kinds, without those in the topics of examples."""
    texts = [name for names in kind_names().values() for name in names]
    for entry in entries:
        for field, found in _texts(entry).items():
            cuts = field == "examples"
            texts.extend(TOPIC.split(fold(text), maxsplit=1)[0] if cuts else text.replace("_", " ") for text in found)
    return {word for text in texts for word in telling_words(text)}


def _shares(counts: Mapping[str, float]) -> Shares:
    # The square root keeps a word that is repeated often from crowding out the others.
    damped = {word: math.sqrt(count) for word, count in counts.items()}
    total = sum(damped.values()) or 1.0
    return {word: count / total for word, count in damped.items()}


def _lines(entry: Entry[RefT]) -> list[list[str]]:
    """Return the texts that requests are compared with one by one: examples, then keywords and the typical use."""
    metadata = entry.metadata
    texts = [*metadata.example_intents, *metadata.intent_keywords, metadata.typical_use or ""]
    return [telling_words(read_facts(text).text) for text in texts]


def _openness(lines: Sequence[Sequence[Counter[str]]], examples: Sequence[int]) -> list[float]:
    """Return for each entry how many more unique words its examples have than those of others, as a logarithm.

    An entry that serves any topic has many such words, so an unknown word is evidence for it (Good-Turing).
    """
    found = Counter(word for entry in lines for line in entry for word in line)
    shares = []
    for entry, count in zip(lines, examples, strict=True):
        words = [word for line in entry[:count] for word in line]
        shares.append(sum(found[word] == 1 for word in words) / max(1, len(words)))
    mean = sum(shares) / max(1, len(shares))
    return [math.log((share + 0.05) / (mean + 0.05)) for share in shares]


def _by_kind(shares: Sequence[Shares], kinds: Sequence[Sequence[str]]) -> dict[str, Shares]:
    """Return for each kind the mean word shares of its entries."""
    sums: dict[str, Counter[str]] = {}
    sizes: Counter[str] = Counter()
    for words, names in zip(shares, kinds, strict=True):
        for kind in names:
            sums.setdefault(kind, Counter()).update(words)
            sizes[kind] += 1
    return {kind: {word: share / sizes[kind] for word, share in words.items()} for kind, words in sums.items()}


def _with_names(groups: dict[str, Shares]) -> dict[str, Shares]:
    """Mix the names of each kind into its word shares."""
    mixed: dict[str, Shares] = {}
    for kind, shares in groups.items():
        names = Counter(word for name in kind_names().get(kind, ()) for word in telling_words(name))
        if not names:
            mixed[kind] = shares
            continue
        found = {word: share * (1 - _NAMES_SHARE) for word, share in shares.items()}
        for word, count in names.items():
            found[word] = found.get(word, 0.0) + _NAMES_SHARE * count / names.total()
        mixed[kind] = found
    return mixed


def _members(kinds: Sequence[Sequence[str]]) -> dict[str, list[tuple[int, int]]]:
    """Return for each kind its entries, with how many kinds each has."""
    found: dict[str, list[tuple[int, int]]] = {}
    for place, names in enumerate(kinds):
        for kind in names:
            found.setdefault(kind, []).append((place, len(names)))
    return found


def _places(words: Sequence[Iterable[str]]) -> dict[str, list[int]]:
    """Return for each word the entries that have it."""
    found: dict[str, list[int]] = {}
    for place, having in enumerate(words):
        for word in having:
            found.setdefault(word, []).append(place)
    return found


def _line_places(
    lines: Sequence[Sequence[Counter[str]]], norms: Sequence[Sequence[float]]
) -> dict[str, list[tuple[tuple[int, int], float]]]:
    """Return for each word the lines that have it, as entry and line, with its count divided by the line's norm."""
    found: dict[str, list[tuple[tuple[int, int], float]]] = {}
    for position, (of_entry, sizes) in enumerate(zip(lines, norms, strict=True)):
        for number, (line, size) in enumerate(zip(of_entry, sizes, strict=True)):
            for word, count in line.items():
                if size:
                    found.setdefault(word, []).append(((position, number), count / size))
    return found


def _word_set(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in telling_words(text))
