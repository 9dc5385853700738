"""What the catalog says, made ready for comparing requests with it. Pure; made once for a catalog, then only read.

Words are compared in four groups: an entry's own words, those of what makes the same kinds of thing, of what takes the
same kinds, and of what is made of the same packs. So a word that one deck's author used counts a little for every deck:
words of the same meaning are learned from the catalog and from the names of its kinds. A word the catalog does not know
stands for known words whose letters are nearly the same, which serves misspellings, other word forms and words that
languages share.
"""

from __future__ import annotations

import functools
import math
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic

from catalog.routing.entry_concepts import ConceptIndex
from catalog.routing.facts import read_facts
from catalog.search import Entry, RefT
from catalog.words import MIN_FUZZY_LENGTH, PART_LIKENESS, Spelling, telling_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: How much a word says by where the entry's author put it.
FIELD_WEIGHTS = {"name": 3.0, "keywords": 3.0, "examples": 2.0, "use": 1.5, "kinds": 1.0, "description": 1.0}
#: The groups of words that are compared.
GROUPS = ("own", "makes", "takes", "packs")
#: Share of a group's own words against everybody's, so that a word it lacks is unlikely rather than impossible.
_OWN_SHARE = 0.8
#: Share of a kind's names among the words of what has it; chosen by cross-validation (see `docs/routing.md`).
_NAMES_SHARE = 0.65
#: How common a word counts that only names a kind.
_NAME_WORD_SHARE = 0.0005
#: Least likeness of two words' letters for one to stand for the other.
LIKENESS = PART_LIKENESS
#: Most words that an unknown word may stand for.
_STAND_INS = 3
#: Words of a request that are looked at.
MAX_WORDS = 120
_NAMES_FILE = Path(__file__).with_name("kind_names.yaml")

Shares = dict[str, float]


@functools.cache
def kind_names() -> Mapping[str, tuple[str, ...]]:
    """What people call the kinds of the vocabulary."""
    from ruamel.yaml import YAML

    found = YAML(typ="safe", pure=True).load(_NAMES_FILE)
    return {kind: tuple(str(name) for name in names) for kind, names in found.items()}


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a request in terms of the catalog.

    Attributes:
        stem: As the request has it.
        known: Words of the catalog it stands for, with how surely (1 when it is one of them); empty when unknown.
    """

    stem: str
    known: tuple[tuple[str, float], ...]

    @property
    def best(self) -> str | None:
        """The known word it most likely stands for."""
        return self.known[0][0] if self.known else None

    @property
    def sureness(self) -> float:
        """How surely it stands for a known word; 0 when for none."""
        return self.known[0][1] if self.known else 0.0


class RoutingIndex(Generic[RefT]):
    """A catalog, ready to be compared with requests.

    Args:
        entries: What can be run.
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
        self.concepts = ConceptIndex(self.entries)
        self.openness = _openness(self._lines, [len(entry.metadata.example_intents) for entry in self.entries])
        self.worth = functools.lru_cache(maxsize=20_000)(self._worth)
        self.term = functools.lru_cache(maxsize=20_000)(self._term)

    def knows(self, word: str) -> bool:
        """Whether an entry, or the name of a kind, has a word."""
        return word in self._everybody

    def rarity(self, word: str) -> float:
        """How much a word tells entries apart; highest for one that none has."""
        return self._rarities.get(word, self._rarest)

    def terms(self, text: str) -> list[Term]:
        """The words of a request, each once, in their order."""
        return [self.term(word) for word in dict.fromkeys(telling_words(text, MAX_WORDS))]

    def is_only_limit(self, word: str) -> bool:
        """Whether a word stands nowhere but where entries say what they cannot do."""
        return word in self._only_limits

    def likeness(self, terms: Iterable[Term]) -> list[float]:
        """Of each entry, how like its most similar example or keyword is to the request, 0 to 1 (cosine)."""
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
        """Of each entry, the share of a request's words that stand in its name, and of its name that the request has.

        Both are weighed by rarity, 0 to 1.
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
        """Of each entry, the share of a request's words that stand only where it says what it cannot do."""
        total = sum(self.rarity(term.best or "") for term in terms) or 1.0
        share = [0.0] * len(self.entries)
        for term in terms:
            for place in self._limits.get(term.stem, ()):
                share[place] += self.rarity(term.best or "") / total
        return share

    def nearest_example(self, position: int, terms: Iterable[Term]) -> str | None:
        """The example or keyword of an entry that shares most with a request; None when none shares anything."""
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
        return Term(word, tuple(self._spelling.near(word, LIKENESS)[:_STAND_INS]))

    def _worth(self, word: str) -> tuple[array[float], ...]:
        """Of each of `GROUPS` and entry, how much likelier its words make a known word than everybody's, as a log."""
        everybody = self._everybody[word]
        absent = math.log(1 - _OWN_SHARE)
        rows = [array("d", [absent]) * len(self.entries) for _ in GROUPS]
        for row, shares in zip(rows, self._shares_of(word), strict=True):
            for position, share in shares.items():
                row[position] = math.log((_OWN_SHARE * share + (1 - _OWN_SHARE) * everybody) / everybody)
        return tuple(rows)

    def _shares_of(self, word: str) -> list[dict[int, float]]:
        """Of each of `GROUPS`, the share a word has of the words of each entry that has it."""
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


def _frequencies(entry: Entry[RefT]) -> dict[str, float]:
    metadata = entry.metadata
    texts = {
        "name": (entry.id.removeprefix("builtin."), entry.name),
        "keywords": metadata.intent_keywords,
        "examples": [read_facts(example).text for example in metadata.example_intents],
        "use": (metadata.typical_use or "",),
        "kinds": (*metadata.accepts, *metadata.produces),
        "description": (entry.description,),
    }
    counts: dict[str, float] = defaultdict(float)
    for field, found in texts.items():
        for text in found:
            for word in telling_words(text.replace("_", " ")):
                counts[word] += FIELD_WEIGHTS[field]
    return counts


def _shares(counts: Mapping[str, float]) -> Shares:
    # The square root keeps a word that is said over and over from crowding out the others.
    damped = {word: math.sqrt(count) for word, count in counts.items()}
    total = sum(damped.values()) or 1.0
    return {word: count / total for word, count in damped.items()}


def _lines(entry: Entry[RefT]) -> list[list[str]]:
    """What requests are compared with one by one: examples first, then keywords and the typical use."""
    metadata = entry.metadata
    texts = [*metadata.example_intents, *metadata.intent_keywords, metadata.typical_use or ""]
    return [telling_words(read_facts(text).text) for text in texts]


def _openness(lines: Sequence[Sequence[Counter[str]]], examples: Sequence[int]) -> list[float]:
    """Of each entry, how much more than others its examples hold words found nowhere else, as a logarithm.

    An entry that serves any topic has many such words, so a word nobody knows speaks for it (Good and Turing's idea).
    """
    found = Counter(word for entry in lines for line in entry for word in line)
    shares = []
    for entry, count in zip(lines, examples, strict=True):
        words = [word for line in entry[:count] for word in line]
        shares.append(sum(found[word] == 1 for word in words) / max(1, len(words)))
    mean = sum(shares) / max(1, len(shares))
    return [math.log((share + 0.05) / (mean + 0.05)) for share in shares]


def _by_kind(shares: Sequence[Shares], kinds: Sequence[Sequence[str]]) -> dict[str, Shares]:
    """The mean word shares of the entries that have a kind."""
    sums: dict[str, Counter[str]] = {}
    sizes: Counter[str] = Counter()
    for words, names in zip(shares, kinds, strict=True):
        for kind in names:
            sums.setdefault(kind, Counter()).update(words)
            sizes[kind] += 1
    return {kind: {word: share / sizes[kind] for word, share in words.items()} for kind, words in sums.items()}


def _with_names(groups: dict[str, Shares]) -> dict[str, Shares]:
    """The same with the names of each kind mixed in."""
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
    """Of each kind, the entries that have it, with how many kinds each has."""
    found: dict[str, list[tuple[int, int]]] = {}
    for place, names in enumerate(kinds):
        for kind in names:
            found.setdefault(kind, []).append((place, len(names)))
    return found


def _places(words: Sequence[Iterable[str]]) -> dict[str, list[int]]:
    """Of each word, the entries that have it."""
    found: dict[str, list[int]] = {}
    for place, having in enumerate(words):
        for word in having:
            found.setdefault(word, []).append(place)
    return found


def _line_places(
    lines: Sequence[Sequence[Counter[str]]], norms: Sequence[Sequence[float]]
) -> dict[str, list[tuple[tuple[int, int], float]]]:
    """Of each word, the lines that have it, as entry and line, with how often over the line's length."""
    found: dict[str, list[tuple[tuple[int, int], float]]] = {}
    for position, (of_entry, sizes) in enumerate(zip(lines, norms, strict=True)):
        for number, (line, size) in enumerate(zip(of_entry, sizes, strict=True)):
            for word, count in line.items():
                if size:
                    found.setdefault(word, []).append(((position, number), count / size))
    return found


def _word_set(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in telling_words(text))
