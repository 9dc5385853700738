"""The figures of the row `routing`, beside the goals stated in `docs/routing.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.figures import Figure
from tests.bench.routing.measure import measure, milliseconds, prompt_tokens

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.figures import Counts
    from tests.bench.routing.measure import Score
    from tests.bench.routing.requests import Part

PARTS: tuple[Part, ...] = ("development", "sealed")


async def routing(_: Path, counts: Counts) -> list[Figure]:
    """How well and how fast requests are routed without a model; see `docs/routing.md`."""
    entries = counts.of(150, 100)
    found = [figure for part in PARTS for figure in _of(measure(part))]
    median, slow = milliseconds(entries)
    return [
        *found,
        Figure("routing", f"one route among {entries}, median of CPU", median, "ms", 10),
        Figure("routing", f"one route among {entries}, 95th percentile of CPU", slow, "ms"),
        Figure("routing", "tokens of the catalog told to a model, about", prompt_tokens(), ""),
    ]


def _of(score: Score) -> list[Figure]:
    name = f"{score.part} ({score.requests} requests, {score.gaps} gaps)"
    return [
        Figure("routing", f"{name}: right at first", 100 * score.top[0], "%", 80, higher_is_better=True),
        Figure("routing", f"{name}: right among three", 100 * score.top[1], "%", 92, higher_is_better=True),
        Figure("routing", f"{name}: right among five", 100 * score.top[2], "%"),
        Figure("routing", f"{name}: right at first and told", 100 * score.answered, "%"),
        Figure("routing", f"{name}: area of telling gaps", score.gap_area, "", 0.90, higher_is_better=True),
        Figure("routing", f"{name}: precision of gaps", 100 * score.gap_precision, "%"),
        Figure("routing", f"{name}: recall of gaps", 100 * score.gap_recall, "%"),
        Figure("routing", f"{name}: distance of confidence from truth", score.calibration, ""),
        *(
            Figure("routing", f"{score.part}, {sort} ({count}): {_rightly(sort)}", 100 * share, "%")
            for sort, (count, share) in score.classes.items()
        ),
    ]


def _rightly(sort: str) -> str:
    return "called a gap" if sort.endswith("gap") else "right at first"
