"""What a text speaks of, whatever words it uses."""

from __future__ import annotations

import pytest

from catalog.metadata import kinds
from catalog.routing.concepts import mentions, thesaurus


def _spoken_of(text: str, role: str | None = None) -> set[str]:
    return {
        mention.concept.partition(".")[2]
        for mention in mentions(text, lambda _: False)
        if role is None or mention.role == role
    }


def test_every_concept_names_kinds_of_the_vocabulary():
    concepts = thesaurus().concepts
    assert all(concept.kinds <= kinds().keys() for concept in concepts.values())
    assert all(not concept.kinds for concept in concepts.values() if concept.name.startswith("deeds."))


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("Folien aus einem Bericht", {"deck", "document"}),
        ("une vidéo commentée", {"video", "narration"}),
        ("look the topic up", {"research", "topic"}),
        ("a presentatoin", {"deck"}),
        ("Erklärvideo", {"video"}),
        ("transcribe the recording", {"transcribe", "audio"}),
    ],
)
def test_words_of_one_meaning_meet(text: str, concepts: set[str]):
    assert concepts <= _spoken_of(text)


def test_a_thing_is_wanted_given_or_only_what_something_is_about():
    assert "document" in _spoken_of("turn the report into slides", "given")
    assert "deck" in _spoken_of("turn the report into slides", "wanted")
    assert "video" in _spoken_of("a deck about video games", "topic")
    assert "deck" in _spoken_of("a deck about video games", "plain")


def test_a_longer_phrase_hides_the_shorter_one_of_its_group():
    assert "post" not in _spoken_of("my article as a podcast")
    assert "own_text" in _spoken_of("my article as a podcast")


def test_words_the_catalog_knows_are_not_taken_for_misspelt():
    assert any(mention.concept == "things.deck" for mention in mentions("slidse", lambda _: False))
    assert not mentions("slidse", lambda word: True)


def test_a_text_of_any_length_is_read_in_part():
    assert _spoken_of("slides " * 100_000) == {"deck"}
    assert _spoken_of("") == set()
