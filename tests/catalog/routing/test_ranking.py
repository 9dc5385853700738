"""What the words of a request are evidence for."""

from __future__ import annotations

import pytest

from catalog.routing.index import RoutingIndex
from catalog.routing.request_parts import rank_request
from tests.bench.routing.shipped import shipped_entries

INDEX = RoutingIndex(shipped_entries())


@pytest.mark.parametrize("request_", ["teleport my cat to the moon", "mow the lawn with bees", "moon landing"])
def test_the_topic_of_an_example_alone_recommends_nothing(request_: str) -> None:
    assert rank_request(INDEX, request_, None, {}).ranking.is_gap


@pytest.mark.parametrize("request_", ["a deck about the moon landing", "what do people think of the moon"])
def test_the_topic_of_an_example_with_what_is_wanted_is_served(request_: str) -> None:
    assert not rank_request(INDEX, request_, None, {}).ranking.is_gap
