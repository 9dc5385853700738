from __future__ import annotations

import pytest

from catalog.routing.facts import read_facts
from catalog.routing.inputs import suggest_inputs, topic_of
from catalog.routing.signals import audience_of

DECK = {
    "type": "object",
    "required": ["url"],
    "properties": {
        "url": {"type": "string", "format": "uri", "minLength": 1},
        "audience": {"type": "string", "maxLength": 100},
        "theme": {"type": "string", "enum": ["light", "dark"], "default": "light"},
        "format": {"type": "string", "enum": ["pdf", "pptx"], "default": "pdf"},
        "max_slides": {"type": "integer", "minimum": 3, "maximum": 40},
    },
}
DOCUMENT = {
    "type": "object",
    "oneOf": [{"required": ["source_url"]}, {"required": ["artifact"]}],
    "properties": {"source_url": {"type": "string"}, "artifact": {"type": "string"}, "theme": {"type": "string"}},
}


def suggested(schema, request, context=None, defaults=None, proposed=None):
    found = suggest_inputs(schema, request, read_facts(request, context), defaults or {}, proposed)
    return {given.name: (given.value, given.source) for given in found.inputs}, found.missing


def test_each_input_says_where_it_comes_from():
    found, missing = suggested(
        DECK, "8 slides for nurses", {"inputs": {"url": "https://example.org/a"}}, {"theme": "dark"}
    )
    assert found == {
        "url": ("https://example.org/a", "context"),
        "max_slides": (8, "request"),
        "audience": ("nurses", "request"),
        "theme": ("dark", "defaults"),
    }
    assert missing == ()


def test_what_the_target_refuses_or_does_not_have_is_left_out():
    found, missing = suggested(
        DECK, "900 slides", {"inputs": {"url": 7, "nonsense": 1}}, {"theme": "plaid", "voice": "ava"}
    )
    assert found == {}
    assert missing == ("url",)


def test_the_request_goes_before_defaults_and_a_model():
    found, _ = suggested(DECK, "a dark deck", None, {"theme": "light"}, {"theme": "light", "audience": "all"})
    assert found == {"theme": ("dark", "request"), "audience": ("all", "model")}


def test_of_a_choice_one_input_is_filled_in():
    assert suggested(DOCUMENT, "slides of this")[1] == ("source_url",)
    found, missing = suggested(
        DOCUMENT, "https://example.org/a.pdf", {"files": [{"name": "b.pdf", "id": "art_1"}]}, {"theme": "x"}
    )
    assert found["source_url"] == ("https://example.org/a.pdf", "request")
    assert "artifact" not in found
    assert missing == ()


@pytest.mark.parametrize(
    ("request_", "topic"),
    [
        ("make a podcast about the fall of Rome, please", "the fall of Rome"),
        ("research tidal power and make both a deck and a podcast", "tidal power"),
        ("slides on heat pumps for landlords", "heat pumps"),
        ("why do cats purr?", "why do cats purr?"),
        ("make a deck", None),
    ],
)
def test_the_topic_is_told_in_the_requests_words(request_, topic):
    found = topic_of(request_)
    assert found == topic or (topic is not None and found == topic.rstrip("?"))


def test_an_audience_is_people():
    assert audience_of("a post for product managers") == "product managers"
    assert audience_of("a film for 10 minutes") is None
    assert audience_of("something for my headphones") is None
