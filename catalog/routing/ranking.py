"""Ranks the catalog for a request, or finds that no entry fits. Pure; calls no model.

The score of an entry is the weighted sum of the signals of `catalog.routing.signals`. Two probabilities are calibrated
on the development part of the benchmark: that the catalog serves the request, and that the first answer is right.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from catalog.routing import weights as routing_weights
from catalog.routing.names import named_exactly
from catalog.routing.needs import prefer_fed_pipeline, prefer_new_product
from catalog.routing.signals import OUTCOME_SIGNALS, SIGNALS, outcome_signals, request_signals
from catalog.search import Entry, RefT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog.routing.facts import Facts
    from catalog.routing.index import RoutingIndex
    from catalog.routing.signals import RequestSignals

#: Below this probability that the catalog serves a request, the answer is a gap; chosen on the development part.
SERVED_FROM = 0.65
#: Most answers in addition to the best one.
MAX_ALTERNATIVES = 5
#: Least likelihood of another answer, as a share of the best one's.
_LEAST_LIKELY = 0.02
#: Lead in the score of an entry that the request names: e times as likely as the next.
_NAMED_LEAD = 1.0
#: A pipeline that replaces a pack is ranked before it if its likelihood is at least this share of the pack's.
_NEARLY = 0.9
_RANKING = [routing_weights.RANKING[name] for name in SIGNALS]
_SERVED = [routing_weights.SERVED[name] for name in OUTCOME_SIGNALS]
_RIGHT = [routing_weights.RIGHT[name] for name in OUTCOME_SIGNALS]


@dataclass(frozen=True, slots=True)
class Choice(Generic[RefT]):
    """An entry that may serve a request.

    Attributes:
        position: Its position in the index.
        confidence: Probability that it is right, 0 to 1.
        likely: Its share of the likelihood of all entries, 0 to 1.
    """

    entry: Entry[RefT]
    position: int
    confidence: float
    likely: float


@dataclass(frozen=True, slots=True)
class Ranking(Generic[RefT]):
    """The ranking for a request.

    Attributes:
        choices: The best first, at most one more than `MAX_ALTERNATIVES`; for a gap, the nearest entries.
        served: Probability that the catalog serves the request at all, 0 to 1.
        is_gap: Whether `served` is below `SERVED_FROM`.
        signals: The request compared with the catalog.
    """

    choices: tuple[Choice[RefT], ...]
    served: float
    is_gap: bool
    signals: RequestSignals


def rank(index: RoutingIndex[RefT], facts: Facts, history: Mapping[str, int]) -> Ranking[RefT]:
    """Rank the catalog for a request.

    Args:
        index: The catalog.
        facts: The facts of the request, from `read_facts`.
        history: How often the caller lately used each entry, by id.
    """
    signals = request_signals(index, facts, history)
    if not index.entries:
        return Ranking((), 0.0, True, signals)
    scores = [_weighed(row, _RANKING) for row in signals.rows]
    if not signals.repeats:  # what was run before had the inputs it needs
        scores = prefer_fed_pipeline(index.entries, scores, facts, signals.concepts)
        scores = prefer_new_product(index.entries, scores, facts, signals.concepts)
    named = named_exactly(facts.request, index.entries)
    if named:
        scores = _lead_by_name(scores, max(named, key=scores.__getitem__))
    likely = _softmax(scores)
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], index.entries[place].id))
    outcome = outcome_signals(signals, scores)
    served = _chance(_weighed(outcome, _SERVED) + routing_weights.SERVED_BIAS)
    right = _chance(_weighed(outcome, _RIGHT) + routing_weights.RIGHT_BIAS)
    if signals.only_topics and not facts.facts and not (signals.repeats and history):
        served = right = 0.0
    if signals.repeats and (history or facts.targets) and len(signals.terms) <= 1:
        served = max(served, SERVED_FROM)
    if named:
        served = max(served, SERVED_FROM)
    order = _pipelines_first(index.entries, order, likely)
    answers = [place for place in order[: MAX_ALTERNATIVES + 1] if likely[place] >= _LEAST_LIKELY * likely[order[0]]]
    sure = [right, *(min(right, likely[place] * served) for place in answers[1:])]
    choices = [
        Choice(index.entries[place], place, round(confidence, 3), likely[place])
        for place, confidence in zip(answers, sure, strict=True)
    ]
    return Ranking(tuple(choices), round(served, 3), served < SERVED_FROM, signals)


def _lead_by_name(scores: list[float], place: int) -> list[float]:
    """Rank the entry that the request names first."""
    highest = max(scores)
    return [highest + _NAMED_LEAD if each == place else score for each, score in enumerate(scores)]


def _pipelines_first(entries: Sequence[Entry[RefT]], order: list[int], likely: Sequence[float]) -> list[int]:
    """Rank a pipeline before the pack it replaces if it is nearly as likely."""
    first = entries[order[0]]
    if first.kind != "pack":
        return order
    for place in order[1 : MAX_ALTERNATIVES + 1]:
        entry = entries[place]
        if first.id in entry.metadata.supersedes and likely[place] >= _NEARLY * likely[order[0]]:
            return [place, *(other for other in order if other != place)]
    return order


def _weighed(values: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(map(operator.mul, values, weights))


def _softmax(scores: Sequence[float]) -> list[float]:
    highest = max(scores)
    parts = [math.exp(score - highest) for score in scores]
    total = sum(parts)
    return [part / total for part in parts]


def _chance(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds))))
