"""What exists for practice is offered only by name."""

from __future__ import annotations

import pytest

from catalog.routing.practice import offered
from catalog.search import Entry
from packline import Metadata

_FOR_PRACTICE = Metadata(practice=True)
ENTRIES = [
    Entry("", "slides.render", "pack", "slides.render", "", Metadata()),
    Entry("", "practice.review", "pack", "practice.review", "", _FOR_PRACTICE),
    Entry("", "practice.text", "pack", "practice.text", "", _FOR_PRACTICE),
    Entry("", "builtin.sample", "pipeline", "See it work", "", _FOR_PRACTICE, aliases=("sample", "first-steps")),
]


def ids(request: str | None, targets: tuple[str, ...] = ()) -> list[str]:
    return [entry.id for entry in offered(ENTRIES, request, targets)][1:]


@pytest.mark.parametrize(
    "request_",
    [
        None,
        "",
        "make slides from this markdown outline",
        "review my slides",
        "google the best practices for on-call and make a deck",
        "Let me practise what to do when a step fails",
        "turn this sample text into slides for our readers",
        "read https://example.org/practice.review",
        "my practice.reviews of last year",
        "take the first step with slides",
    ],
)
def test_a_request_that_names_nothing_for_practice_is_offered_none(request_: str | None) -> None:
    assert ids(request_) == []


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("run practice.review on my outline", ["practice.review"]),
        ("is it practice.review?", ["practice.review"]),
        ("Practice.Text, then practice.review.", ["practice.review", "practice.text"]),
        ("run the sample", ["builtin.sample"]),
        ("sample pipeline", ["builtin.sample"]),
        ("show my new colleagues in the office how `sample` works", ["builtin.sample"]),
        ("I want to see  it work", ["builtin.sample"]),
        ("please start builtin.sample with the failure turned off", ["builtin.sample"]),
        ("run first-steps for the new people in sales", ["builtin.sample"]),
        ("pract", ["practice.review", "practice.text"]),
        ("sam", ["builtin.sample"]),
    ],
)
def test_a_name_is_an_id_a_key_a_title_or_the_beginning_of_one(request_: str, expected: list[str]) -> None:
    assert ids(request_) == expected


def test_what_the_context_ran_before_is_named() -> None:
    assert ids("the same again", ("sample",)) == ["builtin.sample"]
    assert ids("the same again", ("builtin.sample",)) == ["builtin.sample"]
