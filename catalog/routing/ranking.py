"""What to run for a request: every entry of the catalog ranked, or told that none fits. Pure, and asks no model.

The ranking weighs the signals of `catalog.routing.signals`. Two further figures are calibrated on the development part
of the benchmark: how likely the catalog serves the request at all, and how likely the first answer is right.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from catalog.routing import weights as routing_weights
from catalog.routing.names import named_exactly
from catalog.routing.needs import fed_first, new_first
from catalog.routing.signals import OUTCOME_SIGNALS, SIGNALS, outcome_signals, read_request
from catalog.search import Entry, RefT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog.routing.facts import Facts
    from catalog.routing.index import RoutingIndex
    from catalog.routing.signals import Reading

#: Below this chance that the catalog serves a request, no answer is given; chosen on the development part.
SERVED_FROM = 0.65
#: Answers given in addition to the best one.
MAX_ALTERNATIVES = 5
#: Another answer is worth telling from this share of the best one's likelihood on.
_WORTH_TELLING = 0.02
#: By so much more than any other an entry scores that the request names: e times as likely as the next.
_NAMED_LEAD = 1.0
#: A pipeline that replaces a pack goes before it when it is at least this share as likely.
_NEARLY = 0.9
_RANKING = [routing_weights.RANKING[name] for name in SIGNALS]
_SERVED = [routing_weights.SERVED[name] for name in OUTCOME_SIGNALS]
_RIGHT = [routing_weights.RIGHT[name] for name in OUTCOME_SIGNALS]


@dataclass(frozen=True, slots=True)
class Choice(Generic[RefT]):
    """An entry that may serve a request.

    Attributes:
        position: Its place in the index.
        confidence: How likely it is right, 0 to 1.
        likely: Its share of the likelihood of all entries, 0 to 1.
    """

    entry: Entry[RefT]
    position: int
    confidence: float
    likely: float


@dataclass(frozen=True, slots=True)
class Ranking(Generic[RefT]):
    """What was found for a request.

    Attributes:
        choices: The best first, at most one more than `MAX_ALTERNATIVES`; those of a gap are the nearest there is.
        served: How likely the catalog serves the request at all, 0 to 1.
        is_gap: Whether that is too unlikely to answer.
        reading: How the request was understood.
    """

    choices: tuple[Choice[RefT], ...]
    served: float
    is_gap: bool
    reading: Reading


def rank(index: RoutingIndex[RefT], facts: Facts, history: Mapping[str, int]) -> Ranking[RefT]:
    """Ranks the catalog for a request.

    Args:
        index: The catalog.
        facts: What the request says and has, from `read_facts`.
        history: How often the caller used what lately, by id.
    """
    reading = read_request(index, facts, history)
    if not index.entries:
        return Ranking((), 0.0, True, reading)
    scores = [_weighed(row, _RANKING) for row in reading.rows]
    if not reading.repeats:  # what was done before had what it needs
        scores = fed_first(index.entries, scores, facts, reading.wish)
        scores = new_first(index.entries, scores, facts, reading.wish)
    named = named_exactly(facts.request, index.entries)
    if named:
        scores = _lead_by_name(scores, max(named, key=scores.__getitem__))
    likely = _softmax(scores)
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], index.entries[place].id))
    outcome = outcome_signals(reading, scores)
    served = _chance(_weighed(outcome, _SERVED) + routing_weights.SERVED_BIAS)
    right = _chance(_weighed(outcome, _RIGHT) + routing_weights.RIGHT_BIAS)
    if reading.says_nothing and not facts.facts and not (reading.repeats and history):
        served = right = 0.0
    if reading.repeats and (history or facts.targets) and len(reading.terms) <= 1:
        served = max(served, SERVED_FROM)
    if named:
        served = max(served, SERVED_FROM)
    order = _pipelines_first(index.entries, order, likely)
    answers = [place for place in order[: MAX_ALTERNATIVES + 1] if likely[place] >= _WORTH_TELLING * likely[order[0]]]
    sure = [right, *(min(right, likely[place] * served) for place in answers[1:])]
    choices = [
        Choice(index.entries[place], place, round(confidence, 3), likely[place])
        for place, confidence in zip(answers, sure, strict=True)
    ]
    return Ranking(tuple(choices), round(served, 3), served < SERVED_FROM, reading)


def _lead_by_name(scores: list[float], place: int) -> list[float]:
    """Lets the entry that the request names go first, whatever else its words are like."""
    highest = max(scores)
    return [highest + _NAMED_LEAD if each == place else score for each, score in enumerate(scores)]


def _pipelines_first(entries: Sequence[Entry[RefT]], order: list[int], likely: Sequence[float]) -> list[int]:
    """Puts a pipeline before the pack it replaces when they are nearly as likely."""
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
