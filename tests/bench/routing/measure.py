"""`python -m tests.bench routing`: how well and how fast requests are routed, on both parts of the benchmark.

Only the development part was looked at when weights were fitted; the sealed part tells what to expect of others.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog.routing.index import RoutingIndex
from catalog.routing.model import instructions
from catalog.routing.request_parts import rank_request
from tests.bench.routing.classes import classes_of
from tests.bench.routing.requests import Part, Request, read_requests
from tests.bench.routing.shipped import key_of, shipped_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog.routing.ranking import Ranking
    from catalog.search import Entry

#: Characters of English JSON that make a token, about; only a rule of thumb, since every model counts otherwise.
_CHARACTERS_PER_TOKEN = 4.0


@dataclass(frozen=True, slots=True)
class Score:
    """How one part was answered; shares are of 0 to 1.

    Attributes:
        top: Share of what can be served with a right answer among the first 1, 3 and 5, whether or not it was given.
        answered: Share of what can be served whose first answer was given and right.
        gap_precision: Of those called gaps, how many are.
        gap_recall: Of the gaps, how many were called so.
        gap_area: How often a request that can be served looks likelier to be than a gap (area under the curve).
        classes: By sort of request: how many, and the share served rightly: right at first, or called a gap.
        calibration: Mean distance between confidence and share right, over five bands (expected calibration error).
    """

    part: Part
    requests: int
    gaps: int
    top: tuple[float, float, float]
    answered: float
    gap_precision: float
    gap_recall: float
    gap_area: float
    calibration: float
    classes: dict[str, tuple[int, float]]


def measure(part: Part) -> Score:
    """Routes every request of one part that the shipped catalog can serve, and every gap of it."""
    entries = shipped_entries()
    index = RoutingIndex(entries)
    known = {key_of(entry.id) for entry in entries}
    found = [
        (request, rank_request(index, request.text, request.context, request.history).ranking)
        for request in read_requests()
        if request.part == part and (request.gap or request.answers & known)
    ]
    return _scored(part, found, [classes_of(request, index) for request, _ in found])


def milliseconds(size: int) -> tuple[float, float]:
    """Median and 95th percentile of one route's CPU time on a catalog made of variations of what ships."""
    index = RoutingIndex(enlarged(shipped_entries(), size))
    requests = read_requests()
    for request in requests[::5]:
        rank_request(index, request.text, request.context, request.history)
    times = []
    for request in requests:
        began = time.process_time()
        rank_request(index, request.text, request.context, request.history)
        times.append((time.process_time() - began) * 1000)
    return statistics.median(times), statistics.quantiles(times, n=20)[18]


def prompt_tokens() -> int:
    """About how many tokens a model is told of the shipped catalog."""
    return round(len(instructions(shipped_entries())) / _CHARACTERS_PER_TOKEN)


def enlarged(entries: Sequence[Entry[str]], size: int) -> list[Entry[str]]:
    """So many entries: those that ship, and copies of them under other names."""
    found = list(entries)
    while len(found) < size:
        model = entries[len(found) % len(entries)]
        name = f"{model.id}-{len(found)}"
        found.append(replace(model, ref=name, id=name, name=f"{model.name} {len(found)}"))
    return found[:size]


def _scored(part: Part, found: list[tuple[Request, Ranking[str]]], classes: Sequence[list[str]]) -> Score:
    served = [(request, ranking) for request, ranking in found if not request.gap]
    gaps = [ranking for request, ranking in found if request.gap]
    called = [(request, ranking) for request, ranking in found if ranking.is_gap]

    def is_right(request: Request, ranking: Ranking[str], count: int) -> bool:
        return any(key_of(choice.entry.id) in request.answers for choice in ranking.choices[:count])

    top = [sum(is_right(*case, count) for case in served) / len(served) for count in (1, 3, 5)]
    answered = sum(not ranking.is_gap and is_right(request, ranking, 1) for request, ranking in served)
    pairs = [(yes.served > no.served) + 0.5 * (yes.served == no.served) for _, yes in served for no in gaps]
    told = [
        (ranking.choices[0].confidence, not request.gap and is_right(request, ranking, 1))
        for request, ranking in found
        if ranking.choices
    ]
    sorts: dict[str, list[bool]] = {}
    for (request, ranking), names in zip(found, classes, strict=True):
        for name in names:
            sorts.setdefault(name, []).append(ranking.is_gap if request.gap else is_right(request, ranking, 1))
    return Score(
        part=part,
        requests=len(found),
        gaps=len(gaps),
        top=(top[0], top[1], top[2]),
        answered=answered / len(served),
        gap_precision=sum(request.gap is not None for request, _ in called) / max(1, len(called)),
        gap_recall=sum(ranking.is_gap for ranking in gaps) / len(gaps),
        gap_area=statistics.fmean(pairs),
        calibration=_calibration(told),
        classes={name: (len(right), sum(right) / len(right)) for name, right in sorted(sorts.items())},
    )


def _calibration(told: Sequence[tuple[float, bool]]) -> float:
    distance = 0.0
    for band in range(5):
        inside = [pair for pair in told if min(4, int(pair[0] * 5)) == band]
        if inside:
            sure = statistics.fmean(confidence for confidence, _ in inside)
            right = statistics.fmean(float(is_right) for _, is_right in inside)
            distance += abs(sure - right) * len(inside) / len(told)
    return distance
