"""A request is split into its parts, and each that nothing serves has a proposal."""

from __future__ import annotations

import pytest

from catalog.routing.gaps import Proposal, describe_gaps, issue_text
from catalog.routing.index import RoutingIndex
from catalog.routing.request_parts import rank_request, split_request
from tests.bench.routing.requests import read_requests, read_training
from tests.bench.routing.shipped import key_of, shipped_entries


@pytest.mark.parametrize(
    ("request_text", "parts"),
    [
        ("slides for doctors and nurses", ["slides for doctors and nurses"]),
        ("research tidal power and make a podcast", ["research tidal power and make a podcast"]),
        ("crop and rotate a photo", ["crop and rotate a photo"]),
        ("a podcast, a deck, and a video about tea", ["a podcast, a deck, and a video about tea"]),
        ("slides of https://example.org/a,b", ["slides of https://example.org/a,b"]),
        ("Parse report.pdf; then water my plants.", ["Parse report.pdf", "then water my plants"]),
        ("Detect fraud in this and book me a flight", ["Detect fraud in this", "book me a flight"]),
        ("transcribe it,\ntranslate it and post it", ["transcribe it", "translate it", "post it"]),
        ("parse my pdf und übersetze es", ["parse my pdf", "übersetze es"]),
        (". ".join(["water the plants"] * 6), [". ".join(["water the plants"] * 6)]),
        ("and water the plants", ["and water the plants"]),
        ("", [""]),
    ],
)
def test_only_a_command_begins_another_part(request_text: str, parts: list[str]):
    assert split_request(request_text) == parts


def test_each_part_that_nothing_serves_is_a_gap_with_its_own_proposal():
    entries = shipped_entries()
    ranked = rank_request(
        RoutingIndex(entries), "translate this novel into klingon opera and book me a flight to Rome", None, {}
    )
    gaps = describe_gaps(ranked.missing)
    assert ranked.ranking.is_gap
    assert [(gap.missing_capability, gap.proposal.name) for gap in gaps] == [
        ("translate this novel into klingon opera", "custom.translate"),
        ("book me a flight to Rome", "custom.book"),
    ]
    assert "`klingon`" in gaps[0].why_missing
    assert "`klingon`" not in gaps[1].why_missing


def test_proposals_of_one_request_have_different_names():
    index = RoutingIndex(shipped_entries())
    ranked = rank_request(index, "book me a flight to Rome, book me a hotel there and book me a taxi", None, {})
    names = [gap.proposal.name for gap in describe_gaps(ranked.missing)]
    assert names == ["custom.book", "custom.book_2", "custom.book_3"]


def test_a_request_served_in_part_is_ranked_for_that_part():
    index = RoutingIndex(shipped_entries())
    ranked = rank_request(index, "make slides from report.pdf and water my plants", None, {})
    assert [part.text for part in ranked.missing] == ["water my plants"]
    assert ranked.ranking.choices[0].entry.id == "builtin.doc-deck"

    flooded = "convert this document, translate it into French, book me a flight to Rome and water my plants"
    ranked = rank_request(index, flooded, {"files": [{"name": "notes.md"}]}, {})
    assert not ranked.ranking.is_gap
    assert [part.text for part in ranked.missing] == [
        "translate it into French",
        "book me a flight to Rome",
        "water my plants",
    ]


@pytest.mark.parametrize(
    ("request_text", "first", "also_served"),
    [
        (
            "scrape https://example.org/post, email it to Ann and book me a flight",
            "web.scrape",
            [("email it to Ann", "email.send")],
        ),
        (
            "open an issue on acme/site, book me a flight to Rome, create a video about tea",
            "github.create_issue",
            [("create a video about tea", "builtin.research-narrate")],
        ),
        ("make slides from report.pdf, make slides from talk.pdf and water my plants", "builtin.doc-deck", []),
    ],
)
def test_each_further_part_that_another_entry_serves_is_kept(request_text: str, first: str, also_served: list[object]):
    ranked = rank_request(RoutingIndex(shipped_entries()), request_text, None, {})
    assert ranked.ranking.choices[0].entry.id == first
    assert [(part.text, part.ranking.choices[0].entry.id) for part in ranked.also_served] == also_served
    assert len(ranked.missing) == 1


def test_nothing_is_missing_of_what_the_catalog_serves():
    index = RoutingIndex(shipped_entries())
    known = {key_of(entry.id) for entry in index.entries}
    for request in (*read_requests(), *read_training()):
        if request.part != "sealed" and request.answers & known and len(split_request(request.text)) > 1:
            ranked = rank_request(index, request.text, request.context, request.history)
            assert ranked.ranking.is_gap or ranked.missing == (), request.text


def test_a_proposed_pipeline_is_an_issue_that_names_its_packs():
    index = RoutingIndex(shipped_entries())
    (gap,) = describe_gaps(rank_request(index, "water my plants", None, {}).missing)
    chain = {"action": "draft_pipeline", "name": "read-and-water", "packs": ["doc.parse", "http.post"]}
    proposal = Proposal.model_validate({**gap.proposal.model_dump(), **chain})
    issue = issue_text("Water my plants.", gap.model_copy(update={"proposal": proposal}))
    assert issue.title == "New pipeline read-and-water: water my plants"
    assert "Packs, in order: `doc.parse`, `http.post`." in issue.body
    assert issue_text("Water my plants.", gap).title == "New pack custom.water: water my plants"
