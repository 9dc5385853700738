"""Compares the concepts of a request with those of the catalog's entries. Pure.

An entry's concepts are read from its texts, as a request's are, and from the kinds it accepts and produces. So users'
entries are compared by meaning, too, without declaring more than their metadata.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic

from catalog.routing.concepts import mentions, thesaurus
from catalog.routing.facts import read_facts
from catalog.search import Entry, RefT
from catalog.words import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from catalog.routing.concepts import Mention, Role

#: Signals of this module, in the order of its columns.
CONCEPT_SIGNALS = (
    "concepts_own",
    "concepts_line",
    "wanted_made",
    "plain_made",
    "given_made",
    "given_taken",
    "plain_taken",
    "wanted_taken",
    "wanted_unmade",
    "given_untaken",
    "deeds_lacked",
    "deeds_had",
    "deeds_limited",
    "main_made",
    "unnamed_pipeline",
    "unnamed_pack",
    "nothing_wanted",
    "topic_query",
    "own_query",
    "own_source",
    "given_query",
)
#: Weight of an entry's own concepts against all entries', so that one it lacks is unlikely rather than impossible.
_OWN_SHARE = 0.8
#: Assumed frequency of a concept that no entry has.
_ABSENT_SHARE = 0.002
#: Weight of a mention in the topic of a request.
_TOPIC_SHARE = 0.3
#: Weight of a product that is mentioned without being asked for.
_PLAIN_SHARE = 0.8
#: Things that people have rather than want when they mention them.
_GIVEN = frozenset(
    f"things.{name}" for name in ("own_text", "brief", "document", "webpage", "repository", "issue", "audio", "html")
)
_OWN_TEXT_KINDS = frozenset(("source_content", "markdown", "text", "brief"))
_OWN_TEXT = "things.own_text"
_ASKS = re.compile(r"\b(?:about|on|uber|sur|sobre|why|how|what|who|which)\b|[?:]")

Column = list[float]


@dataclass(frozen=True, slots=True)
class RequestConcepts:
    """The concepts of a request.

    Attributes:
        all: Every concept with its sureness; those in the topic count less.
        things: The things by their role in the sentence.
        deeds: The deeds, without those in the topic.
        first_deed: The deed mentioned first.
        gives: Whether it mentions something that the result is made from.
        has_topic: Whether it is a question, or names a topic, without something to make the result from.
    """

    all: dict[str, float] = field(default_factory=dict)
    things: dict[Role, dict[str, float]] = field(default_factory=dict)
    deeds: dict[str, float] = field(default_factory=dict)
    first_deed: str | None = None
    gives: bool = False
    has_topic: bool = False


class ConceptIndex(Generic[RefT]):
    """The concepts of a catalog.

    Args:
        entries: The packs and pipelines.
    """

    def __init__(self, entries: Sequence[Entry[RefT]]) -> None:
        concepts = thesaurus().concepts
        size = len(entries)
        lines = [_lines(entry) for entry in entries]
        owns = [_frequencies(entry, own) for entry, own in zip(entries, lines, strict=True)]
        limits = [
            {mention.concept for text in entry.metadata.limitations for mention in mentions(text)} for entry in entries
        ]
        having = Counter(name for own in owns for name in own)
        # Mentioned once, a concept may be a topic; what an entry does, it mentions repeatedly.
        self.known = frozenset(name for own in owns for name, share in own.items() if share > 1.5)
        self.rarity = {name: math.log(1 + size / (1 + having[name])) for name in concepts}
        totals = [sum(own.values()) or 1.0 for own in owns]
        self._size = size
        self._odds: dict[str, Column] = {}
        self._made: dict[str, Column] = {}
        self._main: dict[str, Column] = {}
        self._taken: dict[str, Column] = {}
        self._had: dict[str, Column] = {}
        self._lacked: dict[str, Column] = {}
        self._limited: dict[str, Column] = {}
        for name, concept in concepts.items():
            shares = [own.get(name, 0.0) / total for own, total in zip(owns, totals, strict=True)]
            everybody = sum(shares) / size if any(shares) else _ABSENT_SHARE
            self._odds[name] = [
                math.log((_OWN_SHARE * share + (1 - _OWN_SHARE) * everybody) / everybody) for share in shares
            ]
            self._made[name] = [float(not concept.kinds.isdisjoint(entry.metadata.produces)) for entry in entries]
            self._main[name] = [float(not concept.kinds.isdisjoint(entry.metadata.produces[:1])) for entry in entries]
            self._taken[name] = [float(not concept.kinds.isdisjoint(entry.metadata.accepts)) for entry in entries]
            self._had[name] = [min(1.0, own.get(name, 0.0) / 2) for own in owns]
            self._lacked[name] = [float(name not in own) for own in owns]
            self._limited[name] = [
                float(name in limit and name not in own) for limit, own in zip(limits, owns, strict=True)
            ]
        self._line_places = self._places(lines)
        self._is_pipeline = [float(entry.kind == "pipeline") for entry in entries]
        self._takes_query = [float("query" in entry.metadata.accepts) for entry in entries]
        self._takes_text = [
            float(entry.kind == "pipeline" and not _OWN_TEXT_KINDS.isdisjoint(entry.metadata.accepts))
            for entry in entries
        ]

    def lacks(self, position: int, concept: str) -> bool:
        """Return whether an entry never mentions a concept."""
        return bool(self._lacked[concept][position])

    def columns(self, concepts: RequestConcepts) -> list[Column]:
        """Return the values of a request for each of `CONCEPT_SIGNALS` and each entry."""
        wanted, plain, given = (concepts.things.get(role, {}) for role in ("wanted", "plain", "given"))
        products = {name: _PLAIN_SHARE * sure for name, sure in plain.items()}
        products.update({name: max(sure, products.get(name, 0.0)) for name, sure in wanted.items()})
        vocabulary = thesaurus().concepts
        products = {name: sure for name, sure in products.items() if vocabulary[name].kinds}
        main = self._highest(self._main, products)
        unnamed = [1.0 - made for made in main]
        deeds = sum(self.rarity[name] * sure for name, sure in concepts.deeds.items()) or 1.0
        weighed = {name: self.rarity[name] * sure / deeds for name, sure in concepts.deeds.items()}
        scale = 1 / math.sqrt(max(1, len(concepts.all)))
        nothing = float(not products)
        own = float(_OWN_TEXT in concepts.all)
        return [
            self._sum(self._odds, {name: sure * scale for name, sure in concepts.all.items()}),
            self._best_lines(concepts),
            self._highest(self._made, wanted),
            self._highest(self._made, plain),
            self._highest(self._made, given),
            self._highest(self._taken, given),
            self._highest(self._taken, plain),
            self._highest(self._taken, wanted),
            self._others(self._made, wanted),
            self._others(self._taken, given),
            self._sum(self._lacked, weighed),
            [min(2.0, value) for value in self._sum(self._had, concepts.deeds)],
            self._highest(self._limited, concepts.deeds),
            main,
            [value * is_pipeline for value, is_pipeline in zip(unnamed, self._is_pipeline, strict=True)],
            [value * (1 - is_pipeline) for value, is_pipeline in zip(unnamed, self._is_pipeline, strict=True)],
            [nothing * is_pipeline for is_pipeline in self._is_pipeline],
            [concepts.has_topic * value for value in self._takes_query],
            [own * value for value in self._takes_query],
            [own * value for value in self._takes_text],
            [
                concepts.gives * value * is_one
                for value, is_one in zip(self._takes_query, self._is_pipeline, strict=True)
            ],
        ]

    def _sum(self, rows: dict[str, Column], weights: dict[str, float]) -> Column:
        found = [0.0] * self._size
        for name, weight in weights.items():
            found = [value + weight * more for value, more in zip(found, rows[name], strict=True)]
        return found

    def _highest(self, rows: dict[str, Column], weights: dict[str, float]) -> Column:
        found = [0.0] * self._size
        for name, weight in weights.items():
            found = [max(value, weight * other) for value, other in zip(found, rows[name], strict=True)]
        return found

    def _others(self, rows: dict[str, Column], weights: dict[str, float]) -> Column:
        """Return for each entry how much is mentioned that it lacks in `rows`."""
        concepts = thesaurus().concepts
        named = {name: weight for name, weight in weights.items() if concepts[name].kinds}
        total = sum(named.values())
        return [total - value for value in self._sum(rows, named)]

    def _best_lines(self, concepts: RequestConcepts) -> Column:
        """Return for each entry the similarity of its nearest example or keyword, 0 to 1 (cosine)."""
        best = [0.0] * self._size
        norm = math.sqrt(sum((self.rarity[name] * sure) ** 2 for name, sure in concepts.all.items()))
        dots: dict[tuple[int, int], float] = {}
        for name, sure in concepts.all.items():
            for place, worth in self._line_places.get(name, ()):
                dots[place] = dots.get(place, 0.0) + sure * worth / norm
        for (position, _), likeness in dots.items():
            best[position] = max(best[position], likeness)
        return best

    def _places(self, lines: Sequence[Sequence[frozenset[str]]]) -> dict[str, list[tuple[tuple[int, int], float]]]:
        found: dict[str, list[tuple[tuple[int, int], float]]] = {}
        for position, own in enumerate(lines):
            for number, line in enumerate(own):
                norm = math.sqrt(sum(self.rarity[name] ** 2 for name in line))
                for name in line:
                    found.setdefault(name, []).append(((position, number), self.rarity[name] ** 2 / norm))
        return found


def read_concepts(text: str, knows: Callable[[str], bool], *, has_facts: bool) -> RequestConcepts:
    """Read the concepts of a request.

    Args:
        text: The request.
        knows: Whether the catalog has a word, so that it is not taken for a misspelling.
        has_facts: Whether facts were found for the request.
    """
    found = mentions(text, knows)
    whole: dict[str, float] = {}
    things: dict[Role, dict[str, float]] = {}
    deeds: dict[str, float] = {}
    for mention in found:
        name, sure = mention.concept, mention.sureness
        whole[name] = max(whole.get(name, 0.0), sure * (_TOPIC_SHARE if mention.role == "topic" else 1.0))
        if name.startswith("things."):
            parts = things.setdefault(mention.role, {})
            parts[name] = max(parts.get(name, 0.0), sure)
        elif mention.role != "topic" or mention.start < 3:
            deeds[name] = max(deeds.get(name, 0.0), sure)
    gives = any(not _GIVEN.isdisjoint(things.get(role, ())) for role in ("given", "plain", "wanted"))
    has_topic = bool(_ASKS.search(fold(text))) and not gives and not has_facts
    return RequestConcepts(whole, things, deeds, _first_deed(found), gives, has_topic)


def _first_deed(found: Sequence[Mention]) -> str | None:
    deeds = [mention for mention in found if mention.concept.startswith("deeds.")]
    return min(deeds, key=lambda mention: mention.start).concept if deeds else None


def _lines(entry: Entry[RefT]) -> list[frozenset[str]]:
    metadata = entry.metadata
    texts = [*metadata.example_intents, *metadata.intent_keywords, metadata.typical_use or "", entry.name]
    return [frozenset(mention.concept for mention in mentions(read_facts(text).text)) for text in texts]


def _frequencies(entry: Entry[RefT], lines: Sequence[frozenset[str]]) -> dict[str, float]:
    counts = Counter(name for line in lines for name in line)
    counts.update({mention.concept for mention in mentions(entry.description)})
    # The square root keeps a concept that is repeated often from crowding out the others.
    return {name: math.sqrt(count) for name, count in counts.items()}
