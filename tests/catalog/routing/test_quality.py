"""Routing without a model, held to its goals on requests that nothing was fitted on."""

from __future__ import annotations

from tests.bench.routing.measure import measure


def test_the_sealed_requests_are_routed_as_promised():
    score = measure("sealed")
    assert score.top[0] >= 0.80
    assert score.top[1] >= 0.92
    assert score.gap_area >= 0.90
