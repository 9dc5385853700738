"""What an entry needs against what a request has: among invented entries, so that no word of ours decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog.routing.entry_concepts import read_concepts
from catalog.routing.facts import read_facts
from catalog.routing.needs import kinds_had, lacks_input, prefer_fed_pipeline, prefer_new_product
from catalog.search import Entry, EntryKind
from packline import Metadata

if TYPE_CHECKING:
    from catalog.routing.entry_concepts import RequestConcepts
    from catalog.routing.facts import Facts

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
QUERY = {"type": "object", "required": ["query"], "properties": {"query": {"type": "string"}}}
FILE = {"type": "object", "required": ["artifact"], "properties": {"artifact": {"type": "string"}}}


def entry(id: str, kind: EntryKind, schema: dict[str, Any], **told: list[str]) -> Entry[str]:
    return Entry(id, id, kind, id, "", Metadata.model_validate(told), schema)


SING = entry("voice.sing", "pack", TEXT, accepts=["markdown"], produces=["podcast_audio", "mp3"])
TIDY = entry("text.tidy", "pack", TEXT, accepts=["markdown"], produces=["outline_markdown"])
SHOW = entry("deck.show", "pack", TEXT, accepts=["outline_markdown"], produces=["slide_deck"])
ASKED = entry(
    "asked", "pipeline", QUERY, accepts=["query"], produces=["podcast_audio"], supersedes=["web.find", "voice.sing"]
)
FILED = entry("filed", "pipeline", FILE, accepts=["pdf"], produces=["podcast_audio"], supersedes=["voice.sing"])
OTHER = entry("other", "pipeline", QUERY, accepts=["query"], produces=["slide_deck"], supersedes=["voice.sing"])


def read(request: str, context: Any = None) -> tuple[Facts, RequestConcepts]:
    facts = read_facts(request, context)
    return facts, read_concepts(facts.text, lambda _: True, has_facts=bool(facts.facts))


def first(entries: list[Entry[str]], request: str, context: Any = None) -> str:
    """The first of entries whose scores fall in their order."""
    scores = [float(-place) for place in range(len(entries))]
    facts, concepts = read(request, context)
    found = prefer_fed_pipeline(entries, scores, facts, concepts)
    assert sorted(found) == sorted(scores), "what speaks for entries changes places and is not made up"
    return entries[found.index(max(found))].id


@pytest.mark.parametrize(
    ("request_", "context", "expected"),
    [
        ("a song about the moon", None, "asked"),
        ("a song on tides and ports", None, "asked"),
        ("a song", None, "voice.sing"),  # nothing there to make it from
        ("a song from this markdown", None, "voice.sing"),  # spoken of as had
        ("a song about the moon", {"inputs": {"text": "# Moon"}}, "voice.sing"),  # had
        ("a song about the moon", {"files": [{"name": "moon.md"}]}, "voice.sing"),
        ("a song about the moon", {"files": [{"name": "moon.pdf", "id": "art_1"}]}, "filed"),
        ("a song of this", {"files": [{"name": "moon.pdf"}]}, "filed"),
        ("a song from my notes about the moon", None, "voice.sing"),  # the notes are what it is of, not the topic
        ("a song:\n# Moon\nIt rises.\nIt sets.\nIt waits.", None, "voice.sing"),  # pasted
    ],
)
def test_a_pack_that_lacks_its_input_loses_to_a_pipeline_that_makes_it_from_what_there_is(
    request_: str, context: Any, expected: str
) -> None:
    assert first([SING, OTHER, FILED, ASKED], request_, context) == expected


def test_only_a_pipeline_that_calls_the_pack_and_makes_the_same_takes_its_place() -> None:
    stranger = entry("stranger", "pipeline", QUERY, accepts=["query"], produces=["podcast_audio"], supersedes=["a.b"])
    assert first([SING, OTHER, stranger], "a song about the moon") == "voice.sing"


def test_a_pipeline_that_requires_nothing_but_takes_only_what_is_not_there_is_not_fed() -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string", "default": ""}}}
    idle = entry("idle", "pipeline", schema, accepts=["text"], produces=["podcast_audio"], supersedes=["voice.sing"])
    assert first([SING, idle], "a song about the moon") == "voice.sing"


def test_of_several_such_pipelines_the_likeliest_goes_first() -> None:
    again = entry("again", "pipeline", QUERY, accepts=["query"], produces=["podcast_audio"], supersedes=["voice.sing"])
    assert first([SING, again, ASKED], "a song about the moon") == "again"
    assert first([ASKED, SING], "a song about the moon") == "asked"


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("make slides from this outline", "deck.show"),  # an outline is there already
        ("make an outline from this markdown", "text.tidy"),
        ("make slides from this markdown", "text.tidy"),  # nothing makes slides of that in one go
    ],
)
def test_what_makes_only_what_is_given_loses_to_what_makes_what_is_named(request_: str, expected: str) -> None:
    facts, concepts = read(request_)
    found = prefer_new_product([TIDY, SHOW], [1.0, 0.0], facts, concepts)
    assert [TIDY, SHOW][found.index(max(found))].id == expected


def test_an_entry_that_takes_nothing_lacks_nothing() -> None:
    facts, concepts = read("a song")
    assert not lacks_input(entry("a.b", "pack", TEXT), facts, kinds_had(facts, concepts))
