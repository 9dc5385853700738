"""The signals for and against each entry of the catalog for one request, as numbers. Pure.

`SIGNALS` names them in order; their weights are fitted on the development part of the benchmark, in
`catalog.routing.weights`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.routing.entry_concepts import CONCEPT_SIGNALS, RequestConcepts, read_concepts
from catalog.routing.index import GROUPS, TOPIC, RoutingIndex, Term
from catalog.words import fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog.routing.facts import Facts
    from catalog.search import RefT
    from runner.failures import JSONValue

#: Names of the signals, in the order of every row.
SIGNALS = (
    *(f"words_{group}" for group in GROUPS),
    "likeness",
    "name_share",
    "name_precision",
    "limits",
    "product_named",
    "product_unnamed",
    "openness",
    "takes_query",
    "fact_fits",
    "fact_conflicts",
    "fact_missing",
    "pipeline",
    "history",
    "repeats",
    "audience",
    *CONCEPT_SIGNALS,
)
#: Kinds that the caller must provide: an entry that accepts only these cannot run without.
_PROVIDED_KINDS = (
    "url source_url repo_url pdf docx xlsx pptx html document audio mp3 mp4 video image composition_html "
    "repo_workspace session_id issue_number"
)
_PROVIDED = frozenset(_PROVIDED_KINDS.split())
#: Least sureness of a word that counts as known.
SURE = 0.75
_REPEATS = re.compile(
    r"\b(?:same (?:as|again|thing)|as (?:usual|always|before)|the usual|again|once more|like (?:last|before|yesterday)|"
    r"last time|repeat|what i always|redo|noch ?mal|wie immer|comme d.?habitude|otra vez|lo de siempre)\b"
)
_AUDIENCE = re.compile(
    r"\b(?:for|aimed at|targeted at|written for|suits?|audience (?:of|is|:)|f[uü]r|pour|para)\s+"
    r"((?:(?!the\b|our\b|my\b|a\b|an\b)[a-z-]+\s+){0,2}?(?:[a-z-]{3,}s|people|children|staff|management|"
    r"executives?|c[teifo]os?|lay ?(?:wo)?m[ae]n|lay person|einsteiger|anf[aä]nger)|"
    r"(?:a|an|the|our|my)\s+(?:[a-z-]+\s+)?(?:audience|readership|readers|team|customers|users|public))\b"
)
#: Plurals that are not people.
_NO_AUDIENCE_WORDS = "this us thus minutes hours days weeks slides videos docs steps headphones socials"
_NO_AUDIENCE = frozenset(_NO_AUDIENCE_WORDS.split())


@dataclass(frozen=True, slots=True)
class RequestSignals:
    """A request compared with the catalog: a row of signals for each entry.

    Attributes:
        terms: Its words, with the words of the catalog they stand for.
        rows: For each entry in the order of the index, its signals in the order of `SIGNALS`.
        coverage: Share of its words, weighted by rarity, that the catalog knows.
        repeats: Whether it asks for the same as before.
        only_limits: How many of its words occur only in limitations of entries.
        only_topics: Whether it mentions no concept, and no word that the catalog has outside the topics of examples.
        head_unknown: Share of the words before its topic that the catalog does not know.
        concepts: Its concepts.
        absent: Share of its deeds that no entry mentions.
        first_lacked: For each entry, whether it never mentions the request's first deed.
    """

    terms: tuple[Term, ...]
    rows: list[list[float]]
    coverage: float
    repeats: bool
    only_limits: int
    only_topics: bool
    head_unknown: float
    concepts: RequestConcepts
    absent: float
    first_lacked: tuple[bool, ...]

    @property
    def says_nothing(self) -> bool:
        """Whether none of its words says what is wanted, apart from asking for the same as before."""
        return not self.terms and not self.concepts.all


def audience_of(text: str) -> str | None:
    """Return the audience that a request names, in its words; None when it names none."""
    for match in _AUDIENCE.finditer(text.casefold()):
        words = match.group(1).split()
        if words[-1] not in _NO_AUDIENCE:
            return " ".join(words)
    return None


def request_signals(index: RoutingIndex[RefT], facts: Facts, history: Mapping[str, int]) -> RequestSignals:
    """Compare a request with the catalog.

    Args:
        index: The catalog.
        facts: The facts of the request.
        history: How often the caller used each entry, by id.
    """
    folded = fold(facts.text)
    repeats = bool(_REPEATS.search(folded))
    text = _REPEATS.sub(" ", folded)
    terms = index.terms(text)
    size = max(1, len(terms))
    rarity = [index.rarity(term.best or "") for term in terms]
    total = sum(rarity) or 1.0
    words = _word_signals(index, terms, size)
    product = _product_named(index, terms)
    likeness = index.likeness(terms)
    name_share, name_precision = index.named(terms)
    limits = index.limited(terms)
    unknown = sum(term.sureness < SURE for term in terms) / size
    uses = _uses(history, facts.targets)
    has_audience = audience_of(facts.text) is not None
    concepts = read_concepts(text, index.knows, has_facts=bool(facts.facts))
    concept_rows = list(zip(*index.concepts.columns(concepts), strict=True)) if index.entries else []
    rows = []
    for position, entry in enumerate(index.entries):
        accepts = entry.metadata.accepts
        is_pipeline = entry.kind == "pipeline"
        fits = _fit(facts, accepts) if facts.facts else 0.0
        use = uses.get(entry.id, 0.0)
        rows.append(
            [
                words[0][position],
                words[1][position],
                words[2][position],
                words[3][position],
                likeness[position],
                name_share[position],
                name_precision[position],
                limits[position],
                product[position],
                (1.2 - product[position]) * is_pipeline,
                unknown * index.openness[position],
                unknown * ("query" in accepts),
                fits,
                float(bool(facts.facts) and not fits),
                float(not facts.facts and _needs_something(accepts)),
                float(is_pipeline),
                use,
                use * repeats,
                has_audience and _audience_share(entry.input_schema),
                *concept_rows[position],
            ]
        )
    covered = sum(rare * term.sureness for term, rare in zip(terms, rarity, strict=True)) / total
    only_limits = sum(index.is_only_limit(term.stem) for term in terms)
    known = [term.best for term in terms if term.best is not None and term.sureness >= SURE]
    only_topics = not concepts.all and all(map(index.is_only_topic, known))
    head = index.terms(TOPIC.split(text, maxsplit=1)[0])
    head_unknown = sum(term.sureness < SURE for term in head) / max(1, len(head))
    absent = sum(name not in index.concepts.known for name in concepts.deeds) / max(1, len(concepts.deeds))
    first = concepts.first_deed
    lacked = tuple(first is not None and index.concepts.lacks(place, first) for place in range(len(rows)))
    return RequestSignals(
        tuple(terms), rows, covered, repeats, only_limits, only_topics, head_unknown, concepts, absent, lacked
    )


def _word_signals(index: RoutingIndex[RefT], terms: Sequence[Term], size: int) -> list[list[float]]:
    sums = [[0.0] * len(index.entries) for _ in GROUPS]
    scale = 1 / math.sqrt(size)
    for term in terms:
        total = sum(sure for _, sure in term.known)
        for word, sure in term.known:
            weight = scale * sure * sure / total
            for row, worth in zip(sums, index.worth(word), strict=True):
                for position, value in enumerate(worth):
                    row[position] += weight * value
    return sums


def _product_named(index: RoutingIndex[RefT], terms: Sequence[Term]) -> list[float]:
    """Return for each entry how clearly a request mentions what it makes, 0 to 1.2."""
    named = [0.0] * len(index.entries)
    makes = GROUPS.index("makes")
    for term in terms:
        if term.best is not None:
            for position, value in enumerate(index.worth(term.best)[makes]):
                named[position] = max(named[position], min(1.2, value * term.sureness))
    return named


def _fit(facts: Facts, accepts: Sequence[str]) -> float:
    """Return how well the facts fit what an entry accepts: 1 by a fact's most specific kind, less by another."""
    best = 0.0
    for fact in facts.facts:
        if fact.kinds[0] in accepts:
            return 1.0
        if any(kind in accepts for kind in fact.kinds):
            best = 0.6
    return best


def _needs_something(accepts: Sequence[str]) -> bool:
    return bool(accepts) and _PROVIDED.issuperset(accepts)


def _audience_share(schema: Mapping[str, JSONValue]) -> float:
    required, properties = schema.get("required"), schema.get("properties")
    if isinstance(required, list) and "audience" in required:
        return 1.0
    return 0.5 if isinstance(properties, dict) and "audience" in properties else 0.0


def _uses(history: Mapping[str, int], targets: Sequence[str]) -> dict[str, float]:
    """Return each entry's share of the caller's uses; the last run in the context counts as 1."""
    total = sum(history.values())
    shares = {name: count / total for name, count in history.items()} if total else {}
    for target in targets[:1]:
        shares[target] = 1.0
    return shares


#: Names of the signals of a whole ranking, in the order of `outcome_signals`.
OUTCOME_SIGNALS = (
    "best_likely",
    "margin",
    "third_likely",
    "own_words",
    "likeness",
    "product_named",
    "coverage",
    "first_known",
    "unknown",
    "only_limits",
    "limits",
    "fact_fits",
    "fact_conflicts",
    "openness",
    "history",
    "few_words",
    "head_unknown",
    "unknown_topic",
    "best_own",
    "best_likeness",
    "concepts_own",
    "concepts_line",
    "deeds_lacked",
    "deeds_had",
    "deeds_limited",
    "wanted_unmade",
    "given_untaken",
    "given_taken",
    "made",
    "topic_query",
    "deeds_absent",
    "any_deed_absent",
    "first_deed_lacked",
    "no_concept",
    "no_deed",
)


def outcome_signals(signals: RequestSignals, scores: Sequence[float]) -> list[float]:
    """Return the signals for whether the catalog serves a request at all, and whether the best entry is right.

    Args:
        signals: The request.
        scores: The score of each entry.
    """
    highest = max(scores)
    likely = sorted((math.exp(score - highest) for score in scores), reverse=True)
    total = sum(likely)
    position = scores.index(highest)
    best = signals.rows[position]
    row = dict(zip(SIGNALS, best, strict=True))
    terms = signals.terms
    size = max(1, len(terms))
    return [
        likely[0] / total,
        (likely[0] - likely[1]) / total if len(likely) > 1 else 1.0,
        sum(likely[:3]) / total,
        row["words_own"],
        row["likeness"],
        row["product_named"],
        signals.coverage,
        terms[0].sureness if terms else 0.0,
        sum(term.sureness < SURE for term in terms) / size,
        signals.only_limits / size,
        row["limits"],
        row["fact_fits"],
        row["fact_conflicts"],
        row["openness"],
        row["history"] * signals.repeats,
        1 / size,
        signals.head_unknown,
        row["takes_query"],
        max(values[0] for values in signals.rows),
        max(values[SIGNALS.index("likeness")] for values in signals.rows),
        row["concepts_own"],
        row["concepts_line"],
        row["deeds_lacked"],
        row["deeds_had"],
        row["deeds_limited"],
        row["wanted_unmade"],
        row["given_untaken"],
        row["given_taken"],
        max(row["wanted_made"], row["plain_made"]),
        row["topic_query"],
        signals.absent,
        float(signals.absent > 0),
        float(signals.first_lacked[position]),
        float(not signals.concepts.all),
        float(not signals.concepts.deeds),
    ]
