"""Fits what routing's signals are worth, on the development part of the requests and those of `training`.

    python -m tests.bench.routing.fit [--write]

Entries are ranked by a softmax over weighted signals; confidence and gaps by two logistic regressions over what the
ranking came to. Folds of five tell how well that does on requests it was not fitted on, for both sets apart. The sealed
part is never read here. `--write` puts the weights into `catalog/routing/weights.py`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from catalog.routing.facts import read_facts
from catalog.routing.index import RoutingIndex
from catalog.routing.signals import OUTCOME_SIGNALS, SIGNALS, RequestSignals, outcome_signals, request_signals
from tests.bench.routing.requests import Request, read_requests, read_training
from tests.bench.routing.shipped import key_of, shipped_entries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

FOLDS = 5
#: How strongly weights are drawn to zero; chosen by the folds.
RANKING_DECAY = 0.001
OUTCOME_DECAY = 0.003
TARGET = Path("catalog/routing/weights.py")


@dataclass
class Case:
    """A request with its signals."""

    request: Request
    rows: Matrix
    right: Matrix
    signals: RequestSignals


def cases() -> list[Case]:
    """The requests of both sets that the catalog can serve, and the gaps."""
    entries = shipped_entries()
    index = RoutingIndex(entries)
    keys = [key_of(entry.id) for entry in entries]
    found = []
    for request in (*read_requests(), *read_training()):
        if request.part == "sealed" or not (request.gap or request.answers & set(keys)):
            continue
        signals = request_signals(index, read_facts(request.text, request.context), request.history)
        right = np.array([key in request.answers for key in keys], dtype=float)
        found.append(Case(request, np.array(signals.rows), right, signals))
    return found


def fit_ranking(found: list[Case]) -> Matrix:
    """Weights that make right answers likely (Adam on the mean log-likelihood, fixed start, so always the same)."""
    served = [case for case in found if not case.request.gap]
    rows = np.array([case.rows for case in served])
    right = np.array([case.right for case in served])
    weights = np.zeros(len(SIGNALS))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    steps = 400
    for step in range(1, steps + 1):
        scores = rows @ weights
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        wanted = likely * right
        wanted /= wanted.sum(axis=1, keepdims=True)
        slope = np.einsum("ce,ces->s", likely - wanted, rows, optimize=True) / len(served) + RANKING_DECAY * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        rate = 0.15 if step < 0.7 * steps else 0.03
        weights -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def fit_outcome(signals: Matrix, wanted: Matrix) -> tuple[Matrix, float]:
    """Weights and bias of a logistic regression (Newton's method)."""
    rows = np.hstack([signals, np.ones((len(signals), 1))])
    weights = np.zeros(rows.shape[1])
    decay = np.full(rows.shape[1], OUTCOME_DECAY * len(rows))
    decay[-1] = 1e-6
    for _ in range(40):
        likely = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (likely - wanted) + decay * weights
        curve = (rows * (likely * (1 - likely))[:, None]).T @ rows + np.diag(decay)
        weights -= np.linalg.solve(curve, slope)
    return weights[:-1], float(weights[-1])


def outcomes(found: list[Case], weights: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """What the ranking came to in each case, whether its first answer is right, and whether there is an answer."""
    signals, right, served = [], [], []
    for case in found:
        scores = list(case.rows @ weights)
        signals.append(outcome_signals(case.signals, scores))
        right.append(float(case.right[int(np.argmax(scores))] and not case.request.gap))
        served.append(float(case.request.gap is None))
    return np.array(signals), np.array(right), np.array(served)


def area(scores: Matrix, positive: Matrix) -> float:
    """Area under the curve: how often a positive case scores above a negative one."""
    good, bad = scores[positive > 0.5], scores[positive < 0.5]
    return float((good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean())


def cross_validate(found: list[Case]) -> dict[str, dict[str, float]]:
    """How well requests are answered by weights that were fitted without them, for each part."""
    hits: dict[str, list[list[bool]]] = {}
    chances: dict[str, list[tuple[float, float, float, float]]] = {}
    for fold in range(FOLDS):
        train = [case for place, case in enumerate(found) if place % FOLDS != fold]
        test = [case for place, case in enumerate(found) if place % FOLDS == fold]
        weights = fit_ranking(train)
        signals, right, served = outcomes(train, weights)
        served_fit, right_fit = fit_outcome(signals, served), fit_outcome(signals, right)
        for case, row, is_right, is_served in zip(test, *outcomes(test, weights), strict=True):
            odds = row @ served_fit[0] + served_fit[1]
            sure = 1 / (1 + np.exp(-(row @ right_fit[0] + right_fit[1])))
            chances.setdefault(case.request.part, []).append((odds, is_served, sure, is_right))
            if not case.request.gap:
                order = np.argsort(-(case.rows @ weights))
                hits.setdefault(case.request.part, []).append([bool(case.right[order[:n]].any()) for n in (1, 3, 5)])
    told = {}
    for part, rows in hits.items():
        odds, served, sure, right = np.array(chances[part]).T
        top = np.mean(rows, axis=0)
        told[part] = {
            "top-1": top[0],
            "top-3": top[1],
            "top-5": top[2],
            "gap area": area(odds, served),
            "confidence area": area(sure, right),
            "confidence Brier": float(np.mean((sure - right) ** 2)),
        }
    return told


def main() -> None:
    """Fits, tells how well, and writes when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {TARGET}")
    parser.add_argument("--misses", action="store_true", help="list the requests answered wrongly")
    arguments = parser.parse_args()
    found = cases()
    print(f"{len(found)} requests, of these {sum(case.request.gap is not None for case in found)} gaps")
    for part, figures in cross_validate(found).items():
        for name, value in figures.items():
            print(f"{part:12} {name:18} {value:.3f}")
    weights = fit_ranking(found)
    for name, weight in zip(SIGNALS, weights, strict=True):
        print(f"  {name:18} {weight:6.2f}")
    signals, right, served = outcomes(found, weights)
    served_fit, right_fit = fit_outcome(signals, served), fit_outcome(signals, right)
    for name, one, other in zip(OUTCOME_SIGNALS, served_fit[0], right_fit[0], strict=True):
        print(f"  {name:18} served {one:6.2f}  right {other:6.2f}")
    if arguments.misses:
        keys = [key_of(entry.id) for entry in shipped_entries()]
        for case in found:
            order = np.argsort(-(case.rows @ weights))
            if not case.request.gap and not case.right[order[0]]:
                print(f"{case.request.text[:80]} -> {[keys[place] for place in order[:3]]}")
    if arguments.write:
        TARGET.write_text(_source(weights, served_fit, right_fit), encoding="utf-8")


def _source(ranking: Matrix, served: tuple[Matrix, float], right: tuple[Matrix, float]) -> str:
    def block(name: str, names: tuple[str, ...], values: Matrix) -> str:
        rows = "".join(f'    "{key}": {value:.4f},\n' for key, value in zip(names, values, strict=True))
        return f"{name} = {{\n{rows}}}\n"

    return (
        '"""The weights of routing\'s signals, as `python -m tests.bench.routing.fit --write` fitted them."""\n\n'
        "from __future__ import annotations\n\n"
        + block("RANKING", SIGNALS, ranking)
        + "#: Weights for the log-odds that the catalog serves a request.\n"
        + block("SERVED", OUTCOME_SIGNALS, served[0])
        + f"SERVED_BIAS = {served[1]:.4f}\n"
        + "#: Weights for the log-odds that the first answer is right.\n"
        + block("RIGHT", OUTCOME_SIGNALS, right[0])
        + f"RIGHT_BIAS = {right[1]:.4f}\n"
    )


if __name__ == "__main__":
    main()
